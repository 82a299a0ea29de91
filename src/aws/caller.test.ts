import assert from "node:assert/strict";
import { test } from "node:test";
import { dryRunGate, WriteRefused } from "../runtime/gate.ts";
import type { Log } from "../runtime/log.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { createTags, describeInstances } from "./ec2-actions.ts";
import { AwsError, isAwsError } from "./errors.ts";
import { eventual } from "./testing/eventual.ts";
import { cloudOver, failure, instanceId, SmallEc2, testKeys } from "./testing/small-ec2.ts";

const ask = { cause: "test", signal: new AbortController().signal };
const input = { InstanceIds: [instanceId(0)] };

async function bed(options: Parameters<typeof cloudOver>[2] = {}, seed = 1) {
  const world = virtualWorld(seed, { environment: testKeys });
  const ec2 = new SmallEc2([{ id: instanceId(0) }, { id: instanceId(1) }]);
  const { cloud, metrics } = await cloudOver(ec2, world, options);
  return { world, ec2, cloud, metrics };
}

test("a signed request depends on nothing but the world it is sent from", async () => {
  const send = async () => {
    const { world, ec2, cloud } = await bed();
    await eventual(world, cloud.call(describeInstances, input, ask));
    return ec2.calls[0]!.request;
  };
  const [first, second] = [await send(), await send()];
  assert.deepEqual(first.headers, second.headers);
  assert.equal(first.headers["x-amz-date"], "20260101T000000Z");
  assert.match(first.headers["user-agent"] ?? "", /^fairlead\/0\.0\.0-test/);
  assert.equal(first.headers["amz-sdk-invocation-id"], undefined);
});

test("a call reads neither the machine's clock nor its random numbers", async () => {
  const { world, cloud } = await bed();
  const forbidden = () => {
    throw new Error("reached for the machine");
  };
  const originals = { now: Date.now, random: Math.random, randomUUID: crypto.randomUUID, getRandomValues: crypto.getRandomValues };
  const replace = (with_: typeof originals) => {
    Date.now = with_.now;
    Math.random = with_.random;
    crypto.randomUUID = with_.randomUUID;
    crypto.getRandomValues = with_.getRandomValues;
  };
  const call = eventual(world, cloud.instances.lookup(instanceId(0), ask));
  replace({ now: forbidden, random: forbidden, randomUUID: forbidden, getRandomValues: forbidden });
  try {
    assert.equal((await call).kind, "found");
  } finally {
    replace(originals);
  }
});

test("a read is tried again after a lost connection, and the ledger shows one call of two attempts", async () => {
  const { world, ec2, cloud, metrics } = await bed();
  ec2.fault = (_, count) => {
    if (count === 1) throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
    return undefined;
  };
  await eventual(world, cloud.call(describeInstances, input, ask));
  assert.equal(ec2.calls.length, 2);
  const [record] = cloud.ledger.latest;
  assert.equal(cloud.ledger.latest.length, 1);
  assert.deepEqual([record?.outcome, record?.attempts, record?.requestId, record?.cause], ["ok", 2, "request-1", "test"]);
  assert.match(await metrics.metrics(), /fairlead_aws_attempts_total\{service="ec2",operation="DescribeInstances",outcome="transient"\} 1/);
});

test("a write whose answer was lost is not sent again unless that is harmless", async () => {
  const { world, ec2, cloud } = await bed();
  ec2.fault = () => {
    throw Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
  };
  const tags = { Resources: [instanceId(0)], Tags: [{ Key: "a", Value: "b" }] };
  const lost = await eventual(
    world,
    cloud.call(createTags, tags, ask).catch((error: unknown) => error),
  );
  assert.ok(isAwsError(lost, "transient") && lost.mayHaveHappened);
  assert.equal(ec2.calls.length, 1);

  await assert.rejects(eventual(world, cloud.call(createTags, tags, { ...ask, repeatable: true })));
  assert.equal(ec2.calls.length, 1 + 4);
});

test("a write that never reached AWS, and one that was throttled, are sent again", async () => {
  const { world, ec2, cloud } = await bed();
  ec2.fault = (_, count) => {
    if (count === 1) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    return count === 2 ? failure(503, "RequestLimitExceeded", "Request limit exceeded.") : undefined;
  };
  await eventual(world, cloud.call(createTags, { Resources: [instanceId(0)], Tags: [{ Key: "a", Value: "b" }] }, ask));
  assert.equal(ec2.calls.length, 3);
});

test("no write passes a closed gate, and every attempt asks it anew", async () => {
  const noted: string[] = [];
  const dry = await bed({ gate: dryRunGate((write) => noted.push(write)) });
  await assert.rejects(eventual(dry.world, dry.cloud.tags.create(instanceId(0), { a: "b" }, ask)), WriteRefused);
  assert.deepEqual(noted, [`ec2:CreateTags ${instanceId(0)}`]);
  assert.equal(dry.ec2.calls.length, 0);
  await eventual(dry.world, dry.cloud.instances.lookup(instanceId(0), ask));

  let leading = true;
  const gate = {
    lost: new AbortController().signal,
    check(write: string) {
      if (!leading) throw new WriteRefused(write, "not-leading");
    },
  };
  const led = await bed({ gate });
  led.ec2.fault = () => {
    leading = false;
    return failure(503, "RequestLimitExceeded", "Request limit exceeded.");
  };
  await assert.rejects(eventual(led.world, led.cloud.tags.create(instanceId(0), { a: "b" }, ask)), WriteRefused);
  assert.equal(led.ec2.calls.length, 1);
});

