/** What the authors of Gateways, ListenerSets and routes ask for, in words that can be compared with what an account has. */
import { homeOf } from "./backends.ts";

/** `tuned` has parameters; `theirs` is another controller's. */
export type ClassName = "alb" | "tuned" | "nlb" | "theirs";
export type Flavour = "alb" | "nlb";
export type RouteKind = "HTTPRoute" | "GRPCRoute" | "TCPRoute" | "UDPRoute" | "TLSRoute";
type Protocol = "HTTP" | "HTTPS" | "TCP" | "UDP" | "TLS";

export const gatewayNames = ["a", "b", "c"] as const;
export const setNames = ["s", "t"] as const;
export const routeNames = ["k", "l", "m", "n", "o", "p"] as const;

/** The mistake of a route whose path is longer than AWS takes one: only AWS says so. */
export const longPath = "long-path";

export interface GatewayWish {
  readonly name: string;
  readonly className: ClassName;
  readonly ports: readonly number[];
  /** Undefined: what the controller takes without being told. */
  readonly scheme: string | undefined;
  /** Whether ListenerSets may join. */
  readonly allowsSets: boolean;
  /** Whether routes share target groups. */
  readonly sharesGroups: boolean;
  /** What is wrong with it or its configuration, if anything: then it keeps what it had. */
  readonly mistake: string | undefined;
  readonly isDeleted: boolean;
}

export interface SetWish {
  readonly name: string;
  readonly gateway: string;
  readonly protocol: "HTTP" | "TCP";
  readonly port: number;
  readonly isDeleted: boolean;
}

export interface RouteWish {
  readonly name: string;
  readonly kind: RouteKind;
  readonly parent: { readonly kind: "Gateway" | "ListenerSet"; readonly name: string };
  readonly host: string;
  /** Each at a path of its name; only the first where there are no paths. */
  readonly services: readonly string[];
  /** What is wrong with its first backend or rule, if anything. */
  readonly mistake: string | undefined;
  readonly isDeleted: boolean;
}

/** All of them, and what decides about them beside their authors. */
export interface Wishes {
  readonly gateways: ReadonlyMap<string, GatewayWish>;
  readonly sets: ReadonlyMap<string, SetWish>;
  readonly routes: ReadonlyMap<string, RouteWish>;
  /** Services that are not there. */
  readonly missing: ReadonlySet<string>;
  /** Whether routes may lead to the other namespace. */
  readonly isGranted: boolean;
  /** Whether the configuration of the class `tuned` makes sense. */
  readonly isTunedRight: boolean;
  /** When a route was made: the oldest has a port that has room for one only. */
  createdAt(route: string): string;
}

/** Of ports that have another protocol than the usual one. */
const listenerProtocols: Readonly<Record<Flavour, Readonly<Record<number, Protocol>>>> = {
  alb: { 443: "HTTPS" },
  nlb: { 53: "UDP", 443: "TLS" },
};
const usualProtocols = { alb: "HTTP", nlb: "TCP" } as const;
export const flavourKinds: Readonly<Record<Flavour, readonly RouteKind[]>> = {
  alb: ["HTTPRoute", "GRPCRoute"],
  nlb: ["TCPRoute", "UDPRoute", "TLSRoute"],
};
const kindsByProtocol: Readonly<Record<Protocol, readonly RouteKind[]>> = {
  HTTP: ["HTTPRoute"],
  HTTPS: ["HTTPRoute", "GRPCRoute"],
  TCP: ["TCPRoute"],
  UDP: ["UDPRoute"],
  TLS: ["TLSRoute", "TCPRoute"],
};

export function flavourOf(gateway: GatewayWish | undefined): Flavour | undefined {
  if (gateway === undefined || gateway.isDeleted || gateway.className === "theirs") return undefined;
  return gateway.className === "nlb" ? "nlb" : "alb";
}

/** Whether its rules are rules of a load balancer; ports have room for one route of the other kinds. */
export const hasRules = ({ kind }: RouteWish) => flavourKinds.alb.includes(kind);

interface WishedListener {
  readonly port: number;
  readonly protocol: Protocol;
  readonly isValid: boolean;
}

export function gatewayListeners({ className, ports }: GatewayWish): readonly WishedListener[] {
  const flavour = className === "nlb" ? "nlb" : "alb";
  return ports.map((port) => ({ port, protocol: listenerProtocols[flavour][port] ?? usualProtocols[flavour], isValid: true }));
}

/** Whether nothing of it is changed until somebody mends something. */
export const isHeldBack = ({ mistake, className }: GatewayWish, { isTunedRight }: Wishes) =>
  mistake !== undefined || (className === "tuned" && !isTunedRight);

