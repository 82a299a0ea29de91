/** Volumes that the CSI driver made for this cluster and that no PersistentVolume knows. */
import type { Volume } from "../aws/volume-shapes.ts";

export interface OrphanedDisk {
  readonly id: string;
  /** That of the PersistentVolume it was made for. */
  readonly name: string;
}

/** As much of a PersistentVolume as tells which volume is its own. */
export interface KnownVolume {
  readonly name: string;
  readonly handle: string | undefined;
}

/** A younger one may be on its way to a PersistentVolume. */
const minAgeMs = 60 * 60_000;
const nameTag = "CSIVolumeName";

/** The marks by which volumes of this cluster are asked for: a volume without the cluster's own cannot be attributed to it. */
export function diskFilters(clusterId: string) {
  return [
    { name: "tag:ebs.csi.aws.com/cluster", values: ["true"] },
    { name: `tag:kubernetes.io/cluster/${clusterId}`, values: ["owned"] },
    { name: "status", values: ["available"] },
  ];
}

/** An orphan is proven by everything: no PersistentVolume has its id or its name, and it is old enough. */
export function orphanedDisks(volumes: readonly Volume[], known: readonly KnownVolume[], nowMs: number): readonly OrphanedDisk[] {
  const handles = new Set(known.map(({ handle }) => handle));
  const names = new Set(known.map(({ name }) => name));
  return volumes
    .filter(({ id, tags, createTime }) => {
      const age = createTime === undefined ? 0 : nowMs - Date.parse(createTime);
      return !handles.has(id) && !names.has(tags[nameTag] ?? "") && age > minAgeMs;
    })
    .map(({ id, tags }) => ({ id, name: tags[nameTag] ?? "" }));
}
