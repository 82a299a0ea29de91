import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { hostArchitecture } from "../../deploy/build/architecture.ts";
import { bun } from "../../deploy/build/bun.ts";
import { buildInto, credentialProvider } from "../../deploy/build/credential-provider.ts";
import { realWorld } from "../../src/runtime/world.ts";
import { issueCertificate } from "../../src/runtime/x509.ts";
import { mainFile } from "../bed/process.ts";
import { double, giveToken, host, keys, password, refuse, requestFor, run } from "./ecr-double.ts";

const secrets = new RegExp(`${password}|${keys.AWS_SECRET_ACCESS_KEY}|signature-of-the-pod`);

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "fairlead-ecr-"));
  t.after(() => rm(path, { recursive: true, force: true }));
  return path;
}

test("the executable answers a request on standard output alone", async (t) => {
  const ecr = await double(t);
  const { status, stdout, stderr } = await run({ environment: { AWS_ENDPOINT_URL: ecr.url } });
  assert.equal(status, 0, stderr);
  assert.equal(
    stdout,
    `{"kind":"CredentialProviderResponse","apiVersion":"credentialprovider.kubelet.k8s.io/v1","cacheKeyType":"Registry","cacheDuration":"5h59m59s","auth":{"${host}":{"username":"AWS","password":"${password}"}}}\n`.replace(
      "5h59m59s",
      /"cacheDuration":"(6h0m0s|5h59m59s)"/.exec(stdout)?.[1] ?? "none",
    ),
  );
  assert.equal(ecr.calls.length, 1);
  assert.match(ecr.calls[0]!.headers.authorization!, /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-west-2\/ecr\/aws4_request/);
  assert.match(stderr, /^I\d{4} \d\d:\d\d:\d\d\.\d{6} +\d+ plugin:1\] Getting creds for private image /);
  assert.doesNotMatch(stderr, secrets);
});

test("its own name, its version and its usage", async () => {
  const version = await run({ args: ["--version"], stayOpen: true });
  assert.match(version.stdout, /^ecr-credential-provider version v\d+\.\d+\.\d+\S*\n$/);
  const unknown = await run({ args: ["--foo"], stayOpen: true });
  assert.deepEqual([unknown.status, unknown.stdout], [1, ""]);
  assert.match(unknown.stderr, /^Error: unknown flag: --foo\nUsage:/);
});

test("malformed, truncated, oversized and wrong-version requests end with status 1, a cause, and nothing on standard output", async () => {
  const token = `header.payload.signature-of-the-pod`;
  for (const [input, cause] of [
    ["", /unexpected end of JSON input/],
    ["not json signature-of-the-pod", /json parse error/],
    [requestFor(undefined, { serviceAccountToken: token }).slice(0, -20), /json parse error/],
    [`${requestFor()}trailing`, /json parse error/],
    [Buffer.from([0xff, 0xfe, 0x00]), /json parse error/],
    [" ".repeat(5 * 1024 * 1024), /the request is longer than 4194304 bytes/],
    [
      requestFor(undefined, { apiVersion: "credentialprovider.kubelet.k8s.io/v2" }),
      /group version credentialprovider.kubelet.k8s.io\/v2 is not supported/,
    ],
    [requestFor(undefined, { kind: null, serviceAccountToken: token }), /Object 'Kind' is missing/],
    [
      requestFor(undefined, { kind: "CredentialProviderResponse" }),
      /kind was "CredentialProviderResponse", expected CredentialProviderRequest/,
    ],
    [requestFor(""), /image in plugin request was empty/],
    [requestFor("nginx:1.2"), /invalid port ":1.2" after host/],
  ] as const) {
    const { status, stdout, stderr } = await run({ input });
    assert.deepEqual([status, stdout], [1, ""], stderr);
    assert.match(stderr, /Error running credential provider plugin: /);
    assert.match(stderr, cause);
    assert.doesNotMatch(stderr, secrets);
  }
});

test("an image name of 64 KB is answered like any other", async (t) => {
  const ecr = await double(t);
  const { status, stdout, stderr } = await run({
    input: requestFor(`${host}/${"a".repeat(64 * 1024)}`),
    environment: { AWS_ENDPOINT_URL: ecr.url },
  });
  assert.equal(status, 0, stderr);
  assert.deepEqual(Object.keys(JSON.parse(stdout).auth), [host]);
});

