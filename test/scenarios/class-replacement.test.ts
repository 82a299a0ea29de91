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

test("IPv6 addresses and prefixes of its author's choice move with the scheme: the old load balancer, which holds them, makes way", async (t) => {
  const world = await bed(t, { ipv6: true });
  world.serve();
  const subnets = [...world.network.publicSubnetIds];
  const cidrs = subnets.map((id) => world.all<{ id: string; ipv6Cidr: string }>("ec2/subnets").find((each) => each.id === id)!.ipv6Cidr);
  const inside = (end: string) => cidrs.map((cidr) => cidr.replace(/::\/64$/, end));
  const dual = { ...ip, subnets: subnets.join(), scheme: "internet-facing", "ip-address-type": "dualstack" };
  const nat = { "enable-prefix-for-ipv6-source-nat": "on", "source-nat-ipv6-prefixes": inside(":9::/80").join() };
  const held = () =>
    world
      .all<{ zones: readonly { ipv6Address?: string; sourceNatPrefix?: string }[] }>("elbv2/load-balancers")
      .map(({ zones }) => zones.map(({ ipv6Address, sourceNatPrefix }) => ipv6Address ?? sourceNatPrefix));
  await world.classService("web", { ...dual, "ipv6-addresses": inside("::77").join() });
  await world.settled("web");
  await world.change("web", { scheme: "internal" });
  await world.until("the new one serves", () => shown(world) === "internal", 20 * 60_000);
  assert.deepEqual([schemes(world), held()], [["internal"], [inside("::77")]]);
  await world.world.advance(10 * 60_000);
  assert.deepEqual(counts(world), [1, 1, 1, 1]);

  await world.classService("dns", { ...dual, ...nat }, { ports: [{ name: "dns", port: 53, protocol: "UDP", targetPort: 8080 }] });
  await world.settled("dns");
  await world.change("dns", { scheme: "internal" });
  await world.world.advance(20 * 60_000);
  assert.deepEqual([schemes(world), held()[1]], [["internal", "internal"], inside(":9::/80")], world.events("dns").join("\n"));
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

/** When each load balancer was deleted, by its name. */
function deletions(world: ClassWorld): ReadonlyMap<string, number> {
  const at = new Map<string, number>();
  let before = balancers(world);
  world.onAwsMutation((action) => {
    const now = balancers(world);
    if (action === "DeleteLoadBalancer") {
      for (const { name } of before) if (!now.some((lb) => lb.name === name)) at.set(name, world.world.clock.now());
    }
    before = now;
  });
  return at;
}

test("a scheme that is taken back after the new address was published gives clients of that one their five minutes too", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, scheme: "internet-facing" });
  await world.settled("web");
  const deleted = deletions(world);
  await world.change("web", { scheme: "internal" });
  await world.until("the new address is published", () => shown(world) === "internal", 600_000);
  const second = balancers(world).find(({ scheme }) => scheme === "internal")!.name;
  await world.world.advance(4.5 * 60_000);
  await world.change("web", { scheme: "internet-facing" });
  await world.until("the first address is published again", () => shown(world) === "internet-facing", 60_000);
  const backAt = world.world.clock.now();
  await world.until("the second one is gone", () => deleted.has(second), 1_200_000);
  assert.ok(deleted.get(second)! - backAt >= 299_000, `${(deleted.get(second)! - backAt) / 1000} s`);
  await world.world.advance(10 * 60_000);
  assert.deepEqual([schemes(world), shown(world), counts(world)], [["internet-facing"], "internet-facing", [1, 1, 1, 1]]);
});

test("a scheme that is taken back at the moment the old one was deleted: what serves stays published and stands until another serves", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, scheme: "internet-facing" });
  await world.settled("web");
  const deleted = deletions(world);
  await world.change("web", { scheme: "internal" });
  await world.until("the new address is published", () => shown(world) === "internal", 600_000);
  const second = world.hostname("web");
  await world.until("the first one is gone", () => deleted.size === 1, 600_000);
  await world.change("web", { scheme: "internet-facing" });
  await world.until("there are two again", () => balancers(world).length === 2, 60_000);
  await world.world.advance(5_000);
  assert.equal(world.hostname("web"), second, "the other one is still being provisioned");
  await world.until("the address of another one is published", () => world.hostname("web") !== second, 600_000);
  const publishedAt = world.world.clock.now();
  await world.until("the second one is gone", () => deleted.size === 2, 1_200_000);
  assert.ok(Math.max(...deleted.values()) - publishedAt >= 299_000);
});

test("a replaced load balancer that carries somebody else's mark by now is not deleted", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, scheme: "internet-facing" });
  await world.settled("web");
  const [old] = balancers(world);
  await world.change("web", { scheme: "internal" });
  await world.until("the new address is published", () => shown(world) === "internal", 600_000);
  await world.tag(old!.arn, { "service.k8s.aws/stack": "somebody/else" });
  await world.world.advance(7 * 60_000);
  assert.ok(
    balancers(world).some(({ arn }) => arn === old!.arn),
    "it was given away",
  );
});

test("a target group of the user's own, which stands behind one load balancer only, does not keep the scheme from changing", async (t) => {
  const world = await bed(t);
  world.serve();
  const arn = await world.group("mine");
  const forwardConfig = { baseServiceWeight: 1, targetGroups: [{ targetGroupARN: arn, weight: 1 }] };
  const action = JSON.stringify({ type: "forward", forwardConfig });
  await world.classService("web", { ...ip, scheme: "internet-facing", "/actions.TCP-80": action });
  await world.settled("web");
  await world.change("web", { scheme: "internal" });
  await world.world.advance(60 * 60_000);
  assert.deepEqual([schemes(world), shown(world)], [["internal"], "internal"], world.events("web").join("\n"));
});

test("the five minutes of the old one begin when the new address is in the status, not when it should have been", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.classService("web", { ...ip, scheme: "internet-facing" });
  await world.settled("web");
  const deleted = deletions(world);
  const mend = world.cluster.faults.add({
    match: ({ method, url }) => method === "PATCH" && url.pathname.endsWith("/services/web/status"),
    effect: { kind: "refuse", status: 403 },
  });
  await world.change("web", { scheme: "internal" });
  await world.world.advance(20 * 60_000);
  assert.deepEqual([shown(world), deleted.size], ["internet-facing", 0]);
  mend();
  await world.until("the new address is published", () => shown(world) === "internal", 600_000);
  const publishedAt = world.world.clock.now();
  await world.until("the old one is gone", () => deleted.size === 1, 600_000);
  assert.ok(Math.max(...deleted.values()) - publishedAt >= 299_000, `${(Math.max(...deleted.values()) - publishedAt) / 1000} s`);
});

test("the address of a load balancer that is gone is not kept, healthy targets or not", async (t) => {
  const world = await bed(t, { probe: () => ({ kind: "refused" }) });
  world.serve();
  await world.classService("web", { ...ip, name: "mine", scheme: "internet-facing" });
  await world.settled("web");
  const first = world.hostname("web");
  await world.change("web", { scheme: "internal" });
  await world.world.advance(60_000);
  assert.deepEqual([schemes(world), world.hostname("web") !== first, shown(world)], [["internal"], true, "internal"]);
});
