/** What one removal costs, and what is said while it waits. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { SettingsChange } from "../../src/sandbox/cloud/controls/controls.ts";
import { groupNamed, networkOf } from "../bed/balancers.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

async function standing(t: TestContext, annotations: Readonly<Record<string, string>>, settings?: SettingsChange): Promise<ServiceWorld> {
  const world = await serviceWorld({ ...(settings && { settings }) });
  t.after(() => world.close());
  world.start();
  await world.create("web", { annotations });
  await world.published("web");
  return world;
}

const removed = (world: ServiceWorld) => world.service("web")?.status?.conditions?.find(({ type }) => type === "LoadBalancerRemoved");
const waits = (world: ServiceWorld) => world.events("web").filter((text) => text.includes("LoadBalancerRemovalWaits"));

/** How often an Event of this reason was said, by Event. */
const counts = (world: ServiceWorld, reason: string) =>
  world.cluster
    .objects("events")
    .map((event) => event as unknown as { reason: string; count: number })
    .filter((event) => event.reason === reason)
    .map(({ count }) => count);

for (const { kind, annotations } of [
  { kind: "classic", annotations: {} },
  { kind: "network", annotations: { type: "nlb" } },
]) {
  for (const { cloud, settings, most } of [
    { cloud: "deletes at once", settings: { speed: Number.POSITIVE_INFINITY }, most: 12 },
    { cloud: "needs 20 s to let go of interfaces", settings: {}, most: 13 },
  ]) {
    test(`one ${kind} load balancer is removed by ${most} calls, reads included, from a cloud that ${cloud}`, async (t) => {
      const world = await standing(t, annotations, settings);
      await world.world.advance(30 * 60_000);
      world.aws.controls.journal.resetCounts();
      const before = world.world.clock.monotonic();
      await world.delete("web");
      await world.gone("web");
      assert.ok(world.world.clock.monotonic() - before < 30_000, "no slower for that");
      await world.world.advance(10 * 60_000);
      const calls = Object.values(world.calls()).reduce((sum, count) => sum + count, 0);
      assert.ok(calls <= most, `${calls} calls: ${JSON.stringify(world.calls())}`);
      assert.deepEqual(waits(world), []);
    });
  }
}

test("a security group that somebody uses is waited for: after 30 s an Event and a condition say since when, for what, and what to do", async (t) => {
  const world = await standing(t, {});
  const { ec2 } = world.aws.account;
  const group = groupNamed(world, `k8s-elb-${world.loadBalancerOf("web")}`)!;
  const [instance] = [...world.instances.values()];
  const interfaceId = instance!.interfaceIds[0]!;
  ec2.interfaces.update(interfaceId, { groupIds: [world.network.nodeGroupId, group] });
  const since = new Date(world.world.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  await world.delete("web");
  await world.world.advance(25_000);
  assert.deepEqual([waits(world), removed(world)], [[], undefined], "that long AWS may take");
  await world.world.advance(15_000);
  const text = new RegExp(
    `since ${since} the removal waits for security group k8s-elb-\\w+ \\(${group}\\).*--filters Name=group-id,Values=${group}`,
  );
  assert.match(waits(world)[0] ?? "", text);
  assert.match(removed(world)?.message ?? "", text);
  assert.equal(removed(world)?.status, "False");

  const writes = world.writes.length;
  await world.world.advance(30 * 60_000);
  assert.equal(world.writes.length, writes, "the condition is written once");
  assert.deepEqual(counts(world, "LoadBalancerRemovalWaits"), [1]);
  const [failed = 0, ...others] = counts(world, "SyncLoadBalancerFailed");
  assert.ok(failed >= 10 && others.length === 0, "from two minutes on it is a failure, which counts on one Event");

  ec2.interfaces.update(interfaceId, { groupIds: [world.network.nodeGroupId] });
  await world.gone("web");
});

test("a target group that another load balancer uses is named, and the condition of a Service that stays goes when all is gone", async (t) => {
  const world = await standing(t, { type: "nlb" });
  const stuck = { kind: "fail", code: "ResourceInUse", status: 400, message: "in use by a listener" } as const;
  const fault = world.aws.controls.faults.add({ action: "elasticloadbalancing:DeleteTargetGroup", effect: stuck });
  const [group] = networkOf(world, "web")!.groups;
  await world.edit("web", {}, { type: "ClusterIP" });
  await world.world.advance(60_000);
  assert.match(
    removed(world)?.message ?? "",
    new RegExp(`target group ${group!.name}: .*change that listener; AWS says: .*in use by a listener`),
  );
  world.aws.controls.faults.remove(fault);
  await world.world.advance(120_000);
  assert.equal(removed(world), undefined);
  assert.deepEqual(world.service("web")?.metadata?.finalizers ?? [], []);
});
