/**
 * Which subnets a load balancer of the AWS Load Balancer Controller stands in: those that are named, those that carry given
 * tags, or those found by role and reachability. Pure, with a verdict on every subnet that was looked at.
 */
import { clusterTagPrefix } from "../identity/cluster-id.ts";
import { type Network, type Subnet, type SubnetChoice, type SubnetVerdict, tableOf } from "./subnets.ts";

/** How an owner says which ones. */
export type SubnetWish =
  | { readonly kind: "discover" }
  /** Ids, or values of the Name tag, in this order. */
  | { readonly kind: "named"; readonly entries: readonly string[] }
  | { readonly kind: "tagged"; readonly tags: Readonly<Record<string, readonly string[]>> };

export interface SubnetNeeds {
  readonly cluster: string;
  readonly internal: boolean;
  readonly addressType: string;
  /** In zones of a region; elsewhere one is enough. */
  readonly minimum: number;
  readonly checksClusterTag: boolean;
  readonly triesReachability: boolean;
  /** Of several in a zone these go first: the load balancer is in them. */
  readonly preferred?: readonly string[];
}

/** Of a load balancer in a subnet with fewer AWS cannot make interfaces. */
const minAddresses = 8;

export function chooseSubnets(wish: SubnetWish, network: Network, needs: SubnetNeeds): SubnetChoice {
  if (wish.kind === "named") return named(wish.entries, network, needs);
  const isDiscovery = wish.kind === "discover";
  const candidates = isDiscovery ? candidatesFor(network, needs) : network.subnets.filter((subnet) => hasTags(subnet, wish.tags));
  return choose(candidates, network, needs, isDiscovery ? "couldn't auto-discover subnets: " : "");
}

function named(entries: readonly string[], network: Network, needs: SubnetNeeds): SubnetChoice {
  const none = (message: string): SubnetChoice => ({ kind: "none", message, verdicts: [] });
  if (entries.length === 0) return none("unable to resolve at least one subnet");
  const open = new Set(network.subnets.toSorted(byId));
  const chosen: Subnet[] = [];
  const missing: string[] = [];
  for (const entry of entries) {
    const found = [...open].find(({ id, tags }) => (entry.startsWith("subnet-") ? id === entry : tags.Name === entry));
    if (found === undefined) missing.push(entry);
    else {
      chosen.push(found);
      open.delete(found);
    }
  }
  if (missing.length > 0) return none(`failed to list subnets by names or IDs: ${missingText(missing, entries, chosen, network)}`);
  const fault = faultOf(chosen, network, needs) ?? ipv6Fault(chosen, needs);
  if (fault !== undefined) return none(fault);
  return { kind: "chosen", subnets: chosen, verdicts: chosen.map((subnet) => ({ subnet, taken: true, why: "it is named" })) };
}

function missingText(missing: readonly string[], entries: readonly string[], chosen: readonly Subnet[], network: Network): string {
  const [first = ""] = missing;
  if (first.startsWith("subnet-")) {
    const ids = (all: readonly string[]) => all.filter((entry) => entry.startsWith("subnet-")).join(", ");
    return `couldn't find all subnets, want: [${ids(entries)}], found: [${ids(chosen.map(({ id }) => id))}]`;
  }
  const there = network.subnets.filter(({ tags }) => tags.Name === first).length;
  if (there === 0) return `couldn't find all subnets, missing names: [${missing.join(", ")}]`;
  const times = entries.filter((entry) => entry === first).length;
  return `subnet with Name tag "${first}" requested ${times} times but only ${there} subnet(s) found with that name`;
}

const roles = { internal: "kubernetes.io/role/internal-elb", public: "kubernetes.io/role/elb" } as const;

/** Those with the role's tag; where there are none, those that are public, or are not. */
function candidatesFor(network: Network, { internal, triesReachability }: SubnetNeeds): readonly Subnet[] {
  const role = roles[internal ? "internal" : "public"];
  const tagged = network.subnets.filter(({ tags }) => tags[role] === "" || tags[role] === "1");
  if (tagged.length > 0 || !triesReachability) return tagged;
  return network.subnets.filter((subnet) => (tableOf(network, subnet)?.toInternet ?? false) !== internal);
}

