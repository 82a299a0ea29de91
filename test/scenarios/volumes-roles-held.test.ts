/** What the built-in roles hold while a disk may be made, and what they let go: claims that are refused, PersistentVolumes that go early. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { claims, persistentVolumes, storageClasses } from "../../src/volumes/storage-resources.ts";
import { type ClaimWorld, claimWorld } from "../bed/claim-world.ts";

const isBound = (world: ClaimWorld, name: string) => async () => (await world.seenClaim(name)).status?.phase === "Bound";
const atOnce = { volumeBindingMode: "Immediate" };
const ours = async (world: ClaimWorld, name: string) =>
  (await world.seenClaim(name)).metadata.finalizers?.filter((each) => each.includes("fairlead")) ?? [];
const refused = (world: ClaimWorld, name: string, says: RegExp) => async () =>
  says.test((await world.events(name)).get("ProvisioningFailed") ?? "");

/** Counts what is written to a claim. */
function countWrites(world: ClaimWorld, name: string): () => number {
  let count = 0;
  const { send } = world.cluster;
  Object.assign(world.cluster, {
    send: (request: Parameters<typeof send>[0]) => {
      if (request.method === "PATCH" && request.url.pathname.endsWith(`/persistentvolumeclaims/${name}`)) count++;
      return send(request);
    },
  });
  return () => count;
}

/** A claim with its PersistentVolume, which Kubernetes has not bound yet. */
async function unbound(reclaimPolicy: "Delete" | "Retain"): Promise<ClaimWorld> {
  const world = await claimWorld(undefined, 60_000);
  world.start();
  await world.class("now", { ...atOnce, reclaimPolicy });
  await world.claim("data", { storageClassName: "now" });
  await world.change(claims, "data", { metadata: { annotations: { "volume.kubernetes.io/storage-provisioner": "ebs.csi.aws.com" } } });
  await world.until("the PersistentVolume is there", async () => (await world.persistentVolumes()).length === 1);
  assert.equal((await world.seenClaim("data")).spec?.volumeName, undefined);
  return world;
}

for (const [reclaimPolicy, what] of [
  ["Delete", "its disk goes with it, and the claim gets another one"],
  ["Retain", "its disk stays, and the claim gets it again"],
] as const) {
  test(`a PersistentVolume of the policy ${reclaimPolicy} is deleted before its claim is bound: ${what}`, async () => {
    const world = await unbound(reclaimPolicy);
    const [first] = world.disks;
    await world.remove(persistentVolumes, (await world.persistentVolumes())[0]!.metadata.name);
    await world.until("the claim is bound", isBound(world, "data"), 20 * 60_000);
    const [volume, ...others] = await world.persistentVolumes();
    assert.equal(others.length, 0);
    assert.equal(volume!.metadata.deletionTimestamp, undefined);
    assert.deepEqual(
      world.disks.map(({ id }) => id),
      [volume!.spec?.csi?.volumeHandle],
    );
    assert.equal(first!.id === world.disks[0]!.id, reclaimPolicy === "Retain");
    await world.change(persistentVolumes, volume!.metadata.name, { spec: { persistentVolumeReclaimPolicy: "Delete" } });
    await world.remove(claims, "data");
    await world.until("nothing is left", async () => world.disks.length + (await world.persistentVolumes()).length === 0, 20 * 60_000);
  });
}

test("a PersistentVolume that is deleted when its claim is bound keeps its disk", async () => {
  const world = await claimWorld();
  world.start();
  await world.class("now", atOnce);
  await world.claim("data", { storageClassName: "now" });
  await world.until("it is bound", isBound(world, "data"));
  await world.remove(persistentVolumes, (await world.persistentVolumes())[0]!.metadata.name);
  await world.world.advance(2 * 60_000);
  assert.equal(world.disks.length, 1);
});

test("a bound PersistentVolume that is deleted goes by what is said of its disk when its claim goes", async () => {
  for (const last of ["Delete", "Retain"] as const) {
    const world = await claimWorld();
    world.start();
    await world.class("now", atOnce);
    await world.claim("data", { storageClassName: "now" });
    await world.until("it is bound", isBound(world, "data"));
    const { name } = (await world.persistentVolumes())[0]!.metadata;
    const say = (persistentVolumeReclaimPolicy: string) =>
      world.change(persistentVolumes, name, { spec: { persistentVolumeReclaimPolicy } });
    await world.remove(persistentVolumes, name);
    await say("Retain");
    await world.world.advance(60_000);
    await say(last);
    await world.remove(claims, "data");
    await world.until("both are gone", async () => (await world.persistentVolumes()).length === 0, 10 * 60_000);
    await world.world.advance(60_000);
    assert.equal(world.disks.length, last === "Retain" ? 1 : 0);
  }
});

test("a claim whose parameters make no sense is never held, and goes without anybody", async () => {
  const world = await claimWorld();
  const kill = world.start();
  await world.class("odd", { ...atOnce, parameters: { speed: "high" } });
  await world.claim("wrong", { storageClassName: "odd" });
  const written = countWrites(world, "wrong");
  await world.until("it is refused", refused(world, "wrong", /speed/));
  assert.deepEqual(await ours(world, "wrong"), []);
  // The word of Kubernetes, who is to make it.
  assert.ok(written() <= 1, `${written()} patches`);
  kill();
  await world.remove(claims, "wrong");
  await world.until("it is gone", async () => (await world.seenClaim("wrong").catch(() => undefined)) === undefined);
});

for (const [what, parameters, fault, says] of [
  ["for a combination that it does not know", { type: "gp2", throughput: "500" }, undefined, /throughput/i],
  ["because the account is full", {}, { kind: "fail", code: "VolumeLimitExceeded", status: 400 } as const, /VolumeLimitExceeded/],
] as const) {
  test(`a claim that EC2 refuses ${what} is let go, and goes without anybody`, async () => {
    const world = await claimWorld();
    const kill = world.start();
    if (fault) world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: fault });
    await world.class("odd", { ...atOnce, parameters });
    await world.claim("wrong", { storageClassName: "odd" });
    await world.until("it is refused", refused(world, "wrong", says));
    await world.until("it is not held", async () => (await ours(world, "wrong")).length === 0, 90_000);
    kill();
    await world.remove(claims, "wrong");
    await world.until("it is gone", async () => (await world.seenClaim("wrong").catch(() => undefined)) === undefined);
    assert.equal(world.disks.length, 0);
  });
}

test("a claim that is refused stays held while there may be a disk: one whose answer was lost before its class made no sense", async () => {
  for (const restart of [false, true]) {
    const world = await claimWorld();
    const kill = world.start();
    await world.class("now", atOnce);
    const fault = world.aws.controls.faults.add({ action: "ec2:CreateVolume", effect: { kind: "lose-answer" } });
    await world.claim("data", { storageClassName: "now" });
    await world.until("there is a disk that nobody knows of", async () => (await world.events("data")).has("ProvisioningFailed"));
    world.aws.controls.faults.remove(fault);
    if (restart) kill();
    await world.remove(storageClasses, "now");
    await world.class("now", { ...atOnce, parameters: { speed: "high" } });
    if (restart) world.start();
    await world.until("it is refused", refused(world, "data", /speed/));
    await world.world.advance(2 * 60_000);
    if ((await ours(world, "data")).length === 0) assert.fail("it is held no more");
    await world.remove(claims, "data");
    await world.until("it is gone", async () => (await world.seenClaim("data").catch(() => undefined)) === undefined, 20 * 60_000);
    await world.until("no disk is left", () => world.disks.length === 0);
  }
});
