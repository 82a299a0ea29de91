/** The target group of a port of a Service, and the binding that fills it. Pure. */
import type { Attributes, TargetGroup } from "../model.ts";
import { sameFamily } from "../target-group-plan.ts";
import type { BindingWish } from "../targets/owned-bindings.ts";
import { parseGoBool } from "../values.ts";
import type { Draft } from "./draft.ts";
import { healthCheckOf } from "./health-check.ts";
import type { Protocol } from "./listeners.ts";
import { bindingLabels, parts, targetGroupName } from "./names.ts";
import { type NetworkingWish, networkingOf } from "./networking.ts";
import { ServiceFault } from "./reader.ts";
import { tagsOf } from "./tags.ts";
import type { ServicePortView, ServiceView } from "./view.ts";

export interface BoundGroup {
  readonly group: TargetGroup;
  readonly binding: BindingWish;
}

/** What all target groups of a load balancer follow from. */
export interface GroupWish extends Omit<NetworkingWish, "group" | "backing" | "port" | "preservesClients"> {
  readonly isDualStack: boolean;
}

/** Throws a `ServiceFault` where none can be made. */
export function boundGroup(draft: Draft, backing: ServiceView, port: ServicePortView, protocol: Protocol, wish: GroupWish): BoundGroup {
  const { of, read, settings } = draft;
  const targetType = targetTypeOf(draft, backing, port);
  const addressType = backing.ipFamilies.includes("IPv6") ? "ipv6" : "ipv4";
  if (addressType === "ipv6" && !wish.isDualStack) throw new ServiceFault("unsupported IPv6 configuration, lb not dual-stack");
  const healthCheck = healthCheckOf(draft, targetType, backing);
  const attributes = attributesOf(draft, port);
  const targetPort = targetPortOf(targetType, port);
  const part = parts.targetGroup(backing, port.port);
  const identity = {
    backing,
    ...(backing.uid !== of.uid && { base: of }),
    targetPort,
    servicePort: port.port,
    targetType,
    protocol,
    healthCheckProtocol: healthCheck.protocol,
    healthCheckInterval: healthCheck.interval,
  };
  const usual = targetGroupName(settings.cluster, identity);
  const isOfOtherFamily = draft.targetGroups.some((group) => group.name === usual && !sameFamily(group, { addressType }));
  const apart = [
    ...(isOfOtherFamily ? [addressType] : []),
    ...(draft.takenNames.includes(usual) ? [wish.internal ? "internal" : "internet-facing"] : []),
  ].join("");
  const name = targetGroupName(settings.cluster, { ...identity, apart });
  const group: TargetGroup = {
    name,
    part,
    tags: tagsOf(draft, part),
    targetType,
    protocol,
    port: targetPort,
    addressType,
    fixesAddressType: true,
    healthCheck,
    ...(!settings.gates.healthCheckAdvanced && { fixesHealthCheck: true }),
    attributes,
  };
  const networking = networkingOf(draft, { ...wish, group, backing, port, preservesClients: preservesClients(group) });
  const labels = targetType === "instance" ? read.get("aws-load-balancer-target-node-labels") : undefined;
  return {
    group,
    binding: {
      namespace: backing.namespace,
      name,
      labels: bindingLabels(of),
      targetGroup: name,
      spec: {
        targetType,
        targetGroupProtocol: protocol,
        serviceRef: { name: backing.name, port: port.port },
        ipAddressType: addressType,
        vpcID: settings.vpc,
        multiClusterTargetGroup: read.get("aws-load-balancer-multi-cluster-target-group") ?? false,
        ...(labels && Object.keys(labels).length > 0 && { nodeSelector: { matchLabels: labels } }),
        ...(networking && { networking }),
      },
    },
  };
}

function targetTypeOf({ read, settings, warn }: Draft, backing: ServiceView, { nodePort }: ServicePortView): "instance" | "ip" {
  if (read.get("aws-load-balancer-type") === "nlb-ip") return "ip";
  const given = read.get("aws-load-balancer-nlb-target-type");
  const asked = given ?? settings.defaultTargetType;
  if (asked === "ip") {
    if (!settings.gates.ipTargetType) throw new ServiceFault("unsupported targetType: ip when EnableIPTargetType is false");
    return "ip";
  }
  if (asked !== "instance") warn(`annotation aws-load-balancer-nlb-target-type: ${asked} counts as instance: it takes ip or instance`);
  if (backing.type === "ClusterIP") throw new ServiceFault(`unsupported service type "ClusterIP" for load balancer target type "${asked}"`);
  if (nodePort === 0 && !backing.allocatesNodePorts)
    throw new ServiceFault("unable to support instance target type with an unallocated NodePort");
  return "instance";
}

/** A named port differs from pod to pod, so a group of pods then stands for all of them under port 1. */
function targetPortOf(targetType: string, { targetPort, nodePort }: ServicePortView): number {
  const port = targetType === "instance" ? nodePort : typeof targetPort === "number" ? targetPort : 1;
  if (port !== 0) return port;
  throw new ServiceFault(
    targetType === "instance"
      ? "TargetGroup port is empty. When using Instance targets, your service be must of type 'NodePort' or 'LoadBalancer'"
      : "TargetGroup port is empty. Are you using the correct service type?",
  );
}

const proxyProtocol = "proxy_protocol_v2.enabled";
const preserveClients = "preserve_client_ip.enabled";

function attributesOf({ read }: Draft, { port }: ServicePortView): Attributes {
  const attributes: Record<string, string> = { [proxyProtocol]: "false", ...read.get("aws-load-balancer-target-group-attributes") };
  for (const [key, value] of Object.entries(read.family("aws-load-balancer-target-group-attributes.", port) ?? {})) {
    if (value !== "") attributes[key] = value;
  }
  const ports = read.get("aws-load-balancer-proxy-protocol-per-target-group");
  if (ports) attributes[proxyProtocol] = String(ports.includes(port));
  if (read.get("aws-load-balancer-proxy-protocol")) attributes[proxyProtocol] = "true";
  const preserves = attributes[preserveClients];
  if (preserves !== undefined && parseGoBool(preserves) === undefined)
    throw new ServiceFault(`failed to parse attribute ${preserveClients}=${preserves}: it takes true or false`);
  if (attributes[proxyProtocol] === "") delete attributes[proxyProtocol];
  return Object.fromEntries(Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Whether targets see the addresses of clients, as far as it is up to us. */
function preservesClients({ attributes, targetType }: TargetGroup): boolean {
  return parseGoBool(attributes[preserveClients] ?? "") ?? targetType === "instance";
}
