import assert from "node:assert/strict";
import { test } from "node:test";
import { blockCapability, publishRequest, refusedWith, sharedCapability, volumeWorld } from "../../../test/bed/volume-world.ts";
import { obstructions } from "../../sandbox/cloud/ec2/volumes/state.ts";

test("a volume is attached under the first free name, and again under the same", async () => {
  const world = await volumeWorld();
  const node = world.nodes[0]!;
  const { volumeId } = await world.create("pvc-1");
  assert.equal(await world.publish(volumeId, node), "/dev/xvdaa");
  assert.equal(world.volume(volumeId)!.attachments[0]!.state, "attached");
  assert.equal(await world.publish(volumeId, node), "/dev/xvdaa");
  assert.equal(world.calls("ec2:AttachVolume"), 1);
});

test("volumes published to one node at the same time get different names, in one look at the instance", async () => {
  const world = await volumeWorld();
  const node = world.nodes[0]!;
  const ids = await Promise.all(["pvc-1", "pvc-2", "pvc-3"].map(async (name) => (await world.create(name)).volumeId));
  const before = world.calls("ec2:DescribeInstances");
  const answers = ids.map((id) =>
    world.begin<{ publishContext: { devicePath: string } }>("ControllerPublishVolume", publishRequest(id, node.id)),
  );
  const names = [];
  for (const answer of answers) names.push((await world.finish(answer)).publishContext.devicePath);
  assert.deepEqual(names.sort(), ["/dev/xvdaa", "/dev/xvdab", "/dev/xvdac"]);
  assert.equal(world.calls("ec2:DescribeInstances") - before, 1);
});

test("a volume is detached when EC2 says so, and its name is free again", async () => {
  const world = await volumeWorld();
  const node = world.nodes[0]!;
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, node);
  await world.unpublish(volumeId, node);
  assert.deepEqual(world.volume(volumeId)!.attachments, []);
  assert.equal(await world.publish(volumeId, node), "/dev/xvdaa");
  await world.unpublish(volumeId, node);
  await world.unpublish(volumeId, node);
});

test("a volume at another node is not attached, and the refusal names where it is", async () => {
  const world = await volumeWorld();
  const [first, , , beside] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, first!);
  const text = await refusedWith(world.publish(volumeId, beside!), "Internal");
  assert.ok(text.includes(`it is at ${first!.id} (attached)`), text);
  assert.equal(world.volume(volumeId)!.attachments.length, 1);
});

test("an io2 volume with multi-attach goes to two nodes", async () => {
  const world = await volumeWorld();
  const [first, , , beside] = world.nodes;
  const { volumeId } = await world.create("pvc-1", { volumeCapabilities: [sharedCapability], parameters: { type: "io2", iops: "200" } });
  await world.publish(volumeId, first!, { volumeCapability: sharedCapability });
  await world.publish(volumeId, beside!, { volumeCapability: sharedCapability });
  assert.equal(world.volume(volumeId)!.attachments.length, 2);
});

test("what is missing is named: the volume, or the instance", async () => {
  const world = await volumeWorld();
  const node = world.nodes[0]!;
  const { volumeId } = await world.create("pvc-1");
  for (const id of ["vol-0123456789abcdef0", "fake-vol-id"]) {
    const text = await refusedWith(world.call("ControllerPublishVolume", publishRequest(id, node.id)), "NotFound");
    assert.equal(text, `Volume "${id}" not found`);
  }
  for (const id of ["i-0123456789abcdef0", "fake-node-id"]) {
    const text = await refusedWith(world.call("ControllerPublishVolume", publishRequest(volumeId, id)), "NotFound");
    assert.equal(text, `Instance "${id}" not found`);
  }
});

test("a request without volume, node or capability is refused", async () => {
  const world = await volumeWorld();
  const refused = (request: object) => refusedWith(world.call("ControllerPublishVolume", request), "InvalidArgument");
  assert.equal(await refused(publishRequest("", "i-1")), "Volume ID not provided");
  assert.equal(await refused(publishRequest("vol-1", "")), "Node ID not provided");
  assert.equal(await refused(publishRequest("vol-1", "i-1", { volumeCapability: null })), "Volume capability not provided");
  const readers = { ...blockCapability, accessMode: { mode: "MULTI_NODE_READER_ONLY" } };
  assert.equal(await refused(publishRequest("vol-1", "i-1", { volumeCapability: readers })), "Volume capability not supported");
  assert.equal(await refused(publishRequest("local-ebs://dev/xvdf", "i-1")), "node-local volumes are not enabled");
  const unpublish = (volumeId: string, nodeId: string) =>
    refusedWith(world.call("ControllerUnpublishVolume", { volumeId, nodeId }), "InvalidArgument");
  assert.equal(await unpublish("", "i-1"), "Volume ID not provided");
  assert.equal(await unpublish("vol-1", ""), "Node ID not provided");
});

