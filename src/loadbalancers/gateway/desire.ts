/**
 * From a Gateway and what attaches to it to the load balancer that it asks for. Pure. What is wrong with a route is told to that
 * route, and the others are served; what is wrong with the Gateway itself keeps what stands as it is.
 */
import type { ApplicationListener, ApplicationLoadBalancer, NetworkListener, NetworkLoadBalancer, SecurityGroups } from "../model.ts";
import type { Action } from "../routing.ts";
import type { SubnetChoice } from "../subnets.ts";
import type { BindingWish } from "../targets/owned-bindings.ts";
import type { Draft, GatewaySources, GatewayWish } from "./draft.ts";
import { GatewayFault, HeldFault, RouteFault } from "./fault.ts";
import { type FailureBook, Findings } from "./findings.ts";
import { Groups } from "./groups.ts";
import { isValid } from "./listener-validation.ts";
import { capacityOf, guardOf, guardsOf } from "./load-balancer.ts";
import { recordOf } from "./merge.ts";
import { loadBalancerName, parts } from "./names.ts";
import { networkForward } from "./network-routes.ts";
import { hasSourceNat, mappingsOf, type Place, placeOf } from "./place.ts";
import { asItStands, listenerOf, mutualTlsOf, type Port, portOf } from "./ports.ts";
import { portKey } from "./refused.ts";
import { rulesAsTheyStand, rulesOf } from "./rules.ts";
import { groupsBehind, type StandingListener, standingForward } from "./standing.ts";
import { tagsOf } from "./tags.ts";
import type { BoundGroup } from "./target-groups.ts";

export interface GatewayDesire extends Pick<Findings, "keptGroups" | "asked" | "refused" | "rules"> {
  readonly model: ApplicationLoadBalancer | NetworkLoadBalancer;
  readonly bindings: readonly BindingWish[];
  /** Load balancers that are targets, by the name of their target group. */
  readonly balancers: ReadonlyMap<string, NonNullable<BoundGroup["target"]>>;
  /** The routes behind each target group that is shared, by the name of the group. */
  readonly sharedBy: ReadonlyMap<string, ReadonlySet<string>>;
  readonly subnets: SubnetChoice;
  readonly usesBackendGroup: boolean;
  /** What is wrong with routes and their rules. */
  readonly failures: FailureBook;
  /** Ports that are not what they are asked to be, and why. */
  readonly portFaults: ReadonlyMap<number, string>;
  /** Nothing is done while there are any. */
  readonly problems: readonly string[];
  /** Said, and lived with. */
  readonly warnings: readonly string[];
}

type Built = Pick<GatewayDesire, "model" | "bindings" | "balancers" | "sharedBy" | "subnets" | "usesBackendGroup">;

export function desireGateway(wish: GatewayWish, sources: GatewaySources): GatewayDesire {
  const draft: Draft = { ...wish, ...sources };
  const findings = new Findings(sources.refusal);
  let place: Place | undefined;
  const desire = (built: Built, problems: readonly string[]): GatewayDesire => {
    const { failures, portFaults, keptGroups, asked, refused, rules, warnings } = findings;
    return { ...built, failures, portFaults, keptGroups, asked, refused, rules, problems, warnings: [...warnings] };
  };
  try {
    place = placeOf(draft);
    return desire(build(draft, place, findings), []);
  } catch (error) {
    if (!(error instanceof GatewayFault) && !(error instanceof RouteFault)) throw error;
    const subnets: SubnetChoice = place?.choice ?? { kind: "chosen", subnets: [], verdicts: [] };
    const nothing = { bindings: [], balancers: new Map(), sharedBy: new Map() };
    return desire({ model: emptyModel(draft), ...nothing, subnets, usesBackendGroup: true }, [error.message]);
  }
}

function build(draft: Draft, place: Place, findings: Findings): Built {
  const { internal, addressType, choice } = place;
  if (choice.kind === "none") throw new GatewayFault(choice.message);
  const { settings, config, gateway, standing, flavour } = draft;
  const isDualStack = addressType.startsWith("dualstack");
  const { securityGroups, source } = guardOf(draft, isDualStack, (message) => findings.warn(message));
  const groups = new Groups(draft, { isDualStack, internal, source, subnets: choice.subnets }, findings);
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
  const model = rest(draft, base, place, groups, findings);
  const bound = groups.all();
  return {
    model: { ...model, targetGroups: bound.map(({ group }) => group) },
    bindings: bound.flatMap(({ binding }) => binding ?? []),
    balancers: new Map(bound.flatMap(({ group, target }) => (target ? [[group.name, target] as const] : []))),
    sharedBy: groups.sharedBy(),
    subnets: choice,
    usesBackendGroup: source.kind === "group" && source.id === draft.backendGroup,
  };
}

/** How the listener of a port is made, and how one that stands is left as it is. */
interface ListenerMaker<Made> {
  /** Undefined where nothing is to listen. Throws a `GatewayFault` or a `HeldFault` for what cannot be had. */
  make(port: Port): Made | undefined;
  /** Without a port: nobody knows what it is to be. */
  keep(standing: StandingListener, port: Port | undefined): Made;
}

