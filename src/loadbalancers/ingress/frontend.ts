/** The network load balancer in front of a group's own, for fixed addresses or PrivateLink: what its members say about it. Pure. */

import { resolveGroups } from "../groups/given.ts";
import type { GroupOnLoadBalancer, NetworkLoadBalancer, TargetGroup } from "../model.ts";
import type { FoundNetwork } from "../network/find.ts";
import { forwardTo } from "../routing.ts";
import { chooseSubnets } from "../subnet-choice.ts";
import type { GroupId } from "./groups.ts";
import type { LoadBalancerSources, LoadBalancerWish } from "./load-balancer.ts";
import type { MemberOptions } from "./member.ts";
import { agreed, type MemberFaults, type Said, sameSet } from "./merge.ts";
import { frontendName, frontendTargetGroupName, parts, trackingTags } from "./names.ts";
import { allTags } from "./tags.ts";

export interface FrontendSources extends LoadBalancerSources {
  /** The one that stands in front already. */
  readonly front?: Pick<FoundNetwork, "internal" | "name">;
}

export interface Frontend {
  readonly model: NetworkLoadBalancer;
  /** Ports of the load balancer behind, by the names of the target groups that lead there. */
  readonly ports: ReadonlyMap<string, number>;
  /** Whether it has the security groups of the one behind, whatever those are. */
  readonly sharesGroups: boolean;
}

/** Undefined: nobody asks for one, or what is asked for cannot be had, which its author is told. */
export function frontendWish(
  group: GroupId,
  members: readonly MemberOptions[],
  balancer: LoadBalancerWish,
  behind: string,
  sources: FrontendSources,
  faults: MemberFaults,
): Frontend | undefined {
  const said = <T>(
    say: (member: MemberOptions) => T | undefined,
    conflict: (a: Said<T>, b: Said<T>) => string,
    isSame?: (a: T, b: T) => boolean,
  ) => agreed(members, say, faults, conflict, isSame);
  const isEnabled = said(
    ({ values }) => values["enable-frontend-nlb"],
    () => "conflicting enable frontend NLB values",
  );
  if (!isEnabled?.value) return undefined;
  const { settings, front } = sources;
  const scheme = said(
    ({ values }) => values["frontend-nlb-scheme"],
    (a, b) => `conflicting scheme: ${a.value} | ${b.value}`,
  )?.value;
  const internal = scheme === undefined ? (front?.internal ?? balancer.internal) : scheme === "internal";
  const subnets = subnetsOf(members, internal, balancer, sources, isEnabled.by, faults);
  const groups = groupsOf(members, sources, faults);
  const attributes = said(
    ({ values }) => values["frontend-nlb-attributes"],
    (a, b) => `conflicting frontend NLB attributes: ${show(a)} | ${show(b)}`,
  )?.value;
  const chosenTags = said(
    ({ values }) => values["frontend-nlb-tags"],
    (a, b) => `conflicting frontend NLB tags: ${show(a)} | ${show(b)}`,
  )?.value;
  if (subnets === undefined) return undefined;
  // As the reference has it: tags of its own are all that it has.
  const tagsOf = (part: string) =>
    chosenTags ? { ...chosenTags, ...trackingTags(settings.cluster, group, part) } : allTags(balancer.tags, group, part, settings);
  const ports = portsInFront(members, faults);
  const wishes = [...ports]
    .toSorted(([a], [b]) => a - b)
    .map(([port, { behind: target, users }]) => {
      const healthCheck = healthCheckOf(port, users, faults);
      const targetGroup: TargetGroup = {
        name: frontendTargetGroupName(settings.cluster, group, port, healthCheck),
        part: parts.frontendTargetGroup(port),
        tags: tagsOf(parts.frontendTargetGroup(port)),
        targetType: "alb",
        protocol: "TCP",
        port,
        healthCheck,
        fixesHealthCheck: !settings.gates.healthCheckAdvanced,
        attributes: {},
      };
      return { port, target, targetGroup };
    });
  return {
    sharesGroups: groups === undefined,
    ports: new Map(wishes.map(({ target, targetGroup }) => [targetGroup.name, target])),
    model: {
      kind: "network",
      name: front?.name ?? frontendName(behind),
      askedBy: group.kind === "explicit" ? "Ingress group" : "Ingress",
      internal,
      addressType: balancer.addressType === "ipv4" ? "ipv4" : "dualstack",
      subnets,
      securityGroups: { kind: "wanted", groups: groups ?? [] },
      tags: tagsOf(parts.frontend),
      attributes: attributes ?? {},
      listeners: wishes.map(({ port, targetGroup }) => ({
        port,
        protocol: "TCP",
        certificates: [],
        attributes: {},
        part: parts.frontendListener(port),
        tags: tagsOf(parts.frontendListener(port)),
        untagged: !settings.gates.listenerRulesTagging,
        why: `Ingress ${isEnabled.by.key} asks for a network load balancer in front`,
        forward: forwardTo(targetGroup.name),
      })),
      targetGroups: wishes.map(({ targetGroup }) => targetGroup),
    },
  };
}

const show = ({ value }: Said<unknown>) => JSON.stringify(value);

