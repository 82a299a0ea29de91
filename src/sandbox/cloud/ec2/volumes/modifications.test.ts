import assert from "node:assert/strict";
import { test } from "node:test";
import {
  DescribeVolumesModificationsCommand,
  type EC2Client,
  type Filter,
  ModifyVolumeCommand,
  type ModifyVolumeCommandInput,
} from "@aws-sdk/client-ec2";
import { refused } from "../../testing.ts";
import { A_MINUTE, volumeBed } from "./testing.ts";

const HOUR = 60 * A_MINUTE;

async function modify(ec2: EC2Client, VolumeId: string, input: Partial<ModifyVolumeCommandInput>) {
  return (await ec2.send(new ModifyVolumeCommand({ VolumeId, ...input }))).VolumeModification!;
}

async function modifications(ec2: EC2Client, VolumeIds?: string[], Filters?: Filter[]) {
  return (await ec2.send(new DescribeVolumesModificationsCommand({ VolumeIds, Filters }))).VolumesModifications!;
}

test("ModifyVolume is not completed at once: modifying with the old size, optimizing with the new one, completed", async () => {
  const { ec2, volume, see, world } = volumeBed();
  const id = await volume();
  const begun = await modify(ec2, id, { Size: 20, Iops: 4000, Throughput: 250 });
  assert.deepEqual([begun.ModificationState, begun.OriginalSize, begun.TargetSize, begun.Progress], ["modifying", 10, 20, 0]);
  const seen = async () => {
    const [last] = await modifications(ec2, [id]);
    const { Size, Iops, Throughput } = await see(id);
    return [last!.ModificationState, Size, Iops, Throughput];
  };
  assert.deepEqual(await seen(), ["modifying", 10, 3000, 125]);
  world.pass(10_000);
  assert.deepEqual(await seen(), ["optimizing", 20, 4000, 250]);
  world.pass(10 * A_MINUTE);
  assert.deepEqual(await seen(), ["completed", 20, 4000, 250]);
  assert.deepEqual([(await modifications(ec2, [id]))[0]!.Progress], [100]);
});

test("ModifyVolume while another modification runs is IncorrectModificationState", async () => {
  const { ec2, volume, world } = volumeBed();
  const id = await volume();
  await modify(ec2, id, { Size: 20 });
  await refused(modify(ec2, id, { Size: 30 }), "IncorrectModificationState");
  world.pass(10_000);
  await refused(modify(ec2, id, { Size: 30 }), "IncorrectModificationState");
});

test("ModifyVolume: the six-hour limit, where the account still has it", async () => {
  const { ec2, volume, world } = volumeBed({ quotas: { volumeModifications: 1, volumeModificationHours: 6 } });
  const id = await volume();
  await modify(ec2, id, { Size: 20 });
  world.pass(5 * HOUR);
  await refused(modify(ec2, id, { Size: 30 }), "VolumeModificationRateExceeded");
  world.pass(HOUR);
  await modify(ec2, id, { Size: 30 });
});

test("ModifyVolume: four times in a rolling 24 hours", async () => {
  const { ec2, volume, world } = volumeBed();
  const id = await volume();
  for (const Size of [11, 12, 13, 14]) {
    await modify(ec2, id, { Size });
    world.pass(HOUR);
  }
  await refused(modify(ec2, id, { Size: 15 }), "VolumeModificationRateExceeded");
  world.pass(20 * HOUR);
  await modify(ec2, id, { Size: 15 });
});

test("ModifyVolume refuses shrinking, what the type does not have, and what the account may not have", async () => {
  const { ec2, volume, cloud } = volumeBed();
  const id = await volume();
  await refused(modify(ec2, id, { Size: 9 }), "InvalidParameterValue");
  await refused(modify(ec2, id, {}), "InvalidParameterValue");
  await refused(modify(ec2, id, { Iops: 80_001 }), "InvalidParameterValue");
  await refused(modify(ec2, id, { VolumeType: "gp2", Iops: 3000 }), "InvalidParameterCombination");
  await refused(modify(ec2, id, { MultiAttachEnabled: true }), "InvalidParameterCombination");
  await refused(modify(ec2, "vol-0123456789abcdef0", { Size: 9 }), "InvalidVolume.NotFound");
  cloud.controls.change({ quotas: { volumeStorageTiB: 1, provisionedIops: 1000 } });
  await refused(modify(ec2, id, { Size: 2000 }), "VolumeModificationSizeLimitExceeded");
  await refused(modify(ec2, id, { VolumeType: "io2", Iops: 5000 }), "MaxIOPSLimitExceeded");
});

test("A change of type takes the new type's usual figures; the same type keeps what is not given", async () => {
  const { ec2, volume, see, world } = volumeBed();
  const [gp2, gp3] = [await volume({ VolumeType: "gp2", Size: 100 }), await volume({ Iops: 4000, Throughput: 300 })];
  await modify(ec2, gp2, { VolumeType: "gp3" });
  await modify(ec2, gp3, { Size: 20 });
  world.pass(10 * A_MINUTE);
  const figures = async (id: string) => {
    const { VolumeType, Iops, Throughput } = await see(id);
    return [VolumeType, Iops, Throughput];
  };
  assert.deepEqual(await figures(gp2), ["gp3", 3000, 125]);
  assert.deepEqual(await figures(gp3), ["gp3", 4000, 300]);
});

test("DescribeVolumesModifications shows the last modification of a volume only", async () => {
  const { ec2, volume, world } = volumeBed();
  const id = await volume();
  for (const Size of [20, 30]) {
    await modify(ec2, id, { Size });
    world.pass(HOUR);
  }
  assert.deepEqual(
    (await modifications(ec2, [id])).map((each) => each.TargetSize),
    [30],
  );
});

test("DescribeVolumesModifications of a volume without one is InvalidVolumeModification.NotFound; of all volumes it is empty", async () => {
  const { ec2, volume } = volumeBed();
  const id = await volume();
  await refused(modifications(ec2, [id]), "InvalidVolumeModification.NotFound");
  assert.deepEqual(await modifications(ec2), []);
});

test("DescribeVolumesModifications filters by modification-state", async () => {
  const { ec2, volume, world } = volumeBed();
  const [done, running] = [await volume(), await volume()];
  await modify(ec2, done, { Size: 20 });
  world.pass(HOUR);
  await modify(ec2, running, { Size: 20 });
  const inState = async (...Values: string[]) =>
    (await modifications(ec2, undefined, [{ Name: "modification-state", Values }])).map((each) => each.VolumeId);
  assert.deepEqual(await inState("completed"), [done]);
  assert.deepEqual(await inState("modifying", "optimizing"), [running]);
});
