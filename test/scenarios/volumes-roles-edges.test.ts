/** The roles of the sidecars where objects and machines change under their hands. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes, pods } from "../../src/kube/builtin.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { claims, csiNodes, persistentVolumes, storageClasses } from "../../src/volumes/storage-resources.ts";
import { type ClaimWorld, claimWorld } from "../bed/claim-world.ts";

const isBound = (world: ClaimWorld, name: string) => async () => (await world.seenClaim(name)).status?.phase === "Bound";
const atOnce = { volumeBindingMode: "Immediate" };

for (const [how, reclaimPolicy] of [
  ["from the start", "Retain"],
  ["later", "Delete"],
] as const) {
  test(`a PersistentVolume that is to be retained, said ${how}, can be deleted, and its disk stays`, async () => {
    const world = await claimWorld();
    world.start();
    await world.class("kept", { ...atOnce, reclaimPolicy });
    await world.claim("data", { storageClassName: "kept" });
    await world.until("the claim is bound", isBound(world, "data"));
    const { metadata } = (await world.persistentVolumes())[0]!;
    await world.change(persistentVolumes, metadata.name, { spec: { persistentVolumeReclaimPolicy: "Retain" } });
    await world.remove(claims, "data");
    await world.remove(persistentVolumes, metadata.name);
    await world.until("the object is gone", async () => (await world.persistentVolumes()).length === 0);
    assert.equal(world.disks.length, 1);
    assert.equal(world.aws.controls.journal.calls("ec2:DeleteVolume"), 0);
  });
}

test("a claim whose chosen node is gone is given back to the scheduler", async () => {
  const world = await claimWorld();
  const [gone, , , other] = world.nodes;
  await world.remove(nodes, gone!.privateDnsName);
  await world.remove(csiNodes, gone!.privateDnsName);
  world.start();
  await world.claim("data");
  const annotation = "volume.kubernetes.io/selected-node";
  await world.change(claims, "data", { metadata: { annotations: { [annotation]: gone!.privateDnsName } } });
  await world.until("it has no node", async () => (await world.seenClaim("data")).metadata.annotations?.[annotation] === undefined);
  await world.pod("db", other!, "data");
  await world.until("it is bound elsewhere", isBound(world, "data"));
});

test("a claim that is deleted in the making and made again under the same name is served too", async () => {
  const world = await claimWorld();
  world.start();
  await world.class("now", atOnce);
  const fault = world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "lose-answer" } });
  await world.claim("data", { storageClassName: "now" });
  await world.until("EC2 was asked", () => world.aws.controls.journal.calls("ec2:CreateVolume") > 0);
  await world.remove(claims, "data");
  await world.world.advance(90_000);
  const { metadata } = await world.seenClaim("data");
  assert.ok(metadata.deletionTimestamp, "it is kept until it is known whether EC2 has made its volume");
  world.aws.controls.faults.remove(fault);
  await world.until("the first one is gone", async () => (await world.seenClaim("data").catch(() => undefined)) === undefined, 15 * 60_000);
  await world.claim("data", { storageClassName: "now" });
  await world.until("the second one is bound", isBound(world, "data"), 15 * 60_000);
  await world.until("the first one's disk is gone", () => world.disks.length === 1);
});

/** A claim, and its disk, which nobody knows: the process that had it made is dead. */
async function madeByTheDead(): Promise<ClaimWorld> {
  const world = await claimWorld();
  const kill = world.start();
  await world.class("now", atOnce);
  world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "lose-answer" }, times: 1 });
  await world.claim("data", { storageClassName: "now" });
  await world.until("EC2 was asked", () => world.aws.controls.journal.calls("ec2:CreateVolume") > 0);
  kill();
  assert.equal(world.disks.length, 1);
  return world;
}

const anew = (more: object) => async (world: ClaimWorld) => {
  await world.remove(storageClasses, "now");
  await world.class("now", { ...atOnce, ...more });
};
const isGone = (world: ClaimWorld) => async () => (await world.seenClaim("data").catch(() => undefined)) === undefined;

for (const [what, after] of [
  ["its class is as it was", async () => {}],
  ["its class is gone", (world: ClaimWorld) => world.remove(storageClasses, "now")],
  ["its class is another driver's", anew({ provisioner: "other.example" })],
] as const) {
  test(`a claim that is deleted when the process that had its volume made is dead leaves no disk behind, and ${what}`, async () => {
    const world = await madeByTheDead();
    await world.remove(claims, "data");
    await after(world);
    world.start();
    await world.until("the claim is gone", isGone(world));
    await world.until("its disk goes with it", async () => world.disks.length + (await world.persistentVolumes()).length === 0);
  });
}

