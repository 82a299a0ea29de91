/** The load balancer of a group: what its members say about it, put together. Pure. */
import type { SecurityGroup } from "../../aws/security-groups.ts";
import type { FoundApplication } from "../application/find.ts";
import { resolveGroups } from "../groups/given.ts";
import type { Attributes, GroupOnLoadBalancer, ManagedGroup, Rule, SecurityGroups } from "../model.ts";
import { chooseSubnets, type SubnetWish } from "../subnet-choice.ts";
import type { Network, SubnetChoice } from "../subnets.ts";
import type { GroupId } from "./groups.ts";
import type { Port } from "./listeners.ts";
import type { MemberOptions } from "./member.ts";
import { agreed, agreedByKey, type MemberFaults, type Said, sameSet } from "./merge.ts";
import { loadBalancerName, managedGroupName, parts, trackingTags } from "./names.ts";
import type { IngressSettings } from "./settings.ts";
import { allTags, groupTags } from "./tags.ts";
import type { ClassParams } from "./view.ts";

export interface LoadBalancerSources {
  readonly settings: IngressSettings;
  readonly network: Network;
  /** All groups of the VPC. */
  readonly groups: readonly SecurityGroup[];
  /** The group that load balancers share towards their targets. */
  readonly backendGroup?: string;
  /** The security group that was made for this one. */
  readonly managedGroup?: string;
  /** The group's load balancer that stands already. */
  readonly standing?: Pick<FoundApplication, "subnets" | "internal" | "securityGroups" | "addressType">;
  isForeignTag(key: string): boolean;
}

/** Who speaks for a group. */
export interface Speakers {
  /** Those who are understood, in the order of the group. */
  readonly members: readonly MemberOptions[];
  /** Of some things the class of the first member decides, whether that one is understood or not. */
  readonly firstClass?: ClassParams;
  /** Whether these are all. Otherwise what stands is kept: of somebody nobody knows what they have said of it. */
  readonly areAll: boolean;
}

export interface LoadBalancerWish {
  readonly name: string;
  readonly internal: boolean;
  readonly addressType: "ipv4" | "dualstack" | "dualstack-without-public-ipv4";
  readonly choice: SubnetChoice;
  readonly securityGroups: SecurityGroups;
  /** The group that targets let in; absent: targets are left alone. */
  readonly source?: { readonly kind: "group"; readonly id: string } | { readonly kind: "managed" };
  readonly attributes: Attributes;
  /** The one member that says something about them. */
  readonly attributesBy?: string;
  readonly capacity?: number;
  readonly customerOwnedIpv4Pool?: string;
  readonly ipv4IpamPool?: string;
  /** What members ask for on what they share. */
  readonly tags: Readonly<Record<string, string>>;
}

export function loadBalancerWish(
  group: GroupId,
  { members, firstClass: first, areAll }: Speakers,
  ports: readonly Port[],
  sources: LoadBalancerSources,
  faults: MemberFaults,
): LoadBalancerWish {
  const { settings } = sources;
  const kept = areAll ? undefined : sources.standing;
  const said = <T>(say: (member: MemberOptions) => T | undefined, what: string, isSame?: (a: T, b: T) => boolean) =>
    agreed(members, say, faults, (a, b) => `${what}: ${show(a)} | ${show(b)}`, isSame);
  const scheme =
    said(({ member, values }) => member.params?.scheme ?? values.scheme, "conflicting scheme")?.value ?? settings.defaultScheme;
  const family = said(
    ({ member, values }) => member.params?.ipAddressType ?? values["ip-address-type"],
    "conflicting IPAddressType",
  )?.value;
  const addressType = (kept?.addressType as typeof family) ?? family ?? "ipv4";
  const name = said(
    ({ member, values }) => member.params?.loadBalancerName || values["load-balancer-name"] || undefined,
    "conflicting load balancer name",
  )?.value;
  const internal = kept?.internal ?? scheme === "internal";
  const pool = said(({ values }) => values["customer-owned-ipv4-pool"], "conflicting CustomerOwnedIPv4Pool")?.value;
  const ipam =
    first?.ipamConfiguration?.ipv4IPAMPoolId || said(({ values }) => values["ipam-ipv4-pool-id"], "conflicting ipv4 ipam pools")?.value;
  const capacity =
    first?.minimumLoadBalancerCapacity?.capacityUnits ??
    said(({ values }) => values["minimum-load-balancer-capacity"], "conflicting capacity reservation CapacityUnits")?.value;
  const tags = groupTags(members, settings, faults);
  return {
    name: name ?? loadBalancerName(settings.cluster, group, scheme),
    internal,
    addressType,
    choice: subnetsFor(members, { internal, addressType }, sources, faults),
    ...securityGroupsFor(group, members, ports, addressType, tags, { ...sources, ...(kept && { kept }) }, faults),
    attributes: attributesFor(members, first, faults),
    ...soleAuthor(members),
    ...(settings.gates.capacityReservation && capacity !== undefined && { capacity }),
    ...(pool && { customerOwnedIpv4Pool: pool }),
    ...(ipam && { ipv4IpamPool: ipam }),
    tags,
  };
}

