import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CopyVolumesCommand,
  CreateSnapshotCommand,
  CreateTagsCommand,
  type CreateVolumeCommandInput,
  DeleteVolumeCommand,
  DescribeTagsCommand,
  DescribeVolumesCommand,
  type VolumeType,
} from "@aws-sdk/client-ec2";
import { refused } from "../../testing.ts";
import { A_MINUTE, volumeBed } from "./testing.ts";

test("CreateVolume: the same ClientToken makes one volume; other parameters are a mismatch", async () => {
  const { create, ec2 } = volumeBed();
  const first = await create({ ClientToken: "once" });
  const again = await create({ ClientToken: "once" });
  assert.equal(again.VolumeId, first.VolumeId);
  await refused(create({ ClientToken: "once", Size: 11 }), "IdempotentParameterMismatch", 400);
  const other = await create({ ClientToken: "twice" });
  const { Volumes } = await ec2.send(new DescribeVolumesCommand({ Filters: [{ Name: "size", Values: ["10", "11"] }] }));
  assert.deepEqual(Volumes!.map((each) => each.VolumeId).sort(), [first.VolumeId, other.VolumeId].sort());
});

test("CreateVolume: the order of tags is no parameter, their values are", async () => {
  const { create } = volumeBed();
  const [one, two] = [
    { Key: "a", Value: "1" },
    { Key: "b", Value: "2" },
  ];
  const tagged = (...Tags: { Key: string; Value: string }[]) =>
    create({ ClientToken: "once", TagSpecifications: [{ ResourceType: "volume", Tags }] });
  const first = await tagged(one!, two!);
  assert.equal((await tagged(two!, one!)).VolumeId, first.VolumeId);
  await refused(tagged(one!, { Key: "b", Value: "3" }), "IdempotentParameterMismatch", 400);
});

test("CreateVolume resolves AvailabilityZoneId to its zone; naming both is refused, and so is an unknown zone", async () => {
  const { create, first } = volumeBed();
  const made = await create({ AvailabilityZoneId: first.zoneId });
  assert.deepEqual([made.AvailabilityZone, made.AvailabilityZoneId], [first.zone, first.zoneId]);
  await refused(create({ AvailabilityZoneId: first.zoneId, AvailabilityZone: first.zone }), "InvalidParameterCombination");
  await refused(create({ AvailabilityZone: "us-east-1z" }), "InvalidZone.NotFound");
  await refused(create({ AvailabilityZone: "us-east-1-loc-1a" }), "InvalidZone.NotFound");
});

test("CreateVolume refuses an unknown type and what is out of its type's range", async () => {
  const { create } = volumeBed();
  const cases: readonly (readonly [CreateVolumeCommandInput, string, RegExp])[] = [
    [{ VolumeType: "gp9" as VolumeType }, "UnknownVolumeType", /gp9/],
    [{ VolumeType: "gp2", Size: 16_385 }, "InvalidParameterValue", /maximum is 16384GiB/],
    [{ VolumeType: "gp3", Size: 0 }, "InvalidParameterValue", /minimum is 1GiB/],
    [{ VolumeType: "st1", Size: 124 }, "InvalidParameterValue", /minimum is 125GiB/],
    [{ VolumeType: "io1", Size: 3, Iops: 100 }, "InvalidParameterValue", /minimum is 4GiB/],
    [{ VolumeType: "standard", Size: 1025 }, "InvalidParameterValue", /maximum is 1024GiB/],
    [{ VolumeType: "gp3", Size: 1000, Iops: 80_001 }, "InvalidParameterValue", /Volume iops of 80001 is too high; maximum is 80000/],
    [{ VolumeType: "io1", Size: 4000, Iops: 64_001 }, "InvalidParameterValue", /maximum is 64000/],
    [{ VolumeType: "io2", Size: 4000, Iops: 256_001 }, "InvalidParameterValue", /256K IOPS/],
    [{ VolumeType: "gp3", Iops: 2999 }, "InvalidParameterValue", /minimum is 3000/],
    [{ VolumeType: "io1", Size: 10, Iops: 501 }, "InvalidParameterValue", /ratio of 50\.100000 is too high; maximum is 50/],
    [{ VolumeType: "gp3", Size: 10, Iops: 5001 }, "InvalidParameterValue", /maximum is 500/],
    [{ VolumeType: "gp3", Size: 4000, Iops: 80_000, Throughput: 2001 }, "InvalidParameterValue", /maximum is 2000/],
    [{ VolumeType: "gp3", Size: 10, Throughput: 751 }, "InvalidParameterValue", /maximum is 0\.250000 MiBps per iops/],
    [{ VolumeType: "io2", Iops: 100, Throughput: 200 }, "InvalidParameterCombination", /throughput is not supported/],
    [{ VolumeType: "gp3", MultiAttachEnabled: true }, "InvalidParameterCombination", /MultiAttachEnabled is not supported/],
  ];
  for (const [input, code, message] of cases) assert.match(await refused(create(input), code, 400), message, JSON.stringify(input));
});

