/** The shipped policies of the driver against what it really calls: nothing is missing, nothing is for nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Statement } from "../../src/sandbox/cloud/access/policy.ts";
import type { SnapshotAnswer } from "../../src/volumes/csi/messages.ts";
import { actionsIn, strictPolicy, usualPolicy } from "../bed/policies.ts";
import { gib, type VolumeWorld, volumeWorld } from "../bed/volume-world.ts";

/** Everything that the driver does, once. */
async function everything(world: VolumeWorld): Promise<void> {
  const node = world.nodes[0]!;
  const parameters = { encrypted: "true", blockAttachUntilInitialized: "true" };
  const { volumeId } = await world.create("pvc-1", { parameters: { ...parameters, iops: "3100" } });
  await world.publish(volumeId, node);
  await world.call("ControllerExpandVolume", {
    volumeId,
    capacityRange: { requiredBytes: String(11 * gib), limitBytes: "0" },
    volumeCapability: null,
  });
  await world.call("ControllerModifyVolume", { volumeId, mutableParameters: { tagSpecification_1: "a=b", tagDeletion_1: "c" } });
  const snapshotParameters = { fastSnapshotRestoreAvailabilityZones: node.zone, lockMode: "governance", lockDuration: "1" };
  const { snapshot } = await world.call<{ snapshot: SnapshotAnswer }>("CreateSnapshot", {
    name: "snapshot-1",
    sourceVolumeId: volumeId,
    parameters: snapshotParameters,
  });
  await world.world.advance(60_000);
  const second = await world.call<{ snapshot: SnapshotAnswer }>("CreateSnapshot", {
    name: "snapshot-2",
    sourceVolumeId: volumeId,
    parameters: {},
  });
  await world.world.advance(30 * 60_000);
  const restored = await world.create("pvc-2", {
    parameters,
    capacityRange: null,
    volumeContentSource: { type: "snapshot", snapshot: { snapshotId: snapshot.snapshotId } },
  });
  await world.publish(restored.volumeId, node, { volumeContext: { blockattachuntilinitialized: "true" } });
  const clone = await world.create("pvc-3", {
    parameters,
    capacityRange: null,
    volumeContentSource: { type: "volume", volume: { volumeId } },
    accessibilityRequirements: null,
  });
  await world.create("pvc-4", { accessibilityRequirements: null });
  for (const id of [volumeId, restored.volumeId]) await world.unpublish(id, node);
  for (const id of [volumeId, restored.volumeId, clone.volumeId]) await world.delete(id);
  await world.call("DeleteSnapshot", { snapshotId: second.snapshot.snapshotId });
}

async function permitted(policyFor: (world: VolumeWorld) => Statement[]): Promise<VolumeWorld> {
  const world = await volumeWorld();
  world.aws.controls.change({ policy: policyFor(world) });
  world.aws.controls.journal.resetCounts();
  await everything(world);
  const denied = Object.entries(world.aws.controls.journal.counts()).filter(([, outcomes]) => outcomes.UnauthorizedOperation !== undefined);
  assert.deepEqual(denied, []);
  return world;
}

test("the default policy allows all that the driver does, and nothing that it never does", async () => {
  const world = await permitted((at) => usualPolicy(at.aws, at.network, "test", "volumes"));
  const called = new Set(Object.keys(world.aws.controls.journal.counts()));
  const unused = actionsIn("volumes").filter((action) => action.startsWith("ec2:") && !called.has(action));
  assert.deepEqual(unused, []);
});

test("the strict policy allows it too, where the cluster's instances carry its tag", async () => {
  await permitted((at) => strictPolicy(at.aws, at.network, "test", "volumes"));
});
