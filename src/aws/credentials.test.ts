import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpResponse, Transport } from "../runtime/http.ts";
import type { Log } from "../runtime/log.ts";
import { type VirtualWorldOptions, virtualWorld } from "../sandbox/virtual-clock.ts";
import { kept } from "./credentials.ts";
import { describeInstances } from "./ec2-actions.ts";
import { isAwsError } from "./errors.ts";
import { type AwsSettings, noSettings } from "./settings.ts";
import { eventual } from "./testing/eventual.ts";
import { cloudOver, failure, instanceId, SmallEc2, testKeys, xml } from "./testing/small-ec2.ts";
import { smallMetadata } from "./testing/small-metadata.ts";

const ask = { cause: "test", signal: new AbortController().signal };
const region = "us-east-1";

/** A cloud whose other services are told apart by host. */
async function bed(options: VirtualWorldOptions, hosts: Record<string, Transport> = {}, settings: AwsSettings = { ...noSettings, region }) {
  const world = virtualWorld(1, options);
  const ec2 = new SmallEc2([{ id: instanceId(0) }]);
  const transport: Transport = (request) => (hosts[request.url.host] ?? ec2.transport)(request);
  const logged: string[] = [];
  const write = (...line: readonly unknown[]) => logged.push(JSON.stringify(line));
  const log: Log = {
    error: write,
    warn: write,
    info: write,
    v: () => log,
    with: (fields) => ({ ...log, info: (...line) => write(fields, ...line) }),
  };
  const { cloud } = await cloudOver({ transport }, world, { settings, log });
  const lookup = () => eventual(world, cloud.call(describeInstances, { InstanceIds: [instanceId(0)] }, ask));
  const keyUsed = async () => {
    await lookup();
    return /Credential=([^/]*)/.exec(ec2.calls.at(-1)!.request.headers.authorization ?? "")?.[1];
  };
  return { world, ec2, lookup, keyUsed, logged };
}

const keys = (id: string, expiration?: string) =>
  JSON.stringify({
    AccessKeyId: id,
    SecretAccessKey: "planted-secret",
    Token: "planted-token",
    ...(expiration ? { Expiration: expiration } : {}),
  });

test("keys in the environment are used, else those of the profile", async () => {
  const files = {
    "/home/me/.aws/credentials":
      "[default]\naws_access_key_id = FILE\naws_secret_access_key = s\n[other]\naws_access_key_id=OTHER\naws_secret_access_key=s",
  };
  assert.equal(await (await bed({ environment: { ...testKeys, HOME: "/home/me" }, files })).keyUsed(), "AKIDEXAMPLE");
  assert.equal(await (await bed({ environment: { HOME: "/home/me", AWS_PROFILE: "other" }, files })).keyUsed(), "OTHER");
  assert.equal(await (await bed({ environment: { HOME: "/home/me" }, files })).keyUsed(), "FILE");
});

test("a web identity token is exchanged at the regional STS, unsigned, and read anew each time", async () => {
  const exchanges: URLSearchParams[] = [];
  const sts: Transport = async (request) => {
    assert.equal(request.headers.authorization, undefined);
    exchanges.push(new URLSearchParams(String(request.body)));
    return assumed("AssumeRoleWithWebIdentity", `WEB${exchanges.length}`, Date.UTC(2026, 0, 1, exchanges.length));
  };
  const environment = { AWS_WEB_IDENTITY_TOKEN_FILE: "/token", AWS_ROLE_ARN: "arn:aws:iam::1:role/r", HOME: "/" };
  const { world, keyUsed, logged } = await bed({ environment, files: { "/token": "a-token\n" } }, { "sts.us-east-1.amazonaws.com": sts });
  assert.equal(await keyUsed(), "WEB1");
  assert.ok(logged.some((line) => line.includes("AssumeRoleWithWebIdentity")));
  assert.doesNotMatch(logged.join("\n"), /a-token|planted/);
  assert.equal(exchanges[0]?.get("WebIdentityToken"), "a-token");
  await world.advance(50 * 60_000);
  assert.equal(await keyUsed(), "WEB1");
  await world.advance(6 * 60_000);
  assert.equal(await keyUsed(), "WEB2");
});

