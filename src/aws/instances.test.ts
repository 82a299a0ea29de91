import assert from "node:assert/strict";
import { test } from "node:test";
import type { Transport } from "../runtime/http.ts";
import { seededRandom } from "../sandbox/seeded-random.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { describeInstances } from "./ec2-actions.ts";
import { isAwsError } from "./errors.ts";
import type { InstanceLookup } from "./instances.ts";
import { eventual } from "./testing/eventual.ts";
import { cloudOver, failure, instanceId, SmallEc2, testKeys } from "./testing/small-ec2.ts";

const ask = { cause: "test", signal: new AbortController().signal };

async function bed(instances: number, seed = 1) {
  const world = virtualWorld(seed, { environment: testKeys });
  const ec2 = new SmallEc2(Array.from({ length: instances }, (_, n) => ({ id: instanceId(n), dnsName: `ip-${n}.ec2.internal` })));
  const { cloud, metrics } = await cloudOver(ec2, world);
  return { world, ec2, cloud, metrics };
}

test("a thousand requests for different instances cost at most ten calls, and each gets its own answer", async () => {
  const { world, ec2, cloud } = await bed(1000);
  ec2.instances.set(instanceId(7), { id: instanceId(7), state: "terminated" });
  ec2.instances.delete(instanceId(300));
  ec2.instances.delete(instanceId(301));
  const ids = [...Array.from({ length: 1000 }, (_, n) => instanceId(n)), "i-zzz", "", "vol-1"];

  const answers = await eventual(world, Promise.all(ids.map((id) => cloud.instances.lookup(id, ask))));

  assert.ok(ec2.calls.length <= 10, `${ec2.calls.length} calls`);
  const kinds = Object.groupBy(answers, ({ kind }) => kind);
  assert.equal(kinds.found?.length, 998);
  assert.equal(kinds["not-found"]?.length, 2);
  assert.equal(kinds.malformed?.length, 3);
  assert.equal(stateOf(answers[7]), "terminated");
  assert.equal(answers[300]?.kind, "not-found");
  for (const call of ec2.calls) assert.equal(call.parameters.get("MaxResults"), null);
});

test("with every second call throttled all thousand requests finish within three times the fewest calls, and the budget recovers", async () => {
  const { world, ec2, cloud } = await bed(1000);
  ec2.fault = (_, count) => (count % 2 === 0 ? undefined : failure(503, "RequestLimitExceeded", "Request limit exceeded."));
  const full = cloud.budget(describeInstances).rate;

  const answers = await eventual(world, Promise.all(Array.from({ length: 1000 }, (_, n) => cloud.instances.lookup(instanceId(n), ask))));

  assert.ok(answers.every(({ kind }) => kind === "found"));
  assert.ok(ec2.calls.length <= 3 * 5, `${ec2.calls.length} calls`);
  assert.ok(cloud.budget(describeInstances).rate < full, "a throttle slows the action down");
  await world.advance(120_000);
  assert.equal(cloud.budget(describeInstances).rate, full);
});

test("a user's lookup does not wait for one in the background of the same instance", async () => {
  const world = virtualWorld(1, { environment: testKeys });
  const ec2 = new SmallEc2(Array.from({ length: 700 }, (_, n) => ({ id: instanceId(n) })));
  const hanging = [0, 200, 400].map(instanceId);
  const transport: Transport = (request) =>
    hanging.some((id) => String(request.body).includes(id)) ? new Promise(() => {}) : ec2.transport(request);
  const { cloud } = await cloudOver({ transport }, world);
  const lookup = (n: number, urgency: "user" | "background") =>
    cloud.instances.lookup(instanceId(n), { ...ask, urgency, maxAgeMs: 60_000 });
  for (let n = 0; n < 650; n++) lookup(n, "background").catch(() => {});
  await world.advance(100);
  for (const n of [649, 0]) {
    hanging.length = 0;
    assert.equal((await eventual(world, lookup(n, "user"), 1_000)).kind, "found");
  }
});

