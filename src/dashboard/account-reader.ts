/** Reads the account for the page: lists every few seconds while somebody looks, and what AWS tells one by one only of what is looked at. */
import type { Address } from "@aws-sdk/client-ec2";
import type { LoadBalancerDescription } from "@aws-sdk/client-elastic-load-balancing";
import type { Listener, LoadBalancer, Rule, TargetGroup, TargetHealthDescription } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import { describeAddresses } from "../aws/ec2-actions.ts";
import type { Instance, Tags } from "../aws/instance.ts";
import type { Filter } from "../aws/instances.ts";
import type { RouteTable } from "../aws/route-tables.ts";
import type { Volume } from "../aws/volumes.ts";
import { messageOf } from "../runtime/message-of.ts";
import { redact } from "../runtime/redact.ts";
import type { Clock } from "../runtime/world.ts";
import { tagKeys } from "../volumes/names.ts";
import {
  addressEntry,
  balancerEntry,
  classicEntry,
  groupEntry,
  instanceEntry,
  listenerEntry,
  routeEntries,
  ruleEntry,
  targetEntry,
  volumeEntry,
} from "./account.ts";
import type { Entry } from "./graph.ts";

/** What is known of one load balancer beyond its line in the list. */
interface Details {
  readonly listeners: readonly { readonly listener: Listener; readonly rules: readonly Rule[] }[];
  readonly health: ReadonlyMap<string, readonly TargetHealthDescription[]>;
}

export interface AccountScope {
  readonly vpc: string;
  /** Chooses what carries the cluster's tag. */
  readonly ofCluster: Filter;
  /** Whether the tags of a load balancer or target group say that it is the cluster's. */
  isOurs(tags: Tags): boolean;
}

interface Lists {
  readonly balancers: readonly LoadBalancer[];
  readonly groups: readonly TargetGroup[];
  readonly classics: readonly LoadBalancerDescription[];
  readonly instances: readonly Instance[];
  readonly volumes: readonly Volume[];
  readonly tables: readonly RouteTable[];
  readonly addresses: readonly Address[];
}

type ReadLists = { readonly [Name in keyof Lists]: { readonly called: string; read(): Promise<Lists[Name]> } };

/** So many load balancers and target groups are followed closely, the latest looked at. */
const closely = 8;
/** A page that looks at something says so again and again. */
const lookMs = 60_000;
/** Of one load balancer, the health of so many groups is read: a few more than the map draws. Of one that is looked at, always. */
const mostGroups = 40;

export class AccountReader {
  readonly #cloud: Cloud;
  readonly #ask: Ask;
  readonly #clock: Clock;
  readonly #scope: AccountScope;
  readonly #readLists: ReadLists;
  #lists: Lists = { balancers: [], groups: [], classics: [], instances: [], volumes: [], tables: [], addresses: [] };
  readonly #details = new Map<string, Details>();
  /** Whose the load balancers and target groups are, once it is known: asked once of each. */
  readonly #ours = new Map<string, boolean>();
  /** ARNs that are looked at and until when (monotonic), the latest last. */
  readonly #open = new Map<string, number>();
  /** Made when something was read. */
  #entries: readonly Entry[] | undefined;

  constructor(cloud: Cloud, scope: AccountScope, ask: Ask, clock: Clock) {
    this.#cloud = cloud;
    this.#scope = scope;
    this.#ask = ask;
    this.#clock = clock;
    this.#readLists = readLists(cloud, scope, ask);
  }