test("the container endpoint is asked with its token, and never over plain HTTP beyond this host", async () => {
  const agent: Transport = async (request) => answer(request.headers.authorization === "pod" ? keys("POD") : "{}");
  const environment = {
    HOME: "/",
    AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://169.254.170.23/v1",
    AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: "/t",
  };
  assert.equal(await (await bed({ environment, files: { "/t": "pod" } }, { "169.254.170.23": agent })).keyUsed(), "POD");
  const elsewhere = await bed({ environment: { HOME: "/", AWS_CONTAINER_CREDENTIALS_FULL_URI: "http://example.com/" } });
  await assert.rejects(elsewhere.lookup(), /neither HTTPS nor an address of this host/);
});

test("a container endpoint whose body stalls fails the call within seconds, and is asked anew by the next", async () => {
  let stalls = true;
  const never = { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
  const agent: Transport = async () => (stalls ? { status: 200, headers: {}, body: never } : answer(keys("POD")));
  const environment = { HOME: "/", AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/creds" };
  const { world, lookup, keyUsed } = await bed({ environment }, { "169.254.170.2": agent });
  await assert.rejects(lookup(), /no answer within 5000 ms/);
  assert.ok(world.clock.monotonic() < 30_000);
  stalls = false;
  await world.advance(2_000);
  assert.equal(await keyUsed(), "POD");
});

test("keys that are about to expire are asked for once a minute, not at every call, until newer ones come", async () => {
  let given = 0;
  let expiresAt = Date.UTC(2026, 0, 1, 0, 4);
  const agent: Transport = async () => answer(keys(`POD${++given}`, new Date(expiresAt).toISOString()));
  const environment = { HOME: "/", AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/creds" };
  const { world, keyUsed } = await bed({ environment }, { "169.254.170.2": agent });
  for (let call = 0; call < 10; call++) assert.equal(await keyUsed(), "POD1");
  await world.advance(61_000);
  for (let call = 0; call < 10; call++) assert.equal(await keyUsed(), "POD2");
  expiresAt = Date.UTC(2026, 0, 1, 6);
  await world.advance(3 * 60_000);
  for (let call = 0; call < 10; call++) assert.equal(await keyUsed(), "POD3");
});

test("a source that never settles fails its callers in the end, and is tried anew", async () => {
  const world = virtualWorld(1);
  let tries = 0;
  const source = kept(world, () => (++tries === 1 ? new Promise(() => {}) : Promise.resolve({ accessKeyId: "A", secretAccessKey: "s" })));
  await assert.rejects(eventual(world, source.get(ask.signal)), /AWS credentials: no answer within/);
  await world.advance(1_000);
  assert.equal((await source.get(ask.signal)).accessKeyId, "A");
});

test("while newer keys are long in coming, those that still work are used; once they do not, everybody waits", async () => {
  const world = virtualWorld(1);
  const expiresAt = world.clock.now() + 4 * 60_000;
  let tries = 0;
  const source = kept(world, () =>
    ++tries === 1 ? Promise.resolve({ accessKeyId: "A", secretAccessKey: "s", expiresAt }) : new Promise(() => {}),
  );
  await source.get(ask.signal);
  await world.advance(61_000);
  const since = world.clock.monotonic();
  const [first, second] = [source.get(ask.signal), source.get(ask.signal)];
  assert.equal((await eventual(world, second)).accessKeyId, "A");
  assert.equal(world.clock.monotonic(), since, "who comes meanwhile does not wait");
  assert.equal((await eventual(world, first)).accessKeyId, "A");
  assert.ok(world.clock.monotonic() - since <= 10_000, "who asked for newer ones waits a little");
  assert.equal(tries, 2);
  await world.advance(expiresAt - world.clock.now());
  await assert.rejects(eventual(world, source.get(ask.signal)), /AWS credentials: no answer within/);
});

test("the instance's role is the last resort; without it the error lists where keys were looked for", async () => {
  const imds = smallMetadata({
    "meta-data/iam/security-credentials/": "node-role",
    "meta-data/iam/security-credentials/node-role": keys("ROLE"),
  });
  assert.equal(await (await bed({ environment: { HOME: "/" } }, { "169.254.169.254": imds.transport })).keyUsed(), "ROLE");
  const none = await bed({ environment: { HOME: "/", AWS_EC2_METADATA_DISABLED: "true" } });
  const failed = await none.lookup().catch((error: unknown) => error);
  assert.ok(isAwsError(failed, "credentials"));
  assert.match(failed.message, /cannot get AWS credentials from the instance's role \(no keys, .*\): .*AWS_EC2_METADATA_DISABLED/);
  assert.equal(none.ec2.calls.length, 0);
});

test("a configured role is assumed for a quarter of an hour, on behalf of its account, and again before it ends", async () => {
  const assumptions: { readonly headers: Readonly<Record<string, string>>; readonly parameters: URLSearchParams }[] = [];
  let now = () => 0;
  const sts: Transport = async (request) => {
    assumptions.push({ headers: request.headers, parameters: new URLSearchParams(String(request.body)) });
    return assumed("AssumeRole", `ROLE${assumptions.length}`, now() + 900_000);
  };
  const settings = { ...noSettings, region, roleArn: "arn:aws:iam::210987654321:role/ccm", sourceArn: "arn:aws:eks:us-east-1:1:cluster/c" };
  const { world, keyUsed } = await bed({ environment: testKeys }, { "sts.us-east-1.amazonaws.com": sts }, settings);
  now = () => world.clock.now();
  assert.equal(await keyUsed(), "ROLE1");
  const [{ headers, parameters } = assert.fail()] = assumptions;
  assert.deepEqual([headers["x-amz-source-account"], headers["x-amz-source-arn"]], ["210987654321", settings.sourceArn]);
  assert.match(headers.authorization ?? "", /Credential=AKIDEXAMPLE.*SignedHeaders=[^,]*x-amz-source-account;x-amz-source-arn/);
  assert.equal(parameters.get("DurationSeconds"), "900");
  await world.advance(700_000);
  assert.equal(await keyUsed(), "ROLE2");
});

test("keys that AWS calls expired are replaced once, and the call goes on", async () => {
  let given = 0;
  const agent: Transport = async () => answer(keys(`KEY${++given}`));
  const environment = { HOME: "/", AWS_CONTAINER_CREDENTIALS_RELATIVE_URI: "/creds" };
  const { ec2, keyUsed, lookup } = await bed({ environment }, { "169.254.170.2": agent });
  ec2.fault = ({ request }) =>
    request.headers.authorization?.includes("KEY1/") ? failure(400, "ExpiredToken", "The security token has expired") : undefined;
  assert.equal(await keyUsed(), "KEY2");
  ec2.fault = () => failure(400, "RequestExpired", "Request has expired");
  const failed = await lookup().catch((error: unknown) => error);
  assert.ok(isAwsError(failed, "expired-credentials"));
  assert.doesNotMatch(JSON.stringify(failed) + (failed as Error).stack, /planted/);
});

function answer(body: string): HttpResponse {
  return { ...xml(""), body: bytes(body) };
}

async function* bytes(body: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(body);
}

function assumed(action: string, id: string, expiresAt: number): HttpResponse {
  return xml(
    `<${action}Response><${action}Result><Credentials><AccessKeyId>${id}</AccessKeyId><SecretAccessKey>planted-secret</SecretAccessKey>` +
      `<SessionToken>planted-token</SessionToken><Expiration>${new Date(expiresAt).toISOString()}</Expiration></Credentials></${action}Result></${action}Response>`,
  );
}
