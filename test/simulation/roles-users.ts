/** Those who use volumes: they claim, move, enlarge, snapshot, restore and delete, and do by hand what they had better not. */
import { sleep } from "../../src/runtime/world.ts";
import { type ContentObject, handleOf, type VolumeObject } from "./roles-objects.ts";
import { hold } from "./roles-rules.ts";
import type { RolesScene } from "./roles-scene.ts";
import { attributesClasses, type ClaimWish, type ClassName, classes, tunable } from "./roles-wish.ts";

const claimsPath = "/api/v1/namespaces/default/persistentvolumeclaims";
const volumesPath = "/api/v1/persistentvolumes";
const snapshotsPath = "/apis/snapshot.storage.k8s.io/v1/namespaces/default/volumesnapshots";
const contentsPath = "/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents";

const claimNames = ["data-0", "data-1", "data-2", "db-0", "db-1"];
const snapshotNames = ["monday", "tuesday"];
const classNames = Object.keys(classes) as ClassName[];

/** Users, until the signal aborts. */
export async function useVolumes(scene: RolesScene, signal: AbortSignal): Promise<void> {
  const { chance, world } = scene;
  while (!signal.aborted) {
    await act(scene);
    await sleep(world.clock, chance.between(500, 12_000), signal).catch(() => {});
  }
}

async function act(scene: RolesScene): Promise<void> {
  const { chance, objects } = scene;
  if (chance.happens(0.15)) return useSnapshots(scene);
  const name = chance.pick(claimNames)!;
  const wish = scene.claims.get(name);
  const claim = objects.claim(name);
  if (claim === undefined) return create(scene, name);
  if (wish === undefined || wish.isDeleted) return;
  const volume = objects.volume(claim.spec.volumeName ?? "");
  const isBound = claim.status?.phase === "Bound" && volume !== undefined;
  // Made, and not bound yet.
  const early = volume === undefined ? objects.volume(`pvc-${claim.metadata.uid}`) : undefined;
  if (early !== undefined) return meddle(scene, early);
  const deeds: readonly (() => Promise<unknown> | undefined)[] = [
    () => remove(scene, wish),
    // Made again at once, under the same name.
    async () => {
      await remove(scene, wish);
      if (objects.claim(name) === undefined) await create(scene, name);
    },
    async () => void scene.claims.set(name, { ...wish, hasPod: !wish.hasPod }),
    async () => void scene.claims.set(name, { ...wish, hasPod: true, seat: wish.seat + 1 }),
    async () => void scene.claims.set(name, { ...wish, hasPod: true, seat: wish.seat + 1 }),
    () => (isBound ? enlarge(scene, wish) : undefined),
    () => (isBound ? enlarge(scene, wish) : undefined),
    () => (isBound && tunable.has(wish.className) ? tune(scene, wish) : undefined),
    () => (isBound ? meddle(scene, volume) : undefined),
  ];
  await chance.pick(deeds)!();
}

async function create(scene: RolesScene, name: string): Promise<void> {
  const { chance, objects } = scene;
  const ready = objects.snapshots().filter(({ status, metadata }) => status?.readyToUse && metadata.deletionTimestamp === undefined);
  const snapshot = chance.happens(0.3) ? chance.pick(ready)?.metadata.name : undefined;
  const clonable = objects
    .claims()
    .filter((each) => each.status?.phase === "Bound" && scene.claims.get(each.metadata.name)?.className === "now");
  const original = snapshot === undefined && chance.happens(0.15) ? chance.pick(clonable)?.metadata.name : undefined;
  const source =
    snapshot !== undefined
      ? { kind: "VolumeSnapshot" as const, name: snapshot }
      : original && original !== name
        ? { kind: "PersistentVolumeClaim" as const, name: original }
        : undefined;
  const className = source === undefined ? chance.pick(classNames)! : "now";
  const attributes = tunable.has(className) && chance.happens(0.2) ? chance.pick(Object.keys(attributesClasses)) : undefined;
  // Larger than any source by then.
  const sizeGiB = source === undefined ? Math.floor(chance.between(10, 16)) : 60;
  const wish: ClaimWish = { name, className, sizeGiB, attributes, source, hasPod: chance.happens(0.7), seat: 0, isDeleted: false };
  scene.claims.set(name, wish);
  await scene.say("user", "POST", claimsPath, {
    metadata: { name },
    spec: {
      accessModes: ["ReadWriteOnce"],
      storageClassName: className,
      resources: { requests: { storage: `${sizeGiB}Gi` } },
      ...(attributes && { volumeAttributesClassName: attributes }),
      ...(source && { dataSource: source.kind === "VolumeSnapshot" ? { apiGroup: "snapshot.storage.k8s.io", ...source } : source }),
    },
  });
}

async function remove(scene: RolesScene, wish: ClaimWish): Promise<void> {
  scene.claims.set(wish.name, { ...wish, hasPod: false, isDeleted: true });
  await scene.say("user", "DELETE", `${claimsPath}/${wish.name}`);
}

async function enlarge(scene: RolesScene, wish: ClaimWish): Promise<void> {
  const sizeGiB = wish.sizeGiB + Math.floor(scene.chance.between(1, 4));
  const { status } = await scene.say("user", "PATCH", `${claimsPath}/${wish.name}`, {
    spec: { resources: { requests: { storage: `${sizeGiB}Gi` } } },
  });
  if (status < 300) scene.claims.set(wish.name, { ...wish, sizeGiB });
}

