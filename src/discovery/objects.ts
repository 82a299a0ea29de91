/** The objects that discovery reads and writes, by the names that the platform knows. */
import { type KubeObject, resource } from "../kube/resource.ts";
import type { PersistentVolume } from "../kube/types.ts";

export const namespace = "kube-system";

/** Where the infrastructure's output and the user's configuration are. */
export const configurationSecret = { namespace, name: "d8-provider-cluster-configuration" };
export const infrastructureKey = "cloud-provider-discovery-data.json";

/** What discovery tells the platform. */
export const discoverySecret = { namespace, name: "d8-cloud-provider-discovery-data" };
export const discoveryKey = "discovery-data.json";

/** What is wrong with the account. */
export const conditionsMap = { namespace, name: "d8-cloud-provider-conditions" };
export const conditionsKey = "conditions";

/** On everything that is made here. */
export const labels = { heritage: "deckhouse", module: "cloud-provider-aws" };

/** One type, with quantities as the cluster autoscaler reads them. */
export interface CatalogEntry {
  readonly name: string;
  readonly cpu: string;
  readonly memory: string;
  readonly rootDisk: string;
}

/** The types that a NodeGroup may grow from nothing with. Its list is at the top level; there is no spec. */
export interface InstanceTypesCatalog extends KubeObject {
  readonly instanceTypes?: readonly CatalogEntry[] | null;
}

export const catalogs = resource<InstanceTypesCatalog>({
  group: "deckhouse.io",
  version: "v1alpha1",
  plural: "instancetypescatalogs",
  kind: "InstanceTypesCatalog",
  namespaced: false,
});
export const catalogName = "for-cluster-autoscaler";

export const persistentVolumes = resource<PersistentVolume>({
  group: "",
  version: "v1",
  plural: "persistentvolumes",
  kind: "PersistentVolume",
  namespaced: false,
});
