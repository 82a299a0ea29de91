/** Tables as `kubectl get` prints them. */
import { asList, asObject, asText, at, type Json, type JsonObject, type KubeObject } from "./json.ts";
import { firstAt } from "./json-path.ts";
import type { PrinterColumn, Resource } from "./resources.ts";

interface Column {
  readonly name: string;
  readonly type?: string;
  readonly wide?: boolean;
  readonly cell: (object: KubeObject, now: number) => Json;
}

/** The table of some objects; `columns` false leaves the definitions out, as later events of a watch do. */
export function tableOf(
  resource: Resource,
  objects: readonly KubeObject[],
  metadata: JsonObject,
  now: number,
  columns: boolean,
): JsonObject {
  const custom = resource.printerColumns;
  const described: readonly Column[] = custom === undefined ? (tables[resource.kind] ?? [name, age]) : [name, ...custom.map(customColumn)];
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: columns
      ? described.map((column) => ({
          name: column.name,
          type: column.type ?? "string",
          format: column === name || column === lastName ? "name" : "",
          description: column.name,
          priority: column.wide === true ? 1 : 0,
        }))
      : null,
    rows: objects.map((object) => ({
      cells: described.map((column) => column.cell(object, now)),
      object: partialMetadata(object),
    })),
  };
}

/** An object's metadata alone. */
export function partialMetadata(object: KubeObject): JsonObject {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}

const none = "<none>";
const unset = "<unset>";
const unknown = "<unknown>";

const name: Column = { name: "Name", cell: ({ metadata }) => metadata.name };
const lastName: Column = { name: "Name", wide: true, cell: ({ metadata }) => metadata.name };
const age: Column = { name: "Age", cell: ({ metadata }, now) => since(metadata.creationTimestamp, now) };
const createdAt: Column = { name: "Created At", type: "date", cell: ({ metadata }) => metadata.creationTimestamp };
const dataCount: Column = {
  name: "Data",
  cell: ({ data, binaryData }) => Object.keys(asObject(data)).length + Object.keys(asObject(binaryData)).length,
};

