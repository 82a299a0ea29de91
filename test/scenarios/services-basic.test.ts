import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type ServiceWorld, type ServiceWorldOptions, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  return world;
}

const kinds = [
  { kind: "classic", annotations: {}, creation: 10 },
  { kind: "network", annotations: { type: "nlb" }, creation: 9 },
] as const;

for (const { kind, annotations, creation } of kinds) {
  test(`a ${kind} load balancer comes with its Service and goes with it, and nothing is left`, async (t) => {
    const world = await bed(t);
    const before = world.snapshot();
    world.start();
    await world.create("web", { annotations });
    await world.published("web");
    assert.deepEqual(world.events("web"), [
      "Normal EnsuringLoadBalancer: Ensuring load balancer",
      "Normal EnsuredLoadBalancer: Ensured load balancer",
    ]);
    await world.delete("web");
    await world.gone("web");
    await world.world.advance(600_000);
    assert.deepEqual(world.differences(before), []);
    assert.deepEqual(world.events("web").slice(2), [
      "Normal DeletingLoadBalancer: Deleting load balancer",
      "Normal DeletedLoadBalancer: Deleted load balancer",
    ]);
  });

  test(`a further ${kind} load balancer costs at most ${creation} calls`, async (t) => {
    const world = await bed(t);
    world.start();
    await world.create("first", { annotations });
    await world.published("first");
    world.aws.controls.journal.resetCounts();
    await world.create("second", { annotations });
    await world.published("second");
    const sum = Object.values(world.calls()).reduce((all, n) => all + n, 0);
    assert.ok(sum <= creation, `${sum} calls: ${JSON.stringify(world.calls())}`);
  });
}

test("a restart with a hundred unchanged Services changes nothing and reads little", async (t) => {
  const quotas = { classicLoadBalancers: 100, networkLoadBalancers: 100, rulesPerSecurityGroup: 1000 };
  const world = await bed(t, { settings: { quotas } });
  const first = world.start();
  const names = Array.from({ length: 100 }, (_, i) => `s${i}`);
  for (const [i, name] of names.entries()) await world.create(name, { annotations: i % 2 === 0 ? {} : { type: "nlb" } });
  await world.published(...names);
  first.kill();
  const mutations = world.mutations().length;
  const writes = world.writes.length;
  world.aws.controls.journal.resetCounts();
  world.start();
  await world.world.advance(120_000);
  assert.deepEqual(world.mutations().slice(mutations), []);
  assert.equal(world.writes.length, writes);
  const calls = { ...world.calls() };
  const single = ["DescribeLoadBalancerAttributes", "DescribeListeners", "DescribeTargetHealth"].map(
    (name) => `elasticloadbalancing:${name}`,
  );
  assert.deepEqual(
    single.map((action) => calls[action]),
    [100, 50, 50],
  );
  for (const action of single) delete calls[action];
  const shared = Object.values(calls).reduce((all, n) => all + n, 0);
  assert.ok(shared <= 25, `${shared} shared reads: ${JSON.stringify(calls)}`);
});
