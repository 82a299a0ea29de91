/** The driver's controller with the roles of the sidecars: what becomes of claims, pods and their disks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { pods } from "../../src/kube/builtin.ts";
import { terminate } from "../../src/sandbox/cloud/ec2/instance-lifecycle.ts";
import { claims } from "../../src/volumes/storage-resources.ts";
import { type ClaimWorld, claimWorld } from "../bed/claim-world.ts";

const isBound = (world: ClaimWorld, name: string) => async () => (await world.seenClaim(name)).status?.phase === "Bound";
const isAttachedTo = (world: ClaimWorld, node: { readonly id: string }) => () =>
  world.disks.some(({ attachments }) => attachments.some((each) => each.instanceId === node.id && each.state === "attached"));

async function claimed(world: ClaimWorld): Promise<void> {
  world.start();
  await world.claim("data");
  await world.pod("db", world.nodes[0]!, "data");
  await world.until("the claim is bound", isBound(world, "data"));
}

test("a claim waits for its pod, is bound in the zone of the pod's node, and attached to it", async () => {
  const world = await claimWorld();
  const [, node] = world.nodes;
  world.start();
  await world.claim("data");
  await world.world.advance(30_000);
  assert.equal(world.disks.length, 0);
  await world.pod("db", node!, "data");
  await world.until("the volume is attached", isAttachedTo(world, node!));
  const claim = await world.seenClaim("data");
  const [volume] = await world.persistentVolumes();
  const [disk] = world.disks;
  assert.equal(disk!.zone, node!.zone);
  assert.partialDeepStrictEqual(disk!.tags, {
    "kubernetes.io/created-for/pvc/name": "data",
    "kubernetes.io/created-for/pvc/namespace": "default",
    "kubernetes.io/cluster/test": "owned",
    CSIVolumeName: `pvc-${claim.metadata.uid}`,
  });
  assert.partialDeepStrictEqual(volume, {
    metadata: {
      name: `pvc-${claim.metadata.uid}`,
      annotations: { "pv.kubernetes.io/provisioned-by": "ebs.csi.aws.com" },
    },
    spec: {
      capacity: { storage: "10Gi" },
      csi: { driver: "ebs.csi.aws.com", volumeHandle: disk!.id, fsType: "ext4" },
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: "fast",
      nodeAffinity: {
        required: {
          nodeSelectorTerms: [{ matchExpressions: [{ key: "topology.kubernetes.io/zone", operator: "In", values: [node!.zone] }] }],
        },
      },
    },
  });
  await world.until("the attachment says so", async () => (await world.attachments())[0]?.status?.attached === true);
  const [attachment] = await world.attachments();
  assert.deepEqual(attachment!.status?.attachmentMetadata, { devicePath: "/dev/xvdaa" });
  assert.deepEqual(attachment!.metadata.finalizers, ["external-attacher/ebs-csi-aws-com"]);
  assert.deepEqual([...(await world.events("data")).keys()].sort(), ["Provisioning", "ProvisioningSucceeded"]);
});

test("a pod that moves takes its volume along; a claim that is deleted takes its disk along, once nobody has it attached", async () => {
  const world = await claimWorld();
  await claimed(world);
  const [from, , , to] = world.nodes;
  await world.until("it is at the first node", isAttachedTo(world, from!));
  await world.remove(pods, "db");
  // In the same zone as the first.
  await world.pod("db2", to!, "data");
  await world.until("it is at the second node", isAttachedTo(world, to!));
  await world.remove(claims, "data");
  await world.world.advance(60_000);
  assert.equal(world.disks.length, 1, "the pod still uses it");
  await world.remove(pods, "db2");
  await world.until("the disk is gone", () => world.disks.length === 0);
  await world.until("nothing is left", async () => (await world.persistentVolumes()).length + (await world.attachments()).length === 0);
});

test("a node that is terminated gives its volume free within seconds of its attachment's deletion", async () => {
  const world = await claimWorld();
  await claimed(world);
  const [node] = world.nodes;
  await world.until("it is attached", isAttachedTo(world, node!));
  const { ec2 } = world.aws.account;
  terminate(ec2, ec2.instances.get(node!.id)!);
  await world.world.advance(120_000);
  await world.remove(pods, "db");
  const before = world.world.clock.monotonic();
  await world.until("the attachment is gone", async () => (await world.attachments()).length === 0);
  assert.ok(world.world.clock.monotonic() - before < 15_000, `${world.world.clock.monotonic() - before} ms`);
});

test("a claim that grows and changes its class at once is one change in EC2", async () => {
  const world = await claimWorld();
  await claimed(world);
  await world.until("it is attached", isAttachedTo(world, world.nodes[0]!));
  await world.say("POST", "/apis/storage.k8s.io/v1/volumeattributesclasses", {
    metadata: { name: "busy" },
    driverName: "ebs.csi.aws.com",
    parameters: { iops: "4000", tagSpecification_1: "of={{ .PVCName }}" },
  });
  await world.change(claims, "data", { spec: { resources: { requests: { storage: "20Gi" } }, volumeAttributesClassName: "busy" } });
  await world.until("the claim is larger", async () => (await world.seenClaim("data")).status?.capacity?.storage === "20Gi");
  await world.until(
    "its class is current",
    async () => (await world.seenClaim("data")).status?.currentVolumeAttributesClassName === "busy",
  );
  const [disk] = world.disks;
  assert.deepEqual([disk!.spec.sizeGiB, disk!.spec.iops, disk!.tags.of], [20, 4000, "data"]);
  assert.deepEqual(world.aws.controls.journal.calls("ec2:ModifyVolume"), 1);
  const [volume] = await world.persistentVolumes();
  assert.deepEqual([volume!.spec?.capacity?.storage, volume!.spec?.volumeAttributesClassName], ["20Gi", "busy"]);
  const { status } = await world.seenClaim("data");
  assert.deepEqual([status?.conditions ?? [], status?.allocatedResourceStatuses, status?.modifyVolumeStatus], [[], undefined, undefined]);
});

test("a refusal is told on the claim, and a claim that can be met is met beside it", async () => {
  const world = await claimWorld();
  world.start();
  await world.class("odd", { parameters: { speed: "fast" }, volumeBindingMode: "Immediate" });
  await world.claim("wrong", { storageClassName: "odd" });
  await world.claim("data");
  await world.pod("db", world.nodes[0]!, "data");
  await world.until("the good one is bound", isBound(world, "data"));
  await world.until("the bad one says why", async () => (await world.events("wrong")).has("ProvisioningFailed"));
  assert.equal(
    (await world.events("wrong")).get("ProvisioningFailed"),
    'failed to provision volume with StorageClass "odd": Invalid parameter key speed for CreateVolume',
  );
  assert.equal(world.disks.length, 1);
});

test("a claim that is deleted while its volume may still come leaves nothing behind", async () => {
  const world = await claimWorld();
  world.start();
  const fault = world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "lose-answer" } });
  await world.class("now", { volumeBindingMode: "Immediate" });
  await world.claim("data", { storageClassName: "now" });
  await world.until("EC2 was asked", () => world.aws.controls.journal.calls("ec2:CreateVolume") > 0);
  await world.remove(claims, "data");
  await world.world.advance(5_000);
  world.aws.controls.faults.remove(fault);
  await world.until(
    "the volume is there, or gone again",
    async () => world.disks.length === 0 && (await world.persistentVolumes()).length === 0,
    15 * 60_000,
  );
});

test("after a crash at any moment the next process finishes what was begun, and makes no second disk", async () => {
  for (const [index, action] of ["ec2:CreateVolume", "ec2:AttachVolume", "ec2:DetachVolume", "ec2:DeleteVolume"].entries()) {
    const world = await claimWorld();
    const kill = world.start();
    let isDead = false;
    const watch = () => {
      if (!isDead && world.aws.controls.journal.calls(action) > 0) {
        isDead = true;
        kill();
        world.world.clock.after(20_000, () => void world.start());
      } else if (!isDead) world.world.clock.after(1, watch);
    };
    watch();
    await world.claim("data");
    await world.pod("db", world.nodes[index % 4]!, "data");
    await world.until(`${action}: attached`, isAttachedTo(world, world.nodes[index % 4]!));
    await world.remove(pods, "db");
    await world.remove(claims, "data");
    await world.until(
      `${action}: nothing is left`,
      async () => world.disks.length === 0 && (await world.persistentVolumes()).length === 0,
      20 * 60_000,
    );
    assert.ok(isDead, action);
    assert.equal((await world.attachments()).length, 0);
    const created = world.aws.controls.journal.entries().filter((entry) => entry.action === "ec2:CreateVolume" && entry.result === "ok");
    assert.equal(new Set(created.map(({ input }) => input.ClientToken)).size, 1, "one token, so one disk");
  }
});