test("a claim whose volume an earlier process had made of a class that is another one by now can be deleted, and its disk goes", async () => {
  const world = await madeByTheDead();
  await anew({ parameters: { type: "gp2" } })(world);
  world.start();
  await world.until("it is refused", async () =>
    /has this name already/.test((await world.events("data")).get("ProvisioningFailed") ?? ""),
  );
  await world.remove(claims, "data");
  await world.until("the claim is gone", isGone(world));
  await world.until("its disk goes with it", async () => world.disks.length + (await world.persistentVolumes()).length === 0);
});

test("a disk that somebody has given to its claim by hand gets no second PersistentVolume, with which it would be deleted", async () => {
  const world = await madeByTheDead();
  const { uid } = (await world.seenClaim("data")).metadata;
  await world.say("POST", "/api/v1/persistentvolumes", {
    metadata: { name: "by-hand" },
    spec: {
      accessModes: ["ReadWriteOnce"],
      capacity: { storage: "10Gi" },
      storageClassName: "now",
      claimRef: { kind: "PersistentVolumeClaim", namespace: "default", name: "data", uid },
      csi: { driver: "ebs.csi.aws.com", volumeHandle: world.disks[0]!.id },
    },
  });
  await world.change(claims, "data", { spec: { volumeName: "by-hand" } });
  world.start();
  const ours = async () => (await world.seenClaim("data")).metadata.finalizers?.filter((each) => each.includes("fairlead"));
  await world.until("the claim is not held", async () => (await ours())?.length === 0);
  assert.deepEqual(
    (await world.persistentVolumes()).map(({ metadata }) => metadata.name),
    ["by-hand"],
  );
});

test("a claim that is deleted and for which nothing was made goes, and one that is bound is not held", async () => {
  const world = await claimWorld();
  world.start();
  await world.class("odd", { ...atOnce, parameters: { speed: "high" } });
  await world.class("now", atOnce);
  await world.claim("wrong", { storageClassName: "odd" });
  await world.claim("data", { storageClassName: "now" });
  await world.until("it is bound", isBound(world, "data"));
  await world.until("it is refused", async () => (await world.events("wrong")).has("ProvisioningFailed"));
  await world.remove(claims, "wrong");
  await world.until("it is gone", async () => (await world.seenClaim("wrong").catch(() => undefined)) === undefined);
  await world.until("the other is held by Kubernetes alone", async () => (await world.seenClaim("data")).metadata.finalizers?.length === 1);
  assert.equal(world.disks.length, 1);
});

test("a volume is detached from the machine it was attached to, also when its node's name has a new machine", async () => {
  const world = await claimWorld();
  const [old, , , next] = world.nodes;
  world.start();
  await world.claim("data");
  await world.pod("db", old!, "data");
  await world.until("it is attached", async () => (await world.attachments())[0]?.status?.attached === true);
  const drivers = [{ name: "ebs.csi.aws.com", nodeID: next!.id, topologyKeys: ["topology.kubernetes.io/zone"] }];
  await world.change(csiNodes, old!.privateDnsName, { spec: { drivers } });
  await world.remove(pods, "db");
  await world.until("the attachment is gone", async () => (await world.attachments()).length === 0);
  assert.deepEqual(world.disks[0]!.attachments, []);
});

const zoneOf = ({ zone }: Instance) => ({ matchLabelExpressions: [{ key: "topology.kubernetes.io/zone", values: [zone] }] });

test("a volume that may be at the machine that had the node's name before is brought to the one that has it now", async () => {
  const world = await claimWorld();
  const [old, , , next] = world.nodes;
  world.start();
  await world.class("now", { ...atOnce, allowedTopologies: [zoneOf(old!)] });
  await world.claim("data", { storageClassName: "now" });
  await world.until("it is bound", isBound(world, "data"));
  const effect = { kind: "fail", code: "InternalError", status: 500 } as const;
  const fault = world.aws.controls.faults.add({ action: "ec2:DescribeVolumes", effect });
  await world.pod("db", old!, "data");
  await world.until("it is told", async () => (await world.attachments())[0]?.status?.attachError !== undefined);
  assert.equal(world.disks[0]!.attachments[0]?.instanceId, old!.id);
  const drivers = [{ name: "ebs.csi.aws.com", nodeID: next!.id, topologyKeys: ["topology.kubernetes.io/zone"] }];
  await world.change(csiNodes, old!.privateDnsName, { spec: { drivers } });
  world.aws.controls.faults.remove(fault);
  await world.until("it is attached", async () => (await world.attachments())[0]?.status?.attached === true);
  assert.deepEqual(
    world.disks[0]!.attachments.map(({ instanceId }) => instanceId),
    [next!.id],
  );
});

