import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type KubeletWish, type NodeWorld, nodeWorld } from "../bed/node-world.ts";

async function bed(t: TestContext): Promise<NodeWorld> {
  const world = await nodeWorld();
  t.after(() => world.close());
  return world;
}

const minute = 60_000;
const shutdown = "node.cloudprovider.kubernetes.io/shutdown";
const lifecycle = ["--controllers=cloud-node-lifecycle", "--node-monitor-period=20s"];

/** A node on an instance of its own, with a second, healthy node beside it as witness. */
async function pair(world: NodeWorld, wish: KubeletWish = {}) {
  const [instance, witness] = world.launch(2);
  const name = await world.join(instance!, { taints: [], ready: "Unknown", ...wish });
  await world.join(witness!, { taints: [] });
  return { instance: instance!, name };
}

test("a node whose instance is terminated is deleted at once, whatever its Ready condition says but True, and said so", async (t) => {
  for (const ready of ["False", "Unknown", "none"] as const) {
    const world = await bed(t);
    const { instance, name } = await pair(world, { ready });
    world.setState(instance.id, "terminated");
    const { metrics } = world.start(...lifecycle);
    await world.until("deleted", () => world.node(name) === undefined, 30_000);
    assert.ok(world.events(name).includes(`Normal DeletingNode: Deleting node ${name} because it does not exist in the cloud provider`));
    const [write] = world.writes;
    assert.equal(write?.method, "DELETE");
    const { preconditions } = write!.body as { preconditions: { uid?: string; resourceVersion?: string } };
    assert.ok(preconditions.uid && preconditions.resourceVersion);
    const exposed = await metrics();
    assert.match(exposed, /cloud_provider_calls_total\{operation="instance_exists",result="instance_not_found"\} 1/);
    assert.match(exposed, /cloud_node_lifecycle_controller_monitor_nodes_duration_seconds_bucket\{le="16.384"\} [1-9]/);
  }
});

test("a ready node is never deleted or tainted, and AWS is not asked about it", async (t) => {
  for (const state of ["terminated", "stopped"] as const) {
    const world = await bed(t);
    const { instance } = await pair(world, { ready: "True" });
    world.setState(instance.id, state);
    world.start(...lifecycle);
    await world.world.advance(30 * minute);
    assert.deepEqual(world.writes, []);
    assert.equal(world.calls("DescribeInstances"), 0);
  }
});

test("a stopped instance's node is tainted and kept, and the taint goes when it is ready again", async (t) => {
  const world = await bed(t);
  const { instance, name } = await pair(world);
  world.setState(instance.id, "stopped");
  world.start(...lifecycle);
  await world.until("tainted", () => world.hasTaint(name, shutdown), 30_000);
  await world.world.advance(20 * minute);
  assert.equal(world.writes.length, 1, "once is enough");

  world.setState(instance.id, "running");
  await world.report(name, "True");
  await world.until("welcome back", () => !world.hasTaint(name, shutdown), 30_000);
});

test("instances that are pending, running, stopping or shutting down leave their node as it is", async (t) => {
  for (const state of ["pending", "running", "stopping", "shutting-down"] as const) {
    const world = await bed(t);
    const { instance } = await pair(world);
    world.setState(instance.id, state);
    world.start(...lifecycle);
    await world.world.advance(30 * minute);
    assert.deepEqual(world.writes, [], state);
  }
});

test("an instance that EC2 does not know any more costs its node only after five minutes of misses, and not before it is ten minutes old", async (t) => {
  const world = await bed(t);
  const { instance, name } = await pair(world);
  world.aws.account.ec2.instances.delete(instance.id);
  world.start(...lifecycle);
  await world.world.advance(14.9 * minute);
  assert.ok(world.node(name), "ten minutes of age and five of misses are not over");
  assert.ok(
    world.events(name).some((event) => event.includes("is kept: the Node is younger than 10 minutes")),
    world.events(name).join("\n"),
  );
  await world.until("deleted", () => world.node(name) === undefined, minute);
});

test("without a live instance of the cluster as witness a missing one proves nothing, and an Event says so", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { taints: [], ready: "Unknown" });
  world.aws.account.ec2.instances.delete(instance!.id);
  world.start(...lifecycle);
  await world.world.advance(30 * minute);
  assert.ok(world.node(name));
  assert.deepEqual(world.writes, []);
  assert.ok(world.events(name).some((event) => event.includes("these credentials see no live instance of this cluster")));
  assert.equal(world.events(name).length, 1, "said once");
});

test("a provider ID without a zone, or of another region, is no ground for a deletion", async (t) => {
  for (const providerID of ["aws:////i-0123456789abcdef0", "aws:///eu-west-1a/i-0123456789abcdef0"]) {
    const world = await bed(t);
    const { name } = await pair(world, { providerID });
    world.start(...lifecycle);
    await world.world.advance(20 * minute);
    assert.ok(world.node(name), providerID);
    assert.ok(world.events(name).some((event) => event.includes("does not name a zone of this region")));
  }
});

test("an instance seen alive in between starts the count anew", async (t) => {
  const world = await bed(t);
  const { instance, name } = await pair(world);
  world.start(...lifecycle);
  await world.world.advance(11 * minute);
  const record = world.instance(instance.id);
  for (let round = 0; round < 5; round++) {
    world.aws.account.ec2.instances.delete(instance.id);
    await world.world.advance(4.5 * minute);
    world.aws.account.ec2.instances.put(instance.id, record);
    await world.world.advance(45_000);
  }
  assert.ok(world.node(name));
});

