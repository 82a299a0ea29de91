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

const kinds = [
  {
    kind: "classic",
    annotations: {},
    targets: (world: ServiceWorld) =>
      classicOf(world, "web")
        ?.instances.map(({ id }) => id)
        .toSorted(),
  },
  { kind: "network", annotations: { type: "nlb" }, targets: (world: ServiceWorld) => networkOf(world, "web")?.groups[0]?.targets },
] as const;

const idsOf = (world: ServiceWorld, names: readonly string[]) => names.map((name) => world.instances.get(name)?.id ?? "").toSorted();

for (const { kind, annotations, targets } of kinds) {
  test(`the targets of a ${kind} load balancer follow the nodes, by nothing but calls about targets`, async (t) => {
    const world = await bed(t, { nodes: 3 });
    const [first = "", ...rest] = [...world.instances.keys()];
    await world.create("web", { annotations });
    await world.published("web");
    assert.deepEqual(targets(world), idsOf(world, [first, ...rest]));
    world.aws.controls.journal.resetCounts();

    const gone = world.instances.get(first);
    await world.leave(first);
    await world.world.advance(10_000);
    assert.deepEqual(targets(world), idsOf(world, rest));

    const [added = ""] = await world.join(1);
    await world.world.advance(10_000);
    assert.deepEqual(targets(world), idsOf(world, [...rest, added]));
    assert.ok(gone);
    const calls = Object.keys(world.calls());
    assert.deepEqual(
      calls.filter((action) => !/Describe(Instances|SecurityGroups)$|(Register|Deregister)(Targets|Instances)/.test(action)),
      [],
    );
    assert.equal(world.events("web").filter((text) => text.includes("UpdatedLoadBalancer")).length, 1, "counted on one Event");
  });

  test(`a change of a node that means nothing to a ${kind} load balancer costs no call`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations });
    await world.published("web");
    world.aws.controls.journal.resetCounts();
    const [node = ""] = [...world.instances.keys()];
    await world.say("PATCH", `/api/v1/nodes/${node}/status`, { status: { conditions: [{ type: "Ready", status: "False" }] } });
    await world.say("PATCH", `/api/v1/nodes/${node}`, { metadata: { labels: { team: "web" } }, spec: { unschedulable: true } });
    await world.world.advance(60_000);
    assert.deepEqual(world.calls(), {});
  });
}

test("nodes are left out by label, by the autoscaler's taint, by a deletion under way and for want of an instance", async (t) => {
  const world = await bed(t, { nodes: 3 });
  const [kept = "", excluded = "", tainted = ""] = [...world.instances.keys()];
  await world.say("POST", "/api/v1/nodes", { metadata: { name: "bare" } });
  await world.say("POST", "/api/v1/nodes", {
    metadata: { name: "unknown" },
    spec: { providerID: "aws:///us-east-1a/i-0123456789abcdef0" },
  });
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  const targets = () => networkOf(world, "web")?.groups[0]?.targets;
  assert.deepEqual(targets(), idsOf(world, [kept, excluded, tainted]));
  const exclude = "node.kubernetes.io/exclude-from-external-load-balancers";
  await world.say("PATCH", `/api/v1/nodes/${excluded}`, { metadata: { labels: { [exclude]: "" } } });
  await world.say("PATCH", `/api/v1/nodes/${tainted}`, {
    spec: { taints: [{ key: "ToBeDeletedByClusterAutoscaler", value: "1", effect: "NoSchedule" }] },
  });
  await world.world.advance(10_000);
  assert.deepEqual(targets(), idsOf(world, [kept]));
  await world.say("PATCH", `/api/v1/nodes/${excluded}`, { metadata: { labels: { [exclude]: "false" } } });
  await world.world.advance(10_000);
  assert.deepEqual(targets(), idsOf(world, [kept, excluded]));
});

test("target-node-labels chooses nodes, and a label that changes is followed", async (t) => {
  const world = await bed(t);
  const [edge = ""] = await world.join(1, { role: "edge", zone: "" });
  await world.create("web", { annotations: { "target-node-labels": "role=edge,zone=" } });
  await world.published("web");
  const targets = () => classicOf(world, "web")?.instances.map(({ id }) => id);
  assert.deepEqual(targets(), idsOf(world, [edge]));
  const [other = ""] = [...world.instances.keys()];
  await world.say("PATCH", `/api/v1/nodes/${other}`, { metadata: { labels: { role: "edge", zone: "x" } } });
  await world.world.advance(10_000);
  assert.deepEqual(targets()?.toSorted(), idsOf(world, [edge, other]));
});

test("without nodes a load balancer is made and a Warning says so; an instance that does not run yet comes later", async (t) => {
  const world = await bed(t, { nodes: 0 });
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  assert.ok(world.events("web").includes("Warning UnAvailableLoadBalancer: There are no available nodes for LoadBalancer"));
  const [node = ""] = await world.join(1);
  const { id } = world.instances.get(node)!;
  world.aws.account.ec2.instances.update(id, { state: "pending" });
  await world.world.advance(10_000);
  assert.deepEqual(networkOf(world, "web")?.groups[0]?.targets, []);
  world.aws.account.ec2.instances.update(id, { state: "running" });
  await world.world.advance(120_000);
  assert.deepEqual(networkOf(world, "web")?.groups[0]?.targets, [id]);
});

test("when targets cannot be updated an Event says so and the whole Service is looked at again", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  const lift = world.aws.controls.deny("elasticloadbalancing:RegisterTargets");
  const [added = ""] = await world.join(1);
  await world.world.advance(20_000);
  assert.ok(
    world
      .events("web")
      .some((text) => /^Warning UpdateLoadBalancerFailed: .*total number of nodes: 3\], error: .*RegisterTargets/.test(text)),
    world.events("web").join("\n"),
  );
  lift();
  await world.world.advance(300_000);
  assert.ok(networkOf(world, "web")?.groups[0]?.targets.includes(world.instances.get(added)!.id));
});

for (const { kind, annotations, targets } of kinds) {
  const slow = kind === "classic" ? "CreateLoadBalancerListeners" : "CreateListener";
  test(`a node that goes does not wait for a listener of the ${kind} load balancer that it is behind`, async (t) => {
    const world = await bed(t, { nodes: 3 });
    const [first = "", ...rest] = [...world.instances.keys()];
    await world.create("web", { annotations });
    await world.published("web");
    const fault = world.aws.controls.faults.add({ action: `elasticloadbalancing:${slow}`, effect: { kind: "delay", ms: 25_000 } });
    const before = world.mutations().length;
    await world.edit(
      "web",
      {},
      {
        ports: [
          { name: "a", port: 80 },
          { name: "b", port: 81 },
        ],
      },
    );
    await world.world.advance(3_000);
    await world.leave(first);
    await world.world.advance(10_000);
    assert.ok(!world.mutations(before).includes(`elasticloadbalancing:${slow}`), "still being made");
    assert.deepEqual(targets(world), idsOf(world, rest));

    world.aws.controls.faults.remove(fault);
    const [added = ""] = await world.join(1);
    await world.world.advance(90_000);
    assert.deepEqual(targets(world), idsOf(world, [...rest, added]), "and all are behind it when it is made");
    if (kind === "network") assert.deepEqual(networkOf(world, "web")?.groups[1]?.targets, idsOf(world, [...rest, added]));
  });
}
