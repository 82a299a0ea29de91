/** `fairlead gc`: what carries the cluster's mark and has no object, and nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { collectGarbage } from "../../src/commands/gc.ts";
import { pods } from "../../src/kube/builtin.ts";
import { claims, persistentVolumes } from "../../src/volumes/storage-resources.ts";
import { type ClaimWorld, claimWorld } from "../bed/claim-world.ts";
import { command } from "../bed/command.ts";

const gc = (world: ClaimWorld, ...argv: readonly string[]) => command(world.surroundings, collectGarbage, ...argv);

/** A world with two claims whose PersistentVolumes somebody tore out: one disk is lost, the other is kept by its pod. */
async function torn(): Promise<{ world: ClaimWorld; lost: string; kept: string }> {
  const world = await claimWorld();
  const kill = world.start();
  for (const name of ["lost", "kept"]) {
    await world.claim(name);
    await world.pod(`${name}-0`, world.nodes[0]!, name);
  }
  await world.until("both are attached", async () => (await world.attachments()).filter(({ status }) => status?.attached).length === 2);
  const disk = (name: string) => world.disks.find(({ tags }) => tags["kubernetes.io/created-for/pvc/name"] === name)!.id;
  const [lost, kept] = [disk("lost"), disk("kept")];
  await world.remove(pods, "lost-0");
  await world.until("one is detached", async () => (await world.attachments()).length === 1);
  kill();
  const volume = (await world.persistentVolumes()).find(({ spec }) => spec?.csi?.volumeHandle === lost)!;
  await world.change(persistentVolumes, volume.metadata.name, { metadata: { finalizers: null } });
  await world.remove(persistentVolumes, volume.metadata.name);
  await world.say("PATCH", "/api/v1/namespaces/default/persistentvolumeclaims/lost", { metadata: { finalizers: null } });
  await world.remove(claims, "lost");
  await world.until("the claim is gone", async () => {
    const { items } = await world.world.holding(world.kube.list(claims));
    return items.length === 1;
  });
  return { world, lost, kept };
}

test("a disk that lost its PersistentVolume is listed once it is an hour old, and deleted when it is named", async () => {
  const { world, lost, kept } = await torn();
  const young = await gc(world, "--plan");
  assert.deepEqual([young.status, young.out], [0, "nothing is left over\n"], young.err);
  const listed = await gc(world, "--plan", "--older-than=10s");
  assert.equal(listed.status, 2, listed.err);
  assert.match(
    listed.out,
    new RegExp(`^ {2}- delete volume ${lost}, 10 GiB gp3 in .*, of claim default/lost {2}\\(no PersistentVolume names it`),
  );
  assert.ok(!listed.out.includes(kept));
  assert.equal(world.aws.controls.journal.calls("ec2:DeleteVolume"), 0, "a plan deletes nothing");
  const { status, out } = await gc(world, `--delete=${lost}`, "--older-than=10s");
  assert.deepEqual([status, out], [0, `deleted volume ${lost}\n`]);
  assert.deepEqual(
    world.disks.map(({ id }) => id),
    [kept],
  );
});

test("a disk whose claim was deleted by force while nobody ran who knew of it is kept, since it might be one to retain, and listed", async () => {
  const world = await claimWorld();
  const kill = world.start();
  await world.class("now", { volumeBindingMode: "Immediate" });
  await world.claim("lost", { storageClassName: "now" });
  while (world.aws.controls.journal.calls("ec2:CreateVolume") === 0) await world.world.advance(1);
  kill();
  await world.change(claims, "lost", { metadata: { finalizers: [] } });
  await world.remove(claims, "lost");
  await world.world.advance(60_000);
  world.start();
  await world.world.advance(60 * 60_000);
  const [disk] = world.disks;
  assert.deepEqual([disk!.state, (await world.persistentVolumes()).length], ["available", 0]);
  const { status, out } = await gc(world, "--plan");
  assert.deepEqual([status, out.includes(`delete volume ${disk!.id}, 10 GiB gp3`)], [2, true], out);
});

