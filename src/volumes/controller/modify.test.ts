import assert from "node:assert/strict";
import { test } from "node:test";
import { blockCapability, gib, mountCapability, refusedWith, type VolumeWorld, volumeWorld } from "../../../test/bed/volume-world.ts";

const range = (requiredGiB: number, limitBytes = 0) => ({ requiredBytes: String(requiredGiB * gib), limitBytes: String(limitBytes) });

interface Expanded {
  readonly capacityBytes: string;
  readonly nodeExpansionRequired: boolean;
}

const expanding = (world: VolumeWorld, volumeId: string, sizeGiB: number, volumeCapability: unknown = mountCapability) =>
  world.begin<Expanded>("ControllerExpandVolume", { volumeId, capacityRange: range(sizeGiB), volumeCapability });
const modifying = (world: VolumeWorld, volumeId: string, mutableParameters: Readonly<Record<string, string>>) =>
  world.begin("ControllerModifyVolume", { volumeId, mutableParameters });

test("a volume that grows answers with its size, and its file system grows on the node", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const answer = await world.finish(expanding(world, volumeId, 20));
  assert.deepEqual(answer, { capacityBytes: String(20 * gib), nodeExpansionRequired: true });
  assert.equal(world.volume(volumeId)!.spec.sizeGiB, 20);
});

test("a raw device needs nothing of the node, and a volume that is large enough nothing of EC2", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  assert.deepEqual(await world.finish(expanding(world, volumeId, 5, blockCapability)), {
    capacityBytes: String(10 * gib),
    nodeExpansionRequired: false,
  });
  assert.equal(world.calls("ec2:ModifyVolume"), 0);
});

test("growth and a new class in the same moment are one modification", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const growth = expanding(world, volumeId, 20);
  const change = modifying(world, volumeId, { iops: "4000", throughput: "250" });
  assert.equal((await world.finish(growth)).capacityBytes, String(20 * gib));
  await world.finish(change);
  assert.equal(world.calls("ec2:ModifyVolume"), 1);
  const { sizeGiB, iops, throughput } = world.volume(volumeId)!.spec;
  assert.deepEqual({ sizeGiB, iops, throughput }, { sizeGiB: 20, iops: 4000, throughput: 250 });
});

test("of two classes that contradict each other the later is refused, and the growth goes through", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const first = modifying(world, volumeId, { type: "gp2" });
  const second = modifying(world, volumeId, { type: "io2" });
  const growth = expanding(world, volumeId, 20);
  assert.match(await refusedWith(world.finish(second), "Aborted"), /different volume type was requested .* Current: gp2, Requested: io2/);
  await world.finish(first);
  await world.finish(growth);
  assert.equal(world.volume(volumeId)!.spec.type, "gp2");
});

test("what is wanted already is not asked of EC2, in whatever case", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  await world.finish(modifying(world, volumeId, { type: "GP3", iops: "3000" }));
  assert.equal(world.calls("ec2:ModifyVolume"), 0);
});

test("a volume that EC2 is still optimizing is to be asked for again", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  await world.finish(expanding(world, volumeId, 20));
  const text = await refusedWith(world.finish(expanding(world, volumeId, 30)), "Aborted");
  assert.match(text, /^Could not resize volume "vol-\w+": .*OPTIMIZING/);
  await world.world.advance(5 * 60_000);
  assert.equal((await world.finish(expanding(world, volumeId, 30))).capacityBytes, String(30 * gib));
});

test("a modification whose answer was lost is waited for, and not asked for twice", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  world.aws.controls.faults.add({ action: "ec2:ModifyVolume", effect: { kind: "lose-answer" }, times: 1 });
  await refusedWith(world.finish(expanding(world, volumeId, 20)), "Aborted");
  assert.equal((await world.finish(expanding(world, volumeId, 20))).capacityBytes, String(20 * gib));
  assert.equal(world.calls("ec2:ModifyVolume"), 1);
});

test("a change that cannot be met is refused for good, unless tags were changed with it", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  await refusedWith(world.finish(modifying(world, volumeId, { type: "gp9" })), "InvalidArgument");
  await refusedWith(world.finish(modifying(world, volumeId, { type: "gp9", tagSpecification_1: "a=b" })), "Internal");
  await refusedWith(world.finish(modifying(world, volumeId, { size: "3" })), "InvalidArgument");
  await refusedWith(world.finish(modifying(world, volumeId, { iops: "x" })), "InvalidArgument");
});

test("tags alone cost no modification, and reserved ones stay", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1", { parameters: { tagSpecification_1: "old=1" } });
  const parameters = {
    tagSpecification_1: "team={{ .PVCName | toUpper }}",
    tagDeletion_1: "old",
    "csi.storage.k8s.io/pvc/name": "data",
  };
  await world.finish(modifying(world, volumeId, parameters));
  assert.equal(world.volume(volumeId)!.tags.team, "DATA");
  assert.equal(world.volume(volumeId)!.tags.old, undefined);
  assert.equal(world.calls("ec2:ModifyVolume"), 0);
  for (const key of ["CSIVolumeName", "ebs.csi.aws.com/cluster", "kubernetes.io/created-for/pvc/name"]) {
    const text = await refusedWith(world.finish(modifying(world, volumeId, { tagDeletion_1: key })), "InvalidArgument");
    assert.match(text, /^Cannot delete reserved tag: /);
  }
});

test("IOPS follow the size where the class said so when the volume was made", async () => {
  const world = await volumeWorld();
  const parameters = { type: "io2", iopsPerGB: "50", allowAutoIOPSIncreaseOnModify: "true" };
  const { volumeId } = await world.create("pvc-1", { parameters });
  assert.equal(world.volume(volumeId)!.spec.iops, 500);
  await world.finish(expanding(world, volumeId, 20));
  assert.equal(world.volume(volumeId)!.spec.iops, 1000);
});

test("a volume that is not there is not found", async () => {
  const world = await volumeWorld();
  for (const id of ["vol-0123456789abcdef0", "fake-vol-id"]) {
    await refusedWith(world.finish(expanding(world, id, 20)), "NotFound");
    await refusedWith(world.finish(modifying(world, id, { iops: "3014" })), "NotFound");
    await refusedWith(world.finish(modifying(world, id, {})), "NotFound");
  }
});

test("a request that makes no sense is refused before it waits", async () => {
  const world = await volumeWorld();
  const refused = (request: object) => refusedWith(world.call("ControllerExpandVolume", request), "InvalidArgument");
  await refused({ volumeId: "", capacityRange: range(5), volumeCapability: null });
  await refused({ volumeId: "vol-1", capacityRange: null, volumeCapability: null });
  await refused({ volumeId: "vol-1", capacityRange: range(0), volumeCapability: null });
  await refused({ volumeId: "local-ebs://dev/x", capacityRange: range(5), volumeCapability: null });
  await refusedWith(world.call("ControllerModifyVolume", { volumeId: "", mutableParameters: {} }), "InvalidArgument");
});
