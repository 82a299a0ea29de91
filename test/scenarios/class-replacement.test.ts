/** A Service with the load balancer controller's class that asks for another scheme: a second load balancer takes over from the first. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { BindingWorldOptions } from "../bed/binding-world.ts";
import { type ClassWorld, classWorld } from "../bed/class-world.ts";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<ClassWorld> {
  const world = await classWorld(options);
  t.after(() => world.close());
  return world;
}

const ip = { "nlb-target-type": "ip" };
const balancers = (world: ClassWorld) => world.all<{ arn: string; name: string; scheme: string }>("elbv2/load-balancers");
const schemes = (world: ClassWorld) => balancers(world).map(({ scheme }) => scheme);
const shown = (world: ClassWorld) => balancers(world).find(({ name }) => world.hostname("web").startsWith(`${name}-`))?.scheme;
/** Load balancers, listeners, target groups and bindings. */
const counts = (world: ClassWorld) => [
  ...["elbv2/load-balancers", "elbv2/listeners", "elbv2/target-groups"].map((kind) => world.all(kind).length),
  world.bindings().length,
];

test("another scheme is another load balancer: it serves before its address is published, and the old one goes five minutes later", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, scheme: "internet-facing" });
  await world.settled("web");
  await world.change("web", { scheme: null });
  await world.world.advance(60_000);
  assert.deepEqual(schemes(world), ["internet-facing"], "no scheme keeps what stands");
  const first = world.hostname("web");
  await world.protect(balancers(world)[0]!.arn);
  const deletedAt: number[] = [];
  world.onAwsMutation((action) => {
    if (action === "DeleteLoadBalancer") deletedAt.push(world.world.clock.now());
  });
  await world.change("web", { scheme: "internal" });
  await world.until("both stand", () => balancers(world).length === 2, 60_000);
  assert.equal(world.hostname("web"), first, "the new one is not ready");
  await world.until("the new address is published", () => world.hostname("web") !== first, 600_000);
  const publishedAt = world.world.clock.now();
  assert.deepEqual([shown(world), counts(world)], ["internal", [2, 2, 2, 2]]);
  assert.match(world.events("web").join("\n"), /LoadBalancerReplacement: published \S+ instead of \S+, which is kept for 5 minutes/);
  await world.until("the old one is gone", () => balancers(world).length === 1, 600_000);
  assert.ok(deletedAt.length > 0 && deletedAt.every((at) => at - publishedAt >= 299_000), `${deletedAt} after ${publishedAt}`);
  await world.world.advance(10 * 60_000);
  assert.deepEqual([schemes(world), shown(world), counts(world)], [["internal"], "internal", [1, 1, 1, 1]]);
  assert.equal(world.targets(world.all<{ arn: string }>("elbv2/target-groups")[0]!.arn).length, 1);
});

test("the old address stays, and is served, for as long as the new targets are not healthy", async (t) => {
  const world = await bed(t, { probe: ({ port }) => (port === 1 ? { kind: "refused" } : { kind: "answered", status: 200 }) });
  world.serve();
  await world.classService("web", { ...ip, scheme: "internet-facing" });
  await world.settled("web");
  const first = world.hostname("web");
  await world.change("web", { scheme: "internal", "healthcheck-port": "1" });
  await world.world.advance(30 * 60_000);
  assert.deepEqual([world.hostname("web"), counts(world)], [first, [2, 2, 2, 2]]);
  await world.change("web", { "healthcheck-port": null });
  await world.until("the new address is published", () => shown(world) === "internal", 600_000);
});

test("a scheme that is taken back keeps the first load balancer and its address; a restart in between forgets nothing", async (t) => {
  const world = await bed(t);
  const end = world.serve();
  await world.classService("web", { ...ip, scheme: "internet-facing" });
  await world.settled("web");
  const first = world.hostname("web");
  await world.change("web", { scheme: "internal" });
  await world.until("both stand", () => balancers(world).length === 2, 60_000);
  end();
  world.serve();
  await world.world.advance(5_000);
  await world.change("web", { scheme: "internet-facing" });
  await world.world.advance(30 * 60_000);
  assert.deepEqual([schemes(world), counts(world), world.hostname("web")], [["internet-facing"], [1, 1, 1, 1], first]);
});

test("a load balancer whose name its author chose makes way for one of another scheme: no two can have it", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, name: "mine", scheme: "internet-facing" });
  await world.settled("web");
  await world.change("web", { scheme: "internal" });
  await world.world.advance(20 * 60_000);
  assert.deepEqual(
    [schemes(world), balancers(world)[0]?.name, shown(world), counts(world)],
    [["internal"], "mine", "internal", [1, 1, 1, 1]],
  );
});

test("a Service that is deleted while one replaces another leaves nothing", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, scheme: "internet-facing" });
  await world.settled("web");
  await world.change("web", { scheme: "internal" });
  await world.until("both stand", () => balancers(world).length === 2, 60_000);
  await world.drop("web");
  await world.until("it is gone", () => world.get("web") === undefined, 3_600_000);
  assert.deepEqual(counts(world), [0, 0, 0, 0]);
});
