import assert from "node:assert/strict";
import { test } from "node:test";
import { createRequest, gib, refusedWith, sharedCapability, volumeWorld } from "../../../test/bed/volume-world.ts";
import type { CreateVolumeRequest } from "../csi/messages.ts";

const bytes = (requiredBytes: number, limitBytes = 0) => ({ requiredBytes: String(requiredBytes), limitBytes: String(limitBytes) });

test("a claim gets one gp3 volume in the zone it prefers, with the tags of driver, claim and cluster", async () => {
  const world = await volumeWorld();
  const answer = await world.create("pvc-1", {
    parameters: {
      "csi.storage.k8s.io/pvc/name": "data",
      "csi.storage.k8s.io/pvc/namespace": "shop",
      "csi.storage.k8s.io/pv/name": "pvc-1",
      tagSpecification_1: "team={{ .PVCNamespace | toUpper }}",
    },
  });
  const zone = world.nodes[0]!.zone;
  assert.deepEqual(answer, {
    volumeId: world.volumes[0]!.id,
    capacityBytes: String(10 * gib),
    volumeContext: {},
    contentSource: null,
    accessibleTopology: [{ segments: { "topology.kubernetes.io/zone": zone } }],
  });
  assert.equal(world.volumes.length, 1);
  assert.deepEqual(world.volumes[0]!.tags, {
    CSIVolumeName: "pvc-1",
    "ebs.csi.aws.com/cluster": "true",
    "kubernetes.io/created-for/pvc/name": "data",
    "kubernetes.io/created-for/pvc/namespace": "shop",
    "kubernetes.io/created-for/pv/name": "pvc-1",
    "kubernetes.io/cluster/test": "owned",
    Name: "test-dynamic-pvc-1",
    KubernetesCluster: "test",
    "ebs.csi.aws.com/cluster-name": "test",
    team: "SHOP",
  });
  assert.equal(world.volumes[0]!.state, "available");
});

test("the same name leads to the same volume, also after the answer was lost and the driver was restarted", async () => {
  const world = await volumeWorld();
  world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "lose-answer" }, times: 5 });
  await refusedWith(world.create("pvc-1"), "Aborted");
  world.driver = world.start();
  const { volumeId } = await world.create("pvc-1");
  assert.equal((await world.create("pvc-1")).volumeId, volumeId);
  assert.equal(world.volumes.length, 1);
});

test("the same name with another size is refused, however often it is asked for, and makes no second volume", async () => {
  const world = await volumeWorld();
  await world.create("pvc-1");
  for (let time = 0; time < 3; time++) {
    const text = await refusedWith(world.create("pvc-1", { capacityRange: bytes(20 * gib) }), "AlreadyExists");
    assert.match(text, /vol-\w+ has this name already, with 10 GiB of gp3/);
    await world.world.advance(60_000);
  }
  assert.equal(world.volumes.length, 1);
});

test("the same name is refused where the volume of it is not encrypted and is to be, or is for one node and is to be for several", async () => {
  const world = await volumeWorld();
  await world.create("pvc-1");
  const text = await refusedWith(world.create("pvc-1", { parameters: { encrypted: "true" } }), "AlreadyExists");
  assert.match(text, /vol-\w+ has this name already, with 10 GiB of gp3, not encrypted/);
  const shared = { parameters: { type: "io2", iops: "1000" }, volumeCapabilities: [sharedCapability] };
  await world.create("pvc-2", { parameters: shared.parameters });
  assert.match(await refusedWith(world.create("pvc-2", shared), "AlreadyExists"), /10 GiB of io2, for one node/);
  assert.equal(world.volumes.length, 2);
});

test("a request that is under way is not begun twice", async () => {
  const world = await volumeWorld();
  const zone = world.nodes[0]!.zone;
  const first = world.begin("CreateVolume", createRequest("pvc-1", zone));
  assert.equal(
    await refusedWith(world.begin("CreateVolume", createRequest("pvc-1", zone)), "Aborted"),
    "Create volume request for pvc-1 is already in progress",
  );
  await world.finish(first);
  assert.equal(world.calls("ec2:CreateVolume"), 1);
});

