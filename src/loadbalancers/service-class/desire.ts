/** From a Service to the load balancer that it asks for. Pure: the same inputs always give the same model. */
import type { Attributes, NetworkLoadBalancer, Problem, SecurityGroups } from "../model.ts";
import { chooseSubnets } from "../subnet-choice.ts";
import type { Subnet, SubnetChoice } from "../subnets.ts";
import type { BindingWish } from "../targets/owned-bindings.ts";
import { type Draft, draftOf, type ServiceSources } from "./draft.ts";
import { forwardsOf } from "./forwards.ts";
import { listenerPortsOf } from "./listeners.ts";
import { loadBalancerName, parts } from "./names.ts";
import { ServiceFault } from "./reader.ts";
import { guardOf } from "./security-groups.ts";
import { mappingsOf, sourceNatOf } from "./subnet-mappings.ts";
import { tagsOf } from "./tags.ts";
import type { ServiceView } from "./view.ts";

export interface ServiceDesire {
  readonly model: NetworkLoadBalancer;
  readonly bindings: readonly BindingWish[];
  readonly subnets: SubnetChoice;
  /** Whether its targets are opened for the group that load balancers share. */
  readonly usesBackendGroup: boolean;
  /** Nothing is done while there are any. */
  readonly problems: readonly Problem[];
  /** Said, and lived with. */
  readonly warnings: readonly Problem[];
}

export function desireService(service: ServiceView, sources: ServiceSources): ServiceDesire {
  const { draft, warnings } = draftOf(service, sources);
  let place: Place | undefined;
  try {
    place = placeOf(draft);
    const { choice } = place;
    if (choice.kind === "none") throw new ServiceFault(choice.message);
    return { ...modelOf(draft, place, choice.subnets), subnets: choice, problems: [], warnings: warnings(true) };
  } catch (error) {
    if (!(error instanceof ServiceFault)) throw error;
    const subnets = place?.choice ?? ({ kind: "chosen", subnets: [], verdicts: [] } as const);
    const problems = [{ message: error.message }];
    return { model: emptyModel(draft), bindings: [], subnets, usesBackendGroup: true, problems, warnings: warnings(false) };
  }
}

interface Place {
  readonly internal: boolean;
  readonly addressType: "ipv4" | "dualstack";
  readonly choice: SubnetChoice;
}

function placeOf(draft: Draft): Place {
  const internal = isInternal(draft);
  const addressType = draft.read.get("aws-load-balancer-ip-address-type") ?? "ipv4";
  return { internal, addressType, choice: subnetsOf(draft, internal, addressType) };
}

/** One that stands is never turned round without being asked for. */
function isInternal({ read, standing, settings }: Draft): boolean {
  const scheme = read.get("aws-load-balancer-scheme");
  if (scheme !== undefined) return scheme === "internal";
  return read.get("aws-load-balancer-internal") ?? standing?.internal ?? settings.defaultScheme === "internal";
}

/** Where none are asked for, one that stands keeps those that it has: a new tag on a subnet moves nobody. */
function subnetsOf({ read, standing, network, settings }: Draft, internal: boolean, addressType: string): SubnetChoice {
  const { cluster, gates } = settings;
  const needs = {
    cluster,
    internal,
    addressType,
    minimum: 1,
    checksClusterTag: gates.subnetsClusterTagCheck,
    triesReachability: gates.subnetDiscoveryByReachability,
  };
  const entries = read.get("aws-load-balancer-subnets");
  if (entries) return chooseSubnets({ kind: "named", entries }, network, needs);
  const kept =
    standing?.internal === internal ? standing.subnets.flatMap((id) => network.subnets.find((each) => each.id === id) ?? []) : [];
  if (kept.length === 0) return chooseSubnets({ kind: "discover" }, network, needs);
  const why = "the load balancer is already in it";
  return { kind: "chosen", subnets: kept, verdicts: kept.map((subnet) => ({ subnet, taken: true, why })) };
}

function modelOf(
  draft: Draft,
  { internal, addressType }: Place,
  subnets: readonly Subnet[],
): Pick<ServiceDesire, "model" | "bindings" | "usesBackendGroup"> {
  const { of, read, settings, standing, backendGroup } = draft;
  const isDualStack = addressType === "dualstack";
  const sourceNat = sourceNatOf(draft, addressType, subnets);
  const attributes = attributesOf(draft);
  const capacity = settings.gates.capacityReservation ? read.get("aws-load-balancer-minimum-load-balancer-capacity") : undefined;
  const { securityGroups, source } = guardOf(draft, isDualStack);
  const mappings = mappingsOf(draft, subnets, { internal, addressType, sourceNat });
  const chosen = read.get("aws-load-balancer-name");
  const name = chosen ?? loadBalancerName(settings.cluster, of, internal ? "internal" : "internet-facing");
  const privateLinkRules = hasGroups(securityGroups, draft)
    ? read.get("aws-load-balancer-inbound-sg-rules-on-private-link-traffic")
    : undefined;
  const { listeners, groups } = forwardsOf(draft, listenerPortsOf(draft), { isDualStack, source, internal, subnets });
  return {
    model: {
      kind: "network",
      // One that stands keeps its name, unless it has to make way for one of another scheme.
      name: standing?.internal === internal ? standing.name : name,
      askedBy: "Service",
      internal,
      addressType,
      subnets: mappings,
      sourceNat,
      securityGroups,
      ...(privateLinkRules && { privateLinkRules }),
      tags: tagsOf(draft, parts.loadBalancer),
      attributes,
      ...(capacity !== undefined && { capacity }),
      listeners,
      targetGroups: groups.map(({ group }) => group),
    },
    bindings: groups.map(({ binding }) => binding),
    usesBackendGroup: source.kind === "group" && source.id === backendGroup,
  };
}

const hasGroups = (wanted: SecurityGroups, { standing }: Draft) =>
  wanted.kind === "wanted" ? wanted.groups.length > 0 : (standing?.securityGroups.length ?? 0) > 0;

/** What was once said by an annotation of its own goes before the list. */
function attributesOf({ read }: Draft): Attributes {
  const attributes: Record<string, string> = { ...read.get("aws-load-balancer-attributes") };
  if (read.get("aws-load-balancer-access-log-enabled")) {
    attributes["access_logs.s3.enabled"] = "true";
    const bucket = read.get("aws-load-balancer-access-log-s3-bucket-name");
    const prefix = read.get("aws-load-balancer-access-log-s3-bucket-prefix");
    if (bucket !== undefined) attributes["access_logs.s3.bucket"] = bucket;
    if (prefix !== undefined) attributes["access_logs.s3.prefix"] = prefix;
  }
  const crossZone = read.get("aws-load-balancer-cross-zone-load-balancing-enabled");
  if (crossZone !== undefined) attributes["load_balancing.cross_zone.enabled"] = String(crossZone);
  return Object.fromEntries(Object.entries(attributes).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

/** Of a Service that cannot be understood: nothing is planned for it. */
function emptyModel({ of, settings, standing }: Draft): NetworkLoadBalancer {
  return {
    kind: "network",
    name: standing?.name ?? loadBalancerName(settings.cluster, of, settings.defaultScheme),
    askedBy: "Service",
    internal: standing?.internal ?? settings.defaultScheme === "internal",
    addressType: "ipv4",
    subnets: [],
    securityGroups: { kind: "as-it-is" },
    tags: {},
    attributes: {},
    listeners: [],
    targetGroups: [],
  };
}
