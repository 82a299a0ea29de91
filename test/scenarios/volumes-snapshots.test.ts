/** Snapshots by the built-in roles, and the role of RBAC against what they really ask for: nothing is missing, nothing is for nothing. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { parseAllDocuments } from "yaml";
import { pods } from "../../src/kube/builtin.ts";
import type { PolicyRule } from "../../src/kube/types.ts";
import { claims, volumeSnapshotContents, volumeSnapshots } from "../../src/volumes/storage-resources.ts";
import { type ClaimWorld, claimWorld } from "../bed/claim-world.ts";

const group = "/apis/snapshot.storage.k8s.io/v1";
const driver = "ebs.csi.aws.com";
const protection = "snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection";

const of = (kind: string) => ({ apiVersion: "snapshot.storage.k8s.io/v1", kind });
const content = (world: ClaimWorld) => world.world.holding(world.kube.get(volumeSnapshotContents, { name: "content" }));
const snapshots = (world: ClaimWorld) => [...world.aws.account.ec2.snapshots.values()];

const uidOf = async ({ world, kube }: ClaimWorld) =>
  (await world.holding(kube.get(volumeSnapshots, { namespace: "default", name: "before" }))).metadata.uid;

/** A claim with a volume, and a content for its snapshot, as the cluster's snapshot controller makes it. */
async function snapshotted(): Promise<ClaimWorld> {
  const world = await claimWorld();
  await world.installSnapshots();
  world.start();
  await world.claim("data");
  await world.pod("db", world.nodes[0]!, "data");
  await world.until("it is bound", async () => (await world.seenClaim("data")).status?.phase === "Bound");
  await world.say("POST", `${group}/volumesnapshotclasses`, {
    ...of("VolumeSnapshotClass"),
    metadata: { name: "tagged" },
    driver,
    deletionPolicy: "Delete",
    parameters: { tagSpecification_1: "of={{ .VolumeSnapshotName }}" },
  });
  await world.say("POST", `${group}/namespaces/default/volumesnapshots`, {
    ...of("VolumeSnapshot"),
    metadata: { name: "before" },
    spec: {},
  });
  await world.say("POST", `${group}/volumesnapshotcontents`, {
    ...of("VolumeSnapshotContent"),
    metadata: { name: "content", finalizers: [protection] },
    spec: {
      driver,
      deletionPolicy: "Delete",
      volumeSnapshotClassName: "tagged",
      source: { volumeHandle: world.disks[0]!.id },
      sourceVolumeMode: "Filesystem",
      volumeSnapshotRef: { name: "before", namespace: "default", uid: await uidOf(world) },
    },
  });
  await world.until("the snapshot can be used", async () => (await content(world)).status?.readyToUse === true, 60 * 60_000);
  return world;
}

test("a content gets its snapshot, a claim can be filled from it, and the snapshot goes with the content", async () => {
  const world = await snapshotted();
  const [snapshot] = snapshots(world);
  const made = await content(world);
  assert.partialDeepStrictEqual(snapshot!.tags, {
    CSIVolumeSnapshotName: `snapshot-${await uidOf(world)}`,
    of: "before",
    "kubernetes.io/cluster/test": "owned",
  });
  assert.deepEqual(
    [made.status?.snapshotHandle, made.status?.restoreSize, made.metadata.annotations],
    [snapshot!.id, 10 * 2 ** 30, undefined],
  );
  await world.say("PATCH", `${group}/namespaces/default/volumesnapshots/before/status`, {
    status: { boundVolumeSnapshotContentName: "content", readyToUse: true },
  });
  const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "before" };
  await world.claim("restored", { dataSource });
  await world.pod("copy", world.nodes[0]!, "restored");
  await world.until("it is bound", async () => (await world.seenClaim("restored")).status?.phase === "Bound");
  assert.ok(world.disks.some(({ snapshotId }) => snapshotId === snapshot!.id));
  await world.change(volumeSnapshotContents, "content", {
    metadata: { annotations: { "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted": "yes" } },
  });
  await world.remove(volumeSnapshotContents, "content");
  await world.until("the snapshot is gone", () => snapshots(world).length === 0);
  await world.until("the content goes with it", async () => (await content(world).catch(() => undefined)) === undefined);
});

test("a snapshot of a file system is restored as a block device only where its content allows it", async () => {
  const world = await snapshotted();
  await world.say("PATCH", `${group}/namespaces/default/volumesnapshots/before/status`, {
    status: { boundVolumeSnapshotContentName: "content", readyToUse: true },
  });
  const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "before" };
  await world.claim("raw", { dataSource, volumeMode: "Block" });
  await world.pod("copy", world.nodes[0]!, "raw");
  await world.until("it is refused", async () => /volumeMode Filesystem/.test((await world.events("raw")).get("ProvisioningFailed") ?? ""));
  assert.equal(world.disks.length, 1);
  await world.change(volumeSnapshotContents, "content", {
    metadata: { annotations: { "snapshot.storage.kubernetes.io/allow-volume-mode-change": "true" } },
  });
  await world.until("it is bound", async () => (await world.seenClaim("raw")).status?.phase === "Bound");
});

