/** The target group of a backend of a route, and the binding that fills it. Pure. */
import type { TargetGroup } from "../model.ts";
import type { ServicePortView } from "../service-state.ts";
import type { Subnet } from "../subnets.ts";
import { sameFamily } from "../target-group-plan.ts";
import { allPorts, exactPorts, fromAddresses } from "../target-networking.ts";
import type { BindingSpec } from "../targets/binding.ts";
import type { BindingWish } from "../targets/owned-bindings.ts";
import { parseGoBool } from "../values.ts";
import type { Backend } from "./backends.ts";
import type { TargetGroupSettings } from "./config.ts";
import type { Draft } from "./draft.ts";
import { RouteFault } from "./fault.ts";
import { healthCheckOf } from "./health-checks.ts";
import { type Guard, sourceRangesOf } from "./load-balancer.ts";
import { recordOf } from "./merge.ts";
import { bindingLabels, parts, type TargetGroupIdentity, targetGroupName } from "./names.ts";
import type { EffectiveProtocol, Port } from "./ports.ts";
import { tagsOf } from "./tags.ts";
import { targetSettings } from "./target-settings.ts";
import { keyOf, type RouteView } from "./view.ts";

export interface BoundGroup {
  readonly group: TargetGroup;
  /** Absent: its targets are load balancers. */
  readonly binding?: BindingWish;
  /** The load balancer that is its target. */
  readonly target?: { readonly arn: string; readonly port: number };
}

/** What all target groups of a load balancer follow from. */
export interface GroupContext {
  readonly isDualStack: boolean;
  readonly internal: boolean;
  readonly source: Guard["source"];
  readonly subnets: readonly Subnet[];
}

const unsupported = (message: string) => new RouteFault("UnsupportedValue", message);

/** Throws a `RouteFault` where none can be made. */
export function boundGroup(
  draft: Draft,
  route: RouteView,
  backend: Exclude<Backend, { readonly kind: "TargetGroupName" }>,
  port: Port,
  context: GroupContext,
): BoundGroup {
  return backend.kind === "Service" ? ofService(draft, route, backend, port, context) : ofGateway(draft, route, backend, port);
}

function ofService(
  draft: Draft,
  route: RouteView,
  { service, port: servicePort }: Backend & { readonly kind: "Service" },
  port: Port,
  context: GroupContext,
): BoundGroup {
  const { settings, gateway, flavour, targets } = draft;
  const said = targetSettings(route, draft.targetConfiguration("Service", keyOf(service)), targets);
  const targetType = said.targetType ?? settings.defaultTargetType;
  const protocol = protocolOf(flavour.name, route, port, said);
  const protocolVersion = flavour.name === "alb" ? versionOf(route, port, servicePort, said) : undefined;
  const addressType = said.ipAddressType ?? familyOf(service.ipFamilies, context);
  if (addressType === "ipv6" && !context.isDualStack) throw unsupported("unsupported IPv6 configuration, lb not dual-stack");
  const controlPort = controlPortOf(said, protocol, targetType);
  const targetPort = targetPortOf(targetType, servicePort);
  const identity: TargetGroupIdentity = {
    gateway,
    route,
    backend: service,
    port: targetType === "instance" ? servicePort.nodePort : servicePort.targetPort,
    targetType,
    protocol,
    ...(protocolVersion && { protocolVersion }),
    ...(controlPort !== undefined && { controlPort }),
  };
  const name = said.targetGroupName || freeName(draft, identity, addressType, context);
  const part = parts.targetGroup(identity, servicePort.targetPort);
  const group: TargetGroup = {
    name,
    part,
    tags: tagsOf(said.tags ?? {}, draft, part),
    targetType,
    protocol,
    ...(protocolVersion && { protocolVersion }),
    port: targetPort,
    addressType,
    fixesAddressType: true,
    ...(controlPort !== undefined && { controlPort }),
    healthCheck: healthCheckOf(flavour.name, said, { protocol, targetType, ...(protocolVersion && { protocolVersion }) }, service),
    ...(!settings.gates.healthCheckAdvanced && flavour.name === "nlb" && { fixesHealthCheck: true }),
    attributes: recordOf(said.targetGroupAttributes),
  };
  const networking = networkingOf(draft, group, servicePort, context);
  const nodeSelector = targetType === "instance" ? said.nodeSelector : undefined;
  const { labels, annotations } = gateway.infrastructure;
  return {
    group,
    binding: {
      namespace: service.namespace,
      name,
      labels: { ...labels, ...bindingLabels(flavour, gateway) },
      ...(Object.keys(annotations).length > 0 && { annotations }),
      targetGroup: name,
      spec: {
        targetType,
        targetGroupProtocol: protocol,
        serviceRef: { name: service.name, port: servicePort.port },
        ipAddressType: addressType,
        vpcID: settings.vpc,
        multiClusterTargetGroup: said.enableMultiCluster ?? false,
        ...(nodeSelector && { nodeSelector }),
        ...(networking && { networking }),
      },
    },
  };
}

/** One that has both is reached by IPv4 where the load balancer has no IPv6: headless Services without a selector are given both. */
function familyOf(families: readonly string[], { isDualStack }: GroupContext): "ipv4" | "ipv6" {
  const hasChoice = families.includes("IPv4") && !isDualStack;
  return families.includes("IPv6") && !hasChoice ? "ipv6" : "ipv4";
}