test("CreateVolume: io1 without IOPS is MissingParameter", async () => {
  const { create } = volumeBed();
  await refused(create({ VolumeType: "io1" }), "MissingParameter");
  await refused(create({ VolumeType: "io2" }), "MissingParameter");
  assert.equal((await create({ VolumeType: "io2", Iops: 200 })).Iops, 200);
});

test("CreateVolume: gp2 with IOPS says that the parameter is not supported", async () => {
  const { create } = volumeBed();
  assert.match(await refused(create({ VolumeType: "gp2", Iops: 300 }), "InvalidParameterCombination"), /parameter iops is not supported/);
});

test("CreateVolume: gp3 has its default throughput and IOPS, gp2 the IOPS of its size, st1 none", async () => {
  const { create } = volumeBed();
  const gp3 = await create({ Size: 1 });
  assert.deepEqual([gp3.Iops, gp3.Throughput], [3000, 125]);
  const figures = async (Size: number) => (await create({ VolumeType: "gp2", Size })).Iops;
  assert.deepEqual([await figures(10), await figures(100), await figures(10_000)], [100, 300, 16_000]);
  const st1 = await create({ VolumeType: "st1", Size: 125 });
  assert.deepEqual([st1.Iops, st1.Throughput], [undefined, undefined]);
});

test("CreateVolume keeps OutpostArn", async () => {
  const { volume, see } = volumeBed();
  const OutpostArn = "arn:aws:outposts:us-east-1:123456789012:outpost/op-0123456789abcdef0";
  assert.equal((await see(await volume({ OutpostArn }))).OutpostArn, OutpostArn);
});

test("CreateVolume refuses a restore smaller than the snapshot, and one from a snapshot that is still pending", async () => {
  const { volume, create, ec2, world } = volumeBed();
  const { SnapshotId } = await ec2.send(new CreateSnapshotCommand({ VolumeId: await volume() }));
  await refused(create({ SnapshotId }), "IncorrectState");
  world.pass(A_MINUTE);
  await refused(create({ SnapshotId, Size: 9 }), "InvalidParameterValue");
  assert.equal((await create({ SnapshotId })).Size, 10);
  assert.equal((await create({ SnapshotId, Size: 20 })).Size, 20);
  await refused(create({ SnapshotId: "snap-0123456789abcdef0" }), "InvalidSnapshot.NotFound");
  await refused(create({ VolumeInitializationRate: 200 }), "InvalidParameterCombination");
});

test("CreateVolume with an unknown KMS key appears and vanishes, and its token stays used", async () => {
  const usable = "arn:aws:kms:us-east-1:123456789012:key/mine";
  const { create, see, world } = volumeBed({ keys: [usable] });
  const kept = await create({ Encrypted: true, KmsKeyId: "mine" });
  const plain = await create({ Encrypted: true });
  const lost = await create({ Encrypted: true, KmsKeyId: "arn:aws:kms:us-east-1:123456789012:key/other", ClientToken: "once" });
  assert.deepEqual([lost.State, (await see(lost.VolumeId!)).State], ["creating", "creating"]);
  world.pass(A_MINUTE);
  await refused(see(lost.VolumeId!), "InvalidVolume.NotFound");
  assert.deepEqual([(await see(kept.VolumeId!)).KmsKeyId, (await see(plain.VolumeId!)).State], [usable, "available"]);
  const again = create({ Encrypted: true, KmsKeyId: "arn:aws:kms:us-east-1:123456789012:key/other", ClientToken: "once" });
  await refused(again, "IdempotentParameterMismatch");
  await refused(create({ KmsKeyId: "mine" }), "InvalidParameterDependency");
});

