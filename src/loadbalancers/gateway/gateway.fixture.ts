/** Gateways, routes and what surrounds them, for tests: each says only what it is about. */

import type { ServicePortView, ServiceView } from "../service-state.ts";
import type { Network } from "../subnets.ts";
import { attachRoutes } from "./attachment.ts";
import type { LoadBalancerSettings } from "./config.ts";
import { desireGateway } from "./desire.ts";
import type { GatewaySources, GatewayWish } from "./draft.ts";
import { type Flavour, flavours } from "./flavours.ts";
import { joiningSets } from "./listener-sets.ts";
import { judgeListeners, type ListenerParent } from "./listener-validation.ts";
import { defaultSettings } from "./settings.ts";
import type { BackendRef, GatewayView, ListenerSetView, ListenerView, ParentRef, RouteMatch, RouteRule, RouteView } from "./view.ts";

export const gatewayUid = "5f0c1c8e-6a0b-4d0e-9f0a-0b1c2d3e4f50";

/** `HTTPS:443 *.example.com`: protocol, port, host name. */
export function listener(text: string, more: Partial<ListenerView> = {}): ListenerView {
  const [place = "", hostname = ""] = text.split(" ");
  const [protocol = "", port] = place.split(":");
  return {
    name: `${protocol.toLowerCase()}-${port}`,
    protocol,
    port: Number(port),
    hostname,
    namespaces: { from: "Same" },
    kinds: [],
    isPassthrough: false,
    ...more,
  };
}

export function gateway(listeners: readonly (string | ListenerView)[], more: Partial<GatewayView> = {}): GatewayView {
  return {
    namespace: "shop",
    name: "edge",
    uid: gatewayUid,
    generation: 1,
    createdAt: "2026-01-01T00:00:00Z",
    className: "alb",
    annotations: {},
    finalizers: [],
    isDeleted: false,
    listeners: listeners.map((each) => (typeof each === "string" ? listener(each) : each)),
    allowedListeners: { from: "None" },
    infrastructure: { labels: {}, annotations: {} },
    ...more,
  };
}

export function listenerSet(name: string, listeners: readonly string[], more: Partial<ListenerSetView> = {}): ListenerSetView {
  return {
    namespace: "shop",
    name,
    uid: `uid of ${name}`,
    generation: 1,
    createdAt: "2026-01-02T00:00:00Z",
    isDeleted: false,
    parent: { kind: "Gateway", namespace: "shop", name: "edge" },
    listeners: listeners.map((each) => listener(each)),
    ...more,
  };
}

export const parentRef = (more: Partial<ParentRef> = {}): ParentRef => ({
  group: "gateway.networking.k8s.io",
  kind: "Gateway",
  namespace: "",
  name: "edge",
  sectionName: "",
  port: 0,
  ...more,
});

/** `web:80`, `other/web:80 weight`; with a kind of its own `Gateway inner:80`. */
export function backend(text: string, more: Partial<BackendRef> = {}): BackendRef {
  const [, kind = "Service", namespace = "", name = "", port, weight = "1"] =
    /^(?:(\w+) )?(?:([\w-]+)\/)?([\w-]+)(?::(\d+))?(?: (\d+))?$/.exec(text) ?? [];
  return { group: "", kind, namespace, name, ...(port && { port: Number(port) }), weight: Number(weight), ...more };
}

type Http = RouteMatch & { readonly of: "http" };

/** `PathPrefix /api`, with more that is asked of a request. */
export function match(path?: string, more: Partial<Http> = {}): Http {
  const [type = "", value = ""] = path?.split(" ") ?? [];
  return { of: "http", ...(path && { path: { type, value } }), headers: [], queries: [], method: "", ...more };
}

export function rule(backends: readonly (string | BackendRef)[], more: Partial<RouteRule> = {}): RouteRule {
  return {
    matches: [match("PathPrefix /")],
    filters: [],
    backends: backends.map((each) => (typeof each === "string" ? backend(each) : each)),
    ...more,
  };
}

