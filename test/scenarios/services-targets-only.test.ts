/** Services of type none, and whom nodes let in where everybody is asked for. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { plan } from "../../src/commands/plan.ts";
import type { Listener, LoadBalancer, Target, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import { classicOf, networkOf, nodeRules } from "../bed/balancers.ts";
import { command } from "../bed/command.ts";
import { type ServiceWorld, type ServiceWorldOptions, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  world.start();
  return world;
}

const ports = [
  { name: "a", port: 80, nodePort: 31080 },
  { name: "b", port: 443, nodePort: 31443 },
];

/** The target groups of the account by name, each with its targets as `id:port`. */
function groupsOf(world: ServiceWorld): Map<string, TargetGroup & { readonly targets: readonly string[] }> {
  const { store } = world.aws.account;
  const targets = store.table<Target>("elbv2/targets").values();
  return new Map(
    store
      .table<TargetGroup>("elbv2/target-groups")
      .values()
      .map((group) => {
        const own = targets.filter(({ groupArn, drainingSince }) => groupArn === group.arn && drainingSince === undefined);
        return [group.name, { ...group, targets: own.map(({ id, port }) => `${id}:${port}`).toSorted() }];
      }),
  );
}

const nameOf = (world: ServiceWorld, index: number) => `${world.loadBalancerOf("web").slice(0, 30)}-${index}`;
const idsAt = (world: ServiceWorld, port: number) => [...world.instances.values()].map(({ id }) => `${id}:${port}`).toSorted();

test("a Service of type none has a target group for each port, no load balancer, and an address that is none", async (t) => {
  const world = await bed(t);
  const empty = world.snapshot();
  await world.create("web", {
    annotations: { type: "none", "backend-protocol": "http", "additional-resource-tags": "team=a" },
    spec: { ports },
  });
  const planned = await command(world, plan, "service/web");
  await world.published("web");
  assert.match(planned.out, /create target group a\w+-0 HTTP:31080, checked by HTTP:10256\/healthz/);
  const groups = groupsOf(world);
  assert.deepEqual([...groups.keys()].toSorted(), [nameOf(world, 0), nameOf(world, 1)]);
  const first = groups.get(nameOf(world, 0))!;
  assert.deepEqual(
    [first.protocol, first.port, first.check.protocol, first.check.port, first.check.path],
    ["HTTP", 31080, "HTTP", "10256", "/healthz"],
  );
  assert.deepEqual(first.tags, { team: "a", "kubernetes.io/service-name": "default/web", "kubernetes.io/cluster/test": "owned" });
  assert.deepEqual(first.targets, idsAt(world, 31080));
  const [address] = world.service("web")?.status?.loadBalancer?.ingress ?? [];
  assert.deepEqual([address?.ip, address?.hostname], ["0.0.0.0", "none"]);
  assert.deepEqual(nodeRules(world), []);
  assert.deepEqual((await command(world, plan, "service/web")).out, "service default/web: nothing to do\n");

  await world.join(1);
  await world.world.advance(30_000);
  assert.deepEqual(groupsOf(world).get(nameOf(world, 1))?.targets, idsAt(world, 31443));
  await world.edit("web", { "backend-protocol": "https" }, { ports: ports.slice(0, 1) });
  await world.world.advance(60_000);
  assert.deepEqual(
    [...groupsOf(world)].map(([name, { protocol }]) => [name, protocol]),
    [[nameOf(world, 0), "HTTPS"]],
  );
  const writes = world.mutations().length;
  await world.world.advance(70 * 60_000);
  assert.equal(world.mutations().length, writes, "hourly looks change nothing");
  await world.delete("web");
  await world.gone("web");
  assert.deepEqual(
    world.differences(empty).filter(({ table }) => table.startsWith("elb")),
    [],
  );
});

test("a target group that somebody's load balancer still uses holds up the deletion, and goes when it is free", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "none" } });
  await world.published("web");
  const { store } = world.aws.account;
  const { arn } = groupsOf(world).get(nameOf(world, 0))!;
  const lb = { arn: "arn:aws:elasticloadbalancing:us-east-1:1:loadbalancer/net/theirs/1", name: "theirs", type: "network", tags: {} };
  store.table<LoadBalancer>("elbv2/load-balancers").put(lb.arn, lb as never);
  const listener = { arn: `${lb.arn}/l`, loadBalancerArn: lb.arn, port: 80, actions: [{ Type: "forward", TargetGroupArn: arn }], tags: {} };
  store.table<Listener>("elbv2/listeners").put(listener.arn, listener as never);
  await world.delete("web");
  await world.world.advance(10 * 60_000);
  assert.ok(world.service("web"));
  store.table("elbv2/listeners").delete(listener.arn);
  store.table("elbv2/load-balancers").delete(lb.arn);
  await world.gone("web");
  assert.equal(groupsOf(world).size, 0);
});