test("losing the lease cuts a write that is under way", async () => {
  const lost = new AbortController();
  const { world, ec2, cloud } = await bed({ gate: { check() {}, lost: lost.signal } });
  ec2.fault = () => new Promise(() => {});
  const write = cloud.tags.create(instanceId(0), { a: "b" }, ask);
  write.catch(() => {});
  await world.advance(100);
  lost.abort(new Error("leadership lost"));
  await assert.rejects(eventual(world, write), /leadership lost/);
});

test("an attempt without an answer is cut after 30 seconds and tried again", async () => {
  const { world, ec2, cloud } = await bed();
  ec2.fault = (_, count) => (count === 1 ? new Promise(() => {}) : undefined);
  const startedAt = world.clock.monotonic();
  await eventual(world, cloud.call(describeInstances, input, ask));
  assert.ok(world.clock.monotonic() - startedAt >= 30_000);
  assert.equal(ec2.calls[0]?.request.signal?.aborted, true);
});

test("a wrong clock is corrected by AWS's own, once, and stays corrected", async () => {
  const { world, ec2, cloud } = await bed();
  const ahead = 20 * 60_000;
  const served = () => new Date(world.clock.now() + ahead).toUTCString();
  ec2.fault = ({ request }) =>
    request.headers["x-amz-date"]?.startsWith("20260101T0020")
      ? undefined
      : failure(401, "AuthFailure", "not able to validate", { date: served() });
  await eventual(world, Promise.all([cloud.call(describeInstances, input, ask), cloud.call(describeInstances, input, ask)]));
  assert.equal(ec2.calls.length, 4);
  await eventual(world, cloud.call(describeInstances, input, ask));
  assert.equal(ec2.calls.length, 5);

  ec2.fault = () => failure(401, "RequestTimeTooSkewed", "still wrong", { date: served() });
  const failed = await eventual(
    world,
    cloud.call(describeInstances, input, ask).catch((error: unknown) => error),
  );
  assert.ok(isAwsError(failed, "clock-skew"));
  assert.equal(ec2.calls.length, 7);
});

test("refused credentials are an error that keeps the canonical request to itself", async () => {
  const { world, ec2, cloud } = await bed();
  ec2.fault = () =>
    failure(
      403,
      "SignatureDoesNotMatch",
      "The request signature we calculated does not match.\n\nThe Canonical String for this request should have been 'x-amz-security-token:planted-token'",
    );
  const failed = await eventual(
    world,
    cloud.call(describeInstances, input, ask).catch((error: unknown) => error),
  );
  assert.ok(isAwsError(failed, "credentials"));
  assert.doesNotMatch(`${failed.stack} ${JSON.stringify(failed)} ${String(failed.cause)}`, /planted/);
});

test("a denied call names the permission that is missing", async () => {
  const { world, ec2, cloud } = await bed();
  ec2.fault = () =>
    failure(
      403,
      "UnauthorizedOperation",
      "You are not authorized to perform this operation. Encoded authorization failure message: abcdef",
    );
  const failed = await eventual(
    world,
    cloud.call(describeInstances, input, ask).catch((error: unknown) => error),
  );
  assert.ok(failed instanceof AwsError);
  assert.equal(
    failed.message,
    "ec2:DescribeInstances in us-east-1: UnauthorizedOperation: You are not authorized to perform this operation.; allow ec2:DescribeInstances in the policy of the role this process runs as [request id request-1]",
  );
});

test("the reference's metrics count the outcome of a call, not its attempts", async () => {
  const { world, ec2, cloud, metrics } = await bed();
  ec2.fault = (_, count) => (count === 1 ? failure(500, "InternalError", "oops") : undefined);
  await eventual(world, cloud.call(describeInstances, input, ask));
  assert.doesNotMatch(await metrics.metrics(), /cloudprovider_aws_api_response_status_total\{/);
  ec2.fault = () => failure(400, "InvalidParameterValue", "no");
  await assert.rejects(eventual(world, cloud.call(describeInstances, input, ask)));
  const text = await metrics.metrics();
  assert.match(text, /cloudprovider_aws_api_response_status_total\{service="EC2",operation="DescribeInstances",status_code="400"\} 1/);
  assert.match(text, /cloudprovider_aws_api_request_errors\{request="describe_instance"\} 1/);
  assert.match(text, /cloudprovider_aws_api_request_duration_seconds_count\{request="describe_instance"\} 1/);
});

test("parameters are logged at verbosity 4, and no key with them", async () => {
  const lines: string[] = [];
  const log: Log = {
    error: (message, fields) => lines.push(JSON.stringify([message, fields])),
    warn: (message, fields) => lines.push(JSON.stringify([message, fields])),
    info: (message, fields) => lines.push(JSON.stringify([message, fields])),
    v: () => log,
    with: () => log,
  };
  const { world, cloud } = await bed({ log });
  await eventual(world, cloud.call(describeInstances, input, ask));
  assert.ok(lines.some((line) => line.includes(instanceId(0))));
  assert.doesNotMatch(lines.join("\n"), /planted-secret-key/);
});

test("what nobody waits for any more is not asked", async () => {
  const { world, ec2, cloud } = await bed();
  const stop = new AbortController();
  const call = cloud.tags.create(instanceId(0), { a: "b" }, { ...ask, signal: stop.signal });
  stop.abort(new Error("gone"));
  await assert.rejects(call, /gone/);
  await world.advance(1_000);
  assert.equal(ec2.calls.length, 0);
});