test("endpoints that fail in every way leave status 1, a cause and no secret", async (t) => {
  const cases: readonly (readonly [Parameters<typeof double>[1], RegExp, Record<string, string>?])[] = [
    [() => {}, /ECR: GetAuthorizationToken, the time limit of 1s ran out in attempt 1 at 127.0.0.1:\d+: no answer/],
    [(_, response) => void response.writeHead(200).write("{"), /the time limit of 1s ran out/],
    [(_, response) => void response.destroy(), /exceeded maximum number of attempts, 3|the time limit of 1s ran out/],
    [refuse(400, "ThrottlingException"), /the time limit of 1s ran out in attempt \d at .*ThrottlingException/],
    [
      refuse(500, "ServerException"),
      /exceeded maximum number of attempts, 3, https response error StatusCode: 500, RequestID: request-of-the-double/,
    ],
    [
      refuse(400, "AccessDeniedException"),
      /StatusCode: 400, RequestID: request-of-the-double, api error AccessDeniedException: refused with/,
    ],
    [(_, response) => void response.end("<html>not what you asked for</html>"), /deserialization failed/],
    [(_, response) => void response.writeHead(302, { location: "http://127.0.0.1:1/" }).end(), /StatusCode: 302/],
    [(_, response) => void response.end("x".repeat(3 * 1024 * 1024)), /the answer is longer than/],
  ];
  await Promise.all(
    cases.map(async ([answer, cause]) => {
      const ecr = await double(t, answer);
      const finished = await run({ environment: { AWS_ENDPOINT_URL: ecr.url, ECR_CREDENTIAL_PROVIDER_TIMEOUT: "1s" } });
      assert.deepEqual([finished.status, finished.stdout], [1, ""], finished.stderr);
      assert.match(finished.stderr, cause);
      assert.doesNotMatch(finished.stderr, secrets);
    }),
  );
});

test("nobody listening is reported with the address", async () => {
  const { status, stderr } = await run({ environment: { AWS_ENDPOINT_URL: "http://127.0.0.1:1", AWS_MAX_ATTEMPTS: "2" } });
  assert.equal(status, 1);
  assert.match(stderr, /POST http:\/\/127.0.0.1:1: exceeded maximum number of attempts, 2, /);
});

