/** The kinds of objects that the keeper reads and writes. */
import { configMaps, namespaces, secrets } from "../../../kube/builtin.ts";
import { apiVersion, type KubeObject, type Resource, resource } from "../../../kube/resource.ts";
import type { StorageClass } from "../../../kube/types.ts";
import type { InstanceClassSpec } from "../input.ts";

export const storageClasses = resource<StorageClass>({
  group: "storage.k8s.io",
  version: "v1",
  plural: "storageclasses",
  kind: "StorageClass",
  namespaced: false,
});

/** What users write of their machines, in the version that is stored. */
export interface InstanceClass extends KubeObject {
  readonly spec?: InstanceClassSpec;
  readonly status?: { readonly nodeGroupConsumers?: readonly string[] };
}

export const instanceClasses = resource<InstanceClass>({
  group: "deckhouse.io",
  version: "v1",
  plural: "awsinstanceclasses",
  kind: "AWSInstanceClass",
  namespaced: false,
});

/** As much of a NodeGroup as concerns its instance class. */
export interface NodeGroup extends KubeObject {
  readonly spec?: {
    readonly nodeType?: string;
    readonly cloudInstances?: {
      readonly classReference?: { readonly kind?: string; readonly name?: string };
      readonly zones?: readonly string[];
    };
  };
}

export const nodeGroups = resource<NodeGroup>({
  group: "deckhouse.io",
  version: "v1",
  plural: "nodegroups",
  kind: "NodeGroup",
  namespaced: false,
});

/** Kinds that are made here. Not roles: whoever grants a permission must have it, and the keeper is not to have those of administrators. */
const kept: readonly Resource<KubeObject>[] = [
  resource({
    group: "apiextensions.k8s.io",
    version: "v1",
    plural: "customresourcedefinitions",
    kind: "CustomResourceDefinition",
    namespaced: false,
  }),
  namespaces,
  secrets,
  configMaps,
  storageClasses,
  resource({ group: "storage.k8s.io", version: "v1", plural: "csidrivers", kind: "CSIDriver", namespaced: false }),
  resource({
    group: "snapshot.storage.k8s.io",
    version: "v1",
    plural: "volumesnapshotclasses",
    kind: "VolumeSnapshotClass",
    namespaced: false,
  }),
];

/** The resource of an object; undefined when objects of its kind are not kept. */
export function keptResource(object: KubeObject): Resource<KubeObject> | undefined {
  return kept.find((each) => each.kind === object.kind && apiVersion(each) === object.apiVersion);
}