test("a load balancer that exists is kept when its Service becomes one of type none, and its targets follow the nodes", async (t) => {
  const world = await bed(t);
  await world.create("web");
  await world.published("web");
  const address = world.hostname("web");
  await world.edit("web", { type: "none" });
  await world.join(1);
  await world.world.advance(60_000);
  assert.equal(world.hostname("web"), address);
  assert.equal(classicOf(world, "web")?.instances.length, 3);
  assert.equal(groupsOf(world).size, 0);
  assert.ok(world.events("web").some((text) => /cannot update Load Balancer Type annotation .* to none after creation/.test(text)));
});

for (const after of [null, "nlb"]) {
  test(`a Service of type none gets a ${after ?? "classic"} load balancer when it asks for one, and loses the target groups`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations: { type: "none" } });
    await world.published("web");
    await world.edit("web", { type: after });
    await world.until("published", () => world.hostname("web") !== "none");
    await world.world.advance(120_000);
    assert.ok(!groupsOf(world).has(nameOf(world, 0)));
  });
}

test("a backend protocol that target groups do not speak is refused", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "none", "backend-protocol": "ssl" } });
  await world.world.advance(30_000);
  assert.deepEqual(world.mutations(), []);
  assert.ok(world.events("web").some((text) => /invalid backend protocol .*=ssl/.test(text)));
});

test("nodes let in the allow list of the cloud config where a network load balancer is open to everybody, and only there", async (t) => {
  const world = await bed(t, { config: "PublicNetworkAllowList = 198.51.100.0/24, 203.0.113.0/24" });
  await world.create("open", { annotations: { type: "nlb" }, spec: { ports: [{ port: 80, nodePort: 31080 }] } });
  await world.create("narrow", {
    annotations: { type: "nlb" },
    spec: { ports: [{ port: 80, nodePort: 31081 }], loadBalancerSourceRanges: ["10.1.0.0/16"] },
  });
  await world.published("open", "narrow");
  const clients = nodeRules(world).filter((text) => text.includes("nlb/client"));
  assert.deepEqual(
    clients.map((text) => text.replace(/ ".*/, "")),
    ["tcp 31080 from 198.51.100.0/24", "tcp 31080 from 203.0.113.0/24", "tcp 31081 from 10.1.0.0/16"],
  );
});

for (const { kind, annotations, table, idOf } of [
  { kind: "classic", annotations: {}, table: "elb/load-balancers", idOf: (world: ServiceWorld) => world.loadBalancerOf("web") },
  {
    kind: "network",
    annotations: { type: "nlb" },
    table: "elbv2/load-balancers",
    idOf: (world: ServiceWorld) => networkOf(world, "web")!.loadBalancer.arn,
  },
]) {
  test(`a Service of type none whose ${kind} load balancer was deleted by hand needs nothing from the nodes`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations });
    await world.published("web");
    assert.notDeepEqual(nodeRules(world), []);
    for (const { arn } of networkOf(world, "web")?.listeners ?? []) world.aws.account.store.table("elbv2/listeners").delete(arn);
    world.aws.account.store.table(table).delete(idOf(world));
    await world.edit("web", { type: "none" });
    await world.until("made", () => world.hostname("web") === "none", 300_000);
    await world.world.advance(15_000);
    assert.deepEqual(nodeRules(world), []);
  });
}

test("after a restart no rule is taken away before a Service of type none was seen to have no load balancer from before", async (t) => {
  const world = await serviceWorld({ config: "ClusterServiceLoadBalancerHealthProbeMode=Shared" });
  t.after(() => world.close());
  const first = world.start();
  const probes = () => nodeRules(world).filter((text) => text.includes("tcp 10256")).length;
  await world.create("a", { annotations: { type: "nlb" } });
  await world.published("a");
  await world.create("b", { annotations: { type: "nlb" } });
  await world.published("b");
  const needed = probes();
  await world.edit("b", { type: "none" });
  await world.world.advance(15_000);
  first.kill();
  await world.delete("a");
  world.start("--concurrent-service-syncs=1");
  await world.gone("a");
  assert.equal(probes(), needed, "b's load balancer is kept, and is checked through the rules that were made for a's");
});