/** With an address per subnet where some are given. */
function subnetsOf(
  members: readonly MemberOptions[],
  internal: boolean,
  { addressType }: LoadBalancerWish,
  { settings, network }: FrontendSources,
  asker: MemberOptions,
  faults: MemberFaults,
): NetworkLoadBalancer["subnets"] | undefined {
  const named = agreed(
    members,
    ({ values }) => values["frontend-nlb-subnets"],
    faults,
    (a, b) => `conflicting subnets: ${show(a)} | ${show(b)}`,
    sameSet,
  );
  const addresses = agreed(
    members,
    ({ values }) => (values["frontend-nlb-eip-allocations"]?.length ? values["frontend-nlb-eip-allocations"] : undefined),
    faults,
    (a, b) => `all EIP allocations for the ingress group must be the same: ${show(a)} | ${show(b)}`,
    sameSet,
  );
  const choice = chooseSubnets(named ? { kind: "named", entries: named.value } : { kind: "discover" }, network, {
    cluster: settings.cluster,
    internal,
    addressType: addressType === "ipv4" ? "ipv4" : "dualstack",
    minimum: 1,
    checksClusterTag: settings.gates.subnetsClusterTagCheck,
    triesReachability: settings.gates.subnetDiscoveryByReachability,
  });
  if (choice.kind === "none") {
    faults.add((named?.by ?? asker).key, choice.message);
    return undefined;
  }
  const ids = choice.subnets.map(({ id }) => id);
  if (addresses === undefined) return ids.map((subnet) => ({ subnet }));
  const fault = internal
    ? "EIP allocations can only be set for internet facing load balancers"
    : addresses.value.length !== ids.length
      ? `count of EIP allocations (${addresses.value.length}) and subnets (${ids.length}) must match`
      : undefined;
  if (fault === undefined) return ids.map((subnet, i) => ({ subnet, allocation: addresses.value[i]! }));
  faults.add(addresses.by.key, fault);
  return undefined;
}

function groupsOf(
  members: readonly MemberOptions[],
  { groups }: FrontendSources,
  faults: MemberFaults,
): readonly GroupOnLoadBalancer[] | undefined {
  const given = agreed(
    members,
    ({ values }) => (values["frontend-nlb-security-groups"]?.length ? values["frontend-nlb-security-groups"] : undefined),
    faults,
    (a, b) => `conflicting securityGroups: ${show(a)} | ${show(b)}`,
  );
  if (given === undefined) return undefined;
  const resolved = resolveGroups(given.value, groups);
  if (!("fault" in resolved)) return resolved.ids.map((id) => ({ kind: "given", id }));
  faults.add(given.by.key, resolved.fault);
  return undefined;
}

interface FrontPort {
  readonly behind: number;
  readonly users: readonly MemberOptions[];
}

/** A mapping to a port that its Ingress does not listen on means nothing. */
function portsInFront(members: readonly MemberOptions[], faults: MemberFaults): ReadonlyMap<number, FrontPort> {
  const ports = new Map<number, FrontPort>();
  for (const member of members) {
    const identity = [...member.ports.keys()].map((port) => [port, port] as const);
    const wanted = [...(member.values["frontend-nlb-listener-port-mapping"] ?? identity)];
    for (const [front, behind] of wanted.filter(([, each]) => member.ports.has(each))) {
      const known = ports.get(front);
      if (known === undefined || known.behind === behind) ports.set(front, { behind, users: [...(known?.users ?? []), member] });
      else {
        const conflict = `conflicting Target Port, config 2: ${behind}, previous: ${known.behind}`;
        faults.add(member.key, `failed to merge NLB listenPort config for port: ${front}: ${conflict}`);
      }
    }
  }
  return ports;
}

/** What members of a port say; those that say nothing follow the others. */
function healthCheckOf(port: number, members: readonly MemberOptions[], faults: MemberFaults): TargetGroup["healthCheck"] {
  const say = <T>(what: string, of: (values: MemberOptions["values"]) => T | undefined, otherwise: T): T =>
    agreed(
      members,
      ({ values }) => of(values),
      faults,
      (a, b) => `failed to merge NLB listenPort config for port: ${port}: conflicting health check ${what}: ${a.value} | ${b.value}`,
    )?.value ?? otherwise;
  return {
    port: say("port", (values) => values["frontend-nlb-healthcheck-port"], "traffic-port"),
    protocol: say<"HTTP" | "HTTPS">("protocol", (values) => values["frontend-nlb-healthcheck-protocol"], "HTTP"),
    path: say("path", (values) => values["frontend-nlb-healthcheck-path"], "/"),
    interval: say("interval", (values) => values["frontend-nlb-healthcheck-interval-seconds"], 15),
    timeout: say("timeout", (values) => values["frontend-nlb-healthcheck-timeout-seconds"], 5),
    healthyThreshold: say("healthy threshold", (values) => values["frontend-nlb-healthcheck-healthy-threshold-count"], 2),
    unhealthyThreshold: say("unhealthy threshold", (values) => values["frontend-nlb-healthcheck-unhealthy-threshold-count"], 2),
    matcher: { kind: "http", codes: say("success codes", (values) => values["frontend-nlb-healthcheck-success-codes"], "200") },
    keepsAll: true,
  };
}
