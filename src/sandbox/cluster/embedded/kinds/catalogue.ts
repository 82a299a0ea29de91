/** Every kind that is built in. */
import { mergeRulesOf } from "../merge-rules.ts";
import type { Behaviour, Resource } from "../resources.ts";
import type { Allocator } from "./allocator.ts";
import { nodes } from "./nodes.ts";
import {
  bindings,
  configMaps,
  disruptionBudgets,
  endpointSlices,
  endpoints,
  events,
  ingresses,
  leases,
  namespaces,
  roles,
  secrets,
} from "./plain.ts";
import { pods } from "./pods.ts";
import { services } from "./services.ts";
import { attributesClasses, claims, csiDrivers, csiNodes, persistentVolumes, storageClasses, volumeAttachments } from "./storage.ts";

/** The table of built-in kinds. */
export function builtInResources(allocator: Allocator): Resource[] {
  const core = { group: "", version: "v1" };
  const rbac = { group: "rbac.authorization.k8s.io", version: "v1" };
  const networking = { group: "networking.k8s.io", version: "v1" };
  const storage = { group: "storage.k8s.io", version: "v1", namespaced: false, returnsDeleted: true };
  return [
    resource({ ...core, kind: "ConfigMap", plural: "configmaps", shortNames: ["cm"], behaviour: configMaps }),
    resource({ ...core, kind: "Endpoints", plural: "endpoints", singular: "endpoints", shortNames: ["ep"], behaviour: endpoints }),
    resource({ ...core, kind: "Event", plural: "events", shortNames: ["ev"], behaviour: events }),
    resource({
      ...core,
      kind: "Namespace",
      plural: "namespaces",
      shortNames: ["ns"],
      namespaced: false,
      subresources: ["finalize", "status"],
      behaviour: namespaces,
      collectionDelete: false,
      returnsDeleted: true,
    }),
    resource({ ...core, kind: "Node", plural: "nodes", shortNames: ["no"], namespaced: false, subresources: ["status"], behaviour: nodes }),
    resource({
      ...core,
      kind: "PersistentVolumeClaim",
      plural: "persistentvolumeclaims",
      shortNames: ["pvc"],
      subresources: ["status"],
      behaviour: claims,
      returnsDeleted: true,
    }),
    resource({
      ...core,
      kind: "PersistentVolume",
      plural: "persistentvolumes",
      shortNames: ["pv"],
      namespaced: false,
      subresources: ["status"],
      behaviour: persistentVolumes,
      returnsDeleted: true,
    }),
    resource({
      ...core,
      kind: "Pod",
      plural: "pods",
      shortNames: ["po"],
      categories: ["all"],
      subresources: ["eviction", "status"],
      generation: true,
      behaviour: pods,
      returnsDeleted: true,
    }),
    resource({ ...core, kind: "Secret", plural: "secrets", behaviour: secrets }),
    resource({
      ...core,
      kind: "ServiceAccount",
      plural: "serviceaccounts",
      shortNames: ["sa"],
      subresources: ["token"],
      returnsDeleted: true,
    }),
    resource({
      ...core,
      kind: "Service",
      plural: "services",
      shortNames: ["svc"],
      categories: ["all"],
      subresources: ["status"],
      behaviour: services(allocator),
      returnsDeleted: true,
    }),
    resource({
      group: "coordination.k8s.io",
      version: "v1",
      kind: "Lease",
      plural: "leases",
      behaviour: leases,
      unconditionalUpdate: false,
      createOnUpdate: true,
    }),
    resource({
      group: "discovery.k8s.io",
      version: "v1",
      kind: "EndpointSlice",
      plural: "endpointslices",
      generation: true,
      behaviour: endpointSlices,
    }),
    resource({
      ...networking,
      kind: "Ingress",
      plural: "ingresses",
      shortNames: ["ing"],
      subresources: ["status"],
      generation: true,
      behaviour: ingresses,
    }),
    resource({ ...networking, kind: "IngressClass", plural: "ingressclasses", namespaced: false, generation: true }),
    resource({
      group: "policy",
      version: "v1",
      kind: "PodDisruptionBudget",
      plural: "poddisruptionbudgets",
      shortNames: ["pdb"],
      subresources: ["status"],
      generation: true,
      behaviour: disruptionBudgets,
    }),
    resource({
      group: "apps",
      version: "v1",
      kind: "DaemonSet",
      plural: "daemonsets",
      shortNames: ["ds"],
      categories: ["all"],
      subresources: ["status"],
      generation: true,
    }),
    resource({ ...storage, kind: "CSIDriver", plural: "csidrivers", behaviour: csiDrivers }),
    resource({ ...storage, kind: "CSINode", plural: "csinodes", behaviour: csiNodes }),
    resource({ ...storage, kind: "StorageClass", plural: "storageclasses", shortNames: ["sc"], behaviour: storageClasses }),
    resource({
      ...storage,
      kind: "VolumeAttachment",
      plural: "volumeattachments",
      subresources: ["status"],
      behaviour: volumeAttachments,
    }),
    resource({
      ...storage,
      kind: "VolumeAttributesClass",
      plural: "volumeattributesclasses",
      shortNames: ["vac"],
      behaviour: attributesClasses,
    }),
    resource({ ...rbac, kind: "ClusterRole", plural: "clusterroles", namespaced: false, behaviour: roles }),
    resource({ ...rbac, kind: "ClusterRoleBinding", plural: "clusterrolebindings", namespaced: false, behaviour: bindings }),
    resource({ ...rbac, kind: "Role", plural: "roles", behaviour: roles }),
    resource({ ...rbac, kind: "RoleBinding", plural: "rolebindings", behaviour: bindings }),
  ];
}

const nothingSpecial: Behaviour = {};

type Described = Pick<Resource, "group" | "version" | "kind" | "plural"> & Partial<Resource>;

/** A resource with the usual answers to every question that is not answered. */
export function resource(described: Described): Resource {
  return {
    singular: described.kind.toLowerCase(),
    listKind: `${described.kind}List`,
    shortNames: [],
    categories: [],
    namespaced: true,
    subresources: [],
    generation: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
    returnsDeleted: false,
    collectionDelete: true,
    custom: false,
    behaviour: nothingSpecial,
    mergeRules: mergeRulesOf(described.kind),
    ...described,
  };
}