test("a content whose snapshot may still come is followed to its end when it is deleted, and leaves no snapshot", async () => {
  const world = await snapshotted();
  world.aws.controls.faults.add({ action: "ec2:CreateSnapshot", effect: { kind: "lose-answer" }, times: 1 });
  await world.say("POST", `${group}/volumesnapshotcontents`, {
    ...of("VolumeSnapshotContent"),
    metadata: { name: "late", finalizers: [protection] },
    spec: {
      driver,
      deletionPolicy: "Delete",
      volumeSnapshotClassName: "tagged",
      source: { volumeHandle: world.disks[0]!.id },
      volumeSnapshotRef: { name: "before", namespace: "default", uid: "u-2" },
    },
  });
  await world.until("EC2 has made it", () => snapshots(world).length === 2);
  await world.change(volumeSnapshotContents, "late", {
    metadata: { annotations: { "snapshot.storage.kubernetes.io/volumesnapshot-being-deleted": "yes" } },
  });
  await world.remove(volumeSnapshotContents, "late");
  const late = () => world.world.holding(world.kube.get(volumeSnapshotContents, { name: "late" })).catch(() => undefined);
  await world.until("it is gone", async () => (await late()) === undefined, 60 * 60_000);
  assert.deepEqual(
    snapshots(world).map(({ tags }) => tags.CSIVolumeSnapshotName),
    [`snapshot-${await uidOf(world)}`],
  );
});

test("a content whose volume is gone is tried again later, not at once for what was noted on it", async () => {
  const world = await snapshotted();
  await world.say("POST", `${group}/volumesnapshotcontents`, {
    ...of("VolumeSnapshotContent"),
    metadata: { name: "lost", finalizers: [protection] },
    spec: {
      driver,
      deletionPolicy: "Delete",
      volumeSnapshotClassName: "tagged",
      source: { volumeHandle: "vol-00000000000000000" },
      volumeSnapshotRef: { name: "before", namespace: "default", uid: "u-3" },
    },
  });
  await world.world.advance(10 * 60_000);
  const calls = world.aws.controls.journal.calls("ec2:CreateSnapshot");
  assert.ok(calls > 3 && calls < 16, `EC2 was asked ${calls} times within ten minutes`);
});

for (const [what, source] of [
  ["that is made", (id: string) => ({ volumeHandle: id })],
  ["that was there before", (_: string, snapshotId: string) => ({ snapshotHandle: snapshotId })],
] as const) {
  test(`a snapshot ${what} and that EC2 stores for long is written about when it changes, and not each time it is looked at`, async () => {
    const world = await snapshotted();
    const [first] = snapshots(world);
    const volumeHandle = world.disks[0]!.id;
    if (what !== "that is made") world.aws.account.ec2.snapshots.update(first!.id, { state: "pending" });
    let written = 0;
    const { send } = world.cluster;
    Object.assign(world.cluster, {
      send: (request: Parameters<typeof send>[0]) => {
        if (request.method === "PATCH" && request.url.pathname.includes("/volumesnapshotcontents/slow")) written++;
        return send(request);
      },
    });
    await world.say("POST", `${group}/volumesnapshotcontents`, {
      ...of("VolumeSnapshotContent"),
      metadata: { name: "slow", finalizers: [protection] },
      spec: {
        driver,
        deletionPolicy: "Delete",
        volumeSnapshotClassName: "tagged",
        source: source(volumeHandle, first!.id),
        volumeSnapshotRef: { name: "before", namespace: "default", uid: "u-5" },
      },
    });
    const slow = () => world.world.holding(world.kube.get(volumeSnapshotContents, { name: "slow" }));
    await world.until("it is known", async () => (await slow()).status?.snapshotHandle !== undefined);
    const id = (await slow()).status!.snapshotHandle!;
    world.aws.account.ec2.snapshots.update(id, { state: "pending" });
    await world.world.advance(20_000);
    const begun = written;
    await world.world.advance(2 * 60_000);
    assert.equal(written, begun, "it is the same as before");
    world.aws.account.ec2.snapshots.update(id, { state: "completed" });
    await world.until("it can be used", async () => (await slow()).status?.readyToUse === true);
    assert.ok(written - begun <= 3, `${written - begun} patches`);
    const ready = written;
    await world.world.advance(2 * 60_000);
    assert.equal(written, ready, "nothing is written at rest");
  });
}

