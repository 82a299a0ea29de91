/** The kinds of objects that only this suite reads of their domains: it looks at them from outside, as users do. */
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { ListOptions } from "../kube/list.ts";
import { type KubeObject, type Resource, resource, type Stored } from "../kube/resource.ts";
import type { Ingress, IngressClass, PersistentVolume, PersistentVolumeClaim, StorageClass } from "../kube/types.ts";

const networking = { group: "networking.k8s.io", version: "v1" } as const;
const storage = { group: "storage.k8s.io", version: "v1", namespaced: false } as const;
const snapshot = { group: "snapshot.storage.k8s.io", version: "v1" } as const;

export const ingresses = resource<Ingress>({ ...networking, plural: "ingresses", kind: "Ingress", namespaced: true });
export const ingressClasses = resource<IngressClass>({
  ...networking,
  plural: "ingressclasses",
  kind: "IngressClass",
  namespaced: false,
});
export const bindings = resource<KubeObject>({
  group: "elbv2.k8s.aws",
  version: "v1beta1",
  plural: "targetgroupbindings",
  kind: "TargetGroupBinding",
  namespaced: true,
});

export const drivers = resource<KubeObject>({ ...storage, plural: "csidrivers", kind: "CSIDriver" });
export const storageClasses = resource<StorageClass>({ ...storage, plural: "storageclasses", kind: "StorageClass" });
export const persistentVolumes = resource<PersistentVolume>({
  group: "",
  version: "v1",
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});
export const claims = resource<PersistentVolumeClaim>({
  group: "",
  version: "v1",
  plural: "persistentvolumeclaims",
  kind: "PersistentVolumeClaim",
  namespaced: true,
});

interface Snapshot extends KubeObject {
  readonly spec: { readonly volumeSnapshotClassName: string; readonly source: { readonly persistentVolumeClaimName: string } };
  readonly status?: { readonly readyToUse?: boolean; readonly error?: { readonly message?: string } };
}

interface SnapshotClass extends KubeObject {
  readonly driver: string;
  readonly deletionPolicy: "Delete";
  readonly parameters: Readonly<Record<string, string>>;
}

export const snapshots = resource<Snapshot>({ ...snapshot, plural: "volumesnapshots", kind: "VolumeSnapshot", namespaced: true });
export const snapshotClasses = resource<SnapshotClass>({
  ...snapshot,
  plural: "volumesnapshotclasses",
  kind: "VolumeSnapshotClass",
  namespaced: false,
});

/** Those of a kind; undefined of one that the server does not know. */
export async function listIfServed<T extends KubeObject>(
  kube: KubeClient,
  of: Resource<T>,
  options: ListOptions & { readonly signal?: AbortSignal },
): Promise<readonly Stored<T>[] | undefined> {
  try {
    return (await kube.list(of, options)).items;
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
}
