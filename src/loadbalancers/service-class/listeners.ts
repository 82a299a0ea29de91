/** The listeners of a load balancer: one per port of its Service, or per number that a TCP and a UDP port share. Pure. */
import type { NetworkListener } from "../model.ts";
import type { Draft } from "./draft.ts";
import { parts } from "./names.ts";
import { ServiceFault } from "./reader.ts";
import { tagsOf } from "./tags.ts";
import type { ServicePortView } from "./view.ts";

export type Protocol = NetworkListener["protocol"];

/** A port that is listened on, with the port of the Service that stands for it. */
export interface ListenerPort {
  readonly port: number;
  readonly protocol: Protocol;
  readonly targetProtocol: Protocol;
  readonly servicePort: ServicePortView;
}

export function listenerPortsOf(draft: Draft): readonly ListenerPort[] {
  const tls = tlsOf(draft);
  const quic = draft.read.get("aws-load-balancer-quic-enabled-ports") ?? [];
  return portsOf(draft).map(({ protocol, servicePort }) => {
    const isNamed = (names: readonly string[]) => names.includes(servicePort.name) || names.includes(String(servicePort.port));
    const isTls = protocol === "TCP" && tls !== undefined && (tls.ports.length === 0 || isNamed(tls.ports));
    const [front, back]: readonly Protocol[] = isTls ? ["TLS", tls.reencrypts() ? "TLS" : "TCP"] : [protocol, protocol];
    const upgraded = (each: Protocol) => (isNamed(quic) ? quicOf(each) : each);
    return { port: servicePort.port, protocol: upgraded(front!), targetProtocol: upgraded(back!), servicePort };
  });
}

function quicOf(protocol: Protocol): Protocol {
  if (protocol === "UDP") return "QUIC";
  if (protocol === "TCP_UDP") return "TCP_QUIC";
  throw new ServiceFault(`Unsupported QUIC upgrade for protocol ${protocol}`);
}

interface MergedPort {
  readonly protocol: "TCP" | "UDP" | "TCP_UDP";
  /** Of two the first. */
  readonly servicePort: ServicePortView;
}

function portsOf({ of, read, settings, warn }: Draft): readonly MergedPort[] {
  const key = "aws-load-balancer-enable-tcp-udp-listener";
  const given = read.get(key);
  if (given === undefined && read.has(key))
    warn(`annotation ${key}: ${read.raw(key)} is not understood and has no effect: it takes true or false`);
  const merges = given ?? settings.gates.tcpUdpListener;
  return [...Map.groupBy(of.ports, ({ port }) => port).values()].map((same): MergedPort => {
    const [first, ...others] = same as [ServicePortView, ...ServicePortView[]];
    if (others.length === 0) return { protocol: plainProtocol(first), servicePort: first };
    if (merges) return { protocol: mergedProtocol(same), servicePort: first };
    const dropped = others.map(({ protocol, port }) => `${protocol}:${port}`).join(", ");
    warn(`${dropped} has no listener: ${first.protocol}:${first.port} has the port; set annotation ${key}: true for one listener of both`);
    return { protocol: plainProtocol(first), servicePort: first };
  });
}

function plainProtocol({ protocol, port }: ServicePortView): "TCP" | "UDP" {
  if (protocol === "TCP" || protocol === "UDP") return protocol;
  throw new ServiceFault(`unsupported protocol ${protocol} of port ${port}: network load balancers take TCP and UDP`);
}

function mergedProtocol(ports: readonly ServicePortView[]): "TCP_UDP" {
  const text = ports.map(({ protocol, port }) => `${protocol}:${port}`).join(", ");
  if (ports.length !== 2) throw new ServiceFault(`can only merge two ports, not ${ports.length} (${text})`);
  const [first, second] = ports.map(({ protocol }) => protocol) as [string, string];
  for (const protocol of [first, second])
    if (protocol !== "TCP" && protocol !== "UDP") throw new ServiceFault(`unsupported protocol for merging: ${protocol}`);
  if (first === second) throw new ServiceFault(`protocols can't match for merging: ${first}`);
  return "TCP_UDP";
}

interface Tls {
  readonly ports: readonly string[];
  /** Whether targets are spoken to by TLS too. */
  reencrypts(): boolean;
}

function tlsOf({ of, read, warn }: Draft): Tls | undefined {
  const ports = read.get("aws-load-balancer-ssl-ports") ?? [];
  const unused = ports.filter((entry) => !of.ports.some(({ name, port }) => entry === name || entry === String(port)));
  if (unused.length > 0) throw new ServiceFault(`Unused port in ssl-ports annotation [${unused.join(" ")}]`);
  const certificates = read.get("aws-load-balancer-ssl-cert") ?? [];
  if (certificates.length > 0) return { ports, reencrypts: () => read.get("aws-load-balancer-backend-protocol") === "ssl" };
  if (ports.length > 0) warn("annotation aws-load-balancer-ssl-ports has no effect: there is no certificate in aws-load-balancer-ssl-cert");
  return undefined;
}

/** A listener without what it forwards to. */
export function listenerOf(draft: Draft, { port, protocol }: ListenerPort): Omit<NetworkListener, "forward"> {
  const { read, settings } = draft;
  const isTls = protocol === "TLS";
  const alpnPolicy = isTls
    ? (read.get("aws-load-balancer-alpn-policy") ?? (settings.gates.enhancedDefaults ? "None" : undefined))
    : undefined;
  const family = "aws-load-balancer-listener-attributes.";
  // Attributes of TLS listeners are none of AWS's.
  const attributes = isTls ? undefined : read.family(family, `${protocol}-${port}`);
  return {
    port,
    protocol,
    certificates: isTls ? (read.get("aws-load-balancer-ssl-cert") ?? []) : [],
    ...(isTls && { sslPolicy: read.get("aws-load-balancer-ssl-negotiation-policy") || settings.defaultSslPolicy }),
    ...(alpnPolicy && { alpnPolicy }),
    attributes: attributes ?? {},
    part: parts.listener(port),
    tags: tagsOf(draft, parts.listener(port)),
    untagged: !settings.gates.listenerRulesTagging,
    why: `the Service has port ${port}`,
  };
}
