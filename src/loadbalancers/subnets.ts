/**
 * Which subnets a load balancer stands in. Pure: the network as described in, a verdict on every subnet out, so that a
 * user who gets none is told why each was refused.
 */

export interface Subnet {
  readonly id: string;
  readonly zone: string;
  readonly cidr: string;
  readonly ipv6Cidrs: readonly string[];
  readonly tags: Readonly<Record<string, string>>;
  /** How many addresses are free, where it was told. */
  readonly availableAddresses?: number;
  /** The Outpost that it is on. */
  readonly outpost?: string;
}

export interface RouteTableView {
  readonly id: string;
  readonly main: boolean;
  readonly subnetIds: readonly string[];
  /** Some route of it leads to an internet gateway. */
  readonly toInternet: boolean;
}

export interface Network {
  readonly subnets: readonly Subnet[];
  readonly routeTables: readonly RouteTableView[];
  /** Zone name to zone type; a zone that is not there counts as an ordinary one. */
  readonly zoneTypes: Readonly<Record<string, string>>;
  /** Where the controller itself stands: the last resort when no subnet may be used. */
  readonly ownSubnetId?: string;
}

export interface SubnetVerdict {
  readonly subnet: Subnet;
  readonly taken: boolean;
  readonly why: string;
}

export type SubnetChoice =
  | { readonly kind: "chosen"; readonly subnets: readonly Subnet[]; readonly verdicts: readonly SubnetVerdict[] }
  | { readonly kind: "none"; readonly message: string; readonly verdicts: readonly SubnetVerdict[] };

/** What the choice needs to know of cluster ownership. */
export interface ClusterMarks {
  /** Whether these are the tags of something that belongs to, or is shared with, this cluster. */
  mine(tags: Readonly<Record<string, string>>): boolean;
}

const anyCluster = "kubernetes.io/cluster/";
const roleTag = { internal: "kubernetes.io/role/internal-elb", public: "kubernetes.io/role/elb" } as const;

/** The subnets of a load balancer without a `subnets` annotation: one a zone, public ones unless it is internal. */
export function discoverSubnets(network: Network, internal: boolean, cluster: ClusterMarks): SubnetChoice {
  const verdicts = new Map<string, SubnetVerdict>();
  const refuse = (subnet: Subnet, why: string) => verdicts.set(subnet.id, { subnet, taken: false, why });

  let candidates = network.subnets.filter((subnet) => {
    if (cluster.mine(subnet.tags) || !Object.keys(subnet.tags).some((key) => key.startsWith(anyCluster))) return true;
    refuse(subnet, "it is tagged for another cluster");
    return false;
  });
  if (candidates.length === 0) candidates = network.subnets.filter(({ id }) => id === network.ownSubnetId);

  const unrouted = candidates.find((subnet) => tableOf(network, subnet) === undefined);
  if (unrouted)
    return { kind: "none", message: `could not locate routing table for subnet ${unrouted.id}`, verdicts: [...verdicts.values()] };
  if (!internal) {
    candidates = candidates.filter((subnet) => {
      if (tableOf(network, subnet)?.toInternet) return true;
      refuse(subnet, `it is private: its route table ${tableOf(network, subnet)?.id} has no route to an internet gateway`);
      return false;
    });
  }

  const chosen: Subnet[] = [];
  for (const [zone, inZone] of [...Map.groupBy(candidates, (subnet) => subnet.zone)].sort(([a], [b]) => compare(a, b))) {
    const [best, ...others] = inZone.toSorted(
      (a, b) => preference(b, internal, cluster) - preference(a, internal, cluster) || compare(a.id, b.id),
    );
    const type = network.zoneTypes[zone] ?? "availability-zone";
    for (const other of others) refuse(other, `${best?.id} is preferred in zone ${zone}`);
    if (!best) continue;
    if (type === "availability-zone") chosen.push(best);
    else refuse(best, `zone ${zone} is a ${type}, where this load balancer cannot be placed`);
  }
  for (const subnet of chosen) verdicts.set(subnet.id, { subnet, taken: true, why: reasonTaken(subnet, internal, cluster) });
  const all = [...verdicts.values()].sort((a, b) => compare(a.subnet.id, b.subnet.id));
  if (chosen.length > 0) return { kind: "chosen", subnets: chosen, verdicts: all };
  return { kind: "none", message: noneMessage(all), verdicts: all };
}

/**
 * The subnets a `subnets` annotation names, by id or by Name tag, in the order it names them: elastic IPs and private
 * addresses are given in that order too.
 */
export function namedSubnets(wanted: readonly string[], found: readonly Subnet[]): SubnetChoice {
  const subnets = wanted.flatMap((entry) =>
    found.filter((subnet) => (entry.startsWith("subnet-") ? subnet.id === entry : subnet.tags.Name === entry)),
  );
  const verdicts = subnets.map((subnet) => ({ subnet, taken: true, why: "the subnets annotation names it" }));
  if (subnets.length === wanted.length) return { kind: "chosen", subnets, verdicts };
  const missing = wanted.filter((entry) => !subnets.some((subnet) => subnet.id === entry || subnet.tags.Name === entry));
  const detail = missing.length > 0 ? ` (not found: ${missing.join(", ")})` : " (a Name tag fits several subnets: use ids)";
  return { kind: "none", message: `expected to find ${wanted.length}, but found ${subnets.length} subnets${detail}`, verdicts };
}

/** The table explicitly associated with the subnet, else the VPC's main table. */
export function tableOf(network: Network, subnet: Subnet): RouteTableView | undefined {
  return network.routeTables.find(({ subnetIds }) => subnetIds.includes(subnet.id)) ?? network.routeTables.find(({ main }) => main);
}

function preference(subnet: Subnet, internal: boolean, cluster: ClusterMarks): number {
  return (roleTag[internal ? "internal" : "public"] in subnet.tags ? 2 : 0) + (cluster.mine(subnet.tags) ? 1 : 0);
}

function reasonTaken(subnet: Subnet, internal: boolean, cluster: ClusterMarks): string {
  const role = roleTag[internal ? "internal" : "public"];
  if (role in subnet.tags) return `it carries ${role}`;
  return cluster.mine(subnet.tags) ? "it carries this cluster's tag" : "it is the first in its zone";
}

function noneMessage(verdicts: readonly SubnetVerdict[]): string {
  const base = "could not find any suitable subnets for creating the ELB";
  if (verdicts.length === 0) return `${base}: the VPC has no subnet that this cluster may use`;
  return `${base}: ${verdicts.map(({ subnet, why }) => `${subnet.id}: ${why}`).join("; ")}`;
}

const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
