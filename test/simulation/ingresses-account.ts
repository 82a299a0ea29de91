/** What an account says of Ingresses, in words that can be compared with what their authors asked for: a second opinion. */
import { isDeepStrictEqual } from "node:util";
import type { RuleCondition } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Listener, LoadBalancer, Rule, Target, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import type { Snapshot } from "../../src/sandbox/cloud/store.ts";
import type { IngressWish } from "./ingresses-scene.ts";

const stackTag = "ingress.k8s.aws/stack";
const resourceTag = "ingress.k8s.aws/resource";
const clusterTag = "elbv2.k8s.aws/cluster";

const tables = [
  "elbv2/load-balancers",
  "elbv2/listeners",
  "elbv2/rules",
  "elbv2/target-groups",
  "ec2/security-groups",
  "ec2/security-group-rules",
] as const;
/** Passes by itself. */
const passing = new Set(["state", "verdict"]);

export class IngressAccount {
  readonly #cloud: Cloud;

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  stackOf({ name, group }: Pick<IngressWish, "name" | "group">): string {
    return group ?? `default/${name}`;
  }

  /** `stack host paths → target group`, of every rule of every load balancer of the cluster. */
  rules(): readonly string[] {
    const listeners = new Map(this.#table<Listener>("elbv2/listeners").map((listener) => [listener.arn, listener]));
    const balancers = new Map(this.#balancers().map((balancer) => [balancer.arn, balancer]));
    const groups = new Map(this.#table<TargetGroup>("elbv2/target-groups").map(({ arn, tags }) => [arn, tags[resourceTag]]));
    return this.#table<Rule>("elbv2/rules").flatMap(({ listenerArn, conditions, actions }) => {
      const balancer = balancers.get(listeners.get(listenerArn)?.loadBalancerArn ?? "");
      if (balancer === undefined) return [];
      const [target] = actions.flatMap(({ ForwardConfig }) => ForwardConfig?.TargetGroups ?? []);
      const to = groups.get(target?.TargetGroupArn ?? "");
      return [`${balancer.tags[stackTag]} ${hostsIn(conditions)} ${pathsIn(conditions)} → ${to}`];
    });
  }

  /** The rules that an Ingress asks for, in the same words. */
  wantedRules(wish: Pick<IngressWish, "name" | "group" | "host" | "services">): readonly string[] {
    const { name, host, services } = wish;
    return services.map((service) => `${this.stackOf(wish)} ${host} /${service},/${service}/* → default/${name}-${service}:80`);
  }

  /** Target groups of an Ingress in which nobody is registered. */
  emptyGroups({ name, services }: Pick<IngressWish, "name" | "services">): readonly string[] {
    const filled = new Set(
      this.#table<Target>("elbv2/targets").flatMap((target) => (target.drainingSince === undefined ? [target.groupArn] : [])),
    );
    const parts = services.map((service) => `default/${name}-${service}:80`);
    return this.#table<TargetGroup>("elbv2/target-groups")
      .filter(({ arn, tags }) => parts.includes(tags[resourceTag] ?? "") && tags[clusterTag] === "simulated" && !filled.has(arn))
      .map(({ tags }) => tags[resourceTag]!);
  }

  /** Groups that have a load balancer. */
  stacks(): readonly string[] {
    return this.#balancers().map(({ tags }) => tags[stackTag]!);
  }

  hostname(stack: string): string {
    return (
      this.#balancers()
        .find(({ tags }) => tags[stackTag] === stack)
        ?.dnsName.toLowerCase() ?? ""
    );
  }

  /** What was not there then. */
  since(before: Snapshot): readonly string[] {
    const now = this.#cloud.controls.snapshot();
    return tables.flatMap((table) =>
      Object.keys(now[table] ?? {})
        .filter((id) => !(id in (before[table] ?? {})))
        .map((id) => `${table} ${id} is left`),
    );
  }

  /** What was there then, and is gone or another now. */
  changedSince(before: Snapshot): readonly string[] {
    const now = this.#cloud.controls.snapshot();
    return tables.flatMap((table) =>
      Object.entries(before[table] ?? {}).flatMap(([id, record]) => {
        const current = now[table]?.[id];
        if (current === undefined) return [`${table} ${id} is gone`];
        return isDeepStrictEqual(lasting(current), lasting(record)) ? [] : [`${table} ${id} is changed`];
      }),
    );
  }

  #balancers(): readonly LoadBalancer[] {
    return this.#table<LoadBalancer>("elbv2/load-balancers").filter(({ tags }) => tags[clusterTag] === "simulated");
  }

  #table<T>(name: string): readonly T[] {
    return this.#cloud.account.store.table<T & object>(name).values();
  }
}

const lasting = (record: unknown) => Object.fromEntries(Object.entries(record as object).filter(([key]) => !passing.has(key)));

const hostsIn = (conditions: readonly RuleCondition[]) =>
  conditions.flatMap(({ HostHeaderConfig }) => HostHeaderConfig?.Values ?? []).join();
const pathsIn = (conditions: readonly RuleCondition[]) =>
  conditions.flatMap(({ PathPatternConfig }) => PathPatternConfig?.Values ?? []).join();
