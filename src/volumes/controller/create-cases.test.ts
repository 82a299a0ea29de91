/** The cases of CreateVolume beside those of create-volume.test.ts: parameters, sources, places, and EC2's bad moments. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gib, mountCapability, refusedWith, type VolumeWorld, volumeWorld } from "../../../test/bed/volume-world.ts";
import type { SnapshotAnswer } from "../csi/messages.ts";

const zoneKey = "topology.kubernetes.io/zone";
const inZone = (...zones: readonly string[]) => zones.map((zone) => ({ segments: { [zoneKey]: zone } }));
const of = (volumeId: string) => ({ type: "volume" as const, volume: { volumeId } });
const from = (snapshotId: string) => ({ type: "snapshot" as const, snapshot: { snapshotId } });

for (const key of ["iops", "iopsPerGB", "throughput", "volumeInitializationRate"]) {
  for (const value of ["x", "1.5", "99999999999", ""]) {
    test(`${key} ${JSON.stringify(value)} is refused by its name`, async () => {
      const world = await volumeWorld();
      const text = await refusedWith(world.create("pvc-1", { parameters: { [key]: value } }), "InvalidArgument");
      assert.ok(text.startsWith(`Could not parse invalid ${key}`), text);
    });
  }
}

test("every format option is carried to the node under its key in lower case, empty ones are not", async () => {
  const world = await volumeWorld();
  const options = { blockSize: "4096", inodeSize: "512", bytesPerInode: "8192", numberOfInodes: "1000", ext4ClusterSize: "16384" };
  const flags = { ext4BigAlloc: "true", ext4EncryptionSupport: "true" };
  const { volumeContext } = await world.create("pvc-1", { parameters: { ...options, ...flags } });
  const lower = (all: Record<string, string>) => Object.fromEntries(Object.entries(all).map(([key, value]) => [key.toLowerCase(), value]));
  assert.deepEqual(volumeContext, lower({ ...options, ...flags }));
  assert.deepEqual((await world.create("pvc-2", { parameters: { blockSize: "", ext4BigAlloc: "false" } })).volumeContext, {});
});

test("an option of ext4 is refused for another file system", async () => {
  const world = await volumeWorld();
  const ext3 = { ...mountCapability, mount: { fsType: "ext3", mountFlags: [] } };
  const text = await refusedWith(
    world.create("pvc-1", { volumeCapabilities: [ext3], parameters: { ext4BigAlloc: "true" } }),
    "InvalidArgument",
  );
  assert.match(text, /ext4BigAlloc/i);
  assert.deepEqual(world.volumes, []);
});

test("blockAttachUntilInitialized is the exact word true", async () => {
  const world = await volumeWorld();
  const context = async (name: string, value: string) =>
    (await world.create(name, { parameters: { blockAttachUntilInitialized: value } })).volumeContext;
  assert.deepEqual(await context("pvc-1", "true"), { blockattachuntilinitialized: "true" });
  assert.deepEqual(await context("pvc-2", "True"), {});
});

test("type goes before volumeType, which is taken alone", async () => {
  const world = await volumeWorld();
  const type = async (name: string, mutableParameters: Record<string, string>) =>
    world.volume((await world.create(name, { parameters: { type: "gp3" }, mutableParameters })).volumeId)!.spec.type;
  assert.equal(await type("pvc-1", { volumeType: "st1", type: "gp2" }), "gp2");
  assert.equal(await type("pvc-2", { volumeType: "gp2" }), "gp2");
});

test("the same name from another snapshot is refused, and makes no second volume", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const snapshot = async (name: string) => {
    await world.world.advance(20_000);
    const { snapshot: made } = await world.call<{ snapshot: SnapshotAnswer }>("CreateSnapshot", {
      name,
      sourceVolumeId: volumeId,
      parameters: {},
    });
    return made.snapshotId;
  };
  const [one, two] = [await snapshot("snapshot-1"), await snapshot("snapshot-2")];
  await world.world.advance(30 * 60_000);
  await world.create("pvc-2", { volumeContentSource: from(one) });
  await refusedWith(world.create("pvc-2", { volumeContentSource: from(two) }), "AlreadyExists");
  assert.equal(world.volumes.filter(({ tags }) => tags.CSIVolumeName === "pvc-2").length, 1);
});

test("a zone that is known by its id alone is asked for by it, and answered by its name", async () => {
  const world = await volumeWorld();
  const [node] = world.nodes;
  const { zoneId } = world.volume((await world.create("pvc-0")).volumeId)!;
  const { volumeId, accessibleTopology } = await world.create("pvc-1", {
    accessibilityRequirements: { requisite: [], preferred: [{ segments: { "topology.k8s.aws/zone-id": zoneId } }] },
  });
  assert.equal(world.volume(volumeId)!.zone, node!.zone);
  assert.equal(accessibleTopology[0]!.segments[zoneKey], node!.zone);
  const asked = world.aws.controls.journal.entries().findLast(({ action }) => action === "ec2:CreateVolume");
  assert.deepEqual([asked!.input.AvailabilityZone, asked!.input.AvailabilityZoneId], [undefined, zoneId]);
});

/** A source of 10 GiB, encrypted with the account's key. */
async function withSource(
  parameters: Record<string, string> = { encrypted: "true", iops: "4000" },
): Promise<{ world: VolumeWorld; id: string }> {
  const world = await volumeWorld();
  return { world, id: (await world.create("source", { parameters })).volumeId };
}

