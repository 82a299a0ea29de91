/** What becomes of each refusal of EC2, and of answers that do not fit. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gib, publishRequest, refusedWith, sharedCapability, type VolumeWorld, volumeWorld } from "../../../test/bed/volume-world.ts";
import type { CodeName } from "../csi/errors.ts";
import { attached } from "./attachment-wait.ts";

const rpc = { name: "test", signal: new AbortController().signal };
const refuse = (world: VolumeWorld, action: string, code: string, message = "No.") =>
  world.aws.controls.faults.add({ action, effect: { kind: "fail", code, message, status: 400 }, times: 1 });

for (const code of ["IncorrectState", "InvalidAttachment.NotFound"]) {
  test(`a volume that EC2 does not detach because of ${code} is detached`, async () => {
    const world = await volumeWorld();
    const { volumeId } = await world.create("pvc-1");
    refuse(world, "ec2:DetachVolume", code);
    await world.unpublish(volumeId, world.nodes[0]!);
    assert.equal(world.calls("ec2:DetachVolume"), 1);
  });
}

test("a volume that EC2 does not know is detached; a refusal for another reason is told", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, world.nodes[0]!);
  refuse(world, "ec2:DetachVolume", "UnauthorizedOperation", "You may not.");
  assert.match(
    await refusedWith(world.unpublish(volumeId, world.nodes[0]!), "Internal"),
    /^Could not detach volume "vol-\w+" from node "i-\w+": .*UnauthorizedOperation: You may not\./,
  );
  assert.equal(world.volume(volumeId)!.attachments[0]!.state, "attached");
  await world.call("ControllerUnpublishVolume", { volumeId: "vol-0123456789abcdef0", nodeId: world.nodes[0]!.id });
});

test("a name is free again after a refusal, and tried last after EC2 said that it is in use", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const [{ volumeId }, other] = [await world.create("pvc-1"), await world.create("pvc-2")];
  refuse(world, "ec2:AttachVolume", "UnauthorizedOperation");
  await refusedWith(world.publish(volumeId, node!), "Internal");
  assert.equal(await world.publish(other.volumeId, node!), "/dev/xvdaa");
  await world.unpublish(other.volumeId, node!);
  refuse(
    world,
    "ec2:AttachVolume",
    "InvalidParameterValue",
    "Invalid value '/dev/xvdaa' for unixDevice. Attachment point /dev/xvdaa is already in use",
  );
  await refusedWith(world.publish(volumeId, node!), "Internal");
  assert.equal(await world.publish(volumeId, node!), "/dev/xvdab");
});

test("a volume that vanishes while it is being attached is not found", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const call = world.begin("ControllerPublishVolume", publishRequest(volumeId, world.nodes[0]!.id));
  await world.world.runUntil(() => world.calls("ec2:AttachVolume") > 0, 60_000, "it is being attached");
  world.aws.account.ec2.volumes.delete(volumeId);
  await refusedWith(world.finish(call), "NotFound");
});

test("a volume for one node that EC2 shows at two is an error; one for several is not", async () => {
  const world = await volumeWorld();
  const [first, , , beside] = world.nodes;
  const { ec2 } = world.aws.account;
  const { volumeId } = await world.create("pvc-1");
  const device = await world.publish(volumeId, first!);
  const [own] = ec2.volumes.get(volumeId)!.attachments;
  ec2.volumes.update(volumeId, { attachments: [own!, { ...own!, instanceId: beside!.id }] });
  const wanted = { volumeId, nodeId: first!.id, device, card: undefined };
  assert.match(await refusedWith(world.finish(attached(wanted, rpc, world.driver.context)), "Internal"), /has 2 attachments/);
  const shared = await world.create("pvc-2", { volumeCapabilities: [sharedCapability], parameters: { type: "io2", iops: "200" } });
  for (const node of [first!, beside!]) await world.publish(shared.volumeId, node, { volumeCapability: sharedCapability });
});

test("a volume at another card than the one that was asked for is not said to be there", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const device = await world.publish(volumeId, world.nodes[0]!);
  const wanted = { volumeId, nodeId: world.nodes[0]!.id, device, card: 1 };
  await refusedWith(world.finish(attached(wanted, rpc, world.driver.context)), "Internal");
});

const expand = (world: VolumeWorld, volumeId: string, size: number) =>
  world.call("ControllerExpandVolume", {
    volumeId,
    capacityRange: { requiredBytes: String(size * gib), limitBytes: "0" },
    volumeCapability: null,
  });

for (const [code, becomes] of [
  ["InvalidParameter", "InvalidArgument"],
  ["InvalidParameterCombination", "InvalidArgument"],
  ["InvalidParameterDependency", "InvalidArgument"],
  ["InvalidParameterValue", "InvalidArgument"],
  ["UnknownParameter", "InvalidArgument"],
  ["UnknownVolumeType", "InvalidArgument"],
  ["UnsupportedOperation", "InvalidArgument"],
  ["ValidationError", "InvalidArgument"],
  ["VolumeModificationSizeLimitExceeded", "ResourceExhausted"],
  ["MaxIOPSLimitExceeded", "ResourceExhausted"],
  ["VolumeModificationRateExceeded", "Aborted"],
  ["IncorrectModificationState", "Aborted"],
  ["UnauthorizedOperation", "Internal"],
] as const satisfies readonly (readonly [string, CodeName])[]) {
  test(`a modification that EC2 refuses with ${code} is ${becomes}`, async () => {
    const world = await volumeWorld();
    const { volumeId } = await world.create("pvc-1");
    refuse(world, "ec2:ModifyVolume", code);
    await refusedWith(expand(world, volumeId, 20), becomes);
  });
}

test("requests one after the other are two modifications; a failure reaches all who share one", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  refuse(world, "ec2:ModifyVolume", "UnauthorizedOperation");
  const modify = world.begin("ControllerModifyVolume", { volumeId, mutableParameters: { iops: "4000" } });
  await refusedWith(expand(world, volumeId, 20), "Internal");
  await refusedWith(world.finish(modify), "Internal");
  assert.equal(world.calls("ec2:ModifyVolume"), 1);
  await expand(world, volumeId, 20);
  const { ec2 } = world.aws.account;
  await world.world.advance(8 * 60 * 60_000);
  await expand(world, volumeId, 30);
  assert.deepEqual([world.calls("ec2:ModifyVolume"), ec2.volumes.get(volumeId)!.spec.sizeGiB], [3, 30]);
});

test("tags are taken away before others are added, and a refusal of either is told", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const change = (mutableParameters: Record<string, string>) => world.call("ControllerModifyVolume", { volumeId, mutableParameters });
  await change({ tagSpecification_1: "team=a" });
  await change({ tagDeletion_1: "team", tagSpecification_1: "team=b" });
  assert.equal(world.volume(volumeId)!.tags.team, "b");
  await change({ tagDeletion_1: "team" });
  assert.equal(world.volume(volumeId)!.tags.team, undefined);
  refuse(world, "ec2:CreateTags", "UnauthorizedOperation");
  assert.match(await refusedWith(change({ tagSpecification_1: "team=a" }), "Internal"), /^Could not modify volume tags "vol-\w+"/);
  await refusedWith(change({ tagSpecification_1: "team" }), "InvalidArgument");
});