test("answers of joined lookups equal those of lookups one by one, for any mixture of ids", async () => {
  for (let seed = 1; seed <= 25; seed++) {
    const random = seededRandom(seed);
    const pick = () => instanceId(Math.floor(random.number() * 60));
    const ids = Array.from({ length: 1 + Math.floor(random.number() * 80) }, () =>
      random.number() < 0.1 ? `i-bad${random.number()}` : pick(),
    );
    const together = await bed(40, seed);
    const alone = await bed(40, seed);

    const joined = await eventual(together.world, Promise.all(ids.map((id) => together.cloud.instances.lookup(id, ask))));

    for (const [n, id] of ids.entries())
      assert.deepEqual(joined[n], await eventual(alone.world, alone.cloud.instances.lookup(id, ask)), `seed ${seed}, ${id}`);
    assert.ok(together.ec2.calls.length <= 2, `seed ${seed}: ${together.ec2.calls.length} calls`);
  }
});

test("a refusal that names no id is searched for by halves, and only the unknown ids get it", async () => {
  const { world, ec2, cloud } = await bed(8);
  ec2.instances.delete(instanceId(5));
  ec2.fault = (call) => {
    const ids = [...call.parameters].filter(([name]) => name.startsWith("InstanceId.")).map(([, id]) => id);
    if (!ids.includes(instanceId(5))) return undefined;
    return failure(
      400,
      "InvalidInstanceID.NotFound",
      ids.length === 1 ? `The instance ID '${ids[0]}' does not exist` : "Some do not exist",
    );
  };

  const answers = await eventual(world, Promise.all(Array.from({ length: 8 }, (_, n) => cloud.instances.lookup(instanceId(n), ask))));

  assert.deepEqual(
    answers.map(({ kind }) => kind),
    ["found", "found", "found", "found", "found", "not-found", "found", "found"],
  );
});

test("an error that is about all of them is not sent again for each", async () => {
  const { world, ec2, cloud } = await bed(50);
  ec2.fault = () => failure(403, "UnauthorizedOperation", "You are not authorized to perform this operation.");

  const answers = await eventual(
    world,
    Promise.allSettled(Array.from({ length: 50 }, (_, n) => cloud.instances.lookup(instanceId(n), ask))),
  );

  assert.equal(ec2.calls.length, 1);
  for (const answer of answers) assert.ok(answer.status === "rejected" && isAwsError(answer.reason, "denied"));
});

test("an answer is reused for as long as the asker allows, and fetched anew after a write to the instance", async () => {
  const { world, ec2, cloud } = await bed(2);
  const relaxed = { ...ask, maxAgeMs: 60_000 };
  await eventual(world, cloud.instances.lookup(instanceId(0), relaxed));
  await eventual(world, cloud.instances.lookup(instanceId(0), relaxed));
  assert.equal(ec2.calls.length, 1);

  await eventual(world, cloud.instances.lookup(instanceId(0), ask));
  assert.equal(ec2.calls.length, 2);

  await eventual(world, cloud.tags.create(instanceId(0), { a: "b" }, ask));
  await eventual(world, cloud.instances.lookup(instanceId(0), relaxed));
  assert.deepEqual(
    ec2.calls.map(({ action }) => action),
    ["DescribeInstances", "DescribeInstances", "CreateTags", "DescribeInstances"],
  );
});

test("names are looked up two hundred a call; a name with a wildcard is nobody's", async () => {
  const { world, ec2, cloud } = await bed(450);
  const names = [...Array.from({ length: 450 }, (_, n) => `ip-${n}.ec2.internal`), "ip-*.ec2.internal", "unknown"];

  const answers = await eventual(world, Promise.all(names.map((name) => cloud.instances.lookupBy("private-dns-name", name, ask))));

  assert.equal(ec2.calls.length, 3);
  assert.deepEqual(
    answers[449]?.map(({ id }) => id),
    [instanceId(449)],
  );
  assert.deepEqual(answers.slice(450), [[], []]);
});

test("who gives up gets its own reason at once, and the others get their answer", async () => {
  const { world, cloud } = await bed(2);
  const stop = new AbortController();
  const given = cloud.instances.lookup(instanceId(0), { ...ask, signal: stop.signal });
  const other = cloud.instances.lookup(instanceId(0), ask);
  stop.abort(new Error("changed my mind"));
  await assert.rejects(given, /changed my mind/);
  assert.equal((await eventual(world, other)).kind, "found");
});

function stateOf(lookup: InstanceLookup | undefined): string | undefined {
  return lookup?.kind === "found" ? lookup.instance.state : undefined;
}