const show = ({ value }: Said<unknown>) => (Array.isArray(value) ? `[${value.join(", ")}]` : String(value));

function attributesFor(members: readonly MemberOptions[], first: ClassParams | undefined, faults: MemberFaults): Attributes {
  const settled = Object.fromEntries((first?.loadBalancerAttributes ?? []).map(({ key, value }) => [key, value]));
  const conflict = (key: string, a: string, b: string) => `conflicting load balancer attributes ${key}: ${a} | ${b}`;
  return agreedByKey(members, ({ values }) => values["load-balancer-attributes"], faults, conflict, settled);
}

function soleAuthor(members: readonly MemberOptions[]): Pick<LoadBalancerWish, "attributesBy"> {
  const [only, ...others] = members.filter(({ values }) => values["load-balancer-attributes"] !== undefined);
  return only && others.length === 0 ? { attributesBy: only.key } : {};
}

/** Where none are asked for, one that stands keeps those that it has: a new tag on a subnet moves nobody. */
function subnetsFor(
  members: readonly MemberOptions[],
  { internal, addressType }: { readonly internal: boolean; readonly addressType: string },
  { settings, network, standing }: LoadBalancerSources,
  faults: MemberFaults,
): SubnetChoice {
  const wish = agreed(members, subnetWish, faults, subnetConflict, sameWish);
  const conflict = (a: Said<string>, b: Said<string>) => `conflicting subnet-discovery: ${a.value} | ${b.value}`;
  const isFollowed = agreed(members, ({ values }) => values["subnet-discovery"], faults, conflict)?.value === "always";
  const needs = {
    cluster: settings.cluster,
    internal,
    addressType,
    minimum: settings.gates.singleSubnet ? 1 : 2,
    checksClusterTag: settings.gates.subnetsClusterTagCheck,
    triesReachability: settings.gates.subnetDiscoveryByReachability,
  };
  const kept = standing?.internal === internal ? network.subnets.filter(({ id }) => standing.subnets.includes(id)) : [];
  const keep = (why: string): SubnetChoice => ({
    kind: "chosen",
    subnets: kept,
    verdicts: kept.map((subnet) => ({ subnet, taken: true, why })),
  });
  if (wish === undefined && kept.length > 0 && !isFollowed) return keep("the load balancer is already in it");
  const choice = wish
    ? chooseSubnets(wish.value, network, needs)
    : chooseSubnets({ kind: "discover" }, network, { ...needs, preferred: kept.map(({ id }) => id) });
  if (choice.kind === "chosen") return choice;
  if (wish) faults.add(wish.by.key, choice.message);
  return kept.length > 0
    ? keep(`the load balancer is already in it, and ${wish ? "those that are asked for cannot be used" : "no others can be discovered"}`)
    : choice;
}

function subnetWish({ member: { params }, values }: MemberOptions): SubnetWish | undefined {
  if (params?.subnets?.ids) return { kind: "named", entries: params.subnets.ids };
  if (params?.subnets?.tags) return { kind: "tagged", tags: params.subnets.tags };
  return values.subnets && { kind: "named", entries: values.subnets };
}

const sameWish = (a: SubnetWish, b: SubnetWish) =>
  a.kind === "named" && b.kind === "named" ? sameSet(a.entries, b.entries) : JSON.stringify(a) === JSON.stringify(b);

function subnetConflict(a: Said<SubnetWish>, b: Said<SubnetWish>): string {
  const byParams = ({ by }: Said<SubnetWish>) => by.member.params?.subnets !== undefined;
  if (byParams(a) && byParams(b)) return "conflicting IngressClassParams subnet specifications";
  if (byParams(a) || byParams(b)) return "conflicting subnet specifications: IngressClassParams versus annotation";
  const entries = ({ value }: Said<SubnetWish>) => (value.kind === "named" ? `[${value.entries.join(", ")}]` : "");
  return `conflicting subnets: ${entries(a)} | ${entries(b)}`;
}

