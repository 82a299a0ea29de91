/** Labels of PersistentVolumes that do not say where they are, and of nodes that cannot find out what they are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes as nodeResource } from "../../src/kube/builtin.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { type ClaimWorld, claimWorld } from "../bed/claim-world.ts";

async function volumeNamed(world: ClaimWorld, name: string) {
  return (await world.persistentVolumes()).find(({ metadata }) => metadata.name === name);
}

/** A disk that somebody made by hand: the root of an instance serves as well as any. */
const someDisk = (world: ClaimWorld, node: Instance) =>
  [...world.aws.account.ec2.volumes.values()].find(({ attachments }) => attachments[0]?.instanceId === node.id)!;

const spec = { accessModes: ["ReadWriteOnce"], capacity: { storage: "8Gi" } };

test("a PersistentVolume from before CSI is given the zone of its disk, once, with one call to EC2", async () => {
  const world = await claimWorld();
  const [, node] = world.nodes;
  const { id, zone } = someDisk(world, node!);
  await world.say("POST", "/api/v1/persistentvolumes", {
    metadata: { name: "old" },
    spec: { ...spec, awsElasticBlockStore: { volumeID: `aws://${zone}/${id}` } },
  });
  await world.say("POST", "/api/v1/persistentvolumes", { metadata: { name: "other" }, spec: { ...spec, hostPath: { path: "/" } } });
  world.start("--volume-labels");
  const labels = { "topology.kubernetes.io/zone": zone, "topology.kubernetes.io/region": "us-east-1" };
  await world.until("it is labelled", async () => (await volumeNamed(world, "old"))?.metadata.labels !== undefined);
  const volume = await volumeNamed(world, "old");
  assert.deepEqual(volume!.metadata.labels, labels);
  const [term] = volume!.spec?.nodeAffinity?.required?.nodeSelectorTerms ?? [];
  assert.deepEqual(
    term?.matchExpressions,
    Object.entries(labels).map(([key, value]) => ({ key, operator: "In", values: [value] })),
  );
  await world.world.advance(60_000);
  assert.equal(world.aws.controls.journal.calls("ec2:DescribeVolumes"), 1);
  assert.equal((await volumeNamed(world, "other"))!.metadata.labels, undefined);
});

test("without the flag nothing is labelled", async () => {
  const world = await claimWorld();
  const { id } = someDisk(world, world.nodes[0]!);
  await world.say("POST", "/api/v1/persistentvolumes", {
    metadata: { name: "old" },
    spec: { ...spec, awsElasticBlockStore: { volumeID: id } },
  });
  world.start();
  await world.world.advance(60_000);
  assert.equal((await volumeNamed(world, "old"))!.metadata.labels, undefined);
});

test("a PersistentVolume whose disk EC2 does not know says so, and stays as it is", async () => {
  const world = await claimWorld();
  await world.say("POST", "/api/v1/persistentvolumes", {
    metadata: { name: "lost" },
    spec: { ...spec, awsElasticBlockStore: { volumeID: "vol-0123456789abcdef0" } },
  });
  world.start("--volume-labels");
  await world.until("it says so", async () => (await world.events("lost")).has("VolumeZoneUnknown"));
  assert.equal((await world.events("lost")).get("VolumeZoneUnknown"), "EC2 does not know vol-0123456789abcdef0");
  assert.equal((await volumeNamed(world, "lost"))!.metadata.labels, undefined);
});

const counts = async (world: ClaimWorld, node: Instance) => {
  const { metadata } = await world.world.holding(world.kube.get(nodeResource, { name: node.privateDnsName }));
  return ["enis-count", "non-csi-ebs-volumes-count"].map((key) => metadata.labels?.[`ebs.csi.aws.com/${key}`]);
};

test("every node is told its interfaces and other disks; disks of claims and the root are not among them", async () => {
  const world = await claimWorld();
  const [node, other] = world.nodes;
  world.start();
  await world.claim("data");
  await world.pod("db", node!, "data");
  await world.until("it is attached", () => world.disks[0]?.attachments[0]?.state === "attached");
  world.aws.controls.journal.resetCounts();
  world.startLabeler();
  await world.until("every node is labelled", async () => {
    const all = await Promise.all(world.nodes.map((each) => counts(world, each)));
    return all.every(([interfaces]) => interfaces !== undefined);
  });
  assert.deepEqual(await counts(world, node!), ["1", "0"]);
  assert.deepEqual(await counts(world, other!), ["1", "0"]);
  assert.equal(world.aws.controls.journal.calls("ec2:DescribeInstances"), 1, "one question for all nodes");
});

test("a node that nobody knows is not labelled, and keeps no other from being", async () => {
  const world = await claimWorld();
  await world.say("POST", "/api/v1/nodes", {
    metadata: { name: "ghost" },
    spec: { providerID: "aws:///us-east-1a/i-0123456789abcdef0" },
  });
  await world.say("POST", "/api/v1/nodes", { metadata: { name: "odd" }, spec: { providerID: "gce://x" } });
  world.startLabeler();
  await world.until("the last node is labelled", async () => (await counts(world, world.nodes.at(-1)!))[0] === "1");
  await world.world.advance(60_000);
  for (const name of ["ghost", "odd"]) {
    const { metadata } = await world.world.holding(world.kube.get(nodeResource, { name }));
    assert.equal(metadata.labels?.["ebs.csi.aws.com/enis-count"], undefined, name);
  }
});

test("a node whose labels cannot be written keeps no other from being labelled, and is labelled when they can", async () => {
  const world = await claimWorld();
  const [refused, ...others] = world.nodes;
  const { send } = world.cluster;
  let refusals = 0;
  Object.assign(world.cluster, {
    send: (request: Parameters<typeof send>[0]) => {
      const isRefused = request.method === "PATCH" && request.url.pathname.endsWith(`/nodes/${refused!.privateDnsName}`) && refusals < 8;
      if (!isRefused) return send(request);
      refusals++;
      return Promise.reject(new Error("connection reset"));
    },
  });
  world.startLabeler();
  for (const node of others) {
    await world.until(`${node.privateDnsName} is labelled`, async () => (await counts(world, node))[0] === "1");
  }
  await world.until("the first one is as well", async () => (await counts(world, refused!))[0] === "1", 60 * 60_000);
  assert.equal(refusals, 8);
});

test("the labels are true again within the hour", async () => {
  const world = await claimWorld({}, 60 * 60_000);
  const [node] = world.nodes;
  world.startLabeler();
  await world.until("it is labelled", async () => (await counts(world, node!))[1] === "0");
  await world.change(nodeResource, node!.privateDnsName, { metadata: { labels: { "ebs.csi.aws.com/enis-count": "9" } } });
  await world.world.advance(61 * 60_000);
  assert.deepEqual(await counts(world, node!), ["1", "0"]);
});
