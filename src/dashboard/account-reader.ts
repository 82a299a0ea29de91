/** Reads the account for the page: lists every few seconds while somebody looks, and what AWS tells one by one only of what is looked at. */
import type { Listener, LoadBalancer, Rule, TargetGroup, TargetHealthDescription } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import { describeAddresses } from "../aws/ec2-actions.ts";
import type { Filter } from "../aws/instances.ts";
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
}

interface Lists {
  readonly balancers: readonly LoadBalancer[];
  readonly groups: readonly TargetGroup[];
  readonly others: readonly Entry[];
}

/** So many load balancers are followed closely, the latest looked at. */
const closely = 8;

export class AccountReader {
  readonly #cloud: Cloud;
  readonly #scope: AccountScope;
  readonly #ask: Ask;
  #lists: Lists = { balancers: [], groups: [], others: [] };
  readonly #details = new Map<string, Details>();
  /** ARNs, the latest last. */
  #open: readonly string[] = [];

  constructor(cloud: Cloud, scope: AccountScope, ask: Ask) {
    this.#cloud = cloud;
    this.#scope = scope;
    this.#ask = ask;
  }

  /** Somebody looks at this load balancer, or at a target group: from now on its listeners, rules and targets are read too. */
  async open(arn: string): Promise<void> {
    const owners = this.#lists.groups.find(({ TargetGroupArn }) => TargetGroupArn === arn)?.LoadBalancerArns ?? [arn];
    const known = owners.filter((owner) => this.#lists.balancers.some(({ LoadBalancerArn }) => LoadBalancerArn === owner));
    if (known.length === 0) return;
    this.#open = [...this.#open.filter((each) => !known.includes(each)), ...known].slice(-closely);
    for (const each of this.#details.keys()) if (!this.#open.includes(each)) this.#details.delete(each);
    await Promise.all(known.map((each) => this.#readDetails(each)));
  }

  /** Reads the lists, and the details of what is looked at. */
  async refresh(): Promise<void> {
    const { loadBalancers, classicLoadBalancers, instances, volumes, routeTables } = this.#cloud;
    const { vpc, ofCluster } = this.#scope;
    const inVpc = [{ name: "vpc-id", values: [vpc] }];
    const [balancers, groups, classics, machines, disks, tables, { Addresses = [] }] = await Promise.all([
      loadBalancers.list(this.#ask),
      loadBalancers.targetGroups(this.#ask),
      classicLoadBalancers.list(this.#ask),
      instances.list([ofCluster], this.#ask),
      volumes.list([ofCluster], this.#ask),
      routeTables.list([...inVpc, ofCluster], this.#ask),
      this.#cloud.call(describeAddresses, { Filters: [{ Name: ofCluster.name, Values: [...ofCluster.values] }] }, this.#ask),
    ]);
    const routes = tables.flatMap(routeEntries);
    const leadingTo = Map.groupBy(routes, ({ instance }) => instance);
    this.#lists = {
      balancers: balancers.filter(({ VpcId }) => VpcId === vpc),
      groups: groups.filter(({ VpcId }) => VpcId === undefined || VpcId === vpc),
      others: [
        ...classics.filter(({ VPCId }) => VPCId === vpc).map(classicEntry),
        ...machines.map((machine) => instanceEntry(machine, leadingTo.get(machine.id)?.map(({ entry }) => entry.thing.id) ?? [])),
        ...disks.map(volumeEntry),
        ...routes.map(({ entry }) => entry),
        ...Addresses.map(addressEntry),
      ],
    };
    await Promise.all(this.#open.map((arn) => this.#readDetails(arn)));
  }

  *entries(): Iterable<Entry> {
    const { balancers, groups, others } = this.#lists;
    const health = new Map([...this.#details.values()].flatMap((each) => [...each.health]));
    for (const balancer of balancers) {
      const entry = balancerEntry(balancer, groups);
      const details = this.#details.get(entry.thing.id);
      yield details === undefined ? entry : { ...entry, to: details.listeners.map(({ listener }) => listener.ListenerArn ?? "") };
      for (const { listener, rules } of details?.listeners ?? []) {
        yield listenerEntry(listener, rules);
        for (const rule of rules) if (!rule.IsDefault) yield ruleEntry(rule);
      }
    }
    for (const group of groups) {
      const targets = health.get(group.TargetGroupArn ?? "");
      yield groupEntry(group, targets);
      for (const target of targets ?? []) yield targetEntry(group.TargetGroupArn ?? "", target);
    }
    yield* others;
  }

  async #readDetails(arn: string): Promise<void> {
    const { loadBalancers, listeners } = this.#cloud;
    const balancer = this.#lists.balancers.find(({ LoadBalancerArn }) => LoadBalancerArn === arn);
    const groups = this.#lists.groups.filter(({ LoadBalancerArns }) => LoadBalancerArns?.includes(arn));
    const [found, health] = await Promise.all([
      loadBalancers.listeners(arn, this.#ask),
      Promise.all(
        groups.map(async ({ TargetGroupArn: group = "" }) => [group, await loadBalancers.targetHealth(group, this.#ask)] as const),
      ),
    ]);
    const hasRules = balancer?.Type === "application";
    this.#details.set(arn, {
      listeners: await Promise.all(
        found.map(async (listener) => ({
          listener,
          rules: hasRules ? await listeners.rules(listener.ListenerArn ?? "", this.#ask) : [],
        })),
      ),
      health: new Map(health),
    });
  }
}
