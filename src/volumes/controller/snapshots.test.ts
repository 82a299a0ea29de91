import assert from "node:assert/strict";
import { test } from "node:test";
import { gib, refusedWith, type VolumeWorld, volumeWorld } from "../../../test/bed/volume-world.ts";
import type { SnapshotAnswer } from "../csi/messages.ts";

const creating = (world: VolumeWorld, name: string, sourceVolumeId: string, parameters: Readonly<Record<string, string>> = {}) =>
  world.begin<{ snapshot: SnapshotAnswer }>("CreateSnapshot", { name, sourceVolumeId, parameters });
const snapshot = async (world: VolumeWorld, name: string, volumeId: string, parameters: Readonly<Record<string, string>> = {}) =>
  (await world.finish(creating(world, name, volumeId, parameters))).snapshot;
const all = (world: VolumeWorld) => [...world.aws.account.ec2.snapshots.values()];

interface Listed {
  readonly entries: readonly { readonly snapshot: SnapshotAnswer }[];
  readonly nextToken: string;
}
const list = (world: VolumeWorld, more: object = {}) =>
  world.call<Listed>("ListSnapshots", { maxEntries: 0, startingToken: "", sourceVolumeId: "", snapshotId: "", ...more });

test("a snapshot is made once for its name, and becomes ready", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const first = await snapshot(world, "snap-a", volumeId, { tagSpecification_1: "of={{ .VolumeSnapshotName }}" });
  assert.deepEqual(
    { ...first, creationTime: undefined, snapshotId: undefined },
    {
      snapshotId: undefined,
      sourceVolumeId: volumeId,
      sizeBytes: String(10 * gib),
      creationTime: undefined,
      readyToUse: false,
    },
  );
  await world.world.advance(10 * 60_000);
  const again = await snapshot(world, "snap-a", volumeId);
  assert.equal(again.snapshotId, first.snapshotId);
  assert.equal(again.readyToUse, true);
  assert.deepEqual(
    all(world).map(({ tags }) => tags),
    [
      {
        CSIVolumeSnapshotName: "snap-a",
        "ebs.csi.aws.com/cluster": "true",
        "kubernetes.io/cluster/test": "owned",
        Name: "test-dynamic-snap-a",
        "ebs.csi.aws.com/cluster-name": "test",
        of: "",
      },
    ],
  );
});

test("a snapshot whose answer was lost is found, also by a driver that has just started and by reads that lag", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  world.aws.controls.change({ staleness: { maxAgeMs: 3_000, probability: 0.9 } });
  for (const restart of [false, true]) {
    world.aws.controls.faults.add({ action: "ec2:CreateSnapshot", effect: { kind: "lose-answer" }, times: 1 });
    await refusedWith(world.finish(creating(world, `snap-${restart}`, volumeId)), "Aborted");
    if (restart) world.driver = world.start();
    await snapshot(world, `snap-${restart}`, volumeId);
    await world.world.advance(60_000);
  }
  assert.equal(all(world).length, 2);
});

test("a name that another volume's snapshot has is refused", async () => {
  const world = await volumeWorld();
  const [first, second] = [await world.create("pvc-1"), await world.create("pvc-2")];
  await snapshot(world, "snap-a", first.volumeId);
  await world.world.advance(10_000);
  const text = await refusedWith(world.finish(creating(world, "snap-a", second.volumeId)), "AlreadyExists");
  assert.equal(text, `Snapshot snap-a already exists for different volume (${first.volumeId})`);
});

test("a zone that has no fast restore is refused before anything is made", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const parameters = { fastSnapshotRestoreAvailabilityZones: "us-east-1a, us-east-9z" };
  const text = await refusedWith(world.finish(creating(world, "snap-a", volumeId, parameters)), "InvalidArgument");
  assert.equal(text, "Availability zone us-east-9z is not supported for fast snapshot restore");
  assert.equal(all(world).length, 0);
});

test("a snapshot whose fast restore or lock fails is removed again", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  world.aws.controls.deny("ec2:EnableFastSnapshotRestores");
  const zones = { fastSnapshotRestoreAvailabilityZones: "us-east-1a" };
  assert.match(
    await refusedWith(world.finish(creating(world, "snap-a", volumeId, zones)), "Internal"),
    /^Failed to create Fast Snapshot Restores for snapshot ID "snap-a"/,
  );
  world.aws.controls.deny("ec2:LockSnapshot");
  await world.world.advance(60_000);
  const lock = { lockMode: "governance", lockDuration: "7" };
  assert.match(
    await refusedWith(world.finish(creating(world, "snap-b", volumeId, lock)), "Internal"),
    /^Failed to lock snapshot for "snap-b"/,
  );
  assert.equal(all(world).length, 0);
});

test("the snapshotter is not told to forget a snapshot that may be there", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const fails = (action: string, times = 1) =>
    world.aws.controls.faults.add({ action, effect: { kind: "fail", code: "InternalError", status: 500 }, times });
  // Nobody knows whether the name has one.
  const unseen = fails("ec2:DescribeSnapshots", 100);
  await refusedWith(world.finish(creating(world, "snap-a", volumeId)), "Aborted");
  world.aws.controls.faults.remove(unseen);
  // It is there, and what it lacks cannot be had now.
  const { snapshotId } = await snapshot(world, "snap-a", volumeId);
  const zones = { fastSnapshotRestoreAvailabilityZones: "us-east-1a" };
  world.driver = world.start();
  world.aws.controls.deny("ec2:EnableFastSnapshotRestores");
  await refusedWith(world.finish(creating(world, "snap-a", volumeId, zones)), "Aborted");
  assert.deepEqual(
    all(world).map(({ id }) => id),
    [snapshotId],
  );
  // What cannot be completed cannot be removed either.
  world.aws.controls.deny("ec2:DeleteSnapshot");
  await refusedWith(world.finish(creating(world, "snap-b", volumeId, zones)), "Aborted");
  assert.equal(all(world).length, 2);
});