const hasTags = ({ tags }: Subnet, wanted: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(wanted).every(([key, values]) => tags[key] !== undefined && values.includes(tags[key]));

/** The first check that a subnet fails, in the order in which they are counted. */
const checks = [
  {
    why: "it is tagged for another cluster",
    fails: ({ tags }: Subnet, { cluster, checksClusterTag }: SubnetNeeds) =>
      checksClusterTag &&
      Object.keys(tags).some((key) => key.startsWith("kubernetes.io/cluster")) &&
      tags[clusterTagPrefix + cluster] === undefined,
  },
  {
    why: `it has fewer than ${minAddresses} free addresses`,
    fails: ({ availableAddresses = minAddresses }: Subnet) => availableAddresses < minAddresses,
  },
  {
    why: "it has no IPv6 block",
    fails: ({ ipv6Cidrs }: Subnet, { addressType }: SubnetNeeds) => isDualStack(addressType) && ipv6Cidrs.length === 0,
  },
] as const;

const isDualStack = (addressType: string) => addressType.startsWith("dualstack");

function choose(candidates: readonly Subnet[], network: Network, needs: SubnetNeeds, prefix: string): SubnetChoice {
  const verdicts: SubnetVerdict[] = [];
  const refuse = (subnet: Subnet, why: string) => verdicts.push({ subnet, taken: false, why });
  const counts = checks.map(() => 0);
  const usable = candidates.filter((subnet) => {
    const failed = checks.findIndex(({ fails }) => fails(subnet, needs));
    if (failed < 0) return true;
    counts[failed]! += 1;
    refuse(subnet, checks[failed]!.why);
    return false;
  });
  const own = ({ tags }: Subnet) => (tags[clusterTagPrefix + needs.cluster] === undefined ? 1 : 0);
  const preference = ({ id }: Subnet) => (needs.preferred?.includes(id) ? 0 : 1);
  const chosen = [...Map.groupBy(usable, ({ zone }) => zone).values()].map((inZone) => {
    const [best, ...others] = inZone.toSorted((a, b) => preference(a) - preference(b) || own(a) - own(b) || byId(a, b));
    for (const other of others) refuse(other, `${best!.id} is preferred in zone ${best!.zone}`);
    return best!;
  });
  chosen.sort(byId);
  const none = (message: string): SubnetChoice => ({ kind: "none", message: prefix + message, verdicts });
  if (chosen.length === 0) return none(`unable to resolve at least one subnet. ${countText(candidates.length, counts, needs)}`);
  const fault = faultOf(chosen, network, needs);
  if (fault !== undefined) return none(fault);
  const taken = chosen.map((subnet) => ({ subnet, taken: true, why: "it is the best in its zone" }));
  return { kind: "chosen", subnets: chosen, verdicts: [...verdicts, ...taken].sort((a, b) => byId(a.subnet, b.subnet)) };
}

function countText(evaluated: number, [others = 0, small = 0, v4 = 0]: readonly number[], { addressType }: SubnetNeeds): string {
  const start = `Evaluated ${evaluated} subnets: ${others} are tagged for other clusters,`;
  if (!isDualStack(addressType)) return `${start} and ${small} have insufficient available IP addresses`;
  return `${start} ${small} have insufficient available IP addresses, and ${v4} don't have an associated IPv6 CIDR block, which is required for ${addressType} load balancers`;
}

/** What keeps subnets from being those of one load balancer. */
function faultOf(subnets: readonly Subnet[], network: Network, { minimum }: SubnetNeeds): string | undefined {
  for (const [zone, inZone] of Map.groupBy(subnets, (subnet) => subnet.zone)) {
    if (inZone.length > 1) return `multiple subnets in same Availability Zone ${zone}: [${inZone.map(({ id }) => id).join(" ")}]`;
  }
  const locales = [...Map.groupBy(subnets, (subnet) => localeOf(subnet, network))];
  if (locales.length > 1)
    return `subnets in multiple locales: [${locales.map(([locale, some]) => `${locale}: ${some.map(({ id }) => id).join(" ")}`).join(", ")}]`;
  const needed = locales[0]?.[0] === "availabilityZone" ? minimum : 1;
  return subnets.length < needed ? `subnets count less than minimal required count: ${subnets.length} < ${needed}` : undefined;
}

function ipv6Fault(subnets: readonly Subnet[], { addressType }: SubnetNeeds): string | undefined {
  const without = isDualStack(addressType) ? subnets.filter(({ ipv6Cidrs }) => ipv6Cidrs.length === 0) : [];
  if (without.length === 0) return undefined;
  return `subnets [${without.map(({ id }) => id).join(", ")}] do not have an associated IPv6 CIDR block, which is required for ${addressType} load balancers`;
}

function localeOf({ zone, outpost }: Subnet, { zoneTypes }: Network): string {
  if (outpost !== undefined) return "outpost";
  const type = zoneTypes[zone] ?? "availability-zone";
  return { "availability-zone": "availabilityZone", "local-zone": "localZone", "wavelength-zone": "wavelengthZone" }[type] ?? type;
}

const byId = (a: Subnet, b: Subnet) => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);
