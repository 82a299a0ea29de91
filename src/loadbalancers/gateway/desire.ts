/**
 * From a Gateway and what attaches to it to the load balancer that it asks for. Pure. What is wrong with a route is told to that
 * route, and the others are served; what is wrong with the Gateway itself keeps what stands as it is.
 */
import type { ApplicationListener, ApplicationLoadBalancer, NetworkListener, NetworkLoadBalancer, SecurityGroups } from "../model.ts";
import type { Action } from "../routing.ts";
import type { SubnetChoice } from "../subnets.ts";
import type { BindingWish } from "../targets/owned-bindings.ts";
import type { Draft, GatewaySources, GatewayWish } from "./draft.ts";
import { GatewayFault, RouteFault } from "./fault.ts";
import { Groups } from "./groups.ts";
import { isValid } from "./listener-validation.ts";
import { capacityOf, guardOf, guardsOf } from "./load-balancer.ts";
import { recordOf } from "./merge.ts";
import { loadBalancerName, parts } from "./names.ts";
import { networkForward } from "./network-routes.ts";
import { hasSourceNat, mappingsOf, type Place, placeOf } from "./place.ts";
import { listenerOf, mutualTlsOf, type Port, portOf } from "./ports.ts";
import { type FailureBook, note, rulesOf } from "./rules.ts";
import { tagsOf } from "./tags.ts";
import type { BoundGroup } from "./target-groups.ts";

export interface GatewayDesire {
  readonly model: ApplicationLoadBalancer | NetworkLoadBalancer;
  readonly bindings: readonly BindingWish[];
  /** Load balancers that are targets, by the name of their target group. */
  readonly balancers: ReadonlyMap<string, NonNullable<BoundGroup["target"]>>;
  readonly subnets: SubnetChoice;
  readonly usesBackendGroup: boolean;
  /** What is wrong with routes and their rules. */
  readonly failures: FailureBook;
  /** Nothing is done while there are any. */
  readonly problems: readonly string[];
  /** Said, and lived with. */
  readonly warnings: readonly string[];
}

export function desireGateway(wish: GatewayWish, sources: GatewaySources): GatewayDesire {
  const draft: Draft = { ...wish, ...sources };
  const warnings = new Set<string>();
  const failures: FailureBook = new Map();
  let place: Place | undefined;
  try {
    place = placeOf(draft);
    return { ...build(draft, place, failures, (message) => void warnings.add(message)), failures, problems: [], warnings: [...warnings] };
  } catch (error) {
    if (!(error instanceof GatewayFault) && !(error instanceof RouteFault)) throw error;
    return {
      model: emptyModel(draft),
      bindings: [],
      balancers: new Map(),
      subnets: place?.choice ?? { kind: "chosen", subnets: [], verdicts: [] },
      usesBackendGroup: true,
      failures,
      problems: [error.message],
      warnings: [...warnings],
    };
  }
}

function build(
  draft: Draft,
  place: Place,
  failures: FailureBook,
  warn: (message: string) => void,
): Pick<GatewayDesire, "model" | "bindings" | "balancers" | "subnets" | "usesBackendGroup"> {
  const { internal, addressType, choice } = place;
  if (choice.kind === "none") throw new GatewayFault(choice.message);
  const { settings, config, gateway, standing, flavour } = draft;
  const isDualStack = addressType.startsWith("dualstack");
  const { securityGroups, source } = guardOf(draft, isDualStack, warn);
  const groups = new Groups(draft, { isDualStack, internal, source, subnets: choice.subnets });
  const ports = portsOf(refuseRoutes(draft, failures), warn);
  const scheme = internal ? "internal" : "internet-facing";
  const capacity = capacityOf(draft);
  const base = {
    // One that stands keeps its name, unless it has to make way for one of another scheme.
    name: standing?.internal === internal ? standing.name : config.loadBalancerName || loadBalancerName(settings.cluster, gateway, scheme),
    askedBy: "Gateway",
    internal,
    securityGroups,
    tags: tagsOf(config.tags ?? {}, draft, parts.loadBalancer),
    attributes: recordOf(config.loadBalancerAttributes),
    ...(capacity !== undefined && { capacity }),
  };
  const rest = flavour.name === "alb" ? ofApplication : ofNetwork;
  const model = rest(draft, base, place, ports, groups, failures, warn);
  const bound = groups.all();
  return {
    model: { ...model, targetGroups: bound.map(({ group }) => group) },
    bindings: bound.flatMap(({ binding }) => binding ?? []),
    balancers: new Map(bound.flatMap(({ group, target }) => (target ? [[group.name, target] as const] : []))),
    subnets: choice,
    usesBackendGroup: source.kind === "group" && source.id === draft.backendGroup,
  };
}

