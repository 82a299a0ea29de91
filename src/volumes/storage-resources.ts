/** The objects of Kubernetes that tell of volumes. */
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { type KubeObject, resource } from "../kube/resource.ts";
import type {
  CSINode,
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeAttachment,
  VolumeAttributesClass,
} from "../kube/types.ts";

const storage = { group: "storage.k8s.io", version: "v1", namespaced: false } as const;
const core = { group: "", version: "v1" } as const;
const snapshot = { group: "snapshot.storage.k8s.io", version: "v1" } as const;

export const csiNodes = resource<CSINode>({ ...storage, plural: "csinodes", kind: "CSINode" });
export const storageClasses = resource<StorageClass>({ ...storage, plural: "storageclasses", kind: "StorageClass" });
export const volumeAttachments = resource<VolumeAttachment>({ ...storage, plural: "volumeattachments", kind: "VolumeAttachment" });
export const persistentVolumes = resource<PersistentVolume>({
  ...core,
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});
export const claims = resource<PersistentVolumeClaim>({
  ...core,
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
});

const attributesClass = { ...storage, plural: "volumeattributesclasses", kind: "VolumeAttributesClass" } as const;
export const volumeAttributesClasses = resource<VolumeAttributesClass>(attributesClass);
/** As servers before Kubernetes 1.34 know them. */
export const betaVolumeAttributesClasses = resource<VolumeAttributesClass>({ ...attributesClass, version: "v1beta1" });

/** A user's wish for a snapshot. The snapshot controller of the cluster binds it to a content. */
export interface VolumeSnapshot extends KubeObject {
  readonly spec?: {
    readonly volumeSnapshotClassName?: string;
    readonly source?: { readonly persistentVolumeClaimName?: string; readonly volumeSnapshotContentName?: string };
  };
  readonly status?: { readonly boundVolumeSnapshotContentName?: string; readonly readyToUse?: boolean };
}

/** A snapshot as the cluster knows it; its own times are nanoseconds since the epoch. */
export interface VolumeSnapshotContent extends KubeObject {
  readonly spec: {
    readonly driver: string;
    readonly deletionPolicy: "Delete" | "Retain";
    readonly source: { readonly volumeHandle?: string; readonly snapshotHandle?: string };
    readonly sourceVolumeMode?: string;
    readonly volumeSnapshotClassName?: string;
    readonly volumeSnapshotRef: { readonly name?: string; readonly namespace?: string; readonly uid?: string };
  };
  readonly status?: {
    readonly snapshotHandle?: string;
    readonly readyToUse?: boolean;
    readonly creationTime?: number;
    readonly restoreSize?: number;
    readonly error?: object | null;
  };
}

export interface VolumeSnapshotClass extends KubeObject {
  readonly driver: string;
  readonly deletionPolicy: "Delete" | "Retain";
  readonly parameters?: Readonly<Record<string, string>>;
}

export const volumeSnapshots = resource<VolumeSnapshot>({
  ...snapshot,
  plural: "volumesnapshots",
  kind: "VolumeSnapshot",
  namespaced: true,
});
export const volumeSnapshotContents = resource<VolumeSnapshotContent>({
  ...snapshot,
  plural: "volumesnapshotcontents",
  kind: "VolumeSnapshotContent",
  namespaced: false,
});
export const volumeSnapshotClasses = resource<VolumeSnapshotClass>({
  ...snapshot,
  plural: "volumesnapshotclasses",
  kind: "VolumeSnapshotClass",
  namespaced: false,
});

/** Whether the definitions of snapshots are installed. */
export async function servesSnapshots(kube: KubeClient): Promise<boolean> {
  try {
    await kube.raw(`/apis/${snapshot.group}/${snapshot.version}`);
    return true;
  } catch (error) {
    if (!isApiError(error, "not-found")) throw error;
    return false;
  }
}

/** Whether classes of attributes are served in the version that Kubernetes 1.34 brought. */
export async function servesAttributesClasses(kube: KubeClient): Promise<boolean> {
  const { group, version, plural } = volumeAttributesClasses;
  const { resources } = JSON.parse(await kube.raw(`/apis/${group}/${version}`)) as { resources: readonly { name: string }[] };
  return resources.some(({ name }) => name === plural);
}