export function gatewayOf({ parent }: RouteWish, { gateways, sets }: Wishes): GatewayWish | undefined {
  return gateways.get(parent.kind === "Gateway" ? parent.name : (sets.get(parent.name)?.gateway ?? ""));
}

/** The listeners of its parent that take its kind of route, valid or not; undefined where the parent counts for nothing. */
export function listenersFor(route: RouteWish, wishes: Wishes): readonly WishedListener[] | undefined {
  const gateway = gatewayOf(route, wishes);
  const flavour = flavourOf(gateway);
  if (route.isDeleted || gateway === undefined || flavour === undefined || !flavourKinds[flavour].includes(route.kind)) return undefined;
  const takes = ({ protocol }: WishedListener) => kindsByProtocol[protocol].includes(route.kind);
  if (route.parent.kind === "Gateway") return gatewayListeners(gateway).filter(takes);
  const set = wishes.sets.get(route.parent.name)!;
  if (set.isDeleted || !gateway.allowsSets) return undefined;
  return [{ ...set, isValid: isSetValid(set, gateway) }].filter(takes);
}

/** Its protocol is one that is served, and the Gateway has no other on that port. */
export function isSetValid({ port, protocol }: SetWish, gateway: GatewayWish): boolean {
  const own = gatewayListeners(gateway).find((each) => each.port === port);
  return protocol === usualProtocols[flavourOf(gateway)!] && (own === undefined || own.protocol === protocol);
}

/** Where it is served, as far as its parent goes. */
const fronts = (route: RouteWish, wishes: Wishes) => (listenersFor(route, wishes) ?? []).filter(({ isValid }) => isValid);

/** Why a backend cannot be used. */
export function faultOf(service: string, { missing, isGranted }: Wishes): "RefNotPermitted" | "BackendNotFound" | undefined {
  if (homeOf(service)[0] !== "default" && !isGranted) return "RefNotPermitted";
  return missing.has(service) ? "BackendNotFound" : undefined;
}

/** What target groups speak; TLS is passed through. */
const groupProtocols: Readonly<Record<RouteKind, string>> = {
  HTTPRoute: "HTTP:HTTP1",
  GRPCRoute: "HTTP:GRPC",
  TCPRoute: "TCP",
  UDPRoute: "UDP",
  TLSRoute: "TCP",
};

/** The target group of a backend. */
export function partOf(route: RouteWish, service: string, { name, sharesGroups }: GatewayWish): string {
  const backend = homeOf(service).join("-");
  return sharesGroups
    ? `default/${name}:${homeOf(service).join("/")}:Service-80:${groupProtocols[route.kind]}`
    : `default/${name}:default-${route.name}:${route.kind}-${backend}:8080`;
}

/** Whether a route that has no rules has a port of its Gateway. */
export function wins(route: RouteWish, port: number, wishes: Wishes): boolean {
  const gateway = gatewayOf(route, wishes);
  const rivals = [...wishes.routes.values()].filter(
    (other) => gatewayOf(other, wishes) === gateway && fronts(other, wishes).some((front) => front.port === port),
  );
  const age = ({ name }: RouteWish) => `${wishes.createdAt(name)} ${name}`;
  return rivals.every((other) => age(route) <= age(other));
}

/** Its rules, `stack:port host paths → target group` or a fixed answer; or listeners, `stack:port protocol → target group`. */
export function wantedRules(route: RouteWish, wishes: Wishes): readonly string[] {
  const gateway = gatewayOf(route, wishes);
  if (gateway === undefined) return [];
  const stack = `default/${gateway.name}`;
  const ports = fronts(route, wishes);
  if (hasRules(route))
    return [...new Set(ports.map(({ port }) => port))].flatMap((port) =>
      route.services.map((service) => {
        const path = `/${homeOf(service)[1]}`;
        const paths = route.kind === "GRPCRoute" ? `${path}/*` : `${path},${path}/*`;
        return `${stack}:${port} ${route.host} ${paths} → ${faultOf(service, wishes) ? "500" : partOf(route, service, gateway)}`;
      }),
    );
  const [service = ""] = route.services;
  if (faultOf(service, wishes)) return [];
  const passed = (protocol: Protocol) => (protocol === "TLS" ? "TCP" : protocol);
  return ports
    .filter(({ port }) => wins(route, port, wishes))
    .map(({ port, protocol }) => `${stack}:${port} ${passed(protocol)} → ${partOf(route, service, gateway)}`);
}
