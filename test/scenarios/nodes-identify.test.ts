import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";

async function bed(t: TestContext): Promise<NodeWorld> {
  const world = await nodeWorld();
  t.after(() => world.close());
  return world;
}

/** Starts the node controller and waits until it has made up its mind about this node. */
async function outcome(world: NodeWorld, name: string, ...flags: string[]): Promise<string> {
  world.start("--controllers=cloud-node", ...flags);
  await world.until("decided", () => world.events(name).length > 0);
  return world.isInitialized(name) ? world.node(name)!.spec!.providerID! : world.events(name)[0]!;
}

const other = "kubernetes.io/cluster/other";
const internalIp = (address: string) => [{ type: "InternalIP", address }];

test("a node named by its instance id, with or without a domain, is found by that id", async (t) => {
  const world = await bed(t);
  const [first, second] = world.launch(2);
  await world.join(first!, { name: first!.id, providerID: "" });
  await world.join(second!, { name: `${second!.id}.ec2.internal`, providerID: "" });
  assert.equal(await outcome(world, first!.id), `aws:///${first!.zone}/${first!.id}`);
  await world.until("the other too", () => world.isInitialized(`${second!.id}.ec2.internal`));
});

test("a host that is merely called i-something is found by its address", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  await world.join(instance!, { name: "i-love-linux", providerID: "", addresses: internalIp("10.0.32.4") });
  assert.equal(await outcome(world, "i-love-linux"), `aws:///${instance!.zone}/${instance!.id}`);
});

test("a custom host name just works: by the address kubelet was told to use, before those it reports", async (t) => {
  const world = await bed(t);
  const [, instance] = world.launch(2);
  const provided = "10.0.64.4";
  const annotations = { "alpha.kubernetes.io/provided-node-ip": provided };
  await world.join(instance!, { name: "web-1", providerID: "", annotations, addresses: internalIp("10.0.32.4") });
  assert.equal(await outcome(world, "web-1"), `aws:///${instance!.zone}/${instance!.id}`);
});

test("private DNS names are found among pending and running instances, and no others", async (t) => {
  for (const [state, found] of [
    ["pending", true],
    ["running", true],
    ["stopping", false],
    ["stopped", false],
  ] as const) {
    const world = await bed(t);
    const [instance] = world.launch(1);
    world.setState(instance!.id, state);
    const name = await world.join(instance!, { providerID: "" });
    assert.match(await outcome(world, name), found ? /^aws:/ : new RegExp(`matches by private DNS name, but is ${state}`));
  }
});

test("an instance of another cluster, or of none, is nobody's", async (t) => {
  for (const tags of [{ [other]: "owned" }, {}] as Record<string, string>[]) {
    const world = await bed(t);
    const [instance] = world.launch(1);
    world.aws.account.ec2.instances.update(instance!.id, { tags });
    const name = await world.join(instance!, { providerID: "", addresses: internalIp("10.0.32.4") });
    assert.match(await outcome(world, name), /lacks the tag kubernetes\.io\/cluster\/test/);
  }
});

test("an instance of another VPC is refused, by provider ID as by address", async (t) => {
  const world = await bed(t);
  const [first, second] = world.launch(2);
  for (const { id } of [first!, second!]) world.aws.account.ec2.instances.update(id, { vpcId: "vpc-0000000000000000a" });
  const byId = await world.join(first!);
  const byName = await world.join(second!, { providerID: "" });
  assert.match(await outcome(world, byId), /is an instance of vpc-0000000000000000a, but the cluster's VPC is vpc-/);
  await world.until("the other too", () => world.events(byName).length > 0);
  assert.match(world.events(byName)[0]!, /matches by private DNS name, but is in vpc-0000000000000000a/);
});

test("two instances with one name are an error that names both", async (t) => {
  const world = await bed(t);
  const [first, second] = world.launch(2);
  world.aws.account.ec2.instances.update(second!.id, { privateDnsName: first!.privateDnsName });
  const name = await world.join(first!, { providerID: "" });
  const message = await outcome(world, name);
  assert.match(message, /several instances match by private DNS name/);
  assert.ok(message.includes(first!.id) && message.includes(second!.id), message);
});

test("two nodes that claim one instance are both refused, and told of each other", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const first = await world.join(instance!, { name: "a" });
  const second = await world.join(instance!, { name: "b" });
  assert.match(await outcome(world, first), /is claimed by Node b too: delete the Node that is not on it/);
  await world.until("the other too", () => world.events(second).length > 0);
  assert.match(world.events(second)[0]!, /is claimed by Node a too/);
  assert.ok(!world.isInitialized(first) && !world.isInitialized(second));

  await world.say("DELETE", "/api/v1/nodes/b");
  await world.until("the one that is left is initialised", () => world.isInitialized(first), 10 * 60_000);
});