export function route(name: string, rules: readonly RouteRule[] = [rule(["web:80"])], more: Partial<RouteView> = {}): RouteView {
  return {
    kind: "HTTPRoute",
    namespace: "shop",
    name,
    uid: `uid of ${name}`,
    generation: 1,
    createdAt: "2026-01-01T00:00:00Z",
    isDeleted: false,
    hostnames: [],
    parentRefs: [parentRef()],
    rules,
    ...more,
  };
}

export function service(name: string, more: Partial<ServiceView> = {}, port: Partial<ServicePortView> = {}): ServiceView {
  return {
    namespace: "shop",
    name,
    uid: `uid of ${name}`,
    annotations: {},
    finalizers: [],
    type: "NodePort",
    isDeleted: false,
    ports: [{ name: "http", protocol: "TCP", port: 80, targetPort: 8080, nodePort: 30080, ...port }],
    selector: {},
    ipFamilies: ["IPv4"],
    sourceRanges: [],
    sessionAffinity: "None",
    loadBalancerIP: "",
    local: false,
    healthCheckNodePort: 0,
    allocatesNodePorts: true,
    ...more,
  };
}

const subnet = (id: string, zone: string, third: number) => ({
  id,
  zone,
  cidr: `10.0.${third}.0/24`,
  ipv6Cidrs: [`2600:1f14:0:${third}::/64`],
  tags: { "kubernetes.io/role/internal-elb": "1", "kubernetes.io/role/elb": "1" },
  availableAddresses: 200,
});

export const network: Network = {
  subnets: [subnet("subnet-a", "eu-west-1a", 1), subnet("subnet-b", "eu-west-1b", 2)],
  routeTables: [],
  zoneTypes: {},
};

export interface Scene {
  readonly gateway?: GatewayView;
  readonly routes?: readonly RouteView[];
  readonly sets?: readonly ListenerSetView[];
  readonly config?: LoadBalancerSettings;
  readonly flavour?: Flavour;
  readonly wish?: Partial<GatewayWish>;
  readonly sources?: Partial<GatewaySources>;
  readonly labels?: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

export function wishOf(scene: Scene): GatewayWish {
  const flavour: Flavour = scene.flavour ?? flavours.alb;
  const of = scene.gateway ?? gateway(["HTTP:80"]);
  const labelsOf = (namespace: string) => scene.labels?.[namespace] ?? {};
  const { accepted } = joiningSets(of, scene.sets ?? [], labelsOf);
  const parents: readonly ListenerParent[] = [
    { kind: "Gateway", object: of },
    ...accepted.map((object) => ({ kind: "ListenerSet", object }) as const),
  ];
  const listeners = judgeListeners(parents, flavour);
  const attachment = attachRoutes(scene.routes ?? [route("web")], parents, listeners, labelsOf);
  return { gateway: of, flavour, config: scene.config ?? {}, listeners, attachment, addOns: new Set(), ...scene.wish };
}

export const sourcesOf = (more: Partial<GatewaySources> = {}): GatewaySources => ({
  settings: { ...defaultSettings, cluster: "prod-eu", vpc: "vpc-1", defaultTargetType: "ip" },
  network,
  groups: [],
  backendGroup: "sg-backend",
  vpcCidrs: ["10.0.0.0/16", "2600:1f14::/56"],
  targetGroups: [],
  standingListeners: [],
  formerRules: [],
  takenNames: [],
  certificates: () => [],
  trustStore: () => undefined,
  targetConfiguration: () => undefined,
  ruleConfiguration: () => undefined,
  secret: () => ({ problem: "secret not found" }),
  isForeignTag: () => false,
  refusal: () => undefined,
  service: (key) => (key === "shop/web" ? service("web") : key === "shop/api" ? service("api") : undefined),
  gatewayConditions: () => undefined,
  grants: [],
  targetGroupArn: () => undefined,
  ...more,
});

export const desired = (scene: Scene = {}) => desireGateway(wishOf(scene), sourcesOf(scene.sources));