/** An application load balancer behind a network load balancer. */
function ofGateway(draft: Draft, route: RouteView, backend: Backend & { readonly kind: "Gateway" }, port: Port): BoundGroup {
  const { settings, gateway, flavour } = draft;
  if (flavour.name !== "nlb") throw new RouteFault("InvalidKind", "Unknown backend reference kind");
  const said = targetSettings(route, draft.targetConfiguration("Gateway", keyOf(backend.gateway)), undefined);
  const protocol = protocolOf(flavour.name, route, port, said);
  if (said.targetControlPort !== undefined) throw unsupported("target control port is not supported for ALB target target group");
  const identity: TargetGroupIdentity = { gateway, route, backend: backend.gateway, port: backend.port, targetType: "alb", protocol };
  const part = parts.targetGroup(identity, backend.port);
  return {
    group: {
      name: said.targetGroupName || targetGroupName(settings.cluster, identity),
      part,
      tags: tagsOf(said.tags ?? {}, draft, part),
      targetType: "alb",
      protocol,
      port: backend.port,
      healthCheck: healthCheckOf(flavour.name, said, { protocol, targetType: "alb", albPort: backend.port }, undefined),
      attributes: recordOf(said.targetGroupAttributes),
    },
    target: { arn: backend.arn, port: backend.port },
  };
}

/** One whose name another has that stands, and that it cannot stand for, takes another name. */
function freeName(
  { settings, targetGroups, takenNames }: Draft,
  identity: TargetGroupIdentity,
  addressType: "ipv4" | "ipv6",
  { internal }: GroupContext,
): string {
  const usual = targetGroupName(settings.cluster, identity);
  const isOfOtherFamily = targetGroups.some((group) => group.name === usual && !sameFamily(group, { addressType }));
  const apart = [
    ...(isOfOtherFamily ? [addressType] : []),
    ...(takenNames.includes(usual) ? [internal ? "internal" : "internet-facing"] : []),
  ].join("");
  return apart === "" ? usual : targetGroupName(settings.cluster, { ...identity, apart });
}

const families = {
  alb: { protocols: ["HTTP", "HTTPS"], text: "[HTTP, HTTPS]" },
  nlb: { protocols: ["TCP", "UDP", "TCP_UDP", "TLS"], text: "[TCP, UDP, TCP_UDP, TLS, QUIC, TCP_QUIC]" },
} as const;

const dictating: readonly EffectiveProtocol[] = ["TCP_UDP", "QUIC", "TCP_QUIC"];
const byRoute: Readonly<Record<string, TargetGroup["protocol"]>> = {
  HTTPRoute: "HTTP",
  GRPCRoute: "HTTP",
  TCPRoute: "TCP",
  UDPRoute: "UDP",
  TLSRoute: "TLS",
};

function protocolOf(flavour: "alb" | "nlb", { kind }: RouteView, { protocol: listener }: Port, said: TargetGroupSettings) {
  const { protocols, text } = families[flavour];
  if (dictating.includes(listener)) return listener as TargetGroup["protocol"];
  // What is passed through is not decrypted: its listener is one of TCP, and AWS takes no group of TLS behind it.
  const usual = kind === "TLSRoute" && listener === "TCP" ? "TCP" : (byRoute[kind] ?? "TCP");
  const given = said.protocol ?? usual;
  if (!(protocols as readonly string[]).includes(given)) throw unsupported(`backend protocol must be within ${text}: ${given}`);
  return given;
}

/** Behind plain HTTP there is no other. */
function versionOf(
  { kind }: RouteView,
  { protocol }: Port,
  { appProtocol }: ServicePortView,
  said: TargetGroupSettings,
): "HTTP1" | "HTTP2" | "GRPC" {
  if (protocol !== "HTTPS") return "HTTP1";
  return said.protocolVersion ?? (kind === "GRPCRoute" ? "GRPC" : appProtocol === "kubernetes.io/h2c" ? "HTTP2" : "HTTP1");
}

function controlPortOf({ targetControlPort }: TargetGroupSettings, protocol: string, targetType: string): number | undefined {
  if (targetControlPort === undefined) return undefined;
  if (protocol !== "HTTP" && protocol !== "HTTPS")
    throw unsupported(`target control port is only supported for HTTP and HTTPS protocols, got: ${protocol}`);
  if (targetType === "instance") throw unsupported("target control port is not supported for instance target target group");
  return targetControlPort;
}

/** A named port differs from pod to pod, so a group of pods then stands for all of them under port 1. */
function targetPortOf(targetType: string, { targetPort, nodePort }: ServicePortView): number {
  const port = targetType === "instance" ? nodePort : typeof targetPort === "number" ? targetPort : 1;
  if (port !== 0) return port;
  throw unsupported(
    targetType === "instance"
      ? "TargetGroup port is empty. When using Instance targets, your service must be of type 'NodePort' or 'LoadBalancer'"
      : "TargetGroup port is empty. Are you using the correct service type?",
  );
}

/** A rule per port, from the one group that speaks for the load balancer; or from addresses where it has no group. */
function networkingOf(
  draft: Draft,
  group: TargetGroup,
  port: ServicePortView,
  { source, internal, subnets, isDualStack }: GroupContext,
): BindingSpec["networking"] {
  if (source.kind === "nobody") return undefined;
  const access = { group, trafficPort: group.targetType === "instance" ? port.nodePort : port.targetPort };
  if (source.kind === "group") {
    const from = [{ securityGroup: { groupID: source.id } }];
    if (!draft.settings.restrictsRules) return { ingress: [{ from, ports: allPorts(access) }] };
    const control = group.controlPort === undefined ? [] : [{ protocol: "TCP", port: group.controlPort } as const];
    return { ingress: [...exactPorts(access), ...control].map((each) => ({ from, ports: [each] })) };
  }
  const preservesClients = parseGoBool(group.attributes["preserve_client_ip.enabled"] ?? "") ?? group.targetType === "instance";
  const { vpcCidrs } = draft;
  return fromAddresses({ ...access, preservesClients, internal, subnets, vpcCidrs, ranges: () => sourceRangesOf(draft, isDualStack) });
}
