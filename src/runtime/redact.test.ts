import assert from "node:assert/strict";
import { test } from "node:test";
import { isSecretName, redact, redactValue } from "./redact.ts";

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
  ["credentials in XML", `<SecretAccessKey>${secretKey}</SecretAccessKey><SessionToken>${sessionToken}</SessionToken>`, "PLANTED"],
  ["an ini file", `aws_secret_access_key = ${secretKey}\naws_session_token=${sessionToken}`, "PLANTED"],
  ["a private key", "-----BEGIN EC PRIVATE KEY-----\nPLANTED\n-----END EC PRIVATE KEY-----", "PLANTED"],
  ["a token of the AWS authenticator", "k8s-aws-v1.aHR0cHM6Ly9zdHMPLANTED", "PLANTED"],
  ["an ECR password", "QVdTOmV5SnBZWGxzYjJGa0lqb2lQTEFOVEVE", "QVdTOmV5SnBZ"],
  ["a password", "password=hunter2-PLANTED", "PLANTED"],
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
    "basic authentication is not supported",
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

test("masking a long harmless text takes no noticeable time", () => {
  const text = "token secret ".repeat(1200);
  const start = performance.now();
  for (let i = 0; i < 20; i++) redact(text);
  assert.ok(performance.now() - start < 2_000);
});