  /** Somebody looks at these: of load balancers, and of those of target groups, listeners, rules and targets are read too from now on. */
  async open(arns: readonly string[]): Promise<void> {
    const until = this.#clock.monotonic() + lookMs;
    for (const arn of arns) {
      const group = this.#lists.groups.find(({ TargetGroupArn }) => TargetGroupArn === arn);
      const balancers = this.#balancers(group?.LoadBalancerArns ?? [arn]).map(({ LoadBalancerArn = "" }) => LoadBalancerArn);
      for (const each of group === undefined ? balancers : [...balancers, arn]) {
        this.#open.delete(each);
        this.#open.set(each, until);
      }
    }
    for (const oldest of [...this.#open.keys()].slice(0, -2 * closely)) this.#open.delete(oldest);
    const unread = this.#opened().filter(({ LoadBalancerArn = "" }) => !this.#details.has(LoadBalancerArn));
    await Promise.allSettled(unread.map((each) => this.#readDetails(each)));
  }

  /** Reads the lists, and the details of what is looked at. What cannot be read stays as it was, and is told of: each for itself. */
  async refresh(): Promise<readonly string[]> {
    const problems = await Promise.all(Object.keys(this.#readLists).map((name) => this.#readList(name as keyof Lists)));
    problems.push(...(await this.#readOwners()));
    const now = this.#clock.monotonic();
    for (const [arn, until] of this.#open) if (until < now) this.#open.delete(arn);
    const opened = this.#opened();
    const known = new Set(opened.map(({ LoadBalancerArn = "" }) => LoadBalancerArn));
    for (const arn of this.#details.keys()) if (!known.has(arn)) this.#details.delete(arn);
    problems.push(
      ...(await Promise.all(opened.map((each) => problemIn(`load balancer ${each.LoadBalancerName}`, () => this.#readDetails(each))))),
    );
    this.#entries = undefined;
    return [...new Set(problems.flatMap((problem) => problem ?? []))];
  }

  entries(): readonly Entry[] {
    this.#entries ??= [...this.#made()];
    return this.#entries;
  }

  *#made(): Iterable<Entry> {
    const { balancers, groups, classics, instances, volumes, tables, addresses } = this.#lists;
    const health = new Map([...this.#details.values()].flatMap((each) => [...each.health]));
    const pairs = groups.flatMap((group) => (group.LoadBalancerArns ?? []).map((arn) => ({ arn, group })));
    const groupsOf = Map.groupBy(pairs, ({ arn }) => arn);
    for (const balancer of balancers) {
      const arn = balancer.LoadBalancerArn ?? "";
      const entry = this.#marked(
        balancerEntry(
          balancer,
          (groupsOf.get(arn) ?? []).map(({ group }) => group),
        ),
        arn,
      );
      const details = this.#details.get(arn);
      yield details === undefined ? entry : { ...entry, to: details.listeners.map(({ listener }) => listener.ListenerArn ?? "") };
      for (const { listener, rules } of details?.listeners ?? []) {
        yield { ...listenerEntry(listener, rules), foreign: true };
        for (const rule of rules) if (!rule.IsDefault) yield { ...ruleEntry(rule), foreign: true };
      }
    }
    for (const group of groups) {
      const arn = group.TargetGroupArn ?? "";
      const targets = health.get(arn);
      yield this.#marked(groupEntry(group, targets), group.LoadBalancerArns?.[0] ?? arn);
      for (const target of targets ?? []) yield { ...targetEntry(arn, target), foreign: true };
    }
    for (const classic of classics) yield this.#marked(classicEntry(classic), classic.LoadBalancerName ?? "");
    const routes = tables.flatMap(routeEntries);
    const leadingTo = Map.groupBy(routes, ({ instance }) => instance);
    for (const instance of instances) yield instanceEntry(instance, leadingTo.get(instance.id)?.map(({ entry }) => entry.thing.id) ?? []);
    for (const volume of volumes) yield { ...volumeEntry(volume), foreign: !this.#scope.isOurs(volume.tags) };
    yield* routes.map(({ entry }) => entry);
    yield* addresses.map(addressEntry);
  }

  /** Another cluster's, or nobody's, is of interest only if something of ours leads to it; nothing is said of one that we know nothing of. */
  #marked(entry: Entry, owner: string): Entry {
    const isOurs = this.#ours.get(owner);
    return isOurs === undefined ? { ...entry, needsUse: false } : isOurs ? entry : { ...entry, needsUse: false, foreign: true };
  }

  #balancers(arns: readonly string[]): readonly LoadBalancer[] {
    const wanted = new Set(arns);
    return this.#lists.balancers.filter(({ LoadBalancerArn = "" }) => wanted.has(LoadBalancerArn));
  }

  /** The load balancers that are looked at. */
  #opened(): readonly LoadBalancer[] {
    return this.#balancers([...this.#open.keys()]).slice(-closely);
  }

  #readList<Name extends keyof Lists>(name: Name): Promise<string | undefined> {
    const { called, read } = this.#readLists[name];
    return problemIn(called, async () => {
      const list = await read();
      this.#lists = { ...this.#lists, [name]: list };
    });
  }

  /** Of a target group that a load balancer has, the load balancer says whose it is. */
  async #readOwners(): Promise<readonly (string | undefined)[]> {
    const { loadBalancers, classicLoadBalancers } = this.#cloud;
    const loose = this.#lists.groups.filter(({ LoadBalancerArns = [] }) => LoadBalancerArns.length === 0);
    const arns = [
      ...this.#lists.balancers.map(({ LoadBalancerArn = "" }) => LoadBalancerArn),
      ...loose.map(({ TargetGroupArn = "" }) => TargetGroupArn),
    ];
    const names = this.#lists.classics.map(({ LoadBalancerName = "" }) => LoadBalancerName);
    const there = new Set([...arns, ...names]);
    for (const id of this.#ours.keys()) if (!there.has(id)) this.#ours.delete(id);
    const read = (ids: readonly string[], tagsOf: (id: string) => Promise<Tags | undefined>) =>
      ids.flatMap((id) => (this.#ours.has(id) ? [] : [problemIn("tags of load balancers", () => this.#readOwner(id, tagsOf))]));
    return await Promise.all([
      ...read(arns, (arn) => loadBalancers.tags(arn, this.#ask)),
      ...read(names, (name) => classicLoadBalancers.tags(name, this.#ask)),
    ]);
  }

  async #readOwner(id: string, tagsOf: (id: string) => Promise<Tags | undefined>): Promise<void> {
    const tags = await tagsOf(id);
    if (tags !== undefined) this.#ours.set(id, this.#scope.isOurs(tags));
  }

  async #readDetails({ LoadBalancerArn: arn = "", Type }: LoadBalancer): Promise<void> {
    const { loadBalancers, listeners } = this.#cloud;
    const groups = this.#lists.groups
      .filter(({ LoadBalancerArns }) => LoadBalancerArns?.includes(arn))
      .filter(({ TargetGroupArn = "" }, at) => at < mostGroups || this.#open.has(TargetGroupArn));
    const [found, health] = await Promise.all([
      loadBalancers.listeners(arn, this.#ask),
      Promise.all(
        groups.map(async ({ TargetGroupArn: group = "" }) => [group, await loadBalancers.targetHealth(group, this.#ask)] as const),
      ),
    ]);
    const hasRules = Type === "application";
    this.#details.set(arn, {
      listeners: await Promise.all(
        found.map(async (listener) => ({
          listener,
          rules: hasRules ? await listeners.rules(listener.ListenerArn ?? "", this.#ask) : [],
        })),
      ),
      health: new Map(health),
    });
    this.#entries = undefined;
  }
}

function readLists(cloud: Cloud, { vpc, ofCluster }: AccountScope, ask: Ask): ReadLists {
  const { loadBalancers, classicLoadBalancers, instances, volumes, routeTables } = cloud;
  const Filters = [{ Name: ofCluster.name, Values: [...ofCluster.values] }];
  return {
    balancers: {
      called: "load balancers",
      read: async () => (await loadBalancers.list(ask)).filter(({ VpcId }) => VpcId === vpc),
    },
    groups: {
      called: "target groups",
      read: async () => (await loadBalancers.targetGroups(ask)).filter(({ VpcId }) => VpcId === undefined || VpcId === vpc),
    },
    classics: {
      called: "classic load balancers",
      read: async () => (await classicLoadBalancers.list(ask)).filter(({ VPCId }) => VPCId === vpc),
    },
    instances: { called: "instances", read: () => instances.list([ofCluster], ask) },
    volumes: { called: "disks", read: () => volumes.list([ofDriver(ofCluster)], ask) },
    tables: { called: "route tables", read: () => routeTables.list([{ name: "vpc-id", values: [vpc] }, ofCluster], ask) },
    addresses: {
      called: "addresses",
      read: async () => (await cloud.call(describeAddresses, { Filters }, ask)).Addresses ?? [],
    },
  };
}

/** Disks of the driver carry the cluster's tag only where it was told the cluster's name: without it, whose they are is told by what leads to them. */
function ofDriver({ name, values }: Filter): Filter {
  return name === "tag-key" ? { name, values: [...values, tagKeys.driver] } : { name, values };
}

/** What is wrong with a part, if something is, without stopping the others. */
async function problemIn(part: string, work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    return `${part}: ${redact(messageOf(error))}`;
  }
}
