/** The cases of attachments beside those of attachments.test.ts: repeated calls, kept names, waits, and what is told of late ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { publishRequest, refusedWith, type VolumeWorld, volumeWorld } from "../../../test/bed/volume-world.ts";
import { describeInstances } from "../../aws/ec2-actions.ts";
import { obstructions } from "../../sandbox/cloud/ec2/volumes/state.ts";
import type { StringMap } from "../csi/messages.ts";
import { contextKeys } from "../names.ts";
import { attached } from "./attachment-wait.ts";
import { DetachPending } from "./detach-pending.ts";

const rpc = { name: "test", signal: new AbortController().signal };

test("the same call a second time is refused while the first one works, and asks nothing of EC2", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  const first = world.begin("ControllerPublishVolume", publishRequest(volumeId, node!.id));
  const text = await refusedWith(world.begin("ControllerPublishVolume", publishRequest(volumeId, node!.id)), "Aborted");
  assert.equal(text, `An operation with the given Volume ${volumeId} already exists`);
  await world.finish(first);
  assert.equal(world.calls("ec2:AttachVolume"), 1);
});

test("a name that a caller no longer waited for stays the volume's, and EC2 is not asked a second time", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const [{ volumeId }, other] = [await world.create("pvc-1"), await world.create("pvc-2")];
  const impatience = new AbortController();
  world.begin("ControllerPublishVolume", publishRequest(volumeId, node!.id), impatience.signal);
  await world.world.runUntil(() => world.calls("ec2:AttachVolume") > 0, 60_000, "it is being attached");
  await world.world.advance(200);
  impatience.abort(new Error("the caller no longer waits"));
  await world.world.advance(1);
  assert.equal(await world.publish(other.volumeId, node!), "/dev/xvdab");
  assert.equal(await world.publish(volumeId, node!), "/dev/xvdaa");
  assert.equal(world.calls("ec2:AttachVolume"), 2);
});

test("a volume under another name than the one that is waited for is never said to be there", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, node!);
  const wanted = { volumeId, nodeId: node!.id, device: "/dev/xvdzz", card: undefined };
  const text = await refusedWith(world.finish(attached(wanted, rpc, world.driver.context)), "Internal");
  assert.equal(text, "still attached as /dev/xvdaa, expected attached as /dev/xvdzz");
  const elsewhere = { ...wanted, nodeId: world.nodes[3]!.id };
  assert.match(
    await refusedWith(world.finish(attached(elsewhere, rpc, world.driver.context)), "Internal"),
    new RegExp(`is attached at ${node!.id}`),
  );
});

test("a volume whose attachment EC2 carries out late is not said to be detached before", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  world.aws.controls.faults.add({ action: "ec2:AttachVolume", effect: { kind: "delay", ms: 20_000 }, times: 1 });
  const impatience = new AbortController();
  const call = world.begin("ControllerPublishVolume", publishRequest(volumeId, node!.id), impatience.signal);
  await world.world.advance(5_000);
  impatience.abort(new Error("the caller no longer waits"));
  await world.finish(call.catch(() => {}));
  assert.deepEqual(world.volume(volumeId)!.attachments, []);
  await world.unpublish(volumeId, node!);
  await world.world.advance(10 * 60_000);
  assert.deepEqual(world.volume(volumeId)!.attachments, []);
  assert.equal(world.calls("ec2:AttachVolume"), 1);
});

/** A driver asks for an attachment that EC2 carries out late, and is gone before it has an answer. */
async function diesWhileAttaching(world: VolumeWorld, volumeId: string): Promise<void> {
  world.aws.controls.faults.add({ action: "ec2:AttachVolume", effect: { kind: "delay", ms: 20_000 }, times: 1 });
  const dead = new Promise<never>(() => {});
  let alive = true;
  world.driver = world.start(world.world, async (request) => {
    const answer = await (alive ? world.aws.handle(request) : dead);
    return alive ? answer : dead;
  });
  await world.load();
  void world.begin("ControllerPublishVolume", publishRequest(volumeId, world.nodes[0]!.id));
  await world.world.advance(5_000);
  alive = false;
}

test("a driver that has just started does not say that a volume is detached for which the one before it may have asked", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  await diesWhileAttaching(world, volumeId);
  world.driver = world.start();
  await world.unpublish(volumeId, node!);
  await world.world.advance(10 * 60_000);
  assert.deepEqual(world.volume(volumeId)!.attachments, []);
  // What it has detached itself needs no second wait.
  const before = world.world.clock.monotonic();
  await world.unpublish(volumeId, node!);
  assert.ok(world.world.clock.monotonic() - before < 10_000);
});

test("a driver that stood by does not say that a volume is detached for which the one it takes over from may have asked", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  const standby = world.start();
  await world.world.advance(60 * 60_000);
  await diesWhileAttaching(world, volumeId);
  world.driver = standby;
  await world.unpublish(volumeId, node!);
  await world.world.advance(10 * 60_000);
  assert.deepEqual(world.volume(volumeId)!.attachments, []);
});