test("what is known, attached, of another cluster or of nobody is never deleted, however it is named", async () => {
  const { world, lost, kept } = await torn();
  const refused = await gc(world, `--delete=${kept},${lost}`, "--older-than=10s");
  assert.equal(refused.status, 1);
  assert.match(refused.err, new RegExp(`${kept} are not among what nothing knows`));
  const { volumes } = world.aws.account.ec2;
  const mine = volumes.get(lost)!.tags;
  for (const tags of [
    { ...mine, "kubernetes.io/cluster/test": "shared", KubernetesCluster: "other" },
    { "kubernetes.io/cluster/other": "owned", "ebs.csi.aws.com/cluster": "true" },
    // The disk of an instance that a cluster's installer made.
    { "kubernetes.io/cluster/test": "owned", Name: "root" },
  ] as readonly Record<string, string>[]) {
    volumes.update(lost, { tags });
    const { status, err } = await gc(world, `--delete=${lost}`, "--older-than=10s");
    assert.equal(status, 1, JSON.stringify(tags));
    assert.match(err, /not among what nothing knows/);
  }
  assert.equal(world.aws.controls.journal.calls("ec2:DeleteVolume"), 0);
});

test("a disk whose claim is still there is in the making, whatever its age", async () => {
  const world = await claimWorld();
  const fault = world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "lose-answer" } });
  const kill = world.start();
  await world.class("now", { volumeBindingMode: "Immediate" });
  await world.claim("data", { storageClassName: "now" });
  await world.until("a disk is there", () => world.disks.length === 1);
  kill();
  world.aws.controls.faults.remove(fault);
  await world.world.advance(30_000);
  assert.equal((await gc(world, "--older-than=1s")).out, "nothing is left over\n");
});

test("snapshots without a content are listed where the cluster knows of snapshots, and passed over where it does not", async () => {
  const world = await claimWorld();
  const tags = { "kubernetes.io/cluster/test": "owned", CSIVolumeSnapshotName: "snapshot-u1", "ebs.csi.aws.com/cluster": "true" };
  const disk = [...world.aws.account.ec2.volumes.values()][0]!;
  const snapshot = {
    id: "snap-0123456789abcdef0",
    volumeId: disk.id,
    ownerId: world.aws.account.id,
    ownerAlias: undefined,
    state: "completed",
    started: world.world.clock.now(),
    completes: world.world.clock.now(),
    sizeGiB: 8,
    description: "",
    encrypted: false,
    kmsKeyArn: undefined,
    outpostArn: undefined,
    lock: undefined,
    tags,
  } as const;
  world.aws.account.ec2.snapshots.put(snapshot.id, snapshot);
  await world.world.advance(60_000);
  const unknown = await gc(world, "--older-than=1s");
  assert.deepEqual([unknown.status, unknown.out], [0, "nothing is left over\n"]);
  assert.match(unknown.err, /snapshots are not looked at: the definitions of VolumeSnapshot are not installed/);
  await world.installSnapshots();
  assert.match((await gc(world, "--older-than=1s")).out, new RegExp(`delete snapshot ${snapshot.id}, `));
  await world.say("POST", "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents", {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshotContent",
    metadata: { name: "content" },
    spec: { driver: "ebs.csi.aws.com", deletionPolicy: "Delete", source: { snapshotHandle: snapshot.id }, volumeSnapshotRef: {} },
  });
  assert.equal((await gc(world, "--older-than=1s")).out, "nothing is left over\n");
});

test("seen from the wrong cluster, nothing is told at all", async () => {
  const { world, lost } = await torn();
  for (const { id } of world.nodes) world.aws.account.ec2.instances.update(id, { tags: { "kubernetes.io/cluster/other": "owned" } });
  const { status, err } = await gc(world, `--delete=${lost}`, "--older-than=1s");
  assert.equal(status, 1);
  assert.match(err, /no Node of this cluster is an instance that carries the tag of cluster test/);
});