for (const [what, more, text] of [
  ["no name", { name: "" }, "Volume name not provided"],
  ["no capabilities", { volumeCapabilities: [] }, "Volume capabilities not provided"],
  [
    "a file system for several nodes",
    { volumeCapabilities: [{ ...sharedCapability, accessType: "mount", mount: { fsType: "", mountFlags: [] } }] },
    "Volume capabilities not supported",
  ],
  [
    "a limit below whole GiB",
    { capacityRange: bytes(4 * gib + 1, 4 * gib + 2) },
    "After round-up, volume size exceeds the limit specified",
  ],
  ["an unknown parameter", { parameters: { iopz: "3" } }, "Invalid parameter key iopz for CreateVolume"],
  ["IOPS that are no number", { parameters: { iops: "x" } }, 'Could not parse invalid iops: "x" is not a 32-bit integer'],
  ["an unknown mutable parameter", { mutableParameters: { iopspergb: "3" } }, "Invalid mutable parameter key: iopspergb"],
  ["a deletion of tags at creation", { mutableParameters: { tagDeletion_1: "a" } }, "Invalid mutable parameter key: tagDeletion_1"],
  [
    "a reserved tag",
    { parameters: { tagSpecification_1: "kubernetes.io/x=y" } },
    "Invalid tag value: tag key prefix 'kubernetes.io' is reserved",
  ],
  [
    "an option of another file system",
    { parameters: { bytesPerInode: "8192" }, volumeCapabilities: [mount("xfs")] },
    "Cannot use bytesperinode with fstype xfs",
  ],
  [
    "a format option of a raw device",
    { parameters: { blockSize: "4096" }, volumeCapabilities: [{ ...sharedCapability, accessMode: { mode: "SINGLE_NODE_WRITER" } }] },
    "Cannot use blocksize with block volume",
  ],
  ["a format option that is no plain word", { parameters: { blockSize: "wrong_value" } }, "Could not parse blockSize (wrong_value): <nil>"],
  [
    "a cluster size without bigalloc",
    { parameters: { ext4ClusterSize: "16384" } },
    "Cannot set ext4BigAllocClusterSize when ext4BigAlloc is false",
  ],
  ["IOPS twice", { parameters: { iops: "4000", iopsPerGB: "50" } }, /specify either IOPS or IOPSPerGb, not both/],
  ["multi-attach of a type that has none", { volumeCapabilities: [sharedCapability] }, /multi-attach is only supported for io2 volumes/],
] as readonly (readonly [string, Partial<CreateVolumeRequest>, string | RegExp])[]) {
  test(`a request with ${what} is refused, and AWS is not asked`, async () => {
    const world = await volumeWorld();
    const refusal = await refusedWith(world.create("pvc-1", more), "InvalidArgument");
    if (typeof text === "string") assert.equal(refusal, text);
    else assert.match(refusal, text);
    assert.equal(world.volumes.length, 0);
    assert.equal(world.calls("ec2:CreateVolume"), 0);
  });
}

function mount(fsType: string) {
  return { accessType: "mount" as const, mount: { fsType, mountFlags: [] }, accessMode: { mode: "SINGLE_NODE_WRITER" } };
}

test("sizes are rounded up to whole GiB, and without a range a volume has 100", async () => {
  const world = await volumeWorld();
  assert.equal((await world.create("pvc-1", { capacityRange: bytes(4 * gib + 1) })).capacityBytes, String(5 * gib));
  assert.equal((await world.create("pvc-2", { capacityRange: null })).capacityBytes, String(100 * gib));
});

test("a raw device for several nodes is an io2 volume with multi-attach", async () => {
  const world = await volumeWorld();
  await world.create("pvc-1", { volumeCapabilities: [sharedCapability], parameters: { type: "io2", iops: "200" } });
  const { spec } = world.volumes[0]!;
  assert.deepEqual({ type: spec.type, iops: spec.iops, multiAttach: spec.multiAttach }, { type: "io2", iops: 200, multiAttach: true });
});

test("the values of a VolumeAttributesClass go before those of the StorageClass", async () => {
  const world = await volumeWorld();
  await world.create("pvc-1", {
    parameters: { type: "gp2", iops: "3100", throughput: "125" },
    mutableParameters: { type: "gp3", volumeType: "io1", iops: "4000", throughput: "250" },
  });
  const { type, iops, throughput } = world.volumes[0]!.spec;
  assert.deepEqual({ type, iops, throughput }, { type: "gp3", iops: 4000, throughput: 250 });
});

test("IOPS are brought into the limits of the zone, which are asked for once", async () => {
  const world = await volumeWorld();
  const parameters = { type: "gp3", iops: "90000" };
  await world.create("pvc-1", { parameters, capacityRange: bytes(200 * gib) });
  await world.create("pvc-2", { parameters, capacityRange: bytes(200 * gib) });
  assert.deepEqual(
    world.volumes.map(({ spec }) => spec.iops),
    [80_000, 80_000],
  );
  assert.equal(world.calls("ec2:CreateVolume"), 3, "two volumes, and one question");
});

