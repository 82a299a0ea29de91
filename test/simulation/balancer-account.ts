/** What an account says of the load balancers of one kind of user, in words that can be compared with what was asked for: a second opinion. */
import type { RuleCondition } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Cloud } from "../../src/sandbox/cloud/cloud.ts";
import type { Listener, LoadBalancer, Rule, Target, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";

export const clusterTag = "elbv2.k8s.aws/cluster";

interface StandingBalancer {
  readonly arn: string;
  readonly stack: string;
  readonly type: string;
  readonly scheme: string;
  readonly hostname: string;
  readonly created: number;
}

export class BalancerAccount {
  readonly #cloud: Cloud;
  readonly #prefixes: readonly string[];
  /** What target groups stand for, by ARN; also of those whose marks somebody has taken off. */
  readonly #parts = new Map<string, string>();

  /** Tags begin with one of the prefixes. */
  constructor(cloud: Cloud, prefixes: readonly string[]) {
    this.#cloud = cloud;
    this.#prefixes = prefixes;
  }

  /** `stack:port host paths → target group`, of every rule of every load balancer of the cluster. */
  rules(): readonly string[] {
    return this.ruleRecords().map(({ text }) => text);
  }

  ruleRecords(): readonly { readonly text: string; readonly rule: Rule }[] {
    const fronts = this.#fronts();
    this.#learnParts();
    return this.table<Rule>("elbv2/rules").flatMap((rule) => {
      const { listenerArn, conditions, actions } = rule;
      const front = fronts.get(listenerArn);
      if (front === undefined) return [];
      const [answer] = actions.flatMap(({ FixedResponseConfig }) => FixedResponseConfig?.StatusCode ?? []);
      return [{ text: `${front} ${hostsIn(conditions)} ${pathsIn(conditions)} → ${answer ?? this.#partBehind(actions)}`, rule }];
    });
  }

  /** `stack:port protocol → target group`, of every listener of a network load balancer of the cluster. */
  forwards(): readonly string[] {
    return this.forwardRecords().map(({ text }) => text);
  }

  forwardRecords(): readonly { readonly text: string; readonly listener: Listener }[] {
    const fronts = this.#fronts();
    this.#learnParts();
    return this.table<Listener>("elbv2/listeners").flatMap((listener) => {
      const { arn, protocol, actions } = listener;
      const front = arn.includes(":listener/net/") ? fronts.get(arn) : undefined;
      return front === undefined ? [] : [{ text: `${front} ${protocol} → ${this.#partBehind(actions)}`, listener }];
    });
  }

  /** Of the cluster's application load balancers. */
  listeners(): readonly Listener[] {
    const arns = new Set(this.balancers().flatMap(({ arn, type }) => (type === "application" ? [arn] : [])));
    return this.table<Listener>("elbv2/listeners").filter(({ loadBalancerArn }) => arns.has(loadBalancerArn));
  }

  /** Whether a load balancer of the cluster has this security group. */
  uses(group: string): boolean {
    return this.balancers().some(({ groupIds }) => groupIds.includes(group));
  }

  /** A security group with its rules, and those that name it. */
  deleteGroup(id: string): void {
    const { rules, securityGroups } = this.#cloud.account.ec2;
    for (const rule of rules.values())
      if (rule.groupId === id || ("groupId" in rule.peer && rule.peer.groupId === id)) rules.delete(rule.id);
    securityGroups.delete(id);
  }

  /** Target groups of a part whose targets are not this one; of an empty one: that have any. */
  wrongTargets(part: string, wanted: string): readonly string[] {
    const targets = Map.groupBy(
      this.table<Target>("elbv2/targets").filter(({ drainingSince }) => drainingSince === undefined),
      ({ groupArn }) => groupArn,
    );
    return this.table<TargetGroup>("elbv2/target-groups")
      .filter(({ tags }) => this.#tag(tags, "resource") === part && tags[clusterTag] === "simulated")
      .map(({ arn }) => (targets.get(arn) ?? []).map(({ id }) => id).join())
      .filter((found) => found !== wanted)
      .map((found) => `${part} has targets ${found || "none"}, should be ${wanted || "none"}`);
  }

  /** Of whom, of which scheme, and where they are reached. */
  loadBalancers(): readonly StandingBalancer[] {
    return this.balancers().map(({ arn, tags, type, scheme, dnsName, created }) => {
      return { arn, type, stack: this.#tag(tags, "stack")!, scheme, hostname: dnsName.toLowerCase(), created };
    });
  }

  protected balancers(): readonly LoadBalancer[] {
    return this.table<LoadBalancer>("elbv2/load-balancers").filter(({ tags }) => tags[clusterTag] === "simulated");
  }

  protected table<T>(name: string): readonly T[] {
    return this.#cloud.account.store.table<T & object>(name).values();
  }

  /** `stack:port` of the cluster's listeners, by ARN. */
  #fronts(): ReadonlyMap<string, string> {
    const stacks = new Map(this.balancers().map(({ arn, tags }) => [arn, this.#tag(tags, "stack")]));
    return new Map(
      this.table<Listener>("elbv2/listeners").flatMap(({ arn, loadBalancerArn, port }) =>
        stacks.has(loadBalancerArn) ? [[arn, `${stacks.get(loadBalancerArn)}:${port}`] as const] : [],
      ),
    );
  }

  #learnParts(): void {
    for (const { arn, tags } of this.table<TargetGroup>("elbv2/target-groups")) {
      const part = this.#tag(tags, "resource");
      if (part !== undefined) this.#parts.set(arn, part);
    }
  }

  #partBehind(actions: Rule["actions"]): string | undefined {
    const [target] = actions.flatMap(({ ForwardConfig, TargetGroupArn }) => ForwardConfig?.TargetGroups ?? [{ TargetGroupArn }]);
    return this.#parts.get(target?.TargetGroupArn ?? "");
  }

  #tag(tags: Readonly<Record<string, string>>, name: string): string | undefined {
    return this.#prefixes.map((prefix) => tags[`${prefix}/${name}`]).find((value) => value !== undefined);
  }
}

const hostsIn = (conditions: readonly RuleCondition[]) =>
  conditions.flatMap(({ HostHeaderConfig }) => HostHeaderConfig?.Values ?? []).join();
const pathsIn = (conditions: readonly RuleCondition[]) =>
  conditions.flatMap(({ PathPatternConfig }) => PathPatternConfig?.Values ?? []).join();