test("a snapshot that EC2 gives up while it is stored is made anew, and its content is held meanwhile", async () => {
  const world = await snapshotted();
  await world.say("POST", `${group}/volumesnapshotcontents`, {
    ...of("VolumeSnapshotContent"),
    metadata: { name: "slow", finalizers: [protection] },
    spec: {
      driver,
      deletionPolicy: "Delete",
      volumeSnapshotClassName: "tagged",
      source: { volumeHandle: world.disks[0]!.id },
      volumeSnapshotRef: { name: "before", namespace: "default", uid: "u-6" },
    },
  });
  const slow = () => world.world.holding(world.kube.get(volumeSnapshotContents, { name: "slow" }));
  await world.until("it is known", async () => (await slow()).status?.snapshotHandle !== undefined);
  const id = (await slow()).status!.snapshotHandle!;
  world.aws.account.ec2.snapshots.update(id, { state: "error" });
  await world.until("it can be used", async () => (await slow()).status?.readyToUse === true, 60 * 60_000);
  assert.notEqual((await slow()).status!.snapshotHandle, id);
  assert.deepEqual([(await slow()).metadata.annotations, snapshots(world).length], [undefined, 2]);
});

test("a content whose class is missing is not held by us, and can be deleted", async () => {
  const world = await snapshotted();
  await world.say("POST", `${group}/volumesnapshotcontents`, {
    ...of("VolumeSnapshotContent"),
    metadata: { name: "classless", finalizers: [protection] },
    spec: {
      driver,
      deletionPolicy: "Delete",
      volumeSnapshotClassName: "missing",
      source: { volumeHandle: world.disks[0]!.id },
      volumeSnapshotRef: { name: "before", namespace: "default", uid: "u-4" },
    },
  });
  const seen = () => world.world.holding(world.kube.get(volumeSnapshotContents, { name: "classless" }));
  await world.until("it is told", async () => (await seen()).status?.error !== undefined);
  assert.equal((await seen()).metadata.annotations, undefined);
  const noted = "snapshot.storage.kubernetes.io/volumesnapshot-being";
  // One that an earlier version has left: it may have a snapshot.
  await world.change(volumeSnapshotContents, "classless", { metadata: { annotations: { [`${noted}-created`]: "yes" } } });
  await world.remove(volumeSnapshotContents, "classless");
  await world.until("nothing is being made any more", async () => (await seen()).metadata.annotations === undefined);
  await world.change(volumeSnapshotContents, "classless", { metadata: { annotations: { [`${noted}-deleted`]: "yes" } } });
  await world.until("it is gone", async () => (await seen().catch(() => undefined)) === undefined);
  assert.equal(snapshots(world).length, 1);
});

test("the role allows all that is asked of the API server, and nothing that is not", async () => {
  const world = await snapshotted();
  await world.say("PATCH", `${group}/namespaces/default/volumesnapshots/before/status`, {
    status: { boundVolumeSnapshotContentName: "content", readyToUse: true },
  });
  await world.say("POST", "/apis/storage.k8s.io/v1/volumeattributesclasses", {
    metadata: { name: "busy" },
    driverName: driver,
    parameters: { iops: "4000" },
  });
  await world.change(claims, "data", { spec: { volumeAttributesClassName: "busy" } });
  await world.until("it is changed", async () => (await world.seenClaim("data")).status?.currentVolumeAttributesClassName === "busy");
  const fault = world.aws.controls.faults.add({
    action: "ec2:CreateVolume",
    effect: { kind: "fail", code: "VolumeLimitExceeded", status: 400 },
  });
  const dataSource = { apiGroup: "snapshot.storage.k8s.io", kind: "VolumeSnapshot", name: "before" };
  await world.claim("full", { dataSource });
  await world.pod("copy", world.nodes[0]!, "full");
  await world.until("it is refused", async () => /VolumeLimitExceeded/.test((await world.events("full")).get("ProvisioningFailed") ?? ""));
  world.aws.controls.faults.remove(fault);
  for (const pod of ["db", "copy"]) await world.remove(pods, pod);
  for (const claim of ["data", "full"]) await world.remove(claims, claim);
  await world.until("nothing is left", async () => (await world.persistentVolumes()).length === 0, 30 * 60_000);
  const manifest = readFileSync(new URL("../../deploy/manifests/ebs-csi-driver-built-in.yaml", import.meta.url), "utf8");
  const rules = parseAllDocuments(manifest)
    .map((document) => document.toJS() as { kind: string; metadata: { name: string }; rules?: readonly PolicyRule[] })
    .filter(({ kind, metadata }) => kind === "ClusterRole" && metadata.name === "fairlead-ebs-csi-controller")
    .flatMap(({ rules: own = [] }) => own);
  const granted = rules.flatMap(({ verbs, apiGroups = [], resources = [] }) =>
    verbs.flatMap((verb) => apiGroups.flatMap((api) => resources.map((resource) => `${verb} ${resource}${api && `.${api}`}`))),
  );
  // A server that does not stream lists is asked for a list before each watch.
  const asked = [...world.asked].flatMap((each) => (each.startsWith("watch ") ? [each, each.replace("watch", "list")] : [each]));
  assert.deepEqual([...new Set(asked)].sort(), granted.toSorted());
});
