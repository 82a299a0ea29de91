/** Classes that wait until a volume is filled from its snapshot. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { publishRequest, refusedWith, type VolumeWorld, volumeWorld } from "../../../test/bed/volume-world.ts";
import type { SnapshotAnswer, StringMap } from "../csi/messages.ts";
import { contextKeys } from "../names.ts";
import { initialised } from "./initialisation-wait.ts";

const waiting = { volumeContext: { [contextKeys.waitForInitialization]: "true" } };
const rpc = { name: "test", signal: new AbortController().signal };

/** A volume that EC2 still fills from a snapshot. */
async function filling(world: VolumeWorld, parameters: StringMap): Promise<string> {
  const { volumeId: source } = await world.create("pvc-source");
  const { snapshot } = await world.call<{ snapshot: SnapshotAnswer }>("CreateSnapshot", {
    name: "snapshot-1",
    sourceVolumeId: source,
    parameters: {},
  });
  await world.world.advance(60_000);
  const volumeContentSource = { type: "snapshot" as const, snapshot: { snapshotId: snapshot.snapshotId } };
  return (await world.create("pvc-filled", { volumeContentSource, parameters })).volumeId;
}

const filledAt = (world: VolumeWorld, volumeId: string) => world.volume(volumeId)!.initialised!;

test("with an estimate it sleeps until then, and asks a second time", async () => {
  const world = await volumeWorld();
  const volumeId = await filling(world, { volumeInitializationRate: "100" });
  await world.publish(volumeId, world.nodes[0]!, waiting);
  assert.ok(world.world.clock.now() >= filledAt(world, volumeId), "it is filled");
  assert.equal(world.calls("ec2:DescribeVolumeStatus"), 2);
});

test("an estimate of a few seconds is not believed: EC2 is asked again after a minute", async () => {
  const world = await volumeWorld();
  const volumeId = await filling(world, { volumeInitializationRate: "100" });
  await world.publish(volumeId, world.nodes[0]!);
  await world.world.advance(filledAt(world, volumeId) - world.world.clock.now() - 5_000);
  const before = world.world.clock.monotonic();
  await world.publish(volumeId, world.nodes[0]!, waiting);
  const tookMs = world.world.clock.monotonic() - before;
  assert.ok(tookMs >= 60_000 && tookMs < 70_000, `${tookMs} ms`);
  assert.equal(world.calls("ec2:DescribeVolumeStatus"), 2);
});

test("without an estimate EC2 is asked every two minutes", async () => {
  const world = await volumeWorld();
  const volumeId = await filling(world, {});
  const before = world.world.clock.monotonic();
  await world.publish(volumeId, world.nodes[0]!, waiting);
  assert.ok(world.world.clock.now() >= filledAt(world, volumeId), "it is filled");
  const tookMs = world.world.clock.monotonic() - before;
  assert.equal(world.calls("ec2:DescribeVolumeStatus"), 1 + Math.floor(tookMs / 120_000));
});

test("a caller who does not wait that long finds the volume attached, and at the next call filled", async () => {
  const world = await volumeWorld();
  const volumeId = await filling(world, { volumeInitializationRate: "100" });
  const impatience = new AbortController();
  const call = world.begin("ControllerPublishVolume", publishRequest(volumeId, world.nodes[0]!.id, waiting), impatience.signal);
  await world.world.advance(30_000);
  impatience.abort(new Error("the caller no longer waits"));
  await assert.rejects(world.finish(call), /no longer waits/);
  assert.equal(world.volume(volumeId)!.attachments[0]!.state, "attached");
  await world.world.advance(10 * 60_000);
  const before = world.world.clock.monotonic();
  assert.equal(await world.publish(volumeId, world.nodes[0]!, waiting), "/dev/xvdaa");
  assert.ok(world.world.clock.monotonic() - before < 5_000, "it is not slept for an estimate that is past");
  assert.deepEqual([world.calls("ec2:AttachVolume"), world.calls("ec2:DescribeVolumeStatus")], [1, 2]);
});

test("an answer of EC2 without the volume's status is an error, not a volume that is filled", async () => {
  const { driver } = await volumeWorld();
  const volumes = { initialization: async () => undefined } as unknown as typeof driver.context.cloud.volumes;
  const cloud = Object.create(driver.context.cloud, { volumes: { value: volumes } }) as typeof driver.context.cloud;
  assert.match(await refusedWith(initialised("vol-1", rpc, { ...driver.context, cloud }), "Internal"), /gives no status of volume/);
});
