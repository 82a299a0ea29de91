/**
 * How lists and maps merge, per kind and field: for strategic merge patches by the merge key of the Go types, for
 * server-side apply by the list type of the OpenAPI schema. The two differ more often than one would think.
 */

export interface MergeRule {
  /** Strategic merge patch: the key items are joined by; "" joins plain values; absent means the list is replaced. */
  readonly patchKey?: string;
  /** Server-side apply: items known by these fields, plain values as a set, or the whole as one. */
  readonly apply: { readonly keys: readonly string[]; readonly defaults?: Readonly<Record<string, string>> } | "set" | "atomic";
}

/** Rules by path; `[]` stands for any item of a list: `spec.containers[].ports`. */
export type MergeRules = ReadonlyMap<string, MergeRule>;

const by = (key: string, ...others: readonly string[]): MergeRule => ({ patchKey: key, apply: { keys: [key, ...others] } });
const portAndProtocol = (port: string): MergeRule => ({
  patchKey: port,
  apply: { keys: [port, "protocol"], defaults: { protocol: "TCP" } },
});
const values: MergeRule = { patchKey: "", apply: "set" };
const atomic: MergeRule = { apply: "atomic" };

const metadata: Readonly<Record<string, MergeRule>> = {
  "metadata.finalizers": values,
  "metadata.ownerReferences": by("uid"),
};

const container = (path: string): Record<string, MergeRule> => ({
  [path]: by("name"),
  [`${path}[].env`]: by("name"),
  [`${path}[].ports`]: portAndProtocol("containerPort"),
  [`${path}[].volumeMounts`]: by("mountPath"),
  [`${path}[].volumeDevices`]: by("devicePath"),
});

const kinds: Readonly<Record<string, Readonly<Record<string, MergeRule>>>> = {
  Node: {
    "spec.podCIDRs": values,
    "status.addresses": by("type"),
    "status.conditions": by("type"),
  },
  Namespace: { "status.conditions": by("type") },
  Service: {
    "spec.ports": portAndProtocol("port"),
    "spec.selector": atomic,
    "spec.sessionAffinityConfig": { apply: "atomic" },
    "status.conditions": by("type"),
  },
  Pod: {
    ...container("spec.containers"),
    ...container("spec.initContainers"),
    "spec.volumes": by("name"),
    "spec.imagePullSecrets": by("name"),
    "spec.nodeSelector": atomic,
    "status.conditions": by("type"),
    "status.podIPs": by("ip"),
  },
  PersistentVolumeClaim: { "status.conditions": by("type"), "spec.accessModes": atomic, "status.accessModes": atomic },
  PersistentVolume: { "spec.accessModes": atomic, "spec.mountOptions": atomic, "spec.claimRef": atomic },
  StorageClass: { mountOptions: atomic, allowedTopologies: atomic },
  CSINode: { "spec.drivers": by("name"), "spec.drivers[].topologyKeys": atomic },
  ServiceAccount: { secrets: by("name"), imagePullSecrets: { patchKey: "name", apply: "atomic" } },
  Event: { involvedObject: atomic, source: atomic, related: atomic },
  EndpointSlice: { ports: atomic, endpoints: atomic },
};

/** The rules of a kind that is built in. */
export function mergeRulesOf(kind: string): MergeRules {
  return new Map(Object.entries({ ...metadata, ...kinds[kind] }));
}

/** The rules of a custom resource: lists are replaced whole unless its schema says otherwise. */
export function mergeRulesOfSchema(schema: unknown): MergeRules {
  const rules = new Map(Object.entries(metadata));
  collect(schema, "", rules);
  return rules;
}

interface SchemaNode {
  readonly properties?: Readonly<Record<string, unknown>>;
  readonly items?: unknown;
  readonly "x-kubernetes-list-type"?: string;
  readonly "x-kubernetes-list-map-keys"?: readonly string[];
  readonly "x-kubernetes-map-type"?: string;
}

function collect(schema: unknown, path: string, rules: Map<string, MergeRule>): void {
  if (typeof schema !== "object" || schema === null) return;
  const node = schema as SchemaNode;
  const keys = node["x-kubernetes-list-map-keys"];
  if (node["x-kubernetes-list-type"] === "map" && keys !== undefined) rules.set(path, { apply: { keys } });
  if (node["x-kubernetes-list-type"] === "set") rules.set(path, { apply: "set" });
  if (node["x-kubernetes-map-type"] === "atomic") rules.set(path, atomic);
  for (const [name, property] of Object.entries(node.properties ?? {})) collect(property, path === "" ? name : `${path}.${name}`, rules);
  if (node.items !== undefined) collect(node.items, `${path}[]`, rules);
}
