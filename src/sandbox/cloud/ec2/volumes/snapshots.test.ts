import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateSnapshotCommand,
  type CreateSnapshotCommandInput,
  DeleteSnapshotCommand,
  DescribeFastSnapshotRestoresCommand,
  DescribeSnapshotsCommand,
  type DescribeSnapshotsCommandInput,
  DisableFastSnapshotRestoresCommand,
  EnableFastSnapshotRestoresCommand,
  LockSnapshotCommand,
  type LockSnapshotCommandInput,
  UnlockSnapshotCommand,
} from "@aws-sdk/client-ec2";
import { refused } from "../../testing.ts";
import { shareSnapshot } from "./snapshots.ts";
import { A_MINUTE, volumeBed } from "./testing.ts";

const HOUR = 60 * A_MINUTE;
const DAY = 24 * HOUR;

async function bed() {
  const made = volumeBed();
  const { ec2, volume, world } = made;
  const volumeId = await volume();
  const describe = async (input: DescribeSnapshotsCommandInput = {}) => (await ec2.send(new DescribeSnapshotsCommand(input))).Snapshots!;
  return {
    ...made,
    volumeId,
    describe,
    ids: async (input: DescribeSnapshotsCommandInput = {}) => (await describe(input)).map((each) => each.SnapshotId),
    snapshot: (input: Partial<CreateSnapshotCommandInput> = {}) => ec2.send(new CreateSnapshotCommand({ VolumeId: volumeId, ...input })),
    async finished(input: Partial<CreateSnapshotCommandInput> = {}): Promise<string> {
      const { SnapshotId } = await ec2.send(new CreateSnapshotCommand({ VolumeId: volumeId, ...input }));
      world.pass(A_MINUTE);
      return SnapshotId!;
    },
    remove: (SnapshotId: string) => ec2.send(new DeleteSnapshotCommand({ SnapshotId })),
    lock: (SnapshotId: string, input: Partial<LockSnapshotCommandInput>) =>
      ec2.send(new LockSnapshotCommand({ SnapshotId, LockMode: "governance", ...input })),
  };
}

test("A snapshot is pending with its progress before it is completed, and keeps size, description and tags", async () => {
  const { snapshot, describe, world, volumeId } = await bed();
  const made = await snapshot({ Description: "d", TagSpecifications: [{ ResourceType: "snapshot", Tags: [{ Key: "a", Value: "b" }] }] });
  assert.deepEqual([made.State, made.Progress, made.VolumeSize, made.VolumeId], ["pending", "0%", 10, volumeId]);
  world.pass(6000);
  assert.equal((await describe())[0]!.Progress, "50%");
  world.pass(6000);
  const [done] = await describe({
    Filters: [
      { Name: "tag:a", Values: ["b"] },
      { Name: "status", Values: ["completed"] },
    ],
  });
  assert.deepEqual([done!.SnapshotId, done!.Progress, done!.Description], [made.SnapshotId, "100%", "d"]);
});

test("Snapshots: the NotFound reply names the id in its message", async () => {
  const { describe, remove, snapshot } = await bed();
  const id = "snap-0123456789abcdef0";
  assert.match(await refused(describe({ SnapshotIds: [id] }), "InvalidSnapshot.NotFound"), new RegExp(id));
  assert.match(await refused(remove(id), "InvalidSnapshot.NotFound"), new RegExp(id));
  await refused(describe({ SnapshotIds: ["fake-snap-id"] }), "InvalidSnapshotID.Malformed");
  await refused(snapshot({ VolumeId: "vol-0123456789abcdef0" }), "InvalidVolume.NotFound");
});

test("Snapshots: those of other accounts are listed unless asked for owners, and cannot be deleted", async () => {
  const { finished, ids, remove, create, cloud } = await bed();
  const own = await finished();
  const foreign = shareSnapshot(cloud.account.ec2, { ownerId: "999988887777", ownerAlias: "amazon", sizeGiB: 8 }).id;
  assert.deepEqual((await ids()).sort(), [own, foreign].sort());
  assert.deepEqual(await ids({ OwnerIds: ["self"] }), [own]);
  assert.deepEqual(await ids({ OwnerIds: ["amazon"] }), [foreign]);
  assert.deepEqual(await ids({ Filters: [{ Name: "owner-id", Values: ["999988887777"] }] }), [foreign]);
  await refused(remove(foreign), "UnauthorizedOperation", 403);
  assert.equal((await create({ SnapshotId: foreign })).Size, 8);
});

test("Snapshots of one volume need 15 seconds between them, and five may be pending", async () => {
  const { volume, ec2, world } = await bed();
  const VolumeId = await volume({ Size: 2000 });
  const snapshot = () => ec2.send(new CreateSnapshotCommand({ VolumeId }));
  await snapshot();
  await refused(snapshot(), "SnapshotCreationPerVolumeRateExceeded");
  for (let index = 0; index < 4; index++) {
    world.pass(15_000);
    await snapshot();
  }
  world.pass(15_000);
  await refused(snapshot(), "ConcurrentSnapshotLimitExceeded");
  world.pass(HOUR);
  await snapshot();
});

