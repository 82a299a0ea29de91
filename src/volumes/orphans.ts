/**
 * Disks and snapshots that carry the cluster's mark and that nothing in the cluster knows: what a failed clean-up, a removed
 * finalizer or a deleted cluster object left behind. Pure; whoever deletes them looks again first.
 */
import type { Snapshot } from "../aws/snapshots.ts";
import type { Volume } from "../aws/volumes.ts";
import type { ClusterId } from "../identity/cluster-id.ts";
import { isOwned } from "../identity/ownership.ts";
import type { Stored } from "../kube/resource.ts";
import type { PersistentVolume, PersistentVolumeClaim } from "../kube/types.ts";
import { diskOf } from "./migration.ts";
import { tagKeys } from "./names.ts";
import type { VolumeSnapshotContent } from "./storage-resources.ts";
import { isMarked } from "./tags.ts";

/** What AWS and the cluster have. */
export interface Inventory {
  readonly cluster: ClusterId;
  readonly volumes: readonly Volume[];
  readonly snapshots: readonly Snapshot[];
  readonly persistentVolumes: readonly Stored<PersistentVolume>[];
  readonly claims: readonly Stored<PersistentVolumeClaim>[];
  /** Undefined where the cluster does not know of snapshots: then nothing can be said of them. */
  readonly contents: readonly VolumeSnapshotContent[] | undefined;
  readonly now: number;
  /** What is younger may be in the making. */
  readonly minAgeMs: number;
}

export interface Orphan {
  readonly kind: "volume" | "snapshot";
  readonly id: string;
  readonly what: string;
  readonly why: string;
}

/** What nothing in the cluster knows, volumes first, the oldest first. */
export function orphansOf(inventory: Inventory): readonly Orphan[] {
  const { volumes, snapshots, contents } = inventory;
  const byAge = <T extends { readonly atMs: number }>(all: readonly T[]) => all.toSorted((a, b) => a.atMs - b.atMs);
  const disks = volumes
    .filter((volume) => isOrphan(volume, inventory))
    .map((volume) => ({ volume, atMs: Date.parse(volume.createTime ?? "") }));
  const shots = contents === undefined ? [] : snapshots.filter((snapshot) => isForgotten(snapshot, contents, inventory));
  return [
    ...byAge(disks).map(({ volume, atMs }) => volumeOrphan(volume, inventory.now - atMs)),
    ...byAge(shots.map((snapshot) => ({ snapshot, atMs: Date.parse(snapshot.startTime) }))).map(({ snapshot, atMs }) =>
      snapshotOrphan(snapshot, inventory.now - atMs),
    ),
  ];
}

/** Of the driver, of this cluster, attached to nothing, known to nobody, and not new. */
function isOrphan({ id, state, attachments, tags, createTime }: Volume, inventory: Inventory): boolean {
  const { cluster, persistentVolumes, claims } = inventory;
  // Disks of instances carry the cluster's tag too: without the driver's they are nobody's claim.
  if (!isOwned(tags, cluster) || !isMarked(tags, undefined)) return false;
  if (state !== "available" || attachments.length > 0 || !isOld(createTime, inventory)) return false;
  const names = [tags[tagKeys.volumeName], tags[tagKeys.persistentVolume]];
  if (persistentVolumes.some((volume) => diskOf(volume) === id || names.includes(volume.metadata.name))) return false;
  // A claim whose PersistentVolume is still to come.
  return !claims.some(({ metadata }) => names.includes(`pvc-${metadata.uid}`));
}

function isForgotten({ id, tags, startTime }: Snapshot, contents: readonly VolumeSnapshotContent[], inventory: Inventory): boolean {
  if (!isOwned(tags, inventory.cluster) || tags[tagKeys.snapshotName] === undefined || !isOld(startTime, inventory)) return false;
  return !contents.some(({ spec, status }) => {
    const handles = [status?.snapshotHandle, spec.source.snapshotHandle];
    return handles.includes(id) || tags[tagKeys.snapshotName] === `snapshot-${spec.volumeSnapshotRef.uid}`;
  });
}

/** What does not say how old it is counts as new. */
function isOld(time: string | undefined, { now, minAgeMs }: Inventory): boolean {
  return now - Date.parse(time ?? "") >= minAgeMs;
}

function volumeOrphan({ id, sizeGiB, type, zone, tags }: Volume, ageMs: number): Orphan {
  const claim = tags[tagKeys.claimName];
  const of = claim === undefined ? (tags[tagKeys.volumeName] ?? "") : `claim ${tags[tagKeys.claimNamespace] ?? ""}/${claim}`;
  return {
    kind: "volume",
    id,
    what: `${id}, ${sizeGiB} GiB ${type} in ${zone}, ${ageText(ageMs)} old, of ${of}`,
    why: "no PersistentVolume names it, and it is attached to nothing",
  };
}

function snapshotOrphan({ id, sizeGiB, volumeId, tags }: Snapshot, ageMs: number): Orphan {
  return {
    kind: "snapshot",
    id,
    what: `${id}, ${sizeGiB} GiB of ${volumeId}, ${ageText(ageMs)} old, ${tags[tagKeys.snapshotName]}`,
    why: "no VolumeSnapshotContent names it",
  };
}

function ageText(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
