/** A clone, or a volume from a snapshot, whose answer was lost: it is found again, whatever became of its source and its nodes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRequest, refusedWith, type VolumeWorld, volumeWorld } from "../../../test/bed/volume-world.ts";
import type { CreateVolumeRequest } from "../csi/messages.ts";

const of = (volumeId: string) => ({ type: "volume" as const, volume: { volumeId } });
const only = (zone: string) => ({ requisite: [{ segments: { "topology.kubernetes.io/zone": zone } }], preferred: [] });

/** An account with a source, and with a clone of it of which the driver does not know. */
async function lostClone(): Promise<{ readonly world: VolumeWorld; readonly source: string }> {
  const world = await volumeWorld();
  const source = (await world.create("source", { parameters: { encrypted: "true" } })).volumeId;
  const fault = world.aws.controls.faults.add({ action: "ec2:CopyVolumes", effect: { kind: "lose-answer" } });
  await refusedWith(world.create("pvc-1", { volumeContentSource: of(source) }), "Aborted");
  world.aws.controls.faults.remove(fault);
  assert.equal(world.volumes.length, 2);
  return { world, source };
}

const clonesOf = (world: VolumeWorld, source: string) => world.volumes.filter(({ sourceVolumeId }) => sourceVolumeId === source);

for (const [what, change, restart] of [
  ["asked for again", async () => ({}), false],
  ["asked for again of a driver that has just started", async () => ({}), true],
  ["whose source is gone by then", (world: VolumeWorld, source: string) => world.delete(source), false],
  ["whose source is gone by then, of a driver that has just started", (world: VolumeWorld, source: string) => world.delete(source), true],
  ["for a node in another zone by then", async (world: VolumeWorld) => ({ accessibilityRequirements: only(world.nodes[1]!.zone) }), false],
] as const) {
  test(`a clone whose answer was lost, ${what}, is found and not made twice`, async () => {
    const { world, source } = await lostClone();
    const more = (await change(world, source)) as Partial<CreateVolumeRequest> | undefined;
    await world.world.advance(60_000);
    if (restart) {
      world.driver = world.start();
      await world.load();
    }
    const { volumeId } = await world.create("pvc-1", { volumeContentSource: of(source), ...more });
    assert.deepEqual(
      clonesOf(world, source).map(({ id }) => id),
      [volumeId],
    );
  });
}

test("a clone that EC2 may still make is not refused for good, and is found when it has come", async () => {
  const world = await volumeWorld();
  const source = (await world.create("source", { parameters: { encrypted: "true" } })).volumeId;
  world.aws.controls.faults.add({ action: "ec2:CopyVolumes", effect: { kind: "delay", ms: 20_000 }, times: 1 });
  const impatience = new AbortController();
  const request = { volumeContentSource: of(source) };
  const [zone, other] = [world.nodes[0]!.zone, world.nodes[1]!.zone];
  const first = world.begin("CreateVolume", createRequest("pvc-1", zone, request), impatience.signal);
  await world.world.advance(5_000);
  impatience.abort(new Error("the caller no longer waits"));
  await first.catch(() => {});
  await refusedWith(world.create("pvc-1", { ...request, accessibilityRequirements: only(other) }), "Aborted");
  await refusedWith(world.create("pvc-2", { ...request, accessibilityRequirements: only(other) }), "ResourceExhausted");
  await world.world.advance(60_000);
  await world.create("pvc-1", { ...request, accessibilityRequirements: only(other) });
  assert.equal(clonesOf(world, source).length, 1);
});

test("a volume from a snapshot whose answer was lost is found again, also when the snapshot is gone", async () => {
  for (const restart of [false, true]) {
    const world = await volumeWorld();
    const source = (await world.create("source")).volumeId;
    const made = await world.call<{ snapshot: { snapshotId: string } }>("CreateSnapshot", {
      name: "snapshot-1",
      sourceVolumeId: source,
      parameters: {},
    });
    const { snapshotId } = made.snapshot;
    await world.world.advance(30 * 60_000);
    const request = { volumeContentSource: { type: "snapshot" as const, snapshot: { snapshotId } } };
    const fault = world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "lose-answer" } });
    await refusedWith(world.create("pvc-1", request), "Aborted");
    world.aws.controls.faults.remove(fault);
    await world.call("DeleteSnapshot", { snapshotId });
    if (restart) {
      world.driver = world.start();
      await world.load();
    }
    const { volumeId } = await world.create("pvc-1", request);
    assert.deepEqual(
      world.volumes.filter((volume) => volume.snapshotId === snapshotId).map(({ id }) => id),
      [volumeId],
    );
  }
});