test("A volume is creating before it is available, and deleting before it is gone", async () => {
  const { create, see, ec2, world } = volumeBed();
  const { VolumeId, State } = await create();
  assert.equal(State, "creating");
  await refused(ec2.send(new DeleteVolumeCommand({ VolumeId })), "IncorrectState");
  world.pass(5000);
  assert.equal((await see(VolumeId!)).State, "available");
  await ec2.send(new DeleteVolumeCommand({ VolumeId }));
  assert.equal((await see(VolumeId!)).State, "deleting");
  world.pass(5000);
  await refused(see(VolumeId!), "InvalidVolume.NotFound");
  await refused(ec2.send(new DeleteVolumeCommand({ VolumeId })), "InvalidVolume.NotFound");
  await refused(ec2.send(new DeleteVolumeCommand({ VolumeId: "fake-vol-id" })), "InvalidParameterValue");
});

test("The quotas of storage and of provisioned IOPS are counted by type", async () => {
  const { create } = volumeBed({ quotas: { volumeStorageTiB: 1, provisionedIops: 1000 } });
  await create({ Size: 900 });
  await refused(create({ Size: 200 }), "VolumeLimitExceeded");
  await create({ Size: 200, VolumeType: "gp2" });
  await create({ VolumeType: "io2", Iops: 600 });
  await refused(create({ VolumeType: "io2", Iops: 600 }), "MaxIOPSLimitExceeded");
  await create({ VolumeType: "io1", Iops: 500 });
});

test("A dry run of CreateVolume checks the parameters, makes nothing and burns no token", async () => {
  const { create, ec2 } = volumeBed();
  const before = (await ec2.send(new DescribeVolumesCommand({}))).Volumes!.length;
  await refused(create({ DryRun: true, Size: 4, Iops: 2_147_483_647 }), "InvalidParameterValue");
  await refused(create({ DryRun: true, ClientToken: "once" }), "DryRunOperation", 412);
  assert.equal((await ec2.send(new DescribeVolumesCommand({}))).Volumes!.length, before);
  assert.ok((await create({ ClientToken: "once" })).VolumeId);
});

test("CopyVolumes makes one volume in the zone of its source, encrypted with the same key", async () => {
  const { volume, see, ec2, world } = volumeBed();
  const source = await volume({ Encrypted: true, KmsKeyId: "mine" });
  const copy = () => ec2.send(new CopyVolumesCommand({ SourceVolumeId: source, Size: 12, VolumeType: "gp3", ClientToken: "copy" }));
  const { Volumes } = await copy();
  assert.equal((await copy()).Volumes![0]!.VolumeId, Volumes![0]!.VolumeId);
  world.pass(A_MINUTE);
  const [from, to] = [await see(source), await see(Volumes![0]!.VolumeId!)];
  assert.deepEqual([to.AvailabilityZone, to.KmsKeyId, to.Size, to.SourceVolumeId], [from.AvailabilityZone, from.KmsKeyId, 12, source]);
  await refused(ec2.send(new CopyVolumesCommand({ SourceVolumeId: source, Size: 9 })), "InvalidParameterValue");
  await refused(ec2.send(new CopyVolumesCommand({ SourceVolumeId: "vol-0123456789abcdef0" })), "InvalidVolume.NotFound");
});

test("Tags come with the volume, need ec2:CreateTags, and are changed and found like all others", async () => {
  const { create, ec2, cloud, matching } = volumeBed();
  const TagSpecifications: CreateVolumeCommandInput["TagSpecifications"] = [
    { ResourceType: "volume", Tags: [{ Key: "CSIVolumeName", Value: "pvc-1" }] },
  ];
  const { VolumeId } = await create({ TagSpecifications });
  assert.deepEqual(await matching({ Name: "tag:CSIVolumeName", Values: ["pvc-1"] }), [VolumeId]);
  await ec2.send(new CreateTagsCommand({ Resources: [VolumeId!], Tags: [{ Key: "a", Value: "b" }] }));
  const { Tags } = await ec2.send(new DescribeTagsCommand({ Filters: [{ Name: "resource-type", Values: ["volume"] }] }));
  assert.deepEqual(Tags!.map((tag) => tag.Key).sort(), ["CSIVolumeName", "a"]);
  const lift = cloud.controls.deny("ec2:CreateTags");
  await refused(create({ TagSpecifications }), "UnauthorizedOperation");
  lift();
});
