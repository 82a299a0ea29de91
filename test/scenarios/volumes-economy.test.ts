/** Many claims at once, with EC2's documented request limits: writes at the pace that AWS allows, and few reads for many volumes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { createRequest, publishRequest, volumeWorld } from "../bed/volume-world.ts";

const claims = 400;
const write = { capacity: 100, refillPerSecond: 5 };
const read = { capacity: 100, refillPerSecond: 20 };
const writes = ["CreateVolume", "AttachVolume", "DetachVolume", "DeleteVolume"];

test(`${claims} claims are made, attached, detached and deleted with next to no throttled call, and describes grow with pages`, async () => {
  const buckets = Object.fromEntries([...writes.map((action) => [`ec2:${action}`, write]), ["ec2:Describe*", read]]);
  const world = await volumeWorld({ nodes: 60, settings: { buckets } });
  const nodes = world.nodes.filter(({ zone }) => zone === world.nodes[0]!.zone);
  const { clock } = world.world;
  const begun = clock.monotonic();
  const life = async (index: number) => {
    const node = nodes[index % nodes.length]!;
    const created = await world.begin<{ volume: { volumeId: string } }>("CreateVolume", createRequest(`pvc-${index}`, node.zone));
    const { volumeId } = created.volume;
    await world.begin("ControllerPublishVolume", publishRequest(volumeId, node.id));
    await world.begin("ControllerUnpublishVolume", { volumeId, nodeId: node.id });
    await world.begin("DeleteVolume", { volumeId });
  };
  await world.finish(Promise.all(Array.from({ length: claims }, (_, index) => life(index))));
  const seconds = (clock.monotonic() - begun) / 1000;
  const counts = world.aws.controls.journal.counts();
  const throttled = writes.reduce((sum, action) => sum + (counts[`ec2:${action}`]?.RequestLimitExceeded ?? 0), 0);
  for (const action of writes) assert.equal(counts[`ec2:${action}`]?.ok, claims, action);
  assert.ok(throttled <= claims * writes.length * 0.01, `${throttled} writes were throttled`);
  assert.ok(world.calls("ec2:DescribeVolumes") <= claims, `${world.calls("ec2:DescribeVolumes")} DescribeVolumes`);
  // The slowest of the four kinds of writes needs (claims - capacity) / refill seconds, and the stages overlap.
  assert.ok(seconds <= 2 * ((claims - write.capacity) / write.refillPerSecond) + 60, `${seconds} s`);
  await world.world.advance(10_000);
  assert.deepEqual(world.volumes, []);
});
