import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transport } from "../runtime/http.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Metadata, MetadataUnavailable } from "./metadata.ts";
import { resolveRegion } from "./regions.ts";
import { noSettings } from "./settings.ts";
import { eventual } from "./testing/eventual.ts";
import { smallMetadata } from "./testing/small-metadata.ts";

const document = JSON.stringify({ instanceId: "i-1", region: "eu-west-1", availabilityZone: "eu-west-1a", accountId: "123456789012" });
const imds = () => smallMetadata({ "meta-data/instance-id": "i-1\n", "dynamic/instance-identity/document": document });
const silent: Transport = () => new Promise(() => {});
/** Answers the head of what `paths` names and never the body; heeds no signal. */
const stalling =
  (service: Transport, ...paths: readonly string[]): Transport =>
  async (request) =>
    paths.some((path) => request.url.pathname.endsWith(path))
      ? { status: 200, headers: {}, body: { [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) } }
      : service(request);

test("one token serves many requests, and a token the service has forgotten is replaced", async () => {
  const world = virtualWorld(1);
  const service = imds();
  const metadata = new Metadata(world, service.transport, noSettings);
  assert.equal(await metadata.instanceId(), "i-1");
  assert.equal(await metadata.region(), "eu-west-1");
  assert.equal(service.requests.filter(({ method }) => method === "PUT").length, 1);
  service.forgetTokens();
  assert.equal(await metadata.instanceId(), "i-1");
  await world.advance(300_000);
  await metadata.instanceId();
  assert.equal(service.requests.filter(({ method }) => method === "PUT").length, 3);
  assert.ok(service.requests.every(({ method, headers }) => method === "PUT" || headers["x-aws-ec2-metadata-token"] !== undefined));
});

test("a token lasts as long as its answer says; one that says nothing of it, or nonsense, lasts as long as it was asked for", async () => {
  for (const [told, renewedAfterMs] of [
    ["60", 48_000],
    ["21600", 240_000],
    [undefined, 240_000],
    ["soon", 240_000],
    ["-1", 240_000],
  ] as const) {
    const world = virtualWorld(1);
    const service = imds();
    const transport: Transport = async (request) => {
      const answer = await service.transport(request);
      const headers = { ...answer.headers, ...(told !== undefined && { "x-aws-ec2-metadata-token-ttl-seconds": told }) };
      return request.method === "PUT" ? { ...answer, headers } : answer;
    };
    const metadata = new Metadata(world, transport, noSettings);
    const tokens = async () => {
      await metadata.instanceId();
      return service.requests.filter(({ method }) => method === "PUT").length;
    };
    assert.equal(await tokens(), 1);
    await world.advance(renewedAfterMs - 1_000);
    assert.equal(await tokens(), 1, `${told}: not before it is due`);
    await world.advance(1_000);
    assert.equal(await tokens(), 2, `${told}: when it is due`);
  }
});

test("what is not there is undefined, and a missing instance id is an error", async () => {
  const metadata = new Metadata(virtualWorld(1), smallMetadata({}).transport, noSettings);
  assert.equal(await metadata.get("meta-data/nothing"), undefined);
  await assert.rejects(metadata.instanceId(), MetadataUnavailable);
  await assert.rejects(metadata.identity(), /not valid JSON/);
});

test("no answer to the token request is explained by the hop limit, within five seconds", async () => {
  const world = virtualWorld(1);
  const metadata = new Metadata(world, silent, noSettings);
  await assert.rejects(eventual(world, metadata.instanceId()), /gave no answer to the token request: .*hop limit of 1/);
  assert.ok(world.clock.monotonic() <= 5_000);
});

test("a body that stalls, of the token or of the answer, is given up within five seconds", async () => {
  for (const path of ["/api/token", "/instance-id"]) {
    const world = virtualWorld(1);
    const metadata = new Metadata(world, stalling(imds().transport, path), noSettings);
    await assert.rejects(eventual(world, metadata.instanceId()), MetadataUnavailable, path);
    assert.ok(world.clock.monotonic() <= 5_000, path);
  }
});

test("a refused connection is tried three times and says where", async () => {
  const world = virtualWorld(1);
  let tries = 0;
  const refused: Transport = async () => {
    tries++;
    throw new Error("connect ECONNREFUSED");
  };
  await assert.rejects(
    eventual(world, new Metadata(world, refused, noSettings).instanceId()),
    /at http:\/\/169\.254\.169\.254 cannot be used: connect ECONNREFUSED/,
  );
  assert.equal(tries, 3);
});

test("where it is comes from the override, then the environment; switching it off beats both", async () => {
  const at = async (environment: Record<string, string>, url?: string) => {
    const seen: string[] = [];
    const service = imds();
    const world = virtualWorld(1, { environment });
    const override = { id: "m", service: "ec2imds", region: "anywhere", url: url ?? "", signingRegion: "x" };
    const settings = url === undefined ? noSettings : { serviceOverrides: [override] };
    const transport: Transport = (request) => {
      seen.push(request.url.origin);
      return service.transport(request);
    };
    await new Metadata(world, transport, settings).instanceId();
    return seen[0];
  };
  assert.equal(await at({ AWS_EC2_METADATA_SERVICE_ENDPOINT: "http://env:1/" }, "http://override:2/"), "http://override:2");
  assert.equal(await at({ AWS_EC2_METADATA_SERVICE_ENDPOINT: "http://env:1/" }), "http://env:1");
  assert.equal(await at({ AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE: "IPv6" }), "http://[fd00:ec2::254]");
  await assert.rejects(at({ AWS_EC2_METADATA_DISABLED: "true" }, "http://override:2"), /switched off by AWS_EC2_METADATA_DISABLED/);
});

test("the region is asked of the metadata service last, and its failure tells all that was tried", async () => {
  const world = virtualWorld(1);
  const service = imds();
  const metadata = new Metadata(world, service.transport, noSettings);
  const find = async (settings: object, environment: Record<string, string>) =>
    (await resolveRegion({ ...noSettings, ...settings }, environment, metadata)).region;
  assert.equal(await find({ zone: "us-west-2-lax-1a", region: "x" }, { AWS_REGION: "y" }), "us-west-2");
  assert.equal(await find({ region: "us-east-2" }, { AWS_REGION: "y" }), "us-east-2");
  assert.equal(await find({}, { AWS_REGION: "ap-south-1", AWS_DEFAULT_REGION: "y" }), "ap-south-1");
  assert.equal(await find({}, { AWS_DEFAULT_REGION: "ap-south-2" }), "ap-south-2");
  assert.equal(service.requests.length, 0);
  assert.equal(await find({}, {}), "eu-west-1");

  const unreachable = resolveRegion(noSettings, {}, new Metadata(world, silent, noSettings));
  await assert.rejects(
    eventual(world, unreachable),
    /no Zone or Region configured, neither AWS_REGION .* Set Region in the \[Global\] section/,
  );
});
