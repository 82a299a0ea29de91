/** What comes into being late, or is seen late, while its Service goes: nothing of it is left behind, and nothing false is said. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { nodeRules } from "../bed/balancers.ts";
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