const tables: Readonly<Record<string, readonly Column[]>> = {
  Node: [
    name,
    { name: "Status", cell: nodeStatus },
    { name: "Roles", cell: nodeRoles },
    age,
    { name: "Version", cell: (node) => asText(at(node.status, "nodeInfo", "kubeletVersion")) },
    { name: "Internal-IP", wide: true, cell: (node) => nodeAddress(node, "InternalIP") },
    { name: "External-IP", wide: true, cell: (node) => nodeAddress(node, "ExternalIP") },
    { name: "OS-Image", wide: true, cell: (node) => asText(at(node.status, "nodeInfo", "osImage")) || unknown },
    { name: "Kernel-Version", wide: true, cell: (node) => asText(at(node.status, "nodeInfo", "kernelVersion")) || unknown },
    { name: "Container-Runtime", wide: true, cell: (node) => asText(at(node.status, "nodeInfo", "containerRuntimeVersion")) || unknown },
  ],
  Service: [
    name,
    { name: "Type", cell: ({ spec }) => asText(asObject(spec).type) },
    { name: "Cluster-IP", cell: ({ spec }) => asText(asObject(spec).clusterIP) || none },
    { name: "External-IP", cell: serviceAddress },
    { name: "Port(s)", cell: ({ spec }) => servicePorts(asObject(spec)) },
    age,
    { name: "Selector", wide: true, cell: ({ spec }) => labels(asObject(asObject(spec).selector)) },
  ],
  Pod: [
    name,
    { name: "Ready", cell: podReady },
    { name: "Status", cell: (pod) => (pod.metadata.deletionTimestamp === undefined ? asText(at(pod.status, "phase")) : "Terminating") },
    { name: "Restarts", cell: podRestarts },
    age,
    { name: "IP", wide: true, cell: (pod) => asText(at(pod.status, "podIP")) || none },
    { name: "Node", wide: true, cell: (pod) => asText(at(pod.spec, "nodeName")) || none },
    { name: "Nominated Node", wide: true, cell: (pod) => asText(at(pod.status, "nominatedNodeName")) || none },
    { name: "Readiness Gates", wide: true, cell: () => none },
  ],
  Event: [
    {
      name: "Last Seen",
      cell: (event, now) => since(asText(event.lastTimestamp) || asText(event.firstTimestamp) || asText(event.eventTime), now),
    },
    { name: "Type", cell: (event) => asText(event.type) },
    { name: "Reason", cell: (event) => asText(event.reason) },
    {
      name: "Object",
      cell: (event) => `${asText(at(event, "involvedObject", "kind")).toLowerCase()}/${asText(at(event, "involvedObject", "name"))}`,
    },
    { name: "Subobject", wide: true, cell: (event) => asText(at(event, "involvedObject", "fieldPath")) },
    { name: "Source", wide: true, cell: eventSource },
    { name: "Message", cell: (event) => asText(event.message).trim() },
    { name: "First Seen", wide: true, cell: (event, now) => since(asText(event.firstTimestamp) || asText(event.eventTime), now) },
    { name: "Count", wide: true, cell: (event) => (typeof event.count === "number" ? event.count : 1) },
    lastName,
  ],
  Lease: [name, { name: "Holder", cell: ({ spec }) => asText(asObject(spec).holderIdentity) }, age],
  Namespace: [name, { name: "Status", cell: ({ status }) => asText(asObject(status).phase) }, age],
  ConfigMap: [name, dataCount, age],
  Secret: [name, { name: "Type", cell: ({ type }) => asText(type) }, dataCount, age],
  Endpoints: [name, { name: "Endpoints", cell: endpointsOf }, age],
  EndpointSlice: [
    name,
    { name: "AddressType", cell: ({ addressType }) => asText(addressType) },
    { name: "Ports", cell: ({ ports }) => few(asList(ports).map((port) => String(asObject(port).port ?? "*"))) || "<unset>" },
    {
      name: "Endpoints",
      cell: ({ endpoints }) => few(asList(endpoints).flatMap((one) => asList(asObject(one).addresses).map(asText))) || "<unset>",
    },
    age,
  ],
  Ingress: [
    name,
    { name: "Class", cell: ({ spec }) => asText(asObject(spec).ingressClassName) || none },
    {
      name: "Hosts",
      cell: ({ spec }) =>
        few(
          asList(asObject(spec).rules)
            .map((rule) => asText(asObject(rule).host))
            .filter((host) => host !== ""),
        ) || "*",
    },
    { name: "Address", cell: ({ status }) => ingressAddresses(status) },
    { name: "Ports", cell: ({ spec }) => (asList(asObject(spec).tls).length > 0 ? "80, 443" : "80") },
    age,
  ],
  IngressClass: [
    name,
    { name: "Controller", cell: ({ spec }) => asText(asObject(spec).controller) },
    { name: "Parameters", cell: ({ spec }) => asText(at(spec, "parameters", "name")) || none },
    age,
  ],
  PersistentVolumeClaim: [
    name,
    {
      name: "Status",
      cell: (claim) => (claim.metadata.deletionTimestamp === undefined ? asText(at(claim.status, "phase")) : "Terminating"),
    },
    { name: "Volume", cell: ({ spec }) => asText(asObject(spec).volumeName) },
    { name: "Capacity", cell: ({ spec, status }) => boundOnly(spec, asText(at(status, "capacity", "storage"))) },
    { name: "Access Modes", cell: ({ spec, status }) => boundOnly(spec, accessModes(asObject(status).accessModes)) },
    { name: "StorageClass", cell: ({ spec }) => asText(asObject(spec).storageClassName) },
    { name: "VolumeAttributesClass", cell: ({ spec }) => asText(asObject(spec).volumeAttributesClassName) || unset },
    age,
    { name: "VolumeMode", wide: true, cell: ({ spec }) => asText(asObject(spec).volumeMode) || unset },
  ],
  PersistentVolume: [
    name,
    { name: "Capacity", cell: ({ spec }) => asText(at(spec, "capacity", "storage")) },
    { name: "Access Modes", cell: ({ spec }) => accessModes(asObject(spec).accessModes) },
    { name: "Reclaim Policy", cell: ({ spec }) => asText(asObject(spec).persistentVolumeReclaimPolicy) },
    {
      name: "Status",
      cell: (volume) => (volume.metadata.deletionTimestamp === undefined ? asText(at(volume.status, "phase")) : "Terminating"),
    },
    { name: "Claim", cell: ({ spec }) => claimOf(spec) },
    { name: "StorageClass", cell: ({ spec }) => asText(asObject(spec).storageClassName) },
    { name: "VolumeAttributesClass", cell: ({ spec }) => asText(asObject(spec).volumeAttributesClassName) || unset },
    { name: "Reason", cell: ({ status }) => asText(asObject(status).reason) },
    age,
    { name: "VolumeMode", wide: true, cell: ({ spec }) => asText(asObject(spec).volumeMode) || unset },
  ],
  ServiceAccount: [name, age],
  Role: [name, createdAt],
  ClusterRole: [name, createdAt],
  RoleBinding: [name, { name: "Role", cell: roleOf }, age],
  ClusterRoleBinding: [name, { name: "Role", cell: roleOf }, age],
  CustomResourceDefinition: [name, createdAt],
};

function customColumn(column: PrinterColumn): Column {
  return {
    name: column.name,
    type: column.type,
    wide: column.priority > 0,
    cell(object, now) {
      const value = firstAt(object, column.jsonPath);
      if (value === undefined) return null;
      return column.type === "date" ? since(asText(value), now) : value;
    },
  };
}