test("after a start, volumes that are shown at their nodes are detached at once, with few questions to EC2", async () => {
  const world = await volumeWorld();
  const made = await Promise.all(Array.from({ length: 30 }, (_, index) => world.create(`pvc-${index}`)));
  const places = made.map(({ volumeId }, index) => ({ volumeId, node: world.nodes[(index % 2) * 3]! }));
  await Promise.all(places.map(({ volumeId, node }) => world.publish(volumeId, node)));
  world.driver = world.start();
  await world.world.holding(world.driver.context.cloud.preload(describeInstances));
  const calls = () => world.calls("ec2:DescribeInstances") + world.calls("ec2:DescribeVolumes");
  const [before, begun] = [calls(), world.world.clock.monotonic()];
  await Promise.all(places.map(({ volumeId, node }) => world.unpublish(volumeId, node)));
  const seconds = (world.world.clock.monotonic() - begun) / 1000;
  assert.ok(seconds < 30, `it took ${seconds} s`);
  assert.ok(calls() - before < places.length, `${calls() - before} questions`);
});

test("a detachment after an attachment that never arrived takes a minute, and comes to its end", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  world.aws.controls.faults.add({ action: "ec2:AttachVolume", effect: { kind: "cut" } });
  await refusedWith(world.publish(volumeId, node!), "Internal");
  const before = world.world.clock.monotonic();
  await world.unpublish(volumeId, node!);
  const tookMs = world.world.clock.monotonic() - before;
  assert.ok(tookMs > 30_000 && tookMs < 90_000, `${tookMs} ms`);
});

test("a slow attachment is not given up by a machine whose time of day is ahead", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  const { clock } = world.world;
  world.driver = world.start({ ...world.world, clock: { ...clock, now: () => clock.now() + 4 * 60_000 } });
  obstructions(world.aws.account.ec2).put(volumeId, { attaching: true });
  const call = world.begin<{ publishContext: StringMap }>("ControllerPublishVolume", publishRequest(volumeId, node!.id));
  await world.world.advance(30_000);
  const { ec2 } = world.aws.account;
  const volume = ec2.volumes.get(volumeId)!;
  ec2.volumes.put(volumeId, { ...volume, attachments: volume.attachments.map((each) => ({ ...each, state: "attached" })) });
  assert.deepEqual((await world.finish(call)).publishContext, { devicePath: "/dev/xvdaa" });
  assert.equal(world.calls("ec2:DetachVolume"), 0);
});

test("an attachment that hangs is given up also by callers who each wait for half a minute", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  obstructions(world.aws.account.ec2).put(volumeId, { attaching: true });
  for (let time = 0; time < 5; time++) {
    const impatience = new AbortController();
    const call = world.begin("ControllerPublishVolume", publishRequest(volumeId, node!.id), impatience.signal);
    await world.world.advance(30_000);
    impatience.abort(new Error("the caller no longer waits"));
    await world.finish(call.catch(() => {}));
  }
  assert.equal(world.calls("ec2:DetachVolume"), 1);
});

test("a volume that the instance shows and the volume does not is asked for again", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, node!);
  const { ec2 } = world.aws.account;
  const wanted = { volumeId, nodeId: node!.id, device: "/dev/xvdaa", card: undefined };
  ec2.volumes.put(volumeId, { ...ec2.volumes.get(volumeId)!, state: "available", attachments: [] });
  await world.finish(attached(wanted, rpc, world.driver.context));
  assert.equal(world.calls("ec2:AttachVolume"), 2);
  assert.equal(world.volume(volumeId)!.attachments[0]!.state, "attached");
});

test("a class that waits for the volume to be filled asks EC2 once, and remembers that it is", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  const more = { volumeContext: { [contextKeys.waitForInitialization]: "true" } };
  for (let time = 0; time < 2; time++) assert.equal(await world.publish(volumeId, node!, more), "/dev/xvdaa");
  assert.equal(world.calls("ec2:DescribeVolumeStatus"), 1);
  world.aws.controls.deny("ec2:DescribeVolumeStatus");
  const other = await world.create("pvc-2");
  assert.match(await refusedWith(world.publish(other.volumeId, node!, more), "Internal"), /^Cannot validate that volume .* is initialized/);
});

test("the most IOPS of a zone are asked for once for each type and place", async () => {
  const world = await volumeWorld();
  const { zoneIops } = world.driver.context;
  const nowhere = { zone: undefined, zoneId: undefined, outpostArn: undefined };
  const before = world.calls("ec2:CreateVolume");
  const asked = async (type: string, place: object) => {
    await world.finish(zoneIops.max(type, { ...nowhere, ...place }, rpc));
    return world.calls("ec2:CreateVolume") - before;
  };
  const { zone } = world.nodes[0]!;
  assert.equal(await asked("gp3", { zone }), 1);
  assert.equal(await asked("GP3", { zone }), 1);
  assert.equal(await asked("io2", { zone }), 2);
  assert.equal(await asked("gp3", { zone: world.nodes[1]!.zone }), 3);
  assert.equal(await asked("gp3", { zoneId: "use1-az1" }), 4);
  assert.equal(await asked("gp2", { zone }), 4, "it has no such limit");
});

test("a detachment is shown after a minute, until it ends or nobody asks for it any more", async () => {
  const { world } = await volumeWorld();
  const pending = new DetachPending(world.clock);
  const late = () => pending.late().map(({ volumeId, state, seconds }) => `${volumeId} ${state} ${seconds}`);
  pending.note("vol-1", "i-1", "detaching");
  await world.advance(59_000);
  assert.deepEqual(late(), []);
  pending.note("vol-1", "i-1", "busy");
  await world.advance(1_000);
  assert.deepEqual(late(), ["vol-1 busy 60"]);
  pending.note("vol-2", "i-1", "detaching");
  pending.clear("vol-1", "i-1");
  await world.advance(16 * 60_000);
  assert.deepEqual(late(), [], "nobody has asked for a quarter of an hour");
});