test("a volume that was made before its class changed is not forgotten with its claim", async () => {
  const world = await claimWorld();
  world.start();
  await world.class("now", atOnce);
  const fault = world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "lose-answer" } });
  await world.claim("data", { storageClassName: "now" });
  await world.until("there is a disk that nobody knows of", async () => (await world.events("data")).has("ProvisioningFailed"));
  assert.equal(world.disks.length, 1);
  await world.remove(storageClasses, "now");
  await world.class("now", { ...atOnce, parameters: { type: "gp2" } });
  world.aws.controls.faults.remove(fault);
  await world.until("it is refused", async () =>
    /has this name already/.test((await world.events("data")).get("ProvisioningFailed") ?? ""),
  );
  await world.remove(claims, "data");
  await world.until("the disk is gone", () => world.disks.length === 0, 30 * 60_000);
});

test("a claim that changes before it is bound gets no second request for its volume", async () => {
  const world = await claimWorld(undefined, 60_000);
  world.start();
  await world.class("now", atOnce);
  await world.claim("data", { storageClassName: "now" });
  await world.change(claims, "data", { metadata: { annotations: { "volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com" } } });
  await world.until("the PersistentVolume is there", async () => (await world.persistentVolumes()).length === 1);
  await world.change(claims, "data", { metadata: { annotations: { note: "changed" } } });
  await world.world.advance(20_000);
  assert.notEqual((await world.seenClaim("data")).status?.phase, "Bound");
  assert.equal(world.aws.controls.journal.calls("ec2:CreateVolume"), 1);
});

test("a claim that is there before the nodes are known is placed where a node is", async () => {
  const world = await claimWorld();
  const { zone } = world.nodes[0]!;
  for (const { privateDnsName } of world.nodes.filter((node) => node.zone !== zone)) {
    await world.remove(nodes, privateDnsName);
    await world.remove(csiNodes, privateDnsName);
  }
  await world.class("now", atOnce);
  const names = ["a", "b", "c", "d", "e", "f"];
  for (const name of names) await world.claim(name, { storageClassName: "now" });
  await world.world.advance(2_000);
  const { send } = world.cluster;
  Object.assign(world.cluster, {
    send: async (request: Parameters<typeof send>[0]) => {
      if (/\/(csi)?nodes$/.test(request.url.pathname)) await new Promise<void>((resolve) => world.world.clock.after(5_000, resolve));
      return send(request);
    },
  });
  world.start();
  for (const name of names) await world.until(`${name} is bound`, isBound(world, name));
  assert.deepEqual(new Set(world.disks.map((disk) => disk.zone)), new Set([zone]));
});

for (const [what, spec, says] of [
  [
    "a selector, which chooses among volumes that are there",
    { selector: { matchLabels: { disk: "old" } } },
    /claim Selector is not supported/,
  ],
  [
    "a source in another namespace",
    { dataSourceRef: { kind: "PersistentVolumeClaim", name: "data", namespace: "other" } },
    /dataSourceRef is in the namespace other/,
  ],
] as const) {
  test(`a claim with ${what}, gets no volume and is told why`, async () => {
    const world = await claimWorld();
    world.start();
    await world.class("now", atOnce);
    await world.claim("data", { storageClassName: "now" });
    await world.until("the other one is bound", isBound(world, "data"));
    await world.claim("odd", { storageClassName: "now", ...spec });
    await world.until("it is refused", async () => says.test((await world.events("odd")).get("ProvisioningFailed") ?? ""));
    assert.equal(world.disks.length, 1);
  });
}

test("a claim that a populator fills is left to it", async () => {
  const world = await claimWorld();
  world.start();
  await world.class("now", atOnce);
  const dataSourceRef = { apiGroup: "example.com", kind: "Backup", name: "monday" };
  await world.claim("data", { storageClassName: "now", dataSourceRef });
  await world.until("it is said", async () => (await world.events("data")).has("Provisioning"));
  assert.match((await world.events("data")).get("Provisioning")!, /external populator/);
  await world.world.advance(60_000);
  assert.deepEqual([world.disks.length, (await world.events("data")).has("ProvisioningFailed")], [0, false]);
});

test("an attachment that was only begun when its process died goes, also when its node is gone by then", async () => {
  const world = await claimWorld();
  const [gone] = world.nodes;
  let kill = () => {};
  const { send } = world.cluster;
  Object.assign(world.cluster, {
    send: async (request: Parameters<typeof send>[0]) => {
      const answer = await send(request);
      const isHeld = /volumeattachments/.test(request.url.pathname) && String(request.body).includes("external-attacher");
      if (request.method === "PATCH" && isHeld) kill();
      return answer;
    },
  });
  kill = world.start();
  await world.claim("data");
  await world.pod("db", gone!, "data");
  await world.until("it is held", async () => ((await world.attachments())[0]?.metadata.finalizers?.length ?? 0) > 0);
  Object.assign(world.cluster, { send });
  await world.remove(pods, "db");
  await world.remove(nodes, gone!.privateDnsName);
  await world.remove(csiNodes, gone!.privateDnsName);
  world.start();
  await world.until("the attachment is gone", async () => (await world.attachments()).length === 0);
});