/** A claim has these from its volume. */
function boundOnly(spec: Json | undefined, text: string): string {
  return asText(asObject(spec).volumeName) === "" ? "" : text;
}

const shortModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

function accessModes(modes: Json | undefined): string {
  const given = asList(modes).map(asText);
  return Object.entries(shortModes)
    .filter(([mode]) => given.includes(mode))
    .map(([, short]) => short)
    .join(",");
}

function claimOf(spec: Json | undefined): string {
  const { namespace, name: of } = asObject(asObject(spec).claimRef);
  return of === undefined ? "" : `${asText(namespace)}/${asText(of)}`;
}

function nodeStatus(node: KubeObject): string {
  const ready = asList(at(node.status, "conditions"))
    .map(asObject)
    .find((condition) => condition.type === "Ready");
  const base = ready === undefined ? "Unknown" : ready.status === "True" ? "Ready" : "NotReady";
  return at(node.spec, "unschedulable") === true ? `${base},SchedulingDisabled` : base;
}

function nodeRoles(node: KubeObject): string {
  const prefix = "node-role.kubernetes.io/";
  const roles = Object.keys(asObject(node.metadata.labels)).filter((key) => key.startsWith(prefix));
  return (
    roles
      .map((key) => key.slice(prefix.length))
      .sort()
      .join(",") || none
  );
}

function nodeAddress(node: KubeObject, type: string): string {
  const found = asList(at(node.status, "addresses"))
    .map(asObject)
    .find((address) => address.type === type);
  return asText(found?.address) || none;
}

function serviceAddress(service: KubeObject): string {
  const spec = asObject(service.spec);
  const external = asList(spec.externalIPs).map(asText);
  if (spec.type === "ExternalName") return asText(spec.externalName);
  if (spec.type === "LoadBalancer") {
    return [ingressAddresses(service.status), ...external].filter((one) => one !== "").join(",") || "<pending>";
  }
  return external.join(",") || none;
}

function ingressAddresses(status: Json | undefined): string {
  return asList(at(status, "loadBalancer", "ingress"))
    .map((ingress) => asText(asObject(ingress).ip) || asText(asObject(ingress).hostname))
    .join(",");
}

function servicePorts(spec: JsonObject): string {
  const ports = asList(spec.ports).map((item) => {
    const { port, nodePort, protocol } = asObject(item);
    return `${port}${nodePort === undefined ? "" : `:${nodePort}`}/${protocol}`;
  });
  return ports.join(",") || none;
}

function labels(values: JsonObject): string {
  return (
    Object.entries(values)
      .map(([key, value]) => `${key}=${value}`)
      .sort()
      .join(",") || none
  );
}

function podReady(pod: KubeObject): string {
  const containers = asList(at(pod.spec, "containers")).length;
  return `${asList(at(pod.status, "containerStatuses")).filter((status) => asObject(status).ready === true).length}/${containers}`;
}

function podRestarts(pod: KubeObject): string {
  return String(asList(at(pod.status, "containerStatuses")).reduce((sum: number, one) => sum + Number(asObject(one).restartCount ?? 0), 0));
}

function eventSource(event: KubeObject): string {
  const { component, host } = asObject(event.source);
  const source = asText(component) || asText(event.reportingComponent);
  return asText(host) === "" ? source : `${source}, ${asText(host)}`;
}

function endpointsOf(object: KubeObject): string {
  const all = asList(object.subsets).flatMap((item) => {
    const { addresses, ports } = asObject(item);
    return asList(addresses).flatMap((address) => asList(ports).map((port) => `${asText(asObject(address).ip)}:${asObject(port).port}`));
  });
  return few(all) || none;
}

function roleOf(binding: KubeObject): string {
  const { kind, name } = asObject(binding.roleRef);
  return `${asText(kind)}/${asText(name)}`;
}

function few(values: readonly string[]): string {
  return values.length <= 3 ? values.join(",") : `${values.slice(0, 3).join(",")} + ${values.length - 3} more...`;
}

/** `45s`, `3m12s`, `5h2m`, `3d4h`, `12d`, `2y10d`: coarser the older, as kubectl prints it. */
function since(timestamp: string, now: number): string {
  const then = Date.parse(timestamp);
  if (Number.isNaN(then)) return unknown;
  const seconds = Math.max(0, Math.floor((now - then) / 1000));
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const join = (big: string, small: number, unit: string) => (small === 0 ? big : `${big}${small}${unit}`);
  if (seconds < 120) return `${seconds}s`;
  if (minutes < 10) return join(`${minutes}m`, seconds % 60, "s");
  if (hours < 3) return `${minutes}m`;
  if (hours < 8) return join(`${hours}h`, minutes % 60, "m");
  if (hours < 48) return `${hours}h`;
  if (days < 8) return join(`${days}d`, hours % 24, "h");
  if (days < 730) return `${days}d`;
  return join(`${Math.floor(days / 365)}y`, days % 365, "d");
}
