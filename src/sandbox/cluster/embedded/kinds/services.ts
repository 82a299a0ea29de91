import { asList, asObject, asText, copy, isObject, type JsonObject, type KubeObject, same } from "../json.ts";
import { isSubdomain, subdomain } from "../metadata.ts";
import type { Behaviour } from "../resources.ts";
import { type FieldError, fieldErrors } from "../status.ts";
import type { Allocator } from "./allocator.ts";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const protocols = ["SCTP", "TCP", "UDP"];

/** Services: defaults, addresses and node ports given out on write and taken back when the type no longer needs them. */
export function services(allocator: Allocator): Behaviour {
  return {
    empty: { spec: {}, status: { loadBalancer: {} } },
    selectable: {
      "spec.clusterIP": (service) => asText(asObject(service.spec).clusterIP),
      "spec.type": (service) => asText(asObject(service.spec).type),
    },
    complete(service, before) {
      const spec = asObject(service.spec);
      service.spec = spec;
      service.status = { loadBalancer: {}, ...asObject(service.status) };
      for (const { address } of published(service)) if (asText(address.ip) !== "") address.ipMode ??= "VIP";
      if (before !== undefined) keepAllocated(spec, asObject(before.spec));
      defaults(spec);
      if (before !== undefined) dropUnneeded(service, spec, asObject(before.spec));
      allocate(service, spec, allocator);
    },
    validate: (service, before) => [
      ...specErrors(service, allocator),
      ...statusErrors(service),
      ...(before === undefined ? [] : changeErrors(service, before)),
    ],
  };
}

function defaults(spec: JsonObject): void {
  spec.type ??= "ClusterIP";
  spec.sessionAffinity ??= "None";
  if (spec.sessionAffinity === "ClientIP") spec.sessionAffinityConfig ??= { clientIP: { timeoutSeconds: 10800 } };
  else delete spec.sessionAffinityConfig;
  if (Array.isArray(spec.ports)) {
    spec.ports = spec.ports.map((item) => {
      const port = asObject(item);
      const targetPort = port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "" ? port.port : port.targetPort;
      return { ...port, protocol: port.protocol ?? "TCP", ...(targetPort === undefined ? {} : { targetPort }) };
    });
  }
  if (spec.type !== "ExternalName") spec.internalTrafficPolicy ??= "Cluster";
  if (spec.type === "NodePort" || spec.type === "LoadBalancer") spec.externalTrafficPolicy ??= "Cluster";
  if (spec.type === "LoadBalancer") spec.allocateLoadBalancerNodePorts ??= true;
}

/** A replace that leaves out what the server had given out keeps it. */
function keepAllocated(spec: JsonObject, old: JsonObject): void {
  if ((spec.type ?? "ClusterIP") !== "ExternalName" && old.type !== "ExternalName") {
    spec.clusterIP ??= old.clusterIP;
    if (spec.clusterIP === old.clusterIP) spec.clusterIPs ??= copy(old.clusterIPs ?? null);
    else if (same(spec.clusterIPs, old.clusterIPs)) spec.clusterIPs = [spec.clusterIP ?? ""];
  }
  if (needsNodePorts(spec) && needsNodePorts(old)) {
    const known = new Map(asList(old.ports).map((port) => [asText(asObject(port).name), asObject(port).nodePort]));
    for (const item of asList(spec.ports)) {
      const port = asObject(item);
      const nodePort = known.get(asText(port.name));
      if (port.nodePort === undefined && nodePort !== undefined) port.nodePort = nodePort;
    }
  }
  if (needsHealthCheckPort(spec) && needsHealthCheckPort(old)) spec.healthCheckNodePort ??= old.healthCheckNodePort;
}

/** When the type changes, what only the old type needed goes, unless the writer changed it in the same breath. */
function dropUnneeded(service: KubeObject, spec: JsonObject, old: JsonObject): void {
  if (spec.type !== "LoadBalancer") service.status = { ...asObject(service.status), loadBalancer: {} };
  if (spec.type === old.type && !(needsHealthCheckPort(old) && !needsHealthCheckPort(spec))) return;
  const drop = (name: string, unneeded: boolean) => {
    if (unneeded && same(spec[name], old[name])) delete spec[name];
  };
  drop("clusterIP", spec.type === "ExternalName");
  drop("clusterIPs", spec.type === "ExternalName");
  drop("ipFamilies", spec.type === "ExternalName");
  drop("ipFamilyPolicy", spec.type === "ExternalName");
  drop("internalTrafficPolicy", spec.type === "ExternalName");
  drop("externalTrafficPolicy", spec.type !== "NodePort" && spec.type !== "LoadBalancer");
  drop("healthCheckNodePort", !needsHealthCheckPort(spec));
  drop("allocateLoadBalancerNodePorts", spec.type !== "LoadBalancer");
  drop("loadBalancerClass", spec.type !== "LoadBalancer");
  if (!needsNodePorts(spec)) {
    const known = new Set(asList(old.ports).map((port) => asObject(port).nodePort));
    for (const port of asList(spec.ports)) if (isObject(port) && known.has(port.nodePort)) delete port.nodePort;
  }
}

