/**
 * What is in the account, read together: one list of each kind serves every owner that asks in the same moment, what
 * we write is read by itself afterwards, and what hardly changes is kept for minutes.
 */
import type { LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import type { LoadBalancer, TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import { neverAborted } from "../aws/abort.ts";
import type { Ask } from "../aws/ask.ts";
import { Cache } from "../aws/cache.ts";
import type { Cloud } from "../aws/cloud.ts";
import type { SecurityGroup, SecurityGroupRule } from "../aws/security-groups.ts";
import type { ClusterId } from "../identity/cluster-id.ts";
import { hasClusterTag, isOwned } from "../identity/ownership.ts";
import type { Clock } from "../runtime/world.ts";
import type { SeenGroup } from "./groups/managed.ts";
import { type Ages, Listing } from "./listing.ts";
import type { ClassicAttributes, Tags } from "./model.ts";
import { ownGroupPrefix } from "./names.ts";
import type { Network } from "./subnets.ts";

/** Where the load balancers of a cluster stand. */
export interface ClusterScope {
  readonly vpc: string;
  readonly cluster: ClusterId;
  /** Where the controller itself stands: the last resort when no subnet may be used. */
  readonly ownSubnetId?: string;
  /** Whether something with these tags is the cluster's, for programs that mark it in another way than by the cluster's tag. */
  owns?(tags: Tags): boolean;
  /** A tag that everything of the cluster's carries, where AWS's index of tags may be asked for it. */
  readonly indexed?: { readonly key: string; readonly value: string };
}

/** For a reconcile: that nobody has taken a name of ours may be known from a while ago, what stands must be seen now. */
export const reconcileAges: Ages = { absentMs: 10 * 60_000, presentMs: 60_000 };
/** For a decision that lets go of something. What we have written is always read anew, so this is about what others do. */
export const freshAges: Ages = { absentMs: 4_000, presentMs: 4_000 };
/** For a decision that is never looked at again. */
export const presentAges: Ages = { absentMs: 0, presentMs: 0 };

/** Rules of a group that was not there when those of all groups were read are not known to be none. */
const ruleAges: Ages = { absentMs: Number.NEGATIVE_INFINITY, presentMs: reconcileAges.presentMs };

/** Subnets, route tables and zones: people change them, and wait a moment for it to show. */
const networkAgeMs = 5 * 60_000;

/** How old the list of groups may be in which one that somebody has met elsewhere is missing. */
const missedGroupAgeMs = 10_000;

/** More load balancers than an account may have. */
const maxAttributes = 5_000;

/** Whose something is hardly changes; what decides about a deletion is read anew. */
const tagsAgeMs = 20 * 60_000;

/** After this, any index that is kept was read long enough after a write to know of it. */
const unindexedMs = 2 * tagsAgeMs;

/** Load balancers with all their rules. */
const maxTagged = 50_000;

interface GroupRules {
  readonly group: string;
  readonly rules: readonly SecurityGroupRule[];
}

export class Inventory {
  readonly scope: ClusterScope;
  readonly cloud: Cloud;
  /** By name. */
  readonly classic: Listing<LoadBalancerDescription>;
  readonly loadBalancers: Listing<LoadBalancer>;
  readonly targetGroups: Listing<TargetGroup>;
  /** Those of the VPC, by name. */
  readonly groups: Listing<SecurityGroup>;
  /** AWS tells of these one load balancer at a time, so what was read or written last is kept. */
  readonly classicAttributes: Cache<ClassicAttributes>;
  readonly networkAttributes: Cache<Readonly<Record<string, string>>>;
  /** Of load balancers, listeners, rules and target groups of the second generation, by ARN. */
  readonly #tags: Cache<Tags | undefined>;
  /** The same as AWS's index of tags has them. */
  readonly #index: Cache<ReadonlyMap<string, Tags>>;
  /** When those were written of which the index may not know yet, oldest first. */
  readonly #written = new Map<string, number>();
  readonly #clock: Clock;
  /** Of the groups we make, by id. */
  readonly #rules: Listing<GroupRules>;
  readonly #network: Cache<Network>;

  constructor(cloud: Cloud, clock: Clock, scope: ClusterScope) {
    this.cloud = cloud;
    this.scope = scope;
    this.#clock = clock;
    this.#network = new Cache({ clock, most: 1 });
    this.classicAttributes = new Cache({ clock, most: maxAttributes });
    this.networkAttributes = new Cache({ clock, most: maxAttributes });
    this.#index = new Cache({ clock, most: 1 });
    this.#tags = new Cache({ clock, most: maxTagged, absent: { is: (tags) => tags === undefined, ageMs: 0 } });
    this.classic = new Listing<LoadBalancerDescription>({
      clock,
      nameOf: ({ LoadBalancerName = "" }) => LoadBalancerName,
      list: (ask) => cloud.classicLoadBalancers.list(ask),
      one: (name, ask) => cloud.classicLoadBalancers.byName(name, ask),
    });
    this.loadBalancers = new Listing<LoadBalancer>({
      clock,
      nameOf: ({ LoadBalancerName = "" }) => LoadBalancerName,
      list: (ask) => cloud.loadBalancers.list(ask),
      one: (name, ask) => cloud.loadBalancers.byName(name, ask),
    });
    this.targetGroups = new Listing<TargetGroup>({
      clock,
      nameOf: ({ TargetGroupName = "" }) => TargetGroupName,
      list: (ask) => cloud.loadBalancers.targetGroups(ask),
      one: (name, ask) => cloud.loadBalancers.targetGroup(name, ask),
    });
    const ofVpc = { name: "vpc-id", values: [scope.vpc] };
    this.groups = new Listing<SecurityGroup>({
      clock,
      nameOf: ({ name }) => name,
      list: (ask) => cloud.securityGroups.list([ofVpc], ask),
      one: async (name, ask) => (await cloud.securityGroups.list([ofVpc, { name: "group-name", values: [name] }], ask))[0],
    });
    const rulesOf = async (group: string, ask: Ask) => ({ group, rules: await cloud.securityGroups.rules(group, ask) });
    this.#rules = new Listing<GroupRules>({
      clock,
      nameOf: ({ group }) => group,
      list: async (ask) => {
        const groups = await this.groups.listed(reconcileAges.absentMs, ask);
        const ours = groups.filter(({ name, tags }) => name.startsWith(ownGroupPrefix) && this.mine(tags));
        return Promise.all(ours.map(({ id }) => rulesOf(id, ask)));
      },
      one: rulesOf,
    });
  }

  /** Subnets, routes and zones of the VPC, at most this old. */
  network(ask: Ask, maxAgeMs = networkAgeMs): Promise<Network> {
    return this.#network.get("network", maxAgeMs, () => this.#readNetwork(ask));
  }

  /** The groups of the VPC as they were listed a while ago, these among them: a list in which one is missing is too old. */
  async groupsWith(ids: Iterable<string>, ask: Ask): Promise<readonly SecurityGroup[]> {
    const listed = await this.groups.listed(reconcileAges.absentMs, ask);
    const missing = new Set(ids);
    for (const { id } of listed) missing.delete(id);
    return missing.size === 0 ? listed : this.groups.listed(missedGroupAgeMs, ask);
  }

  /** A group of ours with its rules. */
  async group(name: string, ages: Ages, ask: Ask): Promise<SeenGroup | undefined> {
    const group = await this.groups.get(name, ages, ask);
    return (
      group && {
        ...group,
        owned: this.scope.owns?.(group.tags) ?? isOwned(group.tags, this.scope.cluster),
        rules: (await this.#rules.get(group.id, ruleAges, ask))?.rules ?? [],
      }
    );
  }

  /** The tags of something, at most so old; undefined when there is no such thing. */
  tags(arn: string, ask: Ask, maxAgeMs = tagsAgeMs): Promise<Tags | undefined> {
    const isIndexed = maxAgeMs >= tagsAgeMs && !this.#written.has(arn);
    return this.#tags.get(arn, maxAgeMs, () => this.#readTags(arn, isIndexed, { ...ask, signal: neverAborted }), ask.urgency);
  }

  /** What the index does not have may be new, or somebody else's: that is asked for by itself. */
  async #readTags(arn: string, isIndexed: boolean, ask: Ask): Promise<Tags | undefined> {
    const { indexed } = this.scope;
    const read = () => this.cloud.taggedResources.list("elasticloadbalancing", indexed!, ask);
    const known = indexed && isIndexed ? (await this.#index.get("tags", tagsAgeMs, read, ask.urgency)).get(arn) : undefined;
    return known ?? this.cloud.loadBalancers.tags(arn, ask);
  }

  /** Its tags were written. */
  touchTags(arn: string): void {
    this.#tags.invalidate(arn);
    if (!this.scope.indexed) return;
    const now = this.#clock.monotonic();
    this.#written.delete(arn);
    this.#written.set(arn, now);
    for (const [other, at] of this.#written) {
      if (now - at < unindexedMs) break;
      this.#written.delete(other);
    }
  }

  /** A group of ours, or its rules, was written to for an owner. */
  touchGroup({ name, id }: { readonly name: string; readonly id?: string }, by: string): void {
    this.groups.touch(name, by);
    if (id !== undefined) this.#rules.touch(id, by);
  }

  /** Whether something with these tags belongs to, or is shared with, this cluster. */
  mine(tags: Readonly<Record<string, string>>): boolean {
    return this.scope.owns?.(tags) ?? hasClusterTag(tags, this.scope.cluster);
  }

  async #readNetwork(ask: Ask): Promise<Network> {
    const { vpc, ownSubnetId } = this.scope;
    const ofVpc = [{ name: "vpc-id", values: [vpc] }];
    const [subnets, tables] = await Promise.all([this.cloud.subnets.list(ofVpc, ask), this.cloud.routeTables.list(ofVpc, ask)]);
    const zones = await Promise.all(
      [...new Set(subnets.map(({ zone }) => zone))].map(
        async (name) => [name, await this.cloud.availabilityZones.byName(name, ask)] as const,
      ),
    );
    return {
      subnets,
      routeTables: tables.map(({ id, main, subnets: subnetIds, routes }) => ({
        id,
        main,
        subnetIds,
        toInternet: routes.some(({ otherTarget }) => otherTarget?.startsWith("igw")),
      })),
      zoneTypes: Object.fromEntries(zones.flatMap(([name, zone]) => (zone?.type ? [[name, zone.type]] : []))),
      ...(ownSubnetId !== undefined && { ownSubnetId }),
    };
  }
}