/** Without the routes that AWS has refused and that still say the same. */
function refuseRoutes(draft: Draft, failures: FailureBook): Draft {
  const { attachment, refusal } = draft;
  const isRefused = (route: Parameters<typeof refusal>[0]) => {
    const message = refusal(route);
    if (message === undefined) return false;
    for (const [ruleIndex] of route.rules.entries()) note(failures, route, ruleIndex, { reason: "UnsupportedValue", message });
    return true;
  };
  const byPort = new Map([...attachment.byPort].map(([port, routes]) => [port, routes.filter(({ route }) => !isRefused(route))]));
  return { ...draft, attachment: { ...attachment, byPort } };
}

/** A fault of a port that stands holds back the whole Gateway: it would be taken away. One that does not is left out. */
function portsOf(draft: Draft, warn: (message: string) => void): readonly Port[] {
  const numbers = new Set(draft.listeners.filter(isValid).map(({ listener }) => listener.port));
  return [...numbers].toSorted((a, b) => a - b).flatMap((number) => unlessNew(draft, number, warn, () => portOf(draft, number)) ?? []);
}

function unlessNew<T>({ standingPorts }: Draft, port: number, warn: (message: string) => void, make: () => T): T | undefined {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof GatewayFault) || standingPorts.has(port)) throw error;
    warn(`port ${port} is not served: ${error.message}`);
    return undefined;
  }
}

type Base = Omit<ApplicationLoadBalancer, "kind" | "listeners" | "targetGroups" | "addressType" | "subnets"> & {
  readonly securityGroups: SecurityGroups;
};

const notFound: Action = { kind: "fixed-response", status: "404", contentType: "text/plain" };

function ofApplication(
  draft: Draft,
  base: Base,
  { addressType, choice }: Place,
  ports: readonly Port[],
  groups: Groups,
  failures: FailureBook,
  warn: (message: string) => void,
): ApplicationLoadBalancer {
  const { config } = draft;
  const guards = guardsOf(draft);
  return {
    ...base,
    kind: "application",
    addressType,
    subnets: choice.kind === "chosen" ? choice.subnets.map(({ id }) => ({ subnet: id })) : [],
    ...(config.customerOwnedIpv4Pool && { customerOwnedIpv4Pool: config.customerOwnedIpv4Pool }),
    ...(config.ipv4IPAMPoolId && { ipv4IpamPool: config.ipv4IPAMPoolId }),
    ...(guards && { guards }),
    listeners: ports.flatMap((port): ApplicationListener[] => {
      const made = unlessNew(draft, port.port, warn, () => ({
        ...listenerOf(draft, port, warn),
        protocol: port.protocol as "HTTP" | "HTTPS",
        ...(port.protocol === "HTTPS" && { mutualTls: mutualTlsOf(draft, port) }),
      }));
      return made ? [{ ...made, defaultActions: [notFound], rules: rulesOf(draft, port, groups, failures) }] : [];
    }),
    targetGroups: [],
  };
}

function ofNetwork(
  draft: Draft,
  base: Base,
  { addressType, choice }: Place,
  ports: readonly Port[],
  groups: Groups,
  failures: FailureBook,
  warn: (message: string) => void,
): NetworkLoadBalancer {
  const { config, standing } = draft;
  const hasGroups =
    base.securityGroups.kind === "wanted" ? base.securityGroups.groups.length > 0 : (standing?.securityGroups.length ?? 0) > 0;
  const enforced = config.enforceSecurityGroupInboundRulesOnPrivateLinkTraffic;
  if (addressType === "dualstack-without-public-ipv4")
    throw new GatewayFault("ipAddressType dualstack-without-public-ipv4 is for Application LoadBalancers: it takes ipv4 or dualstack");
  return {
    ...base,
    kind: "network",
    addressType,
    subnets: choice.kind === "chosen" ? mappingsOf(draft, choice.subnets) : [],
    sourceNat: hasSourceNat(draft),
    ...(hasGroups && (enforced === "on" || enforced === "off") && { privateLinkRules: enforced }),
    listeners: ports.flatMap((port): NetworkListener[] => {
      const forward = networkForward(port, groups, failures);
      if (forward === undefined) return [];
      const made = unlessNew(draft, port.port, warn, () => listenerOf(draft, port, warn));
      if (made === undefined) return [];
      const protocol = port.protocol as NetworkListener["protocol"];
      return [{ ...made, protocol, ...(protocol === "TLS" && { alpnPolicy: port.config?.alpnPolicy ?? "None" }), forward }];
    }),
    targetGroups: [],
  };
}

/** Of a Gateway that cannot be understood: nothing is planned for it. */
function emptyModel({ gateway, settings, standing, flavour }: Draft): ApplicationLoadBalancer | NetworkLoadBalancer {
  const base = {
    name: standing?.name ?? loadBalancerName(settings.cluster, gateway, settings.defaultScheme),
    askedBy: "Gateway",
    internal: standing?.internal ?? settings.defaultScheme === "internal",
    addressType: "ipv4",
    subnets: [],
    securityGroups: { kind: "as-it-is" },
    tags: {},
    attributes: {},
    listeners: [],
    targetGroups: [],
  } as const;
  return flavour.name === "alb" ? { ...base, kind: "application" } : { ...base, kind: "network" };
}