function allocate(service: KubeObject, spec: JsonObject, allocator: Allocator): void {
  if (spec.type === "ExternalName") return;
  const self = service.metadata;
  const headless = spec.clusterIP === "None";
  if (asText(spec.clusterIP) === "") spec.clusterIP = asText(asList(spec.clusterIPs)[0]) || allocator.address(self);
  if (asList(spec.clusterIPs).length === 0) spec.clusterIPs = [spec.clusterIP!];
  const dual = headless && Object.keys(asObject(spec.selector)).length === 0;
  spec.ipFamilyPolicy ??= dual ? "RequireDualStack" : "SingleStack";
  spec.ipFamilies ??= dual ? ["IPv4", "IPv6"] : ["IPv4"];
  const taken = new Set<number>();
  if (needsNodePorts(spec) || spec.type === "NodePort") {
    for (const item of asList(spec.ports)) {
      const port = asObject(item);
      if (port.nodePort === undefined || port.nodePort === 0) port.nodePort = allocator.nodePort(self, taken);
      taken.add(Number(port.nodePort));
    }
  }
  if (needsHealthCheckPort(spec) && !spec.healthCheckNodePort) spec.healthCheckNodePort = allocator.nodePort(self, taken);
}

function needsNodePorts(spec: JsonObject): boolean {
  return spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
}

function needsHealthCheckPort(spec: JsonObject): boolean {
  return spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";
}

function specErrors(service: KubeObject, allocator: Allocator): FieldError[] {
  const spec = asObject(service.spec);
  const errors: FieldError[] = [];
  const ports = asList(spec.ports);
  if (ports.length === 0 && spec.clusterIP !== "None" && spec.type !== "ExternalName") errors.push(fieldErrors.required("spec.ports"));
  const names = new Set<string>();
  for (const [i, item] of ports.entries()) errors.push(...portErrors(asObject(item), `spec.ports[${i}]`, ports.length > 1, names));
  if (!types.includes(asText(spec.type))) errors.push(fieldErrors.unsupported("spec.type", spec.type ?? "", types));
  if (!["ClientIP", "None"].includes(asText(spec.sessionAffinity))) {
    errors.push(fieldErrors.unsupported("spec.sessionAffinity", spec.sessionAffinity ?? "", ["ClientIP", "None"]));
  }
  if (spec.type === "ExternalName" && asText(spec.externalName) === "") errors.push(fieldErrors.required("spec.externalName"));
  if (spec.externalTrafficPolicy !== undefined && spec.type !== "NodePort" && spec.type !== "LoadBalancer") {
    errors.push(
      fieldErrors.invalid("spec.externalTrafficPolicy", spec.externalTrafficPolicy, "may only be set for externally-accessible services"),
    );
  }
  if (spec.loadBalancerClass !== undefined && spec.type !== "LoadBalancer") {
    errors.push(fieldErrors.forbidden("spec.loadBalancerClass", "may only be used when `type` is 'LoadBalancer'"));
  }
  for (const [i, item] of ports.entries()) {
    const nodePort = asObject(item).nodePort;
    const why = typeof nodePort === "number" ? allocator.refusal(nodePort, service.metadata) : undefined;
    if (why !== undefined) errors.push(fieldErrors.invalid(`spec.ports[${i}].nodePort`, nodePort!, why));
  }
  return errors;
}

/** The addresses in the status, each with where it stands. */
function published(service: KubeObject): { readonly field: string; readonly address: JsonObject }[] {
  return asList(asObject(asObject(service.status).loadBalancer).ingress).map((item, i) => ({
    field: `status.loadBalancer.ingress[${i}]`,
    address: asObject(item),
  }));
}

function statusErrors(service: KubeObject): FieldError[] {
  return published(service).flatMap(({ field, address }) => {
    const hostname = asText(address.hostname);
    return hostname === "" || isSubdomain(hostname) ? [] : [fieldErrors.invalid(`${field}.hostname`, hostname, subdomain)];
  });
}

function portErrors(port: JsonObject, field: string, several: boolean, names: Set<string>): FieldError[] {
  const errors: FieldError[] = [];
  const name = asText(port.name);
  if (several && name === "") errors.push(fieldErrors.required(`${field}.name`));
  else if (name !== "" && names.has(name)) errors.push(fieldErrors.duplicate(`${field}.name`, name));
  names.add(name);
  const range = (value: JsonObject[string], of: string) => {
    if (typeof value === "number" && (value < 1 || value > 65535)) {
      errors.push(fieldErrors.invalid(`${field}.${of}`, value, "must be between 1 and 65535, inclusive"));
    }
  };
  range(port.port ?? 0, "port");
  if (!protocols.includes(asText(port.protocol))) {
    errors.push(fieldErrors.unsupported(`${field}.protocol`, port.protocol ?? "", protocols));
  }
  range(port.targetPort, "targetPort");
  return errors;
}

function changeErrors(service: KubeObject, before: KubeObject): FieldError[] {
  const [spec, old] = [asObject(service.spec), asObject(before.spec)];
  const errors: FieldError[] = [];
  if (spec.type !== "ExternalName" && old.type !== "ExternalName" && spec.clusterIP !== old.clusterIP) {
    errors.push(fieldErrors.invalid("spec.clusterIPs[0]", [spec.clusterIP ?? ""], "may not change once set"));
  }
  if (spec.type === "LoadBalancer" && old.type === "LoadBalancer" && spec.loadBalancerClass !== old.loadBalancerClass) {
    errors.push(fieldErrors.invalid("spec.loadBalancerClass", spec.loadBalancerClass ?? null, "may not change once set"));
  }
  return errors;
}
