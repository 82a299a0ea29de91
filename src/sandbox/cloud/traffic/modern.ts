/** The ports of application and network load balancers. */

import { letsIn, reaches, type Transport } from "../balancing/firewall.ts";
import { allAttributes } from "../elbv2/attribute-tables.ts";
import { listenerAttributes, RESPONSE_HEADERS } from "../elbv2/listener-attributes.ts";
import { interfacesOf, placeOf } from "../elbv2/places.ts";
import { type Elbv2, type Listener, type LoadBalancer, listenersOf } from "../elbv2/state.ts";
import { type Choice, hash, type TargetView, usable } from "./choice.ts";
import type { Front, Shared } from "./front.ts";
import type { HttpRouting } from "./http-front.ts";
import type { LoopbackAddress } from "./pods.ts";
import { route } from "./route.ts";
import type { Source } from "./tcp-front.ts";
import { groupView, routingOf } from "./view.ts";

/** Those of all load balancers that are active; QUIC is left out. */
export function modernFronts(elbv2: Elbv2, shared: Shared): readonly Front[] {
  return elbv2.loadBalancers.values().flatMap((loadBalancer) => {
    if (loadBalancer.state !== "active") return [];
    return listenersOf(elbv2, loadBalancer.arn).flatMap((listener) =>
      (transports[listener.protocol] ?? ["tcp"]).map((transport) => frontOf(elbv2, loadBalancer, listener, transport, shared)),
    );
  });
}

/** What listeners take that take not just connections. */
const transports: Readonly<Record<string, readonly Transport[]>> = { UDP: ["udp"], TCP_UDP: ["tcp", "udp"], QUIC: [] };

function frontOf(
  elbv2: Elbv2,
  loadBalancer: LoadBalancer,
  { arn, protocol, port, mutualAuthentication }: Listener,
  transport: Transport,
  shared: Shared,
): Front {
  const current = () => elbv2.listeners.get(arn);
  const mode = mutualAuthentication?.Mode;
  const clientCertificates = mode === "verify" || mode === "passthrough" ? mode : "off";
  return {
    key: `${arn} ${protocol} ${port} ${clientCertificates} ${transport}`,
    dnsName: loadBalancer.dnsName.toLowerCase(),
    port,
    protocol,
    secure: protocol === "HTTPS" || protocol === "TLS",
    certificates: () => {
      const listener = current();
      return listener?.certificate === undefined ? [] : [listener.certificate, ...listener.moreCertificates];
    },
    clientCertificates,
    serving:
      loadBalancer.type === "application"
        ? { kind: "http", routing: () => httpRouting(elbv2, loadBalancer.arn, current(), shared) }
        : { kind: transport, decide: (source) => connectionTo(elbv2, loadBalancer.arn, current(), shared, { ...source, transport }) },
  };
}

function httpRouting(elbv2: Elbv2, loadBalancerArn: string, listener: Listener | undefined, shared: Shared): HttpRouting {
  const loadBalancer = elbv2.loadBalancers.get(loadBalancerArn);
  return {
    now: () => elbv2.account.time.now(),
    responseHeaders: listener === undefined ? {} : responseHeaders(listener),
    decide: (request) => {
      if (loadBalancer === undefined || listener === undefined) return undefined;
      const decision = route(routingOf(elbv2, loadBalancer, listener, shared.turn), request);
      if (decision.kind === "dropped") return undefined;
      if (decision.kind === "answered") return decision.reply;
      const { choice } = decision;
      shared.used(choice.turns);
      return { to: addressOf(elbv2, choice, shared), secure: choice.group.protocol === "HTTPS", request: decision.request, choice };
    },
  };
}

/** What the attributes of a listener make of answers. */
function responseHeaders(listener: Listener): Readonly<Record<string, string>> {
  const attributes = allAttributes(listenerAttributes(listener), listener);
  const set = Object.entries(RESPONSE_HEADERS).flatMap(([name, header]) => {
    const value = attributes[`routing.http.response.${name}.header_value`];
    return value ? [[header.toLowerCase(), value]] : [];
  });
  return { ...Object.fromEntries(set), ...(attributes["routing.http.response.server.enabled"] === "false" && { server: "" }) };
}

/** A network load balancer chooses by where a connection or a datagram comes from, so that what belongs together stays together. */
function connectionTo(
  elbv2: Elbv2,
  loadBalancerArn: string,
  listener: Listener | undefined,
  shared: Shared,
  { sourceIp, sourcePort, transport }: Source & { readonly transport: Transport },
): LoopbackAddress | undefined {
  const loadBalancer = elbv2.loadBalancers.get(loadBalancerArn);
  if (loadBalancer === undefined || listener === undefined) return undefined;
  const { groupIds } = loadBalancer;
  if (groupIds.length > 0 && !letsIn(elbv2.account, groupIds, listener.port, sourceIp, transport)) return undefined;
  const weighed = (listener.actions.at(-1)?.ForwardConfig?.TargetGroups ?? []).filter(({ Weight = 1 }) => Weight > 0);
  const total = weighed.reduce((sum, { Weight = 1 }) => sum + Weight, 0);
  let place = hash(`${sourceIp}:${sourcePort} group`) % Math.max(1, total);
  const chosen = weighed.find(({ Weight = 1 }) => {
    place -= Weight;
    return place < 0;
  });
  const group = groupView(elbv2, chosen?.TargetGroupArn ?? "");
  if (group === undefined) return undefined;
  const candidates = usable(group);
  const sticky = group.attributes["stickiness.enabled"] === "true";
  const target = candidates[hash(sticky ? sourceIp : `${sourceIp}:${sourcePort}`) % Math.max(1, candidates.length)];
  return target && addressOf(elbv2, { group, target }, shared, transport);
}

function addressOf(
  elbv2: Elbv2,
  { group, target }: Pick<Choice, "group" | "target">,
  shared: Shared,
  transport: Transport = "tcp",
): LoopbackAddress | undefined {
  if (group.targetType === "alb") return balancerAddress(elbv2, target, shared);
  if (group.targetType === "lambda") return undefined;
  const to = { ...placeOf(elbv2, elbv2.targetGroups.get(group.arn)!, target), port: target.port };
  const isOpen = reaches(elbv2.account, interfacesOf(elbv2, group.arn), to.address, to.port, transport);
  return isOpen ? shared.reach(to, transport) : undefined;
}

function balancerAddress(elbv2: Elbv2, { id, port }: TargetView, shared: Shared): LoopbackAddress | undefined {
  const behind = elbv2.loadBalancers.get(id);
  return behind && shared.addressOf(behind.dnsName, port);
}
