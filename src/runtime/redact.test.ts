import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { rememberSecret } from "./known-secrets.ts";
import { redact, redactLines, redactValue } from "./redact.ts";
import { findSecrets, isSecretName } from "./secret-shapes.ts";

/** Planted secrets: none of these may survive anywhere. */
const jwt = `eyJ${"hbGciOiJSUzI1NiIs"}.eyJzdWIiOiJzeXN0ZW0ifQ.c2lnbmF0dXJlLXBsYW50ZWQ`;
const secretKey = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYPLANTEDKEY";
const sessionToken = "IQoJb3JpZ2luX2VjEPLANTED//////////wEaCXVzLWVhc3QtMSJH";

const texts: readonly (readonly [string, string, string])[] = [
  ["a bearer header", `request failed: Authorization: Bearer ${jwt} was refused`, jwt],
  ["an opaque bearer token", "authorization: bearer opaque-PLANTED-1234", "opaque-PLANTED-1234"],
  ["basic credentials", "Proxy-Authorization: Basic cGxhbnRlZDpwbGFudGVk", "cGxhbnRlZDpwbGFudGVk"],
  ["a bare service account token", `token file holds ${jwt}`, jwt],
  [
    "a signature of AWS",
    "AWS4-HMAC-SHA256 Credential=AKIAPLANTED/20260101/us-east-1/ec2/aws4_request, SignedHeaders=host, Signature=deadbeefPLANTED",
    "PLANTED",
  ],
  [
    "a presigned URL",
    `https://sts.amazonaws.com/?X-Amz-Signature=abcPLANTED&X-Amz-Security-Token=${encodeURIComponent(sessionToken)}`,
    "PLANTED",
  ],
  ["user and password in a URL", "dial https://planted:hunter2@proxy.example:3128: refused", "hunter2"],
  ["credentials in JSON", `{"AccessKeyId":"AKIA1","SecretAccessKey":"${secretKey}","Token":"${sessionToken}"}`, "PLANTED"],
  ["credentials in escaped JSON", `body: "{\\"SecretAccessKey\\":\\"${secretKey}\\",\\"SessionToken\\":\\"${sessionToken}\\"}"`, "PLANTED"],
  ["escaped JSON whose slashes are escaped too", '{\\"SecretAccessKey\\":\\"wJa\\\\/PLANTED\\",\\"Code\\":\\"ok\\"}', "PLANTED"],
  ["credentials in XML", `<SecretAccessKey>${secretKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken>`, "PLANTED"],
  ["credentials in indented XML", "<a:SecretAccessKey>\n  wJalrXUtnFEMI/K7MDENG/bPLANTED\n</a:SecretAccessKey>", "PLANTED"],
  ["a value in the line below", "password:\n  wJalrXUtnFEMI/K7MDENG/bPLANTED\n", "PLANTED"],
  ["a quoted value in the line below", '"token" :\r\n\t"PLANTED"', "PLANTED"],
  ["a block of YAML", "token: |-\n  wJalrXUtnFEMI/K7MDENG/bPLANTED\n", "PLANTED"],
  ["an ini file", `aws_secret_access_key = ${secretKey}\naws_session_token=${sessionToken}`, "PLANTED"],
  ["a private key", "-----BEGIN EC PRIVATE KEY-----\nPLANTED\n-----END EC PRIVATE KEY-----", "PLANTED"],
  ["a private key after its name", "private-key: -----BEGIN EC PRIVATE KEY-----\nPLANTED\n-----END EC PRIVATE KEY-----\nnext", "PLANTED"],
  ["a private key in quotes", 'secret="-----BEGIN EC PRIVATE KEY-----\nPLANTED\n-----END EC PRIVATE KEY-----" rest', "PLANTED"],
  ["a private key in a word", "token=-----BEGIN PRIVATE KEY-----\nPLANTED\n-----END PRIVATE KEY-----", "PLANTED"],
  ["a private key after a value that ends its line with a backslash", "token='x\\\n-----BEGIN PRIVATE KEY-----\nPLANTED", "PLANTED"],
  ["a token of the AWS authenticator", "k8s-aws-v1.aHR0cHM6Ly9zdHMPLANTED", "PLANTED"],
  ["an ECR password", "QVdTOmV5SnBZWGxzYjJGa0lqb2lQTEFOVEVE", "QVdTOmV5SnBZ"],
  ["a password", "password=hunter2-PLANTED", "PLANTED"],
  ["a header as Python prints it", "{'X-Amz-Security-Token': b'IQoPLANTED//=', 'Host': 'sts'}", "PLANTED"],
  ["a header as Go prints it", "map[Authorization:[Bearer PLANTED-1] X-Amz-Security-Token:[IQoPLANTED]]", "PLANTED"],
  ["an authorization header of no known scheme", "> Authorization: opaquePLANTED more-PLANTED\n> Host: x", "PLANTED"],
  ["an authorization header of a known scheme", "curl -H 'authorization: token PLANTED'", "PLANTED"],
  ["an authorization and its scheme", "authorization=Bearer PLANTED", "PLANTED"],
  ["a kubeconfig", "users:\n- user:\n    client-key-data: c2VjcmV0PLANTED\n    token: PLANTED\n", "PLANTED"],
  ["a token of a kubeconfig in one line", "{token: PLANTED, name: x}", "PLANTED"],
  ["a compound name and a colon", "got id-token: PLANTED", "PLANTED"],
  ["a name, a colon and something random", "got token: a1PLANTEDb2c3d4e5f6", "PLANTED"],
  ["a private key in base64", "read LS0tLS1CRUdJTiBFQyBQUklWQVRFIEtFWS0tLS0tPLANTED==", "PLANTED"],
  ["a flag and its value", "usage: login --password PLANTED --user x", "PLANTED"],
  ["a struct as Go prints it", "{AccessKeyID:AKIA1 SecretAccessKey:PLANTED SessionToken:PLANTED Source:env}", "PLANTED"],
  ["a cookie", "Set-Cookie: session=PLANTED; id=PLANTED", "PLANTED"],
  ["docker's configuration", '{"auths":{"https://x":{"auth":"UExBTlRFRA"}}}', "UExBTlRFRA"],
  ["a password with an @", "https://user:pl@PLANTED@host/x", "PLANTED"],
  ["a quoted value with blanks", 'password="PLANTED one \\" PLANTED two" rest', "PLANTED"],
  ["a quoted value that does not end", "secret='PLANTED", "PLANTED"],
];

