import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { type NodeWorld, type NodeWorldOptions, nodeWorld } from "../bed/node-world.ts";

async function bed(t: TestContext, options?: NodeWorldOptions): Promise<NodeWorld> {
  const world = await nodeWorld(options);
  t.after(() => world.close());
  return world;
}

const minute = 60_000;

/** A Node as the reference leaves it: labels, addresses and provider ID, and no trace of us. */
function asTheReferenceLeavesIt(world: NodeWorld, instance: Instance): Parameters<NodeWorld["join"]>[1] {
  const name = instance.privateDnsName;
  const ips = instance.interfaceIds.flatMap((id) => world.aws.account.ec2.interfaces.get(id)!.privateAddresses);
  return {
    taints: [],
    labels: {
      "beta.kubernetes.io/instance-type": instance.type,
      "node.kubernetes.io/instance-type": instance.type,
      "failure-domain.beta.kubernetes.io/zone": instance.zone,
      "topology.kubernetes.io/zone": instance.zone,
      "failure-domain.beta.kubernetes.io/region": "us-east-1",
      "topology.kubernetes.io/region": "us-east-1",
    },
    addresses: [
      ...ips.map((address) => ({ type: "InternalIP", address })),
      { type: "InternalDNS", address: name },
      { type: "Hostname", address: name },
    ],
  };
}

test("taking over nodes that the reference initialised writes nothing, however long it runs", async (t) => {
  const world = await bed(t);
  for (const instance of world.launch(250)) await world.join(instance, asTheReferenceLeavesIt(world, instance));
  const before = JSON.stringify(world.cluster.objects("nodes"));
  world.start();
  await world.world.advance(31 * minute);
  assert.deepEqual(world.writes, []);
  assert.equal(JSON.stringify(world.cluster.objects("nodes")), before);
  assert.deepEqual(world.events(), []);
  assert.ok(world.calls("DescribeInstances") <= 7 * 2, `${world.calls("DescribeInstances")} calls in seven passes`);
});

test("an address that changes is written in the next pass, the new list in place of the old", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const name = await world.join(instance!, asTheReferenceLeavesIt(world, instance!));
  world.start();
  await world.world.advance(minute);
  assert.deepEqual(world.writes, []);
  const primary = world.aws.account.ec2.interfaces.get(instance!.interfaceIds[0]!)!;
  world.aws.account.ec2.interfaces.update(primary.id, { privateAddresses: [...primary.privateAddresses, "10.0.32.77"] });
  await world.until("written", () => world.writes.length > 0, 6 * minute);
  assert.deepEqual(
    world.node(name)?.status?.addresses?.map(({ address }) => address),
    ["10.0.32.4", "10.0.32.77", name, name],
  );
  await world.world.advance(20 * minute);
  assert.equal(world.writes.length, 1, "and never again");
});

test("two addresses of one type, and two families, are written once", async (t) => {
  const world = await bed(t, { network: { ipv6: true }, config: "NodeIPFamilies=ipv4\nNodeIPFamilies=ipv6" });
  const [instance] = world.launch(1);
  const name = await world.join(instance!, { taints: [], addresses: [{ type: "Hostname", address: "old" }] });
  world.start();
  await world.until("written", () => world.writes.length > 0);
  const addresses = world.node(name)!.status!.addresses!.map(({ type }) => type);
  assert.deepEqual(addresses, ["InternalIP", "InternalIP", "InternalDNS", "Hostname"], "grouped by type, as the API server does");
  await world.world.advance(30 * minute);
  assert.equal(world.writes.length, 1);
});

test("an IP that kubelet asks for is kept to, and one that the cloud lost leaves the list alone", async (t) => {
  const world = await bed(t);
  const [instance] = world.launch(1);
  const wish = asTheReferenceLeavesIt(world, instance!)!;
  await world.join(instance!, { ...wish, annotations: { "alpha.kubernetes.io/provided-node-ip": "10.0.32.99" } });
  world.start();
  await world.world.advance(11 * minute);
  assert.deepEqual(world.writes, []);
  assert.ok(world.lines.some((line) => line.includes("matches ip: 10.0.32.99")));
});

test("addresses of a tainted node, and those of a node whose instance is gone, are left alone", async (t) => {
  const world = await bed(t);
  const [first, second] = world.launch(2);
  const tainted = await world.join(first!, {
    ...asTheReferenceLeavesIt(world, first!),
    addresses: [],
    taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", effect: "NoSchedule" }],
  });
  await world.join(second!, asTheReferenceLeavesIt(world, second!));
  world.setState(second!.id, "terminated");
  world.aws.account.ec2.instances.update(second!.id, { interfaceIds: [], privateDnsName: "" });
  world.aws.account.ec2.instances.update(first!.id, { vpcId: "vpc-0000000000000000a" });
  world.start("--controllers=cloud-node");
  await world.world.advance(11 * minute);
  assert.deepEqual(world.node(tainted)?.status?.addresses ?? [], []);
  assert.deepEqual(
    world.writes.filter(({ path }) => !path.includes(tainted)),
    [],
  );
});

for (const workers of [1, 5, 30]) {
  test(`with ${workers} workers every node gets its own addresses`, async (t) => {
    const world = await bed(t);
    const instances = world.launch(60);
    for (const instance of instances) await world.join(instance, { taints: [] });
    world.start("--controllers=cloud-node", `--concurrent-node-status-updates=${workers}`);
    await world.until("all are written", () => world.writes.length === 60, 5 * minute);
    for (const instance of instances) {
      const hostname = world.node(instance.privateDnsName)?.status?.addresses?.find(({ type }) => type === "Hostname");
      assert.equal(hostname?.address, instance.privateDnsName);
    }
  });
}
