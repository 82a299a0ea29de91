import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";

async function bed(t: TestContext): Promise<NodeWorld> {
  const world = await nodeWorld();
  t.after(() => world.close());
  world.aws.controls.change({ latency: { minMs: 40, maxMs: 40 } });
  return world;
}

test("a thousand nodes with provider IDs cost at most 12 DescribeInstances and 10 DescribeInstanceTopology", async (t) => {
  const world = await bed(t);
  for (const instance of world.launch(1000)) await world.join(instance);
  world.start();
  await world.until("all are initialised", () => world.writes.length >= 2000 && world.initialized() === 1000, 120_000);
  assert.ok(world.calls("DescribeInstances") <= 12, `${world.calls("DescribeInstances")} DescribeInstances`);
  assert.ok(world.calls("DescribeInstanceTopology") <= 10, `${world.calls("DescribeInstanceTopology")} DescribeInstanceTopology`);
  assert.equal(world.writes.length, 2000);
});

test("a thousand nodes of a type with a known network topology are asked for a hundred at a time", async (t) => {
  const world = await bed(t);
  for (const instance of world.launch(1000, "p5.48xlarge")) await world.join(instance);
  world.start();
  await world.until("all are initialised", () => world.writes.length >= 2000 && world.initialized() === 1000, 120_000);
  assert.ok(world.calls("DescribeInstances") <= 12, `${world.calls("DescribeInstances")} DescribeInstances`);
  // EC2 answers in pages of 20 when it is asked by id.
  assert.ok(world.calls("DescribeInstanceTopology") <= 10 * 5, `${world.calls("DescribeInstanceTopology")} DescribeInstanceTopology`);
});

test("a thousand nodes found by their DNS names cost at most 20 DescribeInstances", async (t) => {
  const world = await bed(t);
  for (const instance of world.launch(1000)) await world.join(instance, { providerID: "" });
  world.start();
  await world.until("all are initialised", () => world.writes.length >= 2000 && world.initialized() === 1000, 120_000);
  assert.ok(world.calls("DescribeInstances") <= 20, `${world.calls("DescribeInstances")} DescribeInstances`);
});

test("nodes that join within seconds of each other share calls", async (t) => {
  const world = await bed(t);
  world.start("--controllers=cloud-node");
  await world.world.advance(5_000);
  for (const instance of world.launch(300)) {
    await world.join(instance);
    await world.world.advance(10);
  }
  await world.until("all are initialised", () => world.initialized() === 300);
  assert.ok(world.calls("DescribeInstances") <= 15, `${world.calls("DescribeInstances")} DescribeInstances over 3 s`);
});

test("a storm of 500 nodes that are not ready costs at most 5 calls a period, and none when all are ready", async (t) => {
  const world = await bed(t);
  const names: string[] = [];
  for (const instance of world.launch(500)) names.push(await world.join(instance, { taints: [] }));
  world.start("--controllers=cloud-node-lifecycle");
  await world.world.advance(60_000);
  assert.equal(world.calls("DescribeInstances"), 0, "all are ready");

  for (const name of names) {
    await world.report(name, "Unknown");
    await world.world.advance(5);
  }
  world.aws.controls.journal.resetCounts();
  await world.world.advance(50_000);
  assert.ok(world.calls("DescribeInstances") <= 50, `${world.calls("DescribeInstances")} calls in ten periods`);
  assert.ok(world.calls("DescribeInstances") >= 20, "they are looked at each period");
});

test("five thousand nodes are refreshed with at most ten calls", async (t) => {
  const world = await bed(t);
  for (const instance of world.launch(5000)) {
    const name = instance.privateDnsName;
    const ips = world.aws.account.ec2.interfaces.get(instance.interfaceIds[0]!)!.privateAddresses;
    const names = ["InternalDNS", "Hostname"].map((type) => ({ type, address: name }));
    await world.join(instance, { taints: [], addresses: [...ips.map((address) => ({ type: "InternalIP", address })), ...names] });
  }
  world.start("--controllers=cloud-node");
  await world.until("the first pass", () => world.calls("DescribeInstances") >= 5, 60_000);
  await world.world.advance(60_000);
  assert.ok(world.calls("DescribeInstances") <= 10, `${world.calls("DescribeInstances")} calls`);
  assert.deepEqual(world.writes, []);
});
