/** What comes into being late, or is seen late, while its Service goes: nothing of it is left behind, and nothing false is said. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { classicOf, networkOf, nodeRules } from "../bed/balancers.ts";
import { type ServiceWorld, type ServiceWorldOptions, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  world.start();
  return world;
}

const nlb = { type: "nlb" };
const ranges = (count: number) => Array.from({ length: count }, (_, i) => `10.${i}.0.0/16`);
const failures = (world: ServiceWorld, name: string) => world.events(name).filter((text) => text.includes("SyncLoadBalancerFailed"));

for (const [kind, annotations] of [
  ["classic", {}],
  ["network", nlb],
] as const) {
  test(`a node rule of a ${kind} load balancer that AWS is slow to grant is not left behind when the Service goes meanwhile`, async (t) => {
    const world = await bed(t, { settings: { speed: Number.POSITIVE_INFINITY } });
    const slow = { kind: "delay", ms: 25_000 } as const;
    world.aws.controls.faults.add({ action: "ec2:AuthorizeSecurityGroupIngress", effect: slow, containing: world.network.nodeGroupId });
    await world.create("web", { annotations });
    await world.until("published", () => world.hostname("web") !== undefined);
    await world.world.advance(3_000);
    await world.delete("web");
    await world.gone("web");
    await world.world.advance(60 * 60_000);
    assert.deepEqual(nodeRules(world), []);
  });
}

test("a Service that met the quota goes without a word of the quota", async (t) => {
  const world = await bed(t);
  await world.create("greedy", { annotations: nlb, spec: { loadBalancerSourceRanges: ranges(70) } });
  await world.published("greedy");
  const told = failures(world, "greedy").length;
  assert.equal(told, 1);
  await world.delete("greedy");
  await world.gone("greedy");
  assert.ok(!failures(world, "greedy").some((text) => text.includes("failed to delete")), failures(world, "greedy").join("\n"));
});

const isStatusPatch = ({ method, url }: { readonly method: string; readonly url: URL }) =>
  method === "PATCH" && url.pathname.endsWith("/status");
const timesDeleted = (world: ServiceWorld) =>
  world.cluster
    .objects("events")
    .map((event) => event as unknown as { reason: string; count: number })
    .filter(({ reason }) => reason === "DeletedLoadBalancer")
    .map(({ count }) => count);

for (const [what, skip, effect] of [
  ["its finalizer was taken and the answer got lost", 0, { kind: "lose-answer" }],
  ["what comes after its finalizer fails", 1, { kind: "refuse", status: 500 }],
] as const) {
  test(`that a load balancer has gone is said once, also when ${what}`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations: { ...nlb, name: "shop" } });
    await world.published("web");
    let seen = 0;
    const isStruck = (request: Parameters<typeof isStatusPatch>[0]) => isStatusPatch(request) && seen++ === skip;
    world.cluster.faults.add({ match: isStruck, effect });
    await world.edit("web", {}, { type: "ClusterIP" });
    await world.world.advance(10 * 60_000);
    assert.ok(seen > skip + 1, "it was tried again");
    assert.deepEqual([timesDeleted(world), world.service("web")?.metadata?.finalizers ?? []], [[1], []]);
  });
}

test("what was not seen before something was made is no witness that it is not there", async (t) => {
  const world = await bed(t);
  // AWS shows late what was made.
  world.aws.controls.faults.add({ action: "elasticloadbalancing:Describe*", effect: { kind: "stale", ageMs: 8_000 } });
  const allow = world.aws.controls.deny("elasticloadbalancing:Create*");
  await world.world.advance(60_000);
  await world.create("web", { annotations: nlb });
  await world.world.advance(3_000);
  await world.edit("web", {}, { type: "ClusterIP" });
  await world.world.advance(3_000);
  await world.edit("web", {}, { type: "LoadBalancer" });
  await world.world.advance(8_000);
  allow();
  world.aws.controls.faults.add({ action: "elasticloadbalancing:CreateLoadBalancer", effect: { kind: "lose-answer" }, times: 1 });
  await world.edit("web", { "cross-zone-load-balancing-enabled": "true" });
  await world.until("made", () => networkOf(world, "web") !== undefined);
  await world.edit("web", {}, { type: "ClusterIP" });
  await world.world.advance(60 * 60_000);
  assert.deepEqual([networkOf(world, "web"), world.service("web")?.metadata?.finalizers ?? []], [undefined, []]);
});

for (const [kind, annotations] of [
  ["classic", {}],
  ["network", nlb],
] as const) {
  test(`a ${kind} load balancer follows the nodes while AWS refuses something else that its Service asks for`, async (t) => {
    const world = await bed(t, { config: "NLBSecurityGroupMode=Managed" });
    await world.create("web", { annotations });
    await world.published("web");
    await world.edit("web", {}, { loadBalancerSourceRanges: ranges(70) });
    await world.world.advance(60_000);
    const [leaving] = world.instances.keys();
    await world.leave(leaving!);
    await world.join(1);
    await world.world.advance(10 * 60_000);
    const targets =
      kind === "classic" ? classicOf(world, "web")!.instances.map(({ id }) => id) : networkOf(world, "web")!.groups[0]!.targets;
    assert.deepEqual(targets.toSorted(), [...world.instances.values()].map(({ id }) => id).toSorted());
    assert.equal(failures(world, "web").length, 1);
  });
}