async function tune(scene: RolesScene, wish: ClaimWish): Promise<void> {
  const attributes = scene.chance.pick(Object.keys(attributesClasses))!;
  const { status } = await scene.say("user", "PATCH", `${claimsPath}/${wish.name}`, { spec: { volumeAttributesClassName: attributes } });
  if (status < 300) scene.claims.set(wish.name, { ...wish, attributes });
}

/** With a PersistentVolume: says that its disk is to be retained, or not; holds it; deletes it. */
async function meddle(scene: RolesScene, volume: VolumeObject): Promise<void> {
  const { chance } = scene;
  const { metadata, spec } = volume;
  const path = `${volumesPath}/${metadata.name}`;
  const deed = chance.pick(["retain", "retain", "hold", "delete"] as const)!;
  if (deed === "delete") await scene.say("user", "DELETE", path);
  else if (deed === "hold") await putHold(scene, volume, true);
  else {
    const isRetained = spec.persistentVolumeReclaimPolicy === "Retain";
    if (isRetained) scene.kept.delete(handleOf(spec));
    const policy = isRetained ? "Delete" : "Retain";
    await scene.say("user", "PATCH", path, { spec: { persistentVolumeReclaimPolicy: policy } });
  }
}

async function putHold(scene: RolesScene, { metadata }: VolumeObject, isHeld: boolean): Promise<void> {
  const { name, finalizers = [], resourceVersion } = metadata;
  const what = `persistentvolumes/${name}`;
  const others = finalizers.filter((each) => each !== hold);
  if (!isHeld) scene.held.delete(what);
  const patch = { metadata: { resourceVersion, finalizers: isHeld ? [...others, hold] : others } };
  const { status } = await scene.say("user", "PATCH", `${volumesPath}/${name}`, patch);
  if (status < 300 && isHeld) scene.held.add(what);
}

async function useSnapshots(scene: RolesScene): Promise<void> {
  const { chance, objects } = scene;
  const name = chance.pick(snapshotNames)!;
  const snapshot = objects.snapshot(name);
  if (snapshot !== undefined) {
    if (snapshot.metadata.deletionTimestamp !== undefined || chance.happens(0.5)) return;
    return removeSnapshot(scene, name);
  }
  const bound = objects.claims().filter(({ status, metadata }) => status?.phase === "Bound" && metadata.deletionTimestamp === undefined);
  const claim = chance.pick(bound)?.metadata.name;
  if (claim === undefined) return;
  scene.snapshots.set(name, { name, isDeleted: false });
  await scene.say("user", "POST", snapshotsPath, {
    apiVersion: "snapshot.storage.k8s.io/v1",
    kind: "VolumeSnapshot",
    metadata: { name },
    spec: { volumeSnapshotClassName: chance.pick(["plain", "quick"])!, source: { persistentVolumeClaimName: claim } },
  });
}

async function removeSnapshot(scene: RolesScene, name: string): Promise<void> {
  scene.snapshots.set(name, { name, isDeleted: true });
  await scene.say("user", "DELETE", `${snapshotsPath}/${name}`);
}

/** When the faults are over people let go of what they hold, and give up what they have made impossible themselves. */
export async function tidyUp(scene: RolesScene): Promise<void> {
  const { objects } = scene;
  for (const volume of objects.volumes())
    if (scene.held.has(`persistentvolumes/${volume.metadata.name}`)) await putHold(scene, volume, false);
  for (const wish of scene.claims.values()) {
    const claim = objects.claim(wish.name);
    if (wish.isDeleted || claim === undefined) continue;
    const volume = objects.volume(claim.spec.volumeName ?? `pvc-${claim.metadata.uid}`);
    const isDoomed = volume?.metadata.deletionTimestamp !== undefined;
    const isWithoutSource = wish.source !== undefined && volume === undefined;
    const isRefused = volume === undefined && wish.className === "moody";
    if (isDoomed || isWithoutSource || isRefused) await remove(scene, wish);
  }
  const wanted = [...scene.claims.values()].filter(({ isDeleted }) => !isDeleted);
  const sources = new Set(
    wanted.map(({ name }) => objects.volume(objects.claim(name)?.spec.volumeName ?? "")).map((each) => each && handleOf(each.spec)),
  );
  for (const { name, isDeleted } of scene.snapshots.values()) {
    const { metadata, status } = objects.snapshot(name) ?? {};
    const source = objects.content(`snapcontent-${metadata?.uid}`)?.spec.source.volumeHandle;
    if (!isDeleted && !status?.readyToUse && !(source && sources.has(source))) await removeSnapshot(scene, name);
  }
}

/** Everybody leaves. */
export async function deleteAll(scene: RolesScene): Promise<void> {
  for (const wish of scene.claims.values()) if (!wish.isDeleted) await remove(scene, wish);
  for (const { name, isDeleted } of scene.snapshots.values()) if (!isDeleted) await removeSnapshot(scene, name);
}

/** What stays because it is retained is deleted by hand: the objects, not the disks. */
export async function deleteRetained(scene: RolesScene): Promise<void> {
  const isOver = ({ spec, status, metadata }: VolumeObject) =>
    spec.persistentVolumeReclaimPolicy === "Retain" && status?.phase === "Released" && metadata.deletionTimestamp === undefined;
  for (const { metadata } of scene.objects.volumes().filter(isOver)) {
    if (metadata.name !== "theirs") await scene.say("user", "DELETE", `${volumesPath}/${metadata.name}`);
  }
  const isLeft = ({ spec, metadata }: ContentObject) => spec.deletionPolicy === "Retain" && metadata.deletionTimestamp === undefined;
  for (const { metadata } of scene.objects.contents().filter(isLeft)) await scene.say("user", "DELETE", `${contentsPath}/${metadata.name}`);
}
