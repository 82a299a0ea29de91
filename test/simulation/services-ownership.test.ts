/** What is ours and what is not: nothing else is deleted, blamed, or written to. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { classicOf, networkOf } from "../bed/balancers.ts";
import { type ServiceWorld, type ServiceWorldOptions, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  world.start();
  return world;
}

for (const { kind, annotations } of [
  { kind: "classic", annotations: { name: "Shop-Front" } },
  { kind: "network", annotations: { name: "Shop-Front", type: "nlb" } },
]) {
  test(`the host name of a ${kind} load balancer with capitals in its name is published without them`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations });
    await world.published("web");
    const stands = classicOf(world, "web", "Shop-Front")?.dnsName ?? networkOf(world, "web", "Shop-Front")?.loadBalancer.dnsName;
    assert.match(stands ?? "", /^Shop-Front-/);
    assert.equal(world.hostname("web"), stands?.toLowerCase());
    const writes = world.writes.length;
    await world.join(1);
    await world.world.advance(70 * 60_000);
    assert.equal(world.writes.length, writes, "it is not published again and again");
  });
}

test("a load balancer that is protected from deletion is said to be, and goes when it is not any more", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  const balancers = world.aws.account.store.table<{ attributes: Record<string, string> }>("elbv2/load-balancers");
  const { arn } = networkOf(world, "web")!.loadBalancer;
  balancers.update(arn, { attributes: { ...balancers.get(arn)!.attributes, "deletion_protection.enabled": "true" } });
  await world.delete("web");
  await world.world.advance(60_000);
  const said = world.events("web").filter((text) => text.startsWith("Warning SyncLoadBalancerFailed"));
  assert.ok(said.some((text) => /deletion protection is switched on/.test(text)));
  assert.ok(!said.some((text) => /policy of the role/.test(text)));
  balancers.update(arn, { attributes: { ...balancers.get(arn)!.attributes, "deletion_protection.enabled": "false" } });
  await world.gone("web");
});