function securityGroupsFor(
  group: GroupId,
  members: readonly MemberOptions[],
  ports: readonly Port[],
  addressType: string,
  tags: LoadBalancerWish["tags"],
  sources: LoadBalancerSources & { readonly kept?: Standing },
  faults: MemberFaults,
): Pick<LoadBalancerWish, "securityGroups" | "source"> {
  const { settings, groups, backendGroup, standing, kept, managedGroup: own } = sources;
  const isSame = (a: readonly string[], b: readonly string[]) => a.join() === b.join();
  const given = agreed(
    members,
    ({ values }) => values["security-groups"],
    faults,
    (a, b) => `conflicting securityGroups: ${show(a)} | ${show(b)}`,
    isSame,
  );
  const manages = agreed(
    members,
    ({ values }) => values["manage-backend-security-group-rules"],
    faults,
    () => "conflicting manage backend security group rules settings",
  );
  // A group of our own is opened for others meanwhile; where others were given nobody knows by whom.
  if (kept && (given?.value.length || own === undefined || !kept.securityGroups.includes(own))) return asItIs(kept, sources);
  const shared: readonly GroupOnLoadBalancer[] = backendGroup === undefined ? [] : [{ kind: "given", id: backendGroup }];
  if (!given?.value.length) {
    const managed: GroupOnLoadBalancer = { kind: "managed", group: managedGroupOf(group, ports, addressType, tags, sources) };
    const source = backendGroup === undefined ? ({ kind: "managed" } as const) : ({ kind: "group", id: backendGroup } as const);
    return { securityGroups: { kind: "wanted", groups: [managed, ...shared] }, source };
  }
  const resolved = resolveGroups(given.value, groups);
  if ("fault" in resolved) {
    faults.add(given.by.key, resolved.fault);
    return standing ? asItIs(standing, sources) : { securityGroups: { kind: "wanted", groups: shared } };
  }
  const wanted: readonly GroupOnLoadBalancer[] = resolved.ids.map((id) => ({ kind: "given", id }));
  if (!(manages?.value ?? settings.managesBackendRules)) return { securityGroups: { kind: "wanted", groups: wanted } };
  if (backendGroup !== undefined)
    return { securityGroups: { kind: "wanted", groups: [...wanted, ...shared] }, source: { kind: "group", id: backendGroup } };
  faults.add(
    (manages?.by ?? given.by).key,
    "backendSG feature is required to manage worker node SG rules when frontendSG manually specified",
  );
  return { securityGroups: { kind: "wanted", groups: wanted } };
}

type Standing = NonNullable<LoadBalancerSources["standing"]>;

/** One that stands keeps the groups that it has, and targets go on letting in whichever of them speaks for it. */
function asItIs(
  { securityGroups }: Standing,
  { backendGroup, managedGroup }: LoadBalancerSources,
): Pick<LoadBalancerWish, "securityGroups" | "source"> {
  const has = (id: string | undefined): id is string => id !== undefined && securityGroups.includes(id);
  const source = has(backendGroup)
    ? ({ kind: "group", id: backendGroup } as const)
    : has(managedGroup)
      ? ({ kind: "managed" } as const)
      : undefined;
  return { securityGroups: { kind: "as-it-is" }, ...(source && { source }) };
}

function managedGroupOf(
  group: GroupId,
  ports: readonly Port[],
  addressType: string,
  tags: LoadBalancerWish["tags"],
  { settings, isForeignTag }: LoadBalancerSources,
): ManagedGroup {
  const takesIpv6 = addressType.startsWith("dualstack");
  const rules = ports.flatMap(({ port, cidrs, prefixLists }): Rule[] => {
    const base = { protocol: "tcp", fromPort: port, toPort: port } as const;
    return [
      ...cidrs.filter((cidr) => takesIpv6 || !cidr.includes(":")).map((cidr) => ({ ...base, cidr })),
      ...prefixLists.map((prefixList) => ({ ...base, prefixList })),
    ];
  });
  return {
    name: managedGroupName(settings.cluster, group),
    description: "[k8s] Managed SecurityGroup for LoadBalancer",
    tags: allTags(tags, group, parts.securityGroup, settings),
    ownership: trackingTags(settings.cluster, group, parts.securityGroup),
    isForeignTag,
    rules,
  };
}