test("a snapshot that ended in the state error is removed, and made again", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const { snapshotId } = await snapshot(world, "snap-a", volumeId);
  await world.world.advance(10 * 60_000);
  world.aws.account.time.settle();
  world.aws.account.ec2.snapshots.update(snapshotId, { state: "error" });
  const text = await refusedWith(world.finish(creating(world, "snap-a", volumeId)), "Aborted");
  assert.match(text, new RegExp(`${snapshotId} ended in the state error and was removed`));
  await world.world.advance(60_000);
  const again = await snapshot(world, "snap-a", volumeId);
  assert.notEqual(again.snapshotId, snapshotId);
  assert.equal(all(world).length, 1);
});

test("fast restore and lock are completed when the driver died before them", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const parameters = { lockMode: "governance", lockDuration: "7" };
  await snapshot(world, "snap-a", volumeId);
  world.driver = world.start();
  await world.world.advance(20_000);
  const { snapshotId } = await snapshot(world, "snap-a", volumeId, parameters);
  assert.equal(world.aws.account.ec2.snapshots.get(snapshotId)?.lock?.mode, "governance");
  await snapshot(world, "snap-a", volumeId, parameters);
  assert.equal(world.calls("ec2:LockSnapshot"), 1);
});

for (const [what, parameters, text] of [
  ["an unknown key", { lock: "x" }, "Invalid parameter key lock for CreateSnapshot"],
  ["a duration that is no number", { lockDuration: "a week" }, 'Could not parse SnapshotLockDuration: "a week"'],
  ["a date that is none", { lockExpirationDate: "tomorrow" }, 'Could not parse SnapshotLockExpirationDate: "tomorrow"'],
  ["an Outpost that is no ARN", { outpostArn: "op-1" }, "Invalid parameter value op-1 is not a valid arn"],
] as const) {
  test(`a snapshot class with ${what} is refused`, async () => {
    const world = await volumeWorld();
    const { volumeId } = await world.create("pvc-1");
    assert.equal(await refusedWith(world.finish(creating(world, "snap-a", volumeId, parameters)), "InvalidArgument"), text);
    assert.equal(all(world).length, 0);
  });
}

test("snapshots are deleted by their id, where they carry a mark", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const { snapshotId } = await snapshot(world, "snap-a", volumeId);
  await world.world.advance(10 * 60_000);
  await world.call("DeleteSnapshot", { snapshotId });
  await world.call("DeleteSnapshot", { snapshotId });
  await world.call("DeleteSnapshot", { snapshotId: "reallyfakesnapshotid" });
  assert.equal(all(world).length, 0);
  const precious = await snapshot(world, "snap-b", volumeId);
  world.aws.account.ec2.snapshots.update(precious.snapshotId, { tags: {} });
  await refusedWith(world.call("DeleteSnapshot", { snapshotId: precious.snapshotId }), "FailedPrecondition");
  assert.equal(all(world).length, 1);
});

test("snapshots are listed in pages of any size, and only those of the driver", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  for (let index = 0; index < 7; index++) {
    await snapshot(world, `snap-${index}`, volumeId);
    await world.world.advance(10 * 60_000);
  }
  const foreign = all(world)[0]!;
  world.aws.account.ec2.snapshots.put("snap-0fedcba9876543210", { ...foreign, id: "snap-0fedcba9876543210", tags: {} });
  assert.equal((await list(world)).entries.length, 7);
  const two = await list(world, { maxEntries: 2 });
  assert.equal(two.entries.length, 2);
  const rest = await list(world, { startingToken: two.nextToken });
  assert.equal(rest.entries.length, 5);
  assert.equal(new Set([...two.entries, ...rest.entries].map((entry) => entry.snapshot.snapshotId)).size, 7);
  const paged: string[] = [];
  for (let token = "", pages = 0; pages === 0 || token !== ""; pages++) {
    const page = await list(world, { maxEntries: 3, startingToken: token });
    assert.ok(page.entries.length <= 3);
    paged.push(...page.entries.map((entry) => entry.snapshot.snapshotId));
    token = page.nextToken;
  }
  assert.equal(new Set(paged).size, 7);
  assert.equal(paged.length, 7);
});

test("one snapshot, or those of one volume, can be asked for", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const { snapshotId } = await snapshot(world, "snap-a", volumeId);
  assert.equal((await list(world, { snapshotId })).entries.length, 1);
  assert.equal((await list(world, { sourceVolumeId: volumeId })).entries.length, 1);
  for (const nothing of [
    { snapshotId: "none-exist-id" },
    { snapshotId: "snap-0123456789abcdef0" },
    { sourceVolumeId: "none-exist-id" },
    { sourceVolumeId: "vol-0123456789abcdef0" },
  ]) {
    assert.deepEqual((await list(world, nothing)).entries, []);
  }
});
