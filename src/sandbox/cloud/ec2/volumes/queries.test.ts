import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AttachVolumeCommand,
  CreateSnapshotCommand,
  DescribeVolumeStatusCommand,
  DescribeVolumesCommand,
  EnableFastSnapshotRestoresCommand,
} from "@aws-sdk/client-ec2";
import { refused } from "../../testing.ts";
import { A_MINUTE, volumeBed } from "./testing.ts";

test("DescribeVolumes filters by multi-attach-enabled, status, attachment, type, size, zone and encryption", async () => {
  const { ec2, volume, first, matching } = volumeBed();
  const shared = await volume({ VolumeType: "io2", Iops: 100, MultiAttachEnabled: true, Size: 77 });
  const secret = await volume({ Encrypted: true });
  const held = await volume({ Size: 33 });
  await ec2.send(new AttachVolumeCommand({ VolumeId: held, InstanceId: first.id, Device: "/dev/xvdaa" }));
  for (const [Name, value, expected] of [
    ["multi-attach-enabled", "true", [shared]],
    ["size", "77", [shared]],
    ["volume-type", "io2", [shared]],
    ["encrypted", "true", [secret]],
    ["attachment.device", "/dev/xvdaa", [held]],
    ["attachment.status", "attaching", [held]],
    ["attachment.instance-id", first.id, [first.rootVolumeId, held]],
    ["status", "available", [shared, secret]],
    ["volume-id", secret, [secret]],
  ] as const) {
    assert.deepEqual([...(await matching({ Name, Values: [value] }))].sort(), [...expected].sort(), Name);
  }
  assert.equal((await matching({ Name: "availability-zone", Values: [first.zone] })).length, 5);
  await refused(matching({ Name: "nonsense", Values: ["1"] }), "InvalidParameterValue");
});

test("DescribeVolumes takes 500 ids, gives pages of at most 500, and names what does not exist", async () => {
  const { ec2, volume } = volumeBed();
  const id = await volume();
  const many = Array.from({ length: 501 }, (_, index) => `vol-0${index.toString(16).padStart(16, "0")}`);
  await refused(ec2.send(new DescribeVolumesCommand({ VolumeIds: many })), "InvalidParameterValue");
  const message = await refused(ec2.send(new DescribeVolumesCommand({ VolumeIds: [id, ...many.slice(0, 2)] })), "InvalidVolume.NotFound");
  assert.ok(message.includes(many[0]!) && message.includes(many[1]!) && !message.includes(id));
  await refused(ec2.send(new DescribeVolumesCommand({ VolumeIds: ["fake-vol-id"] })), "InvalidParameterValue");
  await refused(ec2.send(new DescribeVolumesCommand({ VolumeIds: [id], MaxResults: 5 })), "InvalidParameterCombination");
  await refused(ec2.send(new DescribeVolumesCommand({ MaxResults: 4 })), "InvalidParameterValue");
  assert.equal((await ec2.send(new DescribeVolumesCommand({ MaxResults: 9999 }))).Volumes!.length, 5);
});

test("DescribeVolumes in pages shows every volume once", async () => {
  const { ec2, create } = volumeBed();
  const made = [];
  for (let index = 0; index < 12; index++) made.push((await create({ Size: 50 })).VolumeId);
  const seen: (string | undefined)[] = [];
  let NextToken: string | undefined;
  do {
    const page = await ec2.send(new DescribeVolumesCommand({ Filters: [{ Name: "size", Values: ["50"] }], MaxResults: 5, NextToken }));
    seen.push(...page.Volumes!.map((each) => each.VolumeId));
    NextToken = page.NextToken;
  } while (NextToken !== undefined);
  assert.deepEqual(seen.sort(), made.sort());
});

test("DescribeVolumeStatus tells how far a volume from a snapshot is initialised; with fast snapshot restore it is at once", async () => {
  const { ec2, volume, create, first, world } = volumeBed();
  const empty = await volume();
  const { SnapshotId } = await ec2.send(new CreateSnapshotCommand({ VolumeId: empty }));
  world.pass(A_MINUTE);
  const status = async (id: string) => {
    const { VolumeStatuses } = await ec2.send(new DescribeVolumeStatusCommand({ VolumeIds: [id] }));
    const { VolumeStatus, InitializationStatusDetails } = VolumeStatuses![0]!;
    const state = VolumeStatus!.Details!.find((detail) => detail.Name === "initialization-state")?.Status;
    return [state, InitializationStatusDetails?.EstimatedTimeToCompleteInSeconds];
  };
  const [slow, rated] = [await create({ SnapshotId }), await create({ SnapshotId, VolumeInitializationRate: 100 })];
  assert.deepEqual(await status(empty), [undefined, undefined]);
  assert.deepEqual(await status(slow.VolumeId!), ["initializing", undefined]);
  assert.deepEqual(await status(rated.VolumeId!), ["initializing", 103]);
  world.pass(2 * A_MINUTE);
  assert.deepEqual(
    [await status(slow.VolumeId!), await status(rated.VolumeId!)],
    [
      ["initializing", undefined],
      ["completed", 0],
    ],
  );
  await ec2.send(new EnableFastSnapshotRestoresCommand({ AvailabilityZones: [first.zone], SourceSnapshotIds: [SnapshotId!] }));
  world.pass(60 * A_MINUTE);
  const fast = await create({ SnapshotId });
  assert.equal(fast.FastRestored, true);
  assert.deepEqual(await status(fast.VolumeId!), ["completed", undefined]);
});
