/** What an account says of Ingresses, in words that can be compared with what their authors asked for: a second opinion. */
import type { RuleCondition } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Listener, LoadBalancer, Rule, Target, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import { type IngressWish, isServed } from "./ingresses-wish.ts";

const stackTag = "ingress.k8s.aws/stack";
const resourceTag = "ingress.k8s.aws/resource";
const clusterTag = "elbv2.k8s.aws/cluster";

export class IngressAccount {
  readonly #cloud: Cloud;
  /** What target groups stand for, by ARN; also of those whose marks somebody has taken off. */
  readonly #parts = new Map<string, string>();

  constructor(cloud: Cloud) {
    this.#cloud = cloud;
  }

  /** `stack:port host paths → target group`, of every rule of every load balancer of the cluster. */
  rules(): readonly string[] {
    return this.ruleRecords().map(({ text }) => text);
  }

  ruleRecords(): readonly { readonly text: string; readonly rule: Rule }[] {
    const listeners = new Map(this.listeners().map((listener) => [listener.arn, listener]));
    const stacks = new Map(this.#balancers().map(({ arn, tags }) => [arn, tags[stackTag]]));
    for (const { arn, tags } of this.#table<TargetGroup>("elbv2/target-groups")) {
      const part = tags[resourceTag];
      if (part !== undefined) this.#parts.set(arn, part);
    }
    return this.#table<Rule>("elbv2/rules").flatMap((rule) => {
      const { listenerArn, conditions, actions } = rule;
      const listener = listeners.get(listenerArn);
      if (listener === undefined) return [];
      const [target] = actions.flatMap(({ ForwardConfig }) => ForwardConfig?.TargetGroups ?? []);
      const [answer] = actions.flatMap(({ FixedResponseConfig }) => FixedResponseConfig?.StatusCode ?? []);
      const to = answer ?? this.#parts.get(target?.TargetGroupArn ?? "");
      const text = `${stacks.get(listener.loadBalancerArn)}:${listener.port} ${hostsIn(conditions)} ${pathsIn(conditions)} → ${to}`;
      return [{ text, rule }];
    });
  }

  /** Of the cluster's load balancers. */
  listeners(): readonly Listener[] {
    const arns = new Set(this.#balancers().map(({ arn }) => arn));
    return this.#table<Listener>("elbv2/listeners").filter(({ loadBalancerArn }) => arns.has(loadBalancerArn));
  }

  /** Whether a load balancer of the cluster has this security group. */
  uses(group: string): boolean {
    return this.#balancers().some(({ groupIds }) => groupIds.includes(group));
  }

  /** A security group with its rules, and those that name it. */
  deleteGroup(id: string): void {
    const { rules, securityGroups } = this.#cloud.account.ec2;
    for (const rule of rules.values())
      if (rule.groupId === id || ("groupId" in rule.peer && rule.peer.groupId === id)) rules.delete(rule.id);
    securityGroups.delete(id);
  }

  /** Target groups of an Ingress whose targets are not those that its Services have. */
  wrongTargets(wish: IngressWish, addresses: ReadonlyMap<string, string>, missing: ReadonlySet<string>): readonly string[] {
    if (!isServed(wish)) return [];
    const targets = Map.groupBy(
      this.#table<Target>("elbv2/targets").filter(({ drainingSince }) => drainingSince === undefined),
      ({ groupArn }) => groupArn,
    );
    return wish.services.flatMap((service) => {
      const part = `default/${wish.name}-${service}:80`;
      const wanted = missing.has(service) ? "" : addresses.get(service);
      return this.#table<TargetGroup>("elbv2/target-groups")
        .filter(({ tags }) => tags[resourceTag] === part && tags[clusterTag] === "simulated")
        .map(({ arn }) => (targets.get(arn) ?? []).map(({ id }) => id).join())
        .filter((found) => found !== wanted)
        .map((found) => `${part} has targets ${found || "none"}, should be ${wanted || "none"}`);
    });
  }

  /** The load balancers of a group, or of all: their groups, schemes and addresses. */
  loadBalancers(): readonly { readonly stack: string; readonly scheme: string; readonly hostname: string }[] {
    return this.#balancers().map(({ tags, scheme, dnsName }) => ({ stack: tags[stackTag]!, scheme, hostname: dnsName.toLowerCase() }));
  }

  #balancers(): readonly LoadBalancer[] {
    return this.#table<LoadBalancer>("elbv2/load-balancers").filter(({ tags }) => tags[clusterTag] === "simulated");
  }

  #table<T>(name: string): readonly T[] {
    return this.#cloud.account.store.table<T & object>(name).values();
  }
}

const hostsIn = (conditions: readonly RuleCondition[]) =>
  conditions.flatMap(({ HostHeaderConfig }) => HostHeaderConfig?.Values ?? []).join();
const pathsIn = (conditions: readonly RuleCondition[]) =>
  conditions.flatMap(({ PathPatternConfig }) => PathPatternConfig?.Values ?? []).join();