test("The quota of snapshots is SnapshotLimitExceeded, and ids and pages have their limits", async () => {
  const { finished, snapshot, describe, cloud } = await bed();
  await finished();
  cloud.controls.change({ quotas: { snapshots: 1 } });
  await refused(snapshot(), "SnapshotLimitExceeded");
  await refused(describe({ MaxResults: 4 }), "InvalidParameterValue");
  await refused(describe({ MaxResults: 5, SnapshotIds: ["snap-0123456789abcdef0"] }), "InvalidParameterCombination");
  const many = Array.from({ length: 1001 }, (_, index) => `snap-0${index.toString(16).padStart(16, "0")}`);
  await refused(describe({ SnapshotIds: many }), "InvalidParameterValue");
});

test("A locked snapshot cannot be deleted until it is unlocked or the lock expires", async () => {
  const { finished, lock, remove, ec2, world } = await bed();
  const [held, freed] = [await finished(), await finished()];
  assert.equal((await lock(held, { LockDuration: 2 })).LockState, "governance");
  await lock(freed, { LockDuration: 2 });
  await refused(remove(held), "OperationNotPermitted");
  await ec2.send(new UnlockSnapshotCommand({ SnapshotId: freed }));
  await remove(freed);
  world.pass(2 * DAY);
  await remove(held);
});

test("A compliance lock cools off, then can only be extended", async () => {
  const { finished, lock, remove, ec2, world } = await bed();
  const id = await finished();
  assert.equal((await lock(id, { LockMode: "compliance", LockDuration: 3, CoolOffPeriod: 1 })).LockState, "compliance-cooloff");
  world.pass(2 * HOUR);
  await refused(ec2.send(new UnlockSnapshotCommand({ SnapshotId: id })), "OperationNotPermitted");
  await refused(lock(id, { LockMode: "compliance", LockDuration: 1 }), "OperationNotPermitted");
  assert.equal((await lock(id, { LockMode: "compliance", LockDuration: 30 })).LockState, "compliance");
  world.pass(4 * DAY);
  await refused(remove(id), "OperationNotPermitted");
});

test("LockSnapshot refuses incomplete and contradictory parameters", async () => {
  const { finished, lock } = await bed();
  const id = await finished();
  await refused(lock(id, {}), "InvalidParameterCombination");
  await refused(lock(id, { LockDuration: 1, ExpirationDate: new Date(Date.UTC(2027, 0, 1)) }), "InvalidParameterCombination");
  await refused(lock(id, { LockDuration: 1, CoolOffPeriod: 1 }), "InvalidParameterCombination");
  await refused(lock(id, { LockDuration: 36_501 }), "InvalidParameterValue");
  await refused(lock(id, { LockMode: "compliance", LockDuration: 1, CoolOffPeriod: 73 }), "InvalidParameterValue");
  assert.equal((await lock(id, { ExpirationDate: new Date(Date.UTC(2026, 0, 11)) })).LockDuration, 10);
});

test("Fast snapshot restore is enabled zone by zone, takes its time, and says what failed where", async () => {
  const { finished, remove, ec2, first, elsewhere, world, cloud } = await bed();
  const id = await finished();
  const enable = (SourceSnapshotIds: string[], AvailabilityZones: string[]) =>
    ec2.send(new EnableFastSnapshotRestoresCommand({ SourceSnapshotIds, AvailabilityZones }));
  const states = async () =>
    (await ec2.send(new DescribeFastSnapshotRestoresCommand({}))).FastSnapshotRestores!.map(
      (each) => `${each.AvailabilityZone} ${each.State}`,
    );
  const { Successful, Unsuccessful } = await enable([id], [first.zone, "us-east-1z"]);
  assert.deepEqual([Successful!.map((each) => each.AvailabilityZone), Successful![0]!.State], [[first.zone], "enabling"]);
  assert.deepEqual(
    Unsuccessful!.map((each) => [each.SnapshotId, each.FastSnapshotRestoreStateErrors![0]!.AvailabilityZone]),
    [[id, "us-east-1z"]],
  );
  world.pass(10_000);
  assert.deepEqual(await states(), [`${first.zone} optimizing`]);
  world.pass(HOUR);
  assert.deepEqual(await states(), [`${first.zone} enabled`]);
  cloud.controls.change({ quotas: { fastSnapshotRestores: 1 } });
  const refusedOne = await enable([await finished()], [elsewhere.zone]);
  assert.equal(refusedOne.Unsuccessful!.length, 1);
  await ec2.send(new DisableFastSnapshotRestoresCommand({ SourceSnapshotIds: [id], AvailabilityZones: [first.zone] }));
  world.pass(HOUR);
  assert.deepEqual(await states(), [`${first.zone} disabled`]);
  await remove(id);
  assert.deepEqual(await states(), []);
});
