/** The informers of the keeper: single objects by their names, so that its role need not let it read others. */
import { configMaps, pods, secrets } from "../../../kube/builtin.ts";
import type { KubeClient } from "../../../kube/client.ts";
import { type Informer, informer, type Trimmed } from "../../../kube/informer.ts";
import type { KubeObject, Resource, Stored } from "../../../kube/resource.ts";
import type { ConfigMap, Pod, Secret, StorageClass } from "../../../kube/types.ts";
import { configurationSecret, discoverySecret } from "../../objects.ts";
import { moduleNamespaceName } from "../module-objects.ts";
import { uuidMap } from "./cluster-input.ts";
import { storageClasses } from "./resources.ts";

/** Where an object is. */
export interface Place {
  readonly namespace: string;
  readonly name: string;
}

export type StorageClasses = Informer<Trimmed<StorageClass>>;
export type SecretInformer = Informer<Trimmed<Secret>>;
export type ConfigMapInformer = Informer<Trimmed<ConfigMap>>;
export type Pods = Informer<PodView>;

/** As much of a pod as the watch over host addresses reads. */
export interface PodView {
  readonly metadata: Pick<Trimmed<Pod>["metadata"], "name" | "namespace" | "uid" | "resourceVersion" | "annotations" | "deletionTimestamp">;
  readonly hostIP: string;
}

/** The keys by which a process shares them; settings are where the user says. */
export function keeperInformers(settings: Place) {
  return {
    configuration: { name: "cluster-configuration", make: one(secrets, configurationSecret, "cluster-configuration") },
    discovery: { name: "discovery-data", make: one(secrets, discoverySecret, "discovery-data") },
    uuid: { name: "cluster-uuid", make: one(configMaps, uuidMap, "cluster-uuid") },
    settings: { name: "artifacts-settings", make: one(configMaps, settings, "artifacts-settings") },
    storageClasses: {
      name: "artifacts-storageclasses",
      make: (client: KubeClient): StorageClasses => informer({ client, of: storageClasses, name: "artifacts-storageclasses" }),
    },
    controllerManagers: {
      name: "controller-manager-pods",
      make: (client: KubeClient): Pods =>
        informer({
          client,
          of: pods,
          name: "controller-manager-pods",
          namespace: moduleNamespaceName,
          labelSelector: "app=cloud-controller-manager",
          project: podView,
        }),
    },
  };
}

function podView({ metadata, status }: Stored<Pod>): PodView {
  const { name, namespace, uid, resourceVersion, annotations, deletionTimestamp } = metadata;
  return { metadata: { name, namespace, uid, resourceVersion, annotations, deletionTimestamp }, hostIP: status?.hostIP ?? "" };
}

function one<T extends KubeObject>(of: Resource<T>, { namespace, name }: Place, as: string) {
  return (client: KubeClient): Informer<Trimmed<T>> =>
    informer<T>({ client, of, name: as, namespace, fieldSelector: `metadata.name=${name}` });
}

/** The only object of an informer that follows one. */
export function only<T extends { readonly metadata: { readonly name: string } }>(of: { list(): readonly T[] }): T | undefined {
  return of.list()[0];
}