for (const [what, text, secret] of texts) {
  test(`${what} is masked in text`, () => {
    const clean = redact(text);
    assert.ok(!clean.includes(secret), clean);
    assert.match(clean, /\[redacted\]/);
    assert.equal(redact(clean), clean, "masking twice changes nothing");
  });
}

test("ordinary text passes untouched", () => {
  for (const text of [
    'nodes "ip-10-0-0-1" not found',
    "InvalidInstanceID.NotFound: The instance ID 'i-0123' does not exist",
    "the token of the service account expired; renew it",
    "secret kube-system/fairlead-tls does not exist",
    "https://10.0.0.1:6443/api/v1/nodes?watch=true",
    "could not read signature file",
    "cannot renew the token:\nconnection refused",
    "tokens:\n- name: web\n",
    "basic authentication is not supported",
    "cannot renew the token: connection refused",
    'invalid argument "maybe" for "--use-service-account-credentials" flag: invalid syntax',
    "--authorization-always-allow-paths /healthz",
    "subjectaccessreviews.authorization.k8s.io is forbidden: User x",
    'FLAG: --use-service-account-credentials="true"',
    "AWS_WEB_IDENTITY_TOKEN_FILE=/var/run/secrets/eks.amazonaws.com/serviceaccount/token",
    'FLAG: --authentication-token-webhook-cache-ttl="10s"',
  ]) {
    assert.equal(redact(text), text);
  }
});

test("fields are masked by name, whatever their value, and names of secrets are not secrets", () => {
  for (const name of [
    "token",
    "password",
    "Authorization",
    "clientSecret",
    "sessionToken",
    "secretAccessKey",
    "credentials",
    "privateKey",
  ]) {
    assert.ok(isSecretName(name), name);
  }
  for (const name of ["secretName", "tokenFile", "credentialsPath", "tokenExpiresAt", "accessKeyId", "key", "cacheTtl"]) {
    assert.ok(!isSecretName(name), name);
  }
  assert.deepEqual(redactValue({ token: "x", nested: [{ password: "y", user: "z" }], tokens: 3 }), {
    token: "[redacted]",
    nested: [{ password: "[redacted]", user: "z" }],
    tokens: 3,
  });
});

test("errors are masked in their messages, fields and all causes", () => {
  const inner = Object.assign(new Error(`refused Bearer ${jwt}`), { headers: { authorization: "planted" }, code: "EREFUSED" });
  const outer = new AggregateError([new Error(`password=${secretKey}`)], "all failed", { cause: inner });
  const text = JSON.stringify(redactValue(outer, { stacks: true }));
  for (const secret of [jwt, secretKey, '"planted"']) assert.ok(!text.includes(secret), text);
  assert.match(text, /EREFUSED/);
  assert.match(text, /all failed/);
});