test("volumes that may be anywhere are spread over the zones of the region", async () => {
  const world = await volumeWorld();
  for (let index = 0; index < 8; index++) await world.create(`pvc-${index}`, { accessibilityRequirements: null });
  assert.ok(new Set(world.volumes.map(({ zone }) => zone)).size > 1);
  for (const { zone } of world.volumes) assert.match(zone, /^us-east-1[a-z]$/);
});

test("a volume from a snapshot that is not there is refused as not found", async () => {
  const world = await volumeWorld();
  for (const snapshotId of ["non-existing-snapshot-id", "snap-0123456789abcdef0"]) {
    await refusedWith(world.create("pvc-1", { volumeContentSource: { type: "snapshot", snapshot: { snapshotId } } }), "NotFound");
  }
});

test("a clone stands where its source is, and is refused where it could not", async () => {
  const world = await volumeWorld();
  const parameters = { encrypted: "true" };
  const { volumeId } = await world.create("pvc-1", { parameters });
  const volumeContentSource = { type: "volume" as const, volume: { volumeId } };
  const requisite = (zone: string) => ({ requisite: [{ segments: { "topology.kubernetes.io/zone": zone } }], preferred: [] });
  const elsewhere = { parameters, volumeContentSource, accessibilityRequirements: requisite(world.nodes[1]!.zone) };
  await refusedWith(world.create("pvc-2", elsewhere), "ResourceExhausted");
  const answer = await world.create("pvc-2", { ...elsewhere, accessibilityRequirements: requisite(world.nodes[0]!.zone) });
  assert.deepEqual(answer.contentSource, volumeContentSource);
  assert.equal(world.volume(answer.volumeId)!.sourceVolumeId, volumeId);
  await refusedWith(world.create("pvc-3", { parameters: { encrypted: "false" }, volumeContentSource }), "InvalidArgument");
  await refusedWith(world.create("pvc-3", { parameters: { kmsKeyId: "another" }, volumeContentSource }), "InvalidArgument");
  const missing = { type: "volume" as const, volume: { volumeId: "vol-0123456789abcdef0" } };
  await refusedWith(world.create("pvc-3", { parameters, volumeContentSource: missing }), "NotFound");
});

test("a key that cannot be used is named, with the actions it lacks, within a minute", async () => {
  const world = await volumeWorld({ settings: { keys: [] } });
  const key = "arn:aws:kms:us-east-1:123456789012:key/denied";
  const begun = world.world.clock.monotonic();
  const request = { parameters: { kmsKeyId: key } };
  const first = await world.create("pvc-1", request).catch((error: Error) => error.message);
  assert.ok(world.world.clock.monotonic() - begun < 60_000);
  assert.match(String(first), /key arn:aws:kms:us-east-1:123456789012:key\/denied cannot be used: allow kms:CreateGrant, kms:Decrypt/);
  world.aws.controls.change({ keys: [key] });
  let volumeId: string | undefined;
  for (let attempt = 0; attempt < 5 && volumeId === undefined; attempt++) {
    await world.world.advance(30_000);
    volumeId = await world.create("pvc-1", request).then(
      (answer) => answer.volumeId,
      () => undefined,
    );
  }
  assert.equal(world.volumes.length, 1);
  assert.equal(world.volumes[0]!.id, volumeId, "it is made once the key can be used");
});

test("a quota that is used up is told as such, and not before it is sure that no volume was made", async () => {
  const world = await volumeWorld({ settings: { quotas: { volumeStorageTiB: 1 } } });
  await world.create("pvc-1", { capacityRange: bytes(600 * gib) });
  await refusedWith(world.create("pvc-2", { capacityRange: bytes(600 * gib) }), "ResourceExhausted");
  assert.equal((await world.create("pvc-1", { capacityRange: bytes(600 * gib) })).volumeId, world.volumes[0]!.id);
});

test("what EC2 refuses as a bad combination is the caller's mistake", async () => {
  const world = await volumeWorld();
  await refusedWith(world.create("pvc-1", { parameters: { type: "gp2", throughput: "500" } }), "InvalidArgument");
  await refusedWith(world.create("pvc-1", { parameters: { type: "gp9" } }), "InvalidArgument");
  assert.equal(world.volumes.length, 0);
});

test("a permission that is missing is named", async () => {
  const world = await volumeWorld();
  world.aws.controls.deny("ec2:CreateVolume");
  assert.match(await refusedWith(world.create("pvc-1"), "PermissionDenied"), /allow ec2:CreateVolume/);
});