test("a volume is neither attached to a node of HyperPod, which is not served, nor said to be detached from it", async () => {
  const world = await volumeWorld();
  const request = { volumeId: "vol-0123456789abcdef0", nodeId: `hyperpod-abc123-${world.nodes[0]!.id}` };
  assert.match(await refusedWith(world.call("ControllerUnpublishVolume", request), "Unimplemented"), /HyperPod/);
  const publish = publishRequest(request.volumeId, request.nodeId);
  assert.match(await refusedWith(world.call("ControllerPublishVolume", publish), "Unimplemented"), /HyperPod/);
});

test("a full node is told from other failures", async () => {
  const world = await volumeWorld({ instanceType: "m5.large" });
  const node = world.nodes[0]!;
  const { ec2 } = world.aws.account;
  let text = "";
  for (let count = 0; count < 40 && text === ""; count++) {
    const { volumeId } = await world.create(`pvc-${count}`);
    await world.publish(volumeId, node).catch(async () => {
      text = await refusedWith(world.publish(volumeId, node), "ResourceExhausted");
    });
  }
  assert.match(text, /^Attachment limit exceeded for volume "vol-\w+" on node "i-\w+"/);
  assert.ok(ec2.instances.get(node.id)!.volumeIds.length > 10);
});

test("an attachment that never comes is given up after a minute and a half, and begun anew", async () => {
  const world = await volumeWorld();
  const node = world.nodes[0]!;
  const { volumeId } = await world.create("pvc-1");
  obstructions(world.aws.account.ec2).put(volumeId, { attaching: true });
  const text = await refusedWith(world.publish(volumeId, node), "Internal");
  assert.match(text, /stuck in attaching state/);
  obstructions(world.aws.account.ec2).delete(volumeId);
  await world.world.advance(10_000);
  assert.equal(await world.publish(volumeId, node), "/dev/xvdaa");
});

test("a node that does not let go of a volume is said not to have, with what to do", async () => {
  const world = await volumeWorld();
  const node = world.nodes[0]!;
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, node);
  obstructions(world.aws.account.ec2).put(volumeId, { busy: true });
  assert.match(await refusedWith(world.unpublish(volumeId, node), "Internal"), /still busy: a file system on it is still mounted/);
  assert.deepEqual(
    world.driver.context.detachPending.late().map(({ state }) => state),
    ["busy"],
  );
});

test("the answers to attachment and detachment may be lost", async () => {
  const world = await volumeWorld();
  const node = world.nodes[0]!;
  const { volumeId } = await world.create("pvc-1");
  for (const action of ["ec2:AttachVolume", "ec2:DetachVolume"]) {
    world.aws.controls.faults.add({ action, effect: { kind: "lose-answer" }, times: 1 });
  }
  assert.equal(await world.publish(volumeId, node), "/dev/xvdaa");
  await world.unpublish(volumeId, node);
  assert.deepEqual(world.volume(volumeId)!.attachments, []);
});

test("a volume that was detached a moment ago is attached again, though EC2 still shows the old attachment", async () => {
  const world = await volumeWorld({ settings: { staleness: { maxAgeMs: 4_500, probability: 0 } } });
  const node = world.nodes[0]!;
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, node);
  await world.unpublish(volumeId, node);
  world.aws.controls.change({ staleness: { probability: 1 } });
  const device = await world.publish(volumeId, node);
  const [attachment] = world.volume(volumeId)!.attachments;
  assert.equal(attachment?.device, device);
  assert.equal(attachment?.state, "attached");
});

/** Every read may be as old as that. */
const lagging = { staleness: { maxAgeMs: 4_500, probability: 1 } };