interface MadeListener<Made> {
  readonly listener: Made;
  readonly port?: Port;
}

/**
 * The listeners of all ports. What is wrong with one, or AWS refuses of it, is said, and the others are made: one that stands stays
 * as it is, one that does not is left out.
 */
function listenersOf<Made>(draft: Draft, findings: Findings, { make, keep }: ListenerMaker<Made>): readonly MadeListener<Made>[] {
  const numbers = new Set(draft.listeners.filter(isValid).map(({ listener }) => listener.port));
  return [...numbers]
    .toSorted((a, b) => a - b)
    .flatMap((number): readonly MadeListener<Made>[] => {
      let port: Port | undefined;
      try {
        port = portOf(draft, number);
        const listener = port && make(port);
        if (port === undefined || listener === undefined) return [];
        const message = findings.ask(portKey(number), listener);
        if (message !== undefined) throw new GatewayFault(message);
        return [{ listener, port }];
      } catch (error) {
        if (!(error instanceof GatewayFault) && !(error instanceof HeldFault)) throw error;
        const standing = draft.standingListeners.find((listener) => listener.port === number);
        findings.failPort(number, error, standing !== undefined);
        return standing ? [{ listener: keep(standing, port), ...(port && { port }) }] : [];
      }
    });
}

type Base = Omit<ApplicationLoadBalancer, "kind" | "listeners" | "targetGroups" | "addressType" | "subnets"> & {
  readonly securityGroups: SecurityGroups;
};

const notFound: Action = { kind: "fixed-response", status: "404", contentType: "text/plain" };

function ofApplication(
  draft: Draft,
  base: Base,
  { addressType, choice }: Place,
  groups: Groups,
  findings: Findings,
): ApplicationLoadBalancer {
  const { config } = draft;
  const guards = guardsOf(draft);
  const listeners = listenersOf<Omit<ApplicationListener, "rules">>(draft, findings, {
    make: (port) => ({
      ...listenerOf(draft, port, (message) => findings.warn(message)),
      protocol: port.protocol as "HTTP" | "HTTPS",
      ...(port.protocol === "HTTPS" && { mutualTls: mutualTlsOf(draft, port) }),
      defaultActions: [notFound],
    }),
    keep(standing, port) {
      if (port === undefined) for (const arn of groupsBehind(standing)) findings.keptGroups.add(arn);
      return { ...asItStands(draft, standing), protocol: standing.protocol as "HTTP" | "HTTPS", defaultActions: [notFound] };
    },
  });
  return {
    ...base,
    kind: "application",
    addressType,
    subnets: choice.kind === "chosen" ? choice.subnets.map(({ id }) => ({ subnet: id })) : [],
    ...(config.customerOwnedIpv4Pool && { customerOwnedIpv4Pool: config.customerOwnedIpv4Pool }),
    ...(config.ipv4IPAMPoolId && { ipv4IpamPool: config.ipv4IPAMPoolId }),
    ...(guards && { guards }),
    listeners: listeners.map(({ listener, port }) => ({
      ...listener,
      rules: port ? rulesOf(draft, port, groups, findings) : rulesAsTheyStand(draft, listener.port),
    })),
    targetGroups: [],
  };
}

function ofNetwork(draft: Draft, base: Base, { addressType, choice }: Place, groups: Groups, findings: Findings): NetworkLoadBalancer {
  const { config, standing } = draft;
  const hasGroups =
    base.securityGroups.kind === "wanted" ? base.securityGroups.groups.length > 0 : (standing?.securityGroups.length ?? 0) > 0;
  const enforced = config.enforceSecurityGroupInboundRulesOnPrivateLinkTraffic;
  if (addressType === "dualstack-without-public-ipv4")
    throw new GatewayFault("ipAddressType dualstack-without-public-ipv4 is for Application LoadBalancers: it takes ipv4 or dualstack");
  const listeners = listenersOf<NetworkListener>(draft, findings, {
    make(port) {
      const stands = draft.standingListeners.some((listener) => listener.port === port.port);
      const forward = networkForward(port, groups, findings, stands);
      if (forward === undefined) return undefined;
      const protocol = port.protocol as NetworkListener["protocol"];
      const made = listenerOf(draft, port, (message) => findings.warn(message));
      return { ...made, protocol, ...(protocol === "TLS" && { alpnPolicy: port.config?.alpnPolicy ?? "None" }), forward };
    },
    keep(present) {
      for (const arn of groupsBehind(present)) findings.keptGroups.add(arn);
      const protocol = present.protocol as NetworkListener["protocol"];
      return { ...asItStands(draft, present), protocol, forward: standingForward(present) };
    },
  });
  return {
    ...base,
    kind: "network",
    addressType,
    subnets: choice.kind === "chosen" ? mappingsOf(draft, choice.subnets) : [],
    sourceNat: hasSourceNat(draft),
    ...(hasGroups && (enforced === "on" || enforced === "off") && { privateLinkRules: enforced }),
    listeners: listeners.map(({ listener }) => listener),
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