test("an instance of a cluster of the same name in another network is no witness", async (t) => {
  const world = await bed(t);
  const [instance, stranger] = world.launch(2);
  const name = await world.join(instance!, { taints: [], ready: "Unknown" });
  world.aws.account.ec2.instances.delete(instance!.id);
  world.aws.account.ec2.instances.update(stranger!.id, { vpcId: "vpc-0000000000000000a" });
  world.start(...lifecycle);
  await world.world.advance(30 * minute);
  assert.ok(world.node(name));
  assert.ok(world.events(name).some((event) => event.includes("see no live instance of this cluster")));
});

test("a node without provider ID whose name finds nothing is never deleted, and an Event says so once", async (t) => {
  const world = await bed(t);
  const { instance, name } = await pair(world, { name: "custom-host", providerID: "" });
  world.aws.account.ec2.instances.delete(instance.id);
  world.start(...lifecycle);
  await world.world.advance(20 * minute);
  assert.ok(world.node(name));
  const events = world.events(name);
  assert.equal(events.length, 1);
  assert.match(
    events[0]!,
    /no provider ID, and no instance of the cluster has the private DNS name custom-host: that proves nothing, so the Node is kept/,
  );
});

test("a node without provider ID is tainted when the instance of its name is stopped; two of that name, or an untagged one, change nothing", async (t) => {
  const world = await bed(t);
  const [stopped, untagged, first, second] = world.launch(4);
  const names = await Promise.all(
    [stopped, untagged, first].map((instance) => world.join(instance!, { taints: [], providerID: "", ready: "False" })),
  );
  for (const { id } of [stopped!, untagged!, first!, second!]) world.setState(id, "stopped");
  world.aws.account.ec2.instances.update(untagged!.id, { tags: {} });
  world.aws.account.ec2.instances.update(second!.id, { privateDnsName: first!.privateDnsName });
  world.start(...lifecycle);
  await world.until("tainted", () => world.hasTaint(names[0]!, shutdown));
  await world.world.advance(minute);
  assert.ok(!world.hasTaint(names[1]!, shutdown) && !world.hasTaint(names[2]!, shutdown));
  assert.equal(world.nodeNames().length, 3);
});

test("an instance of another VPC is not touched: neither taint nor deletion", async (t) => {
  const world = await bed(t);
  const { instance, name } = await pair(world);
  world.aws.account.ec2.instances.update(instance.id, { vpcId: "vpc-0000000000000000a", state: "stopped" });
  world.start(...lifecycle);
  await world.world.advance(10 * minute);
  assert.deepEqual(world.writes, []);
  assert.match(world.events(name)[0]!, /InstanceOfOtherVPC/);
});

test("a Fargate node is not tainted while its interface exists, and kept when it is not found", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(2);
  const found = await world.join(instance!, {
    name: "a",
    taints: [],
    ready: "False",
    providerID: `aws:///us-east-1a/u/fargate-${instance!.privateDnsName}`,
  });
  const lost = await world.join(instance!, { name: "b", taints: [], ready: "False", providerID: "aws:///us-east-1a/u/fargate-10.0.32.99" });
  world.start(...lifecycle);
  await world.world.advance(30 * minute);
  assert.deepEqual(world.writes, []);
  assert.deepEqual(world.events(found), []);
  assert.match(world.events(lost)[0]!, /InterfaceNotFound/);
});

test("a failed deletion is told and tried again", async (t) => {
  const world = await bed(t);
  const { instance, name } = await pair(world);
  world.setState(instance.id, "terminated");
  world.cluster.faults.add({ match: ({ method }) => method === "DELETE", effect: { kind: "refuse", status: 500 }, times: 3 });
  world.start(...lifecycle);
  await world.until("deleted in the end", () => world.node(name) === undefined, 3 * minute);
  assert.ok(world.events(name).some((event) => event.startsWith(`Warning DeletingNodeFailed: Failed deleting node ${name}: `)));
});

test("a node that turned ready in the meantime survives the deletion that was on its way", async (t) => {
  const world = await bed(t);
  const { instance, name } = await pair(world);
  world.setState(instance.id, "terminated");
  let once = true;
  world.cluster.faults.add({
    match: ({ method }) => {
      if (method !== "DELETE" || !once) return false;
      once = false;
      void world.report(name, "True");
      return true;
    },
    effect: { kind: "delay", ms: 100 },
  });
  world.start(...lifecycle);
  await world.world.advance(minute);
  assert.ok(world.node(name));
  assert.deepEqual(
    world.writes.map(({ status }) => status),
    [409],
  );
});

test("a write that AWS's trouble held up does not stop the other nodes", async (t) => {
  const world = await bed(t);
  const instances = world.launch(3);
  const names = await Promise.all(instances.map((instance) => world.join(instance, { taints: [], ready: "False" })));
  for (const { id } of instances) world.setState(id, "stopped");
  world.cluster.faults.add({
    match: ({ method, url }) => method === "PATCH" && url.pathname.endsWith(names[0]!),
    effect: { kind: "refuse", status: 403 },
  });
  world.start(...lifecycle);
  await world.until("the others are tainted", () => names.slice(1).every((name) => world.hasTaint(name, shutdown)), 30_000);
});