test("answers from before an attachment do not pass for its end", async () => {
  for (const seed of [1, 2, 3, 4]) {
    const world = await volumeWorld({ seed, settings: lagging });
    const node = world.nodes[0]!;
    const { volumeId } = await world.create("pvc-1");
    await world.world.advance(30_000);
    let isAlive = true;
    world.driver = world.start(world.world, async (request) => (isAlive ? world.aws.handle(request) : new Promise(() => {})));
    world.begin("ControllerPublishVolume", publishRequest(volumeId, node.id));
    await world.world.runUntil(() => world.calls("ec2:AttachVolume") > 0, 60_000, "it is being attached");
    // The process dies, and the next one is asked to detach what it knows nothing of.
    isAlive = false;
    world.driver = world.start();
    await world.unpublish(volumeId, node);
    assert.deepEqual(world.volume(volumeId)!.attachments, [], `seed ${seed}`);
  }
});

test("a detachment that nobody waits for any more is not taken for an attachment", async () => {
  for (const seed of [1, 2, 3, 4]) {
    const world = await volumeWorld({ seed, settings: lagging });
    const node = world.nodes[0]!;
    const { volumeId } = await world.create("pvc-1");
    await world.publish(volumeId, node);
    await world.world.advance(30_000);
    const impatience = new AbortController();
    world.begin("ControllerUnpublishVolume", { volumeId, nodeId: node.id }, impatience.signal);
    await world.world.runUntil(() => world.calls("ec2:DetachVolume") > 0, 60_000, "it is being detached");
    await world.world.advance(200);
    impatience.abort(new Error("the caller no longer waits"));
    await world.world.advance(1);
    // While EC2 still detaches it, it is refused, and asked for again.
    let device: string | undefined;
    for (let tries = 0; device === undefined && tries < 20; tries++) device = await world.publish(volumeId, node).catch(() => undefined);
    const [attachment] = world.volume(volumeId)!.attachments;
    assert.deepEqual([attachment?.device, attachment?.state], [device, "attached"], `seed ${seed}`);
  }
});

test("a volume of a terminated instance is free at once", async () => {
  const world = await volumeWorld();
  const [first, , , beside] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, first!);
  world.aws.account.ec2.instances.update(first!.id, { state: "terminated" });
  const before = world.world.clock.monotonic();
  await world.unpublish(volumeId, first!);
  assert.ok(world.world.clock.monotonic() - before < 1_000);
  assert.equal(world.calls("ec2:DetachVolume"), 0);
  assert.equal(beside!.zone, first!.zone);
});

test("a deletion leaves what carries no mark alone, and says why", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  world.driver = world.start();
  world.aws.account.ec2.volumes.update(volumeId, { tags: { Name: "precious" } });
  await world.world.advance(5_000);
  const text = await refusedWith(world.delete(volumeId), "FailedPrecondition");
  assert.match(text, /carries none of the tags ebs\.csi\.aws\.com\/cluster, CSIVolumeName/);
  assert.ok(world.volume(volumeId));
  for (const [key, value] of [
    ["CSIVolumeName", "x"],
    ["kubernetes.io/created-for/pvc/name", "x"],
    ["kubernetes.io/cluster/test", "owned"],
  ] as const) {
    const other = await world.create(`pvc-${key}`);
    const tags = { [key]: value };
    world.driver = world.start();
    world.aws.account.ec2.volumes.update(other.volumeId, { tags });
    await world.world.advance(5_000);
    await world.delete(other.volumeId);
    await world.world.advance(5_000);
    assert.equal(world.volume(other.volumeId), undefined);
  }
});

test("a volume that EC2 does not show yet is deleted all the same", async () => {
  const world = await volumeWorld({ settings: { staleness: { maxAgeMs: 3_000, probability: 0.8 } } });
  for (let time = 0; time < 5; time++) {
    const { volumeId } = await world.create(`pvc-${time}`);
    if (time % 2 === 0) world.driver = world.start();
    await world.delete(volumeId);
  }
  await world.world.advance(10_000);
  assert.deepEqual(world.volumes, []);
});

test("a volume that is gone, or never was, is deleted", async () => {
  const world = await volumeWorld();
  await world.delete("fake-vol-id");
  await world.delete("vol-0123456789abcdef0");
  assert.equal(await refusedWith(world.delete(""), "InvalidArgument"), "Volume ID not provided");
});

test("a volume in use is not deleted", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, world.nodes[0]!);
  assert.match(await refusedWith(world.delete(volumeId), "Internal"), /^Could not delete volume ID "vol-\w+": .*VolumeInUse/);
});