test("a kubelet cannot take an instance that another node claims, or goes by the name of", async (t) => {
  const world = await bed(t);
  const [claimed, named] = world.launch(2);
  await world.join(claimed!, { taints: [] });
  await world.join(named!, { providerID: "", taints: [] });
  const thief = await world.join(claimed!, { name: "thief", providerID: "", addresses: internalIp("10.0.32.4") });
  const other = await world.join(named!, { name: "other-thief", providerID: "", addresses: internalIp("10.0.64.4") });
  assert.match(await outcome(world, thief), /is claimed by Node ip-10-0-32-4/);
  await world.until("the other too", () => world.events(other).length > 0);
  assert.match(world.events(other)[0]!, /is claimed by Node ip-10-0-64-4/);
});

test("of two nodes with one address neither is believed", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  for (const name of ["a", "b"]) await world.join(instance!, { name, providerID: "", addresses: internalIp("10.0.32.4") });
  assert.match(await outcome(world, "a"), /matches by address, but Nodes b match it too/);
  assert.ok(!world.isInitialized("b"));
});

test("the Name tag tells only where that is asked for", async (t) => {
  for (const [flags, expected] of [
    [[], /no instance in us-east-1 has the private DNS name tagged/],
    [["--identify-nodes-by-name-tag"], /^aws:/],
  ] as const) {
    const world = await bed(t);
    const [instance] = world.launch(1);
    world.aws.account.ec2.instances.update(instance!.id, { tags: { ...instance!.tags, Name: "tagged" } });
    await world.join(instance!, { name: "tagged", providerID: "" });
    assert.match(await outcome(world, "tagged", ...flags), expected);
  }
});

test("a provider ID of another cloud is none of our business: one Event, no write", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { providerID: `gce://project/zone/${instance!.id}`, ready: "False" });
  world.start();
  await world.world.advance(30 * 60_000);
  const events = world.events(name);
  assert.ok(events.length <= 2 && events.every((event) => event.includes("ForeignProviderID: provider ID gce://")), events.join("\n"));
  assert.deepEqual(world.writes, []);
  assert.equal(world.calls("DescribeInstances"), 0);
});

test("an instance that EC2 does not know is told as one of another account or region", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { providerID: "aws:///us-east-1a/i-0123456789abcdef0" });
  assert.match(await outcome(world, name), /EC2 in us-east-1 does not know i-0123456789abcdef0 .*another account or region/);
});

test("provider IDs that are none are told, and EC2 is not asked", async (t) => {
  for (const providerID of ["aws:///us-east-1a/vol-1", "aws:///us-east-1a/i-zzz", "banana"]) {
    const world = await bed(t);
    const [instance] = world.launch(1);
    const name = await world.join(instance!, { providerID });
    assert.match(await outcome(world, name), /--provider-id must be aws:/);
    assert.equal(world.calls("DescribeInstances"), 0);
  }
});

test("a Fargate node whose interface is not there, or there twice, waits and says so", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { name: "fargate", providerID: "aws:///us-east-1a/uuid/fargate-10.0.32.99" });
  assert.match(await outcome(world, name), /no attached network interface of vpc-\w+ has the address 10\.0\.32\.99/);
});