test("a clone may be larger, and has the IOPS of its own class", async () => {
  const { world, id } = await withSource();
  const { volumeId } = await world.create("pvc-1", {
    volumeContentSource: of(id),
    capacityRange: { requiredBytes: String(20 * gib), limitBytes: "0" },
  });
  assert.deepEqual([world.volume(volumeId)!.spec.sizeGiB, world.volume(volumeId)!.spec.iops], [20, 3000]);
});

test("a clone has the key of its source, and none without one", async () => {
  const { world, id } = await withSource();
  const key = world.volume(id)!.kmsKeyArn!;
  const clone = (name: string, parameters: Record<string, string>) => world.create(name, { volumeContentSource: of(id), parameters });
  await clone("pvc-1", { kmsKeyId: key });
  const other = await refusedWith(clone("pvc-2", { kmsKeyId: `${key}0` }), "InvalidArgument");
  assert.match(other, /Cannot provision clone with different KMS key than source volume/);
  assert.match(await refusedWith(clone("pvc-3", { encrypted: "false" }), "InvalidArgument"), /Cannot make an unencrypted clone/);
});

test("a clone goes where its source is: only what is required counts, not what is preferred", async () => {
  const { world, id } = await withSource();
  const [here, there] = [world.nodes[0]!.zone, world.nodes[1]!.zone];
  const clone = (name: string, requisite: readonly string[], preferred: readonly string[]) =>
    world.create(name, {
      volumeContentSource: of(id),
      accessibilityRequirements: { requisite: inZone(...requisite), preferred: inZone(...preferred) },
    });
  await refusedWith(clone("pvc-1", [there], []), "ResourceExhausted");
  await refusedWith(clone("pvc-2", [there], [here]), "ResourceExhausted");
  for (const [name, requisite, preferred] of [
    ["pvc-3", [here, there], [there]],
    ["pvc-4", [], [there]],
  ] as const) {
    assert.equal(world.volume((await clone(name, requisite, preferred)).volumeId)!.zone, here);
  }
  await refusedWith(world.create("pvc-5", { volumeContentSource: of("vol-0123456789abcdef0") }), "NotFound");
});

test("a quota that is used up after the volume was made leads to that volume", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  // Another process, which knows no token: EC2 refuses, and the name tells.
  world.driver = world.start();
  world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "fail", code: "VolumeLimitExceeded", status: 400 } });
  assert.equal((await world.create("pvc-1")).volumeId, volumeId);
  await refusedWith(world.create("pvc-2"), "ResourceExhausted");
});

test("several volumes of one name are nobody's to choose from", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  const { volumes } = world.aws.account.ec2;
  volumes.put("vol-0fedcba9876543210", { ...volumes.get(volumeId)!, id: "vol-0fedcba9876543210" });
  world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "fail", code: "VolumeLimitExceeded", status: 400 } });
  assert.match(await refusedWith(world.create("pvc-1"), "Aborted"), /there are several volumes of this name/);
});

test("a volume that stays creating is answered with Aborted, and found by the next request", async () => {
  const world = await volumeWorld();
  world.aws.controls.faults.add({
    action: "ec2:DescribeVolumes",
    effect: { kind: "fail", code: "InternalError", status: 500 },
    times: 200,
  });
  await refusedWith(world.create("pvc-1"), "Aborted");
  const [made] = world.volumes;
  world.aws.controls.faults.remove();
  assert.equal((await world.create("pvc-1")).volumeId, made!.id);
  assert.equal(world.volumes.length, 1);
});

test("a volume that is attached already counts as made", async () => {
  const world = await volumeWorld();
  const { volumeId } = await world.create("pvc-1");
  await world.publish(volumeId, world.nodes[0]!);
  assert.equal((await world.create("pvc-1")).volumeId, volumeId);
});

test("a bad tag is left out where the operator wants it so, and the good ones stay", async () => {
  const world = await volumeWorld({ controller: { tags: { extraTags: {}, clusterId: "test", warnOnInvalid: true } } });
  const parameters = { tagSpecification_1: "kubernetes.io/mine=x", tagSpecification_2: "team=a" };
  const { volumeId } = await world.create("pvc-1", { parameters, volumeCapabilities: [mountCapability] });
  const { tags } = world.volume(volumeId)!;
  assert.deepEqual([tags["kubernetes.io/mine"], tags.team], [undefined, "a"]);
});
