import assert from "node:assert/strict";
import { test } from "node:test";
import { mountCapability, publishRequest, refusedWith, volumeWorld } from "../../../test/bed/volume-world.ts";

test("a node's own volume is found by its device, for any number of writers, and nothing is attached or detached", async () => {
  const world = await volumeWorld({ controller: { nodeLocalVolumes: true } });
  const [node] = world.nodes;
  const { volumeId } = await world.create("pvc-1");
  const device = await world.publish(volumeId, node!);
  const handle = `local-ebs:/${device}`;
  const before = world.calls("ec2:AttachVolume");
  const shared = { volumeCapability: { ...mountCapability, accessMode: { mode: "MULTI_NODE_MULTI_WRITER" } } };
  const answer = await world.call("ControllerPublishVolume", publishRequest(handle, node!.id, shared));
  assert.deepEqual(answer, { publishContext: { devicePath: device, volumeID: volumeId } });
  await world.call("ControllerUnpublishVolume", { volumeId: handle, nodeId: node!.id });
  assert.deepEqual([world.calls("ec2:AttachVolume") - before, world.calls("ec2:DetachVolume")], [0, 0]);
});

test("the root device, a device that is not there and a handle without one are refused, each with its own code", async () => {
  const world = await volumeWorld({ controller: { nodeLocalVolumes: true } });
  const [node] = world.nodes;
  const publish = (handle: string) => world.call("ControllerPublishVolume", publishRequest(handle, node!.id));
  const root = world.driver.context.cloud;
  const { rootDevice } = await world.finish(
    root.instances
      .lookup(node!.id, { cause: "test", signal: new AbortController().signal, urgency: "user" })
      .then((found) => (found.kind === "found" ? found.instance : assert.fail("there is no instance"))),
  );
  assert.match(await refusedWith(publish(`local-ebs:/${rootDevice}`), "Internal"), /it is the root device/);
  assert.match(await refusedWith(publish("local-ebs://dev/xvdzz"), "NotFound"), /Failed to find volume at device \/dev\/xvdzz/);
  assert.equal(await refusedWith(publish("local-ebs://"), "InvalidArgument"), "invalid node-local volume handle format");
});
