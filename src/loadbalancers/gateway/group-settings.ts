/** What the target group of a Service is to be, as its author and the listener of its route say it. Pure. */
import type { Tags, TargetGroup } from "../model.ts";
import type { ServicePortView, ServiceView } from "../service-state.ts";
import type { LabelSelector } from "../targets/binding.ts";
import type { Backend } from "./backends.ts";
import type { TargetGroupSettings } from "./config.ts";
import type { Draft } from "./draft.ts";
import { RouteFault } from "./fault.ts";
import { healthCheckOf } from "./health-checks.ts";
import { recordOf } from "./merge.ts";
import type { EffectiveProtocol, Port } from "./ports.ts";
import { targetSettings, usualSettings } from "./target-settings.ts";
import { keyOf, type RouteView } from "./view.ts";

/** Everything by which one target group of a Service's port differs from another. */
export interface GroupSettings extends Pick<TargetGroup, "protocol" | "protocolVersion" | "healthCheck" | "attributes"> {
  readonly targetType: "instance" | "ip";
  readonly addressType: "ipv4" | "ipv6";
  readonly controlPort: number | undefined;
  readonly tags: Tags;
  readonly nodeSelector: LabelSelector | undefined;
  readonly isMultiCluster: boolean;
}

export type ServiceBackend = Backend & { readonly kind: "Service" };

export const unsupported = (message: string) => new RouteFault("UnsupportedValue", message);

/** What TargetGroupConfigurations say for a route, and for all routes of which nothing is said in particular. */
export function saidOf({ targetConfiguration, targets }: Draft, route: RouteView, service: ServiceView) {
  const configuration = targetConfiguration("Service", keyOf(service));
  return { said: targetSettings(route, configuration, targets), usual: usualSettings(configuration, targets) };
}

/** Throws a `RouteFault` for what cannot be had. */
export function settingsOf(
  { settings, flavour }: Draft,
  route: RouteView,
  { service, port: servicePort }: ServiceBackend,
  port: Port,
  { isDualStack }: { readonly isDualStack: boolean },
  said: TargetGroupSettings,
): GroupSettings {
  const targetType = said.targetType ?? settings.defaultTargetType;
  const protocol = protocolOf(flavour.name, route, port, said);
  const protocolVersion = flavour.name === "alb" ? versionOf(route, port, servicePort, said) : undefined;
  const addressType = said.ipAddressType ?? familyOf(service.ipFamilies, isDualStack);
  if (addressType === "ipv6" && !isDualStack) throw unsupported("unsupported IPv6 configuration, lb not dual-stack");
  return {
    targetType,
    protocol,
    ...(protocolVersion && { protocolVersion }),
    addressType,
    controlPort: controlPortOf(said, protocol, targetType),
    healthCheck: healthCheckOf(flavour.name, said, { protocol, targetType, ...(protocolVersion && { protocolVersion }) }, service),
    attributes: recordOf(said.targetGroupAttributes),
    tags: said.tags ?? {},
    nodeSelector: targetType === "instance" ? said.nodeSelector : undefined,
    isMultiCluster: said.enableMultiCluster ?? false,
  };
}

/** One that has both is reached by IPv4 where the load balancer has no IPv6: headless Services without a selector are given both. */
function familyOf(families: readonly string[], isDualStack: boolean): "ipv4" | "ipv6" {
  const hasChoice = families.includes("IPv4") && !isDualStack;
  return families.includes("IPv6") && !hasChoice ? "ipv6" : "ipv4";
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

export function protocolOf(flavour: "alb" | "nlb", { kind }: RouteView, { protocol: listener }: Port, said: TargetGroupSettings) {
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
export function targetPortOf(targetType: string, { targetPort, nodePort }: ServicePortView): number {
  const port = targetType === "instance" ? nodePort : typeof targetPort === "number" ? targetPort : 1;
  if (port !== 0) return port;
  throw unsupported(
    targetType === "instance"
      ? "TargetGroup port is empty. When using Instance targets, your service must be of type 'NodePort' or 'LoadBalancer'"
      : "TargetGroup port is empty. Are you using the correct service type?",
  );
}