test("cycles, depth and bulk are cut instead of followed", () => {
  const circular: Record<string, unknown> = { name: "a" };
  circular.self = circular;
  assert.deepEqual(redactValue(circular), { name: "a", self: "[circular]" });
  let deep: object = {};
  for (let i = 0; i < 50; i++) deep = { deep };
  assert.match(JSON.stringify(redactValue(deep)), /\[deep\]/);
  assert.equal((redactValue(Array.from({ length: 1000 }, () => 1)) as unknown[]).length, 201);
  assert.equal(redactValue(Buffer.from("secret")), "[6 bytes]");
});

test("a secret that the process holds is masked in whatever form a text has", () => {
  rememberSecret("short");
  rememberSecret("quite/PLANTED+value");
  assert.equal(
    redact("a short text says quite/PLANTED+value and quite%2FPLANTED%2Bvalue!"),
    "a short text says [redacted] and [redacted]!",
  );
});

test("what a foreign program prints is masked after every name and colon", () => {
  assert.equal(redact("error: got token: PLANTED", { strict: true }), "error: got token: [redacted]");
});

test("long texts are cut, and a secret that the cut goes through is not shown in part", () => {
  const text = `${"x".repeat(16 * 1024 - 5)} token=PLANTED${"P".repeat(300)}${"y".repeat(100_000)}`;
  const clean = redact(text);
  assert.ok(!clean.includes("PLA"), clean.slice(-80));
  assert.match(clean, /… \(\d+ characters\)$/);
  rememberSecret("of-no-shape-PLANTED-at-all");
  const masks = `token=${"t".repeat(8_000)} `;
  const straddling = `${masks}${".".repeat(20 * 1024 - masks.length - 24)}of-no-shape-PLANTED-at-all and more`;
  assert.ok(!redact(straddling).includes("PLANTED"), "however much was masked before it");
  assert.match(redact(straddling), /^token=\[redacted\] \.+… \(\d+ characters\)$/);
  const many = redactValue(Array.from({ length: 100 }, () => "z".repeat(10_000)));
  assert.ok(JSON.stringify(many).length < 100_000);
});

/** What makes expressions slow: the beginnings of matches, over and over, with what could go on but does not end. */
const pieces = [
  ..."a-b. :=>\"'\\/@\n[({<,;éP1",
  ...[
    "://",
    "a-",
    "eyJ",
    "eyJhbGciOiJSUzI1",
    "-----BEGIN ",
    "-----END ",
    "PRIVATE KEY-----",
    "token",
    "token: ",
    "token=",
    "password",
    '"token":',
  ],
  ...[
    "Authorization: ",
    "bearer ",
    "basic ",
    "AWS4-",
    "QVdTO",
    "k8s-aws-v1.",
    "secret_",
    "--token ",
    "LS0tLS1CRUdJTi",
    "b'",
    '\\"',
    "    ",
  ],
];

test("the work of masking grows with the length of the text and no faster, whatever the text", () => {
  const { random } = virtualWorld(1);
  const pick = () => pieces[Math.floor(random.number() * pieces.length)]!;
  const shapes = [...pieces.map((piece) => [piece]), ...pieces.flatMap((one) => pieces.map((two) => [one, two]))];
  for (let i = 0; i < 500; i++) shapes.push(Array.from({ length: 1 + Math.floor(random.number() * 6) }, pick));
  let worst = 0;
  for (const shape of shapes) {
    const once = shape.join("");
    for (const text of [
      once.repeat(Math.ceil(4_000 / once.length)),
      shape[0] + once.slice(shape[0]!.length).repeat(1_000).slice(0, 4_000),
    ]) {
      const { steps } = findSecrets(text);
      worst = Math.max(worst, steps / text.length);
      assert.ok(steps <= 60 * text.length + 1_000, `${steps} steps for ${text.length} characters of ${JSON.stringify(shape)}`);
    }
  }
  assert.ok(worst > 2, "the texts ask for some work");
});

test("a secret is masked whatever stands in the lines around it", () => {
  const { random } = virtualWorld(2);
  const noise = () =>
    Array.from({ length: Math.floor(random.number() * 12) }, () => pieces[Math.floor(random.number() * pieces.length)]!).join("");
  for (let i = 0; i < 300; i++) {
    for (const [what, text, secret] of texts) {
      const clean = redact(`${noise()}\n${text}\n${noise()}`);
      assert.ok(!clean.includes(secret), `${what}: ${clean}`);
    }
  }
});

test("what a command prints is masked and not cut, however many lines it has", () => {
  const lines = Array.from({ length: 2_000 }, (_, at) => (at === 1_500 ? `token ${jwt}` : `line ${at} ${"x".repeat(30)}`));
  const printed = redactLines(`${lines.join("\n")}\n`);
  assert.equal(printed.split("\n").length, 2_001);
  assert.equal(printed.split("\n").at(-2), lines.at(-1));
  assert.equal(printed.includes(jwt), false);
});