test("a slow answer is waited for, and an expired token is passed on for this pull alone", async (t) => {
  const slow = await double(t, (call, response) => void setTimeout(() => giveToken()(call, response), 700));
  assert.equal((await run({ environment: { AWS_ENDPOINT_URL: slow.url } })).status, 0);
  const expired = await double(t, giveToken(-100));
  assert.match((await run({ environment: { AWS_ENDPOINT_URL: expired.url } })).stdout, /"cacheDuration":"0s","auth":\{"/);
});

test("nothing in the surroundings steers it: .env, bunfig.toml, package.json, NODE_OPTIONS, BUN_BE_BUN and their kin", async (t) => {
  const ecr = await double(t);
  const evil = await double(t);
  const cwd = await folder(t);
  const trap = join(cwd, "trap.js");
  const sprung = join(cwd, "sprung");
  await writeFile(trap, `require("node:fs").writeFileSync(${JSON.stringify(sprung)}, "yes"); console.log("trap");`);
  await writeFile(join(cwd, ".env"), `AWS_ENDPOINT_URL_ECR=${evil.url}\nAWS_ACCESS_KEY_ID=EVIL\n`);
  await writeFile(join(cwd, ".env.local"), `AWS_ENDPOINT_URL_ECR=${evil.url}\n`);
  await writeFile(join(cwd, "bunfig.toml"), `preload = [${JSON.stringify(trap)}]\n`);
  await writeFile(join(cwd, ".bunfig.toml"), `preload = [${JSON.stringify(trap)}]\n`);
  await writeFile(join(cwd, "package.json"), `{"type":"module","imports":{"#x":"./trap.js"},"browser":{"node:fs":"./trap.js"}}`);
  await writeFile(join(cwd, "tsconfig.json"), `{"compilerOptions":{"paths":{"*":["./trap.js"]}}}`);
  const environment: Record<string, string> = { AWS_ENDPOINT_URL: ecr.url, HOME: cwd, XDG_CONFIG_HOME: cwd };
  await run({ executable: await bun(hostArchitecture()), args: ["-e", "0"], environment: { BUN_OPTIONS: `--preload ${trap}` } });
  assert.equal(await readFile(sprung, "utf8"), "yes", "the trap works on a Bun that is not sealed");
  await rm(sprung);
  const plain = await run({ environment: { AWS_ENDPOINT_URL: ecr.url } });
  const traps: readonly Record<string, string>[] = [
    {},
    { NODE_OPTIONS: `--require ${trap}` },
    { NODE_OPTIONS: "--version" },
    { BUN_BE_BUN: "1" },
    { BUN_OPTIONS: `--preload ${trap}` },
    { BUN_OPTIONS: "--version" },
    { BUN_INSPECT: "ws://127.0.0.1:0/x?wait=1", BUN_INSPECT_PRELOAD: trap },
    { BUN_CONFIG_VERBOSE_FETCH: "curl" },
    { BUN_CONFIG_MAX_HTTP_REQUESTS: "0", BUN_CONFIG_HTTP_IDLE_TIMEOUT: "1" },
    { NODE_DEBUG: "http,net,tls", DEBUG: "*" },
    { NODE_PATH: cwd, NODE_CHANNEL_FD: "1" },
    { BUN_BYTECODE_ORDER_OUT: sprung },
  ];
  for (const planted of traps) {
    const finished = await run({ environment: { ...environment, ...planted }, cwd });
    assert.equal(finished.status, 0, JSON.stringify(planted) + finished.stderr);
    assert.equal(withoutDuration(finished.stdout), withoutDuration(plain.stdout), JSON.stringify(planted));
    assert.equal(finished.stderr.trim().split("\n").length, 2, finished.stderr);
    assert.doesNotMatch(finished.stderr, secrets);
    await assert.rejects(readFile(sprung), { code: "ENOENT" }, JSON.stringify(planted));
  }
  assert.equal(evil.calls.length, 0);
});

test("it is the same program under any name", async (t) => {
  const ecr = await double(t);
  const path = join(await folder(t), "bun");
  await symlink(await credentialProvider(hostArchitecture()), path);
  assert.equal((await run({ executable: path, environment: { AWS_ENDPOINT_URL: ecr.url } })).status, 0);
});

test("as a command of fairlead it answers as the executable does", async (t) => {
  const ecr = await double(t);
  const options = { executable: process.execPath, environment: { AWS_ENDPOINT_URL: ecr.url } };
  const answered = await run({ ...options, args: [mainFile, "ecr-credential-provider"] });
  assert.equal(answered.status, 0, answered.stderr);
  assert.equal(JSON.parse(answered.stdout).auth[host].password, password);
  const refused = await run({ ...options, args: [mainFile, "ecr-credential-provider"], input: "" });
  assert.deepEqual([refused.status, refused.stdout], [1, ""]);
});

test("TLS is verified against the machine's certificates and AWS_CA_BUNDLE, and nothing switches that off", async (t) => {
  const world = realWorld();
  const [notBefore, notAfter] = [-1, 1].map((day) => new Date(world.clock.now() + day * 86_400_000)) as [Date, Date];
  const pair = issueCertificate(world.random, { commonName: "double", hosts: ["127.0.0.1"], usage: "server", notBefore, notAfter });
  const cert = join(await folder(t), "cert.pem");
  await writeFile(cert, pair.cert);
  const ecr = await double(t, giveToken(), pair);
  const environment = { AWS_ENDPOINT_URL: ecr.url, AWS_MAX_ATTEMPTS: "1" };
  const trusted = await run({ environment: { ...environment, AWS_CA_BUNDLE: cert } });
  assert.equal(trusted.status, 0, trusted.stderr);
  for (const planted of [{}, { NODE_TLS_REJECT_UNAUTHORIZED: "0" }, { NODE_EXTRA_CA_CERTS: cert }] as Record<string, string>[]) {
    const refused = await run({ environment: { ...environment, ...planted } });
    assert.equal(refused.status, 1, JSON.stringify(planted));
    assert.match(refused.stderr, /unable to verify the first certificate/);
  }
  assert.equal(ecr.calls.length, 1);
});

test("a proxy is asked to connect to the endpoint of the host's kind, and passed by where NO_PROXY says so", async (t) => {
  const asked: string[] = [];
  const proxy = createServer((_, response) => void response.writeHead(500).end());
  proxy.on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    socket.on("error", () => {});
    socket.end("HTTP/1.1 502 Bad Gateway\r\n\r\n");
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    proxy.close();
    proxy.closeAllConnections();
  });
  const environment = { HTTPS_PROXY: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`, AWS_MAX_ATTEMPTS: "1" };
  const fips = await run({ input: requestFor("123456789012.dkr-ecr-fips.us-west-2.on.aws/a"), environment });
  assert.equal(fips.status, 1);
  assert.deepEqual(asked, ["ecr-fips.us-west-2.api.aws:443"]);
  const ecr = await double(t);
  const direct = await run({ environment: { ...environment, HTTP_PROXY: environment.HTTPS_PROXY, AWS_ENDPOINT_URL: ecr.url } });
  assert.equal(direct.status, 0, direct.stderr);
  assert.equal(asked.length, 1);
});

test("the instance's role is found by the metadata service", async (t) => {
  const root = "/latest/meta-data/iam/security-credentials/";
  const aws = await double(t, (call, response) => {
    if (call.method === "PUT" && call.path === "/latest/api/token") return void response.end("session");
    if (call.headers["x-aws-ec2-metadata-token"] === "session") {
      if (call.path === root) return void response.end("node-role");
      const document = { Code: "Success", AccessKeyId: "ASIANODE", SecretAccessKey: "node-secret-key", Token: "node-session-token" };
      if (call.path === `${root}node-role`) return void response.end(JSON.stringify(document));
    }
    giveToken()(call, response);
  });
  const environment = { AWS_ENDPOINT_URL: aws.url, AWS_EC2_METADATA_SERVICE_ENDPOINT: aws.url, ...unset };
  const { status, stderr } = await run({ environment });
  assert.equal(status, 0, stderr);
  assert.match(aws.calls.at(-1)!.headers.authorization!, /Credential=ASIANODE/);
  assert.match(stderr, /credentials="instance role node-role"/);
});

test("profiles with an external process and with a role over another profile work, by the SDK inside", async (t) => {
  const where = await folder(t);
  const sts = `<AssumeRoleResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleResult><Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;
  const aws = await double(t, (call, response) =>
    call.body.includes("Action=AssumeRole")
      ? void response.writeHead(200, { "content-type": "text/xml" }).end(sts)
      : giveToken()(call, response),
  );
  await writeFile(
    join(where, "config"),
    `[profile process]
credential_process = /bin/echo '{"Version":1,"AccessKeyId":"AKIDPROCESS","SecretAccessKey":"x"}'
[profile base]
aws_access_key_id = AKIDBASE
aws_secret_access_key = x
[profile role]
role_arn = arn:aws:iam::123456789012:role/x
source_profile = base
`,
  );
  for (const [profile, signer] of [
    ["process", "AKIDPROCESS"],
    ["base", "AKIDBASE"],
    ["role", "ASIAROLE"],
  ]) {
    const environment = {
      ...unset,
      AWS_ENDPOINT_URL: aws.url,
      AWS_CONFIG_FILE: join(where, "config"),
      AWS_PROFILE: profile!,
      PATH: "/usr/bin:/bin",
    };
    const { status, stderr } = await run({ environment });
    assert.equal(status, 0, stderr);
    assert.match(aws.calls.at(-1)!.headers.authorization!, new RegExp(`Credential=${signer}/`));
  }
});

test("the builds for both architectures are what their checksums say, and need no glibc after 2.17", async (t) => {
  const where = await folder(t);
  for (const path of await buildInto(where, ["amd64", "arm64"])) {
    const digest = createHash("sha256")
      .update(await readFile(path))
      .digest("hex");
    assert.equal(await readFile(`${path}.sha256`, "utf8"), `${digest}\n`);
    const text = (await readFile(path)).toString("latin1");
    const versions = [...text.matchAll(/GLIBC_(\d+)\.(\d+)/g)].map(([, major, minor]) => Number(major) * 1000 + Number(minor));
    assert.ok(versions.length > 0);
    assert.ok(Math.max(...versions) <= 2017, path);
  }
});

test("the arm64 build answers, under emulation", async (t) => {
  const under = ["qemu-aarch64-static", "-L", "/usr/aarch64-linux-gnu"];
  const executable = await credentialProvider("arm64");
  const native = hostArchitecture() === "arm64";
  const probe = native ? undefined : spawnSync(under[0]!, [...under.slice(1), executable, "--version"], { encoding: "utf8" });
  if (probe !== undefined && probe.status !== 0) {
    return t.skip("needs qemu-aarch64-static and the arm64 C library (Debian: qemu-user-static, libc6-arm64-cross)");
  }
  const ecr = await double(t);
  for (const planted of [{}, { BUN_BE_BUN: "1" }, { BUN_OPTIONS: "--version" }] as Record<string, string>[]) {
    const { status, stdout, stderr } = await run({
      executable,
      environment: { AWS_ENDPOINT_URL: ecr.url, ...planted },
      ...(native ? {} : { under }),
    });
    assert.equal(status, 0, stderr);
    assert.equal(JSON.parse(stdout).auth[host].password, password);
  }
});

/** Takes the static keys out again. */
const unset = { AWS_ACCESS_KEY_ID: "", AWS_SECRET_ACCESS_KEY: "", AWS_EC2_METADATA_DISABLED: "" };

function withoutDuration(text: string): string {
  return text.replace(/"cacheDuration":"[^"]*"/, "");
}
