/** The account's load balancers as routing sees them. */

import { letsIn } from "../balancing/firewall.ts";
import { allAttributes } from "../elbv2/attribute-tables.ts";
import { healthOf, targetsOf } from "../elbv2/health-state.ts";
import { defaultRuleArn, type Elbv2, type Listener, type LoadBalancer, rulesOf } from "../elbv2/state.ts";
import { targetGroupAttributes } from "../elbv2/target-group-attributes.ts";
import { TYPES } from "../elbv2/types.ts";
import type { GroupView, TargetView } from "./choice.ts";
import type { Routing, RuleView } from "./route.ts";

/** A target group at this moment. */
export function groupView(elbv2: Elbv2, arn: string): GroupView | undefined {
  const group = elbv2.targetGroups.get(arn);
  if (group === undefined) return undefined;
  return {
    arn,
    targetType: group.targetType,
    protocol: group.protocol,
    version: group.version,
    attributes: allAttributes(targetGroupAttributes(group), group),
    targets: targetsOf(elbv2, arn).map((target) => ({
      id: target.id,
      port: target.port,
      state: healthOf(elbv2, group, target).State as TargetView["state"],
    })),
  };
}

/** A listener of an application load balancer at this moment. */
export function routingOf(elbv2: Elbv2, loadBalancer: LoadBalancer, listener: Listener, turn: Routing["turn"]): Routing {
  const { account } = elbv2;
  const rules: readonly RuleView[] = [
    ...rulesOf(elbv2, listener.arn).map((rule) => ({ ...rule, priority: String(rule.priority) })),
    { arn: defaultRuleArn(listener), priority: "default", conditions: [], actions: listener.actions, transforms: [] },
  ];
  return {
    place: { protocol: listener.protocol, port: listener.port },
    region: account.region,
    rules,
    attributes: allAttributes(TYPES[loadBalancer.type].attributes, loadBalancer),
    admits: (sourceIp) => letsIn(account, loadBalancer.groupIds, listener.port, sourceIp),
    group: (arn) => groupView(elbv2, arn),
    turn,
    now: account.time.now(),
  };
}
