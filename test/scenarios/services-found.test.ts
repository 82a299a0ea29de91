/** What the histories of Services once found, told so that a person can follow it. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { classicOf, networkOf } from "../bed/balancers.ts";
import { serviceWorld } from "../bed/service-world.ts";

test("a process that does not know the Nodes yet takes none of them out from behind a load balancer", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  const before = world.start();
  await world.create("web");
  await world.published("web");
  const registered = classicOf(world, "web")?.instances.length;
  before.kill();
  world.cluster.faults.add({ match: ({ url }) => url.pathname === "/api/v1/nodes", effect: { kind: "delay", ms: 20_000 } });
  let fewest = registered;
  world.onMutation = () => {
    fewest = Math.min(fewest ?? 0, classicOf(world, "web")?.instances.length ?? 0);
  };
  world.start();
  await world.world.advance(60_000);
  assert.equal(registered, 2);
  assert.equal(fewest, 2);
});

for (const type of ["nlb", null]) {
  const kind = type === null ? "classic" : "network";
  const annotations = { name: "shop", ...(type && { type }) };

  test(`nothing is left of a ${kind} load balancer whose chosen name was taken out of the Service`, async (t) => {
    const world = await serviceWorld({ config: "NLBSecurityGroupMode=Managed" });
    t.after(() => world.close());
    const empty = world.snapshot();
    world.start();
    await world.create("web", { annotations });
    await world.published("web");
    await world.edit("web", { name: null });
    await world.world.advance(60_000);
    await world.delete("web");
    await world.gone("web");
    assert.deepEqual(world.differences(empty), []);
  });

  test(`nothing is left of a ${kind} load balancer that was made under a chosen name by a process that died of it`, async (t) => {
    const world = await serviceWorld({ config: "NLBSecurityGroupMode=Managed" });
    t.after(() => world.close());
    const empty = world.snapshot();
    const first = world.start();
    world.onMutation = (action) => {
      if (action === "CreateLoadBalancer") first.kill();
    };
    await world.create("web", { annotations });
    await world.world.advance(60_000);
    assert.equal(first.alive, false);
    await world.edit("web", { name: null });
    world.onMutation = () => {};
    world.start();
    await world.world.advance(60_000);
    await world.delete("web");
    await world.gone("web");
    assert.deepEqual(world.differences(empty), []);
  });

  test(`a ${kind} load balancer of the same chosen name, but another Service's, stays when the first Service goes`, async (t) => {
    const world = await serviceWorld();
    t.after(() => world.close());
    world.start();
    await world.create("web", { annotations });
    await world.published("web");
    await world.edit("web", { name: null }, { type: "ClusterIP" });
    await world.world.advance(120_000);
    await world.create("shop", { annotations });
    await world.published("shop");
    const stands = world.snapshot();
    await world.edit("web", {}, { type: "LoadBalancer" });
    await world.published("web");
    await world.delete("web");
    await world.gone("web");
    // Until AWS has taken its interfaces away.
    await world.world.advance(600_000);
    assert.deepEqual(
      world.differences(stands).filter(({ table }) => !/targets|load-balancers/.test(table)),
      [],
    );
    assert.notEqual(world.hostname("shop"), undefined);
  });
}

test("a stopped instance that is behind one port keeps no new port from its targets", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  world.start();
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  const [stopped] = [...world.instances.values()];
  world.aws.account.ec2.instances.update(stopped!.id, { state: "stopped" });
  const ports = [
    { name: "a", port: 80, nodePort: world.nodePort("web") },
    { name: "b", port: 81 },
  ];
  await world.edit("web", {}, { ports });
  await world.world.advance(15 * 60_000);
  const targets = networkOf(world, "web")?.groups.map((group) => group.targets.length);
  assert.deepEqual(targets?.toSorted(), [1, 2]);
});

test("a complaint about the configuration goes when it is mended, even if AWS refuses what is asked for then", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  world.start();
  const complaints = () => world.service("web")?.status?.conditions?.map(({ type }) => type);
  await world.create("web", { annotations: { "proxy-protocol": "yes", "ssl-cert": "arn:aws:acm:us-east-1:123456789012:certificate/no" } });
  await world.world.advance(60_000);
  assert.deepEqual(complaints(), ["LoadBalancerConfigured"]);
  await world.edit("web", { "proxy-protocol": "*" });
  await world.world.advance(60_000);
  assert.deepEqual(complaints(), ["LoadBalancerSynced"]);
  assert.ok(world.events("web").some((event) => event.includes("CertificateNotFound")));
});

test("nothing is made for a Service that was gone before its finalizer could be added", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  const empty = world.snapshot();
  world.start();
  await world.world.advance(1000);
  const refuse = { kind: "refuse", status: 503 } as const;
  const heal = world.cluster.faults.add({ match: ({ url }) => url.pathname.endsWith("/services/web/status"), effect: refuse });
  await world.create("web");
  await world.world.advance(10_000);
  world.cluster.stallWatches(true);
  await world.delete("web");
  heal();
  await world.world.advance(60_000);
  world.cluster.stallWatches(false);
  await world.world.advance(300_000);
  assert.deepEqual(world.differences(empty), []);
  assert.deepEqual(world.mutations(), []);
});

test("elastic IPs that do not fit the subnets are no matter once the load balancer stands", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  world.start();
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  await world.edit("web", { "eip-allocations": "eipalloc-1" }, { ports: [{ port: 81 }] });
  await world.world.advance(60_000);
  assert.deepEqual(
    networkOf(world, "web")?.listeners.map(({ port }) => port),
    [81],
  );
});
