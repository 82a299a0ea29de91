/** What a listener does with a connection: on network load balancers, forward it. */
import type { Action, ForwardActionConfig, ProtocolEnum } from "@aws-sdk/client-elastic-load-balancing-v2";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import { type Elbv2, groupsIn, type LoadBalancer, loadBalancersOf, type TargetGroup, targetGroupAt } from "./state.ts";
import { TYPES } from "./types.ts";

const MOST_GROUPS = 5;

/** The actions as AWS keeps them: one that forwards, told in both ways, its groups checked. */
export function checkedActions(
  elbv2: Elbv2,
  loadBalancer: LoadBalancer,
  protocol: ProtocolEnum,
  actions: readonly Action[],
): readonly Action[] {
  const [action, ...more] = actions;
  if (action === undefined) throw new ServiceError("ValidationError", "A default action must be specified");
  if (more.length > 0) throw new ServiceError("TooManyActions", "Only one action can be specified");
  if (action.Type !== "forward") {
    throw new ServiceError(
      "InvalidLoadBalancerAction",
      `The action type '${action.Type}' is not valid for load balancers of type ${loadBalancer.type}`,
    );
  }
  const forward = forwardOf(action);
  for (const arn of groupsIn([{ Type: "forward", ForwardConfig: forward }])) {
    checkGroup(elbv2, loadBalancer, protocol, targetGroupAt(elbv2, arn));
  }
  const groups = forward.TargetGroups ?? [];
  return [{ Type: "forward", TargetGroupArn: groups.length === 1 ? groups[0]?.TargetGroupArn : undefined, ForwardConfig: forward }];
}

function forwardOf({ TargetGroupArn: arn, ForwardConfig: given }: Action): ForwardActionConfig {
  const listed = given?.TargetGroups ?? [];
  const groups = listed.length > 0 ? listed : [{ TargetGroupArn: arn }];
  if (groups.some((group) => group.TargetGroupArn === undefined)) {
    throw new ServiceError("ValidationError", "A target group ARN must be specified");
  }
  if (arn !== undefined && (groups.length !== 1 || groups[0]?.TargetGroupArn !== arn)) {
    throw invalidConfiguration("The target group of the action and those of its forward configuration must be the same");
  }
  if (groups.length > MOST_GROUPS) throw invalidConfiguration(`At most ${MOST_GROUPS} target groups can be specified in an action`);
  return {
    TargetGroups: groups.map(({ TargetGroupArn, Weight = 1 }) => {
      if (Weight < 0 || Weight > 999) throw new ServiceError("ValidationError", `The weight must be between 0 and 999, not ${Weight}`);
      return { TargetGroupArn, Weight };
    }),
    TargetGroupStickinessConfig: { Enabled: given?.TargetGroupStickinessConfig?.Enabled ?? false },
  };
}

function checkGroup(elbv2: Elbv2, loadBalancer: LoadBalancer, protocol: ProtocolEnum, group: TargetGroup): void {
  if (!TYPES[loadBalancer.type].protocols[protocol]?.includes(group.protocol)) {
    throw new ServiceError(
      "IncompatibleProtocols",
      `The target group '${group.arn}' with protocol ${group.protocol} cannot be used with a listener with protocol ${protocol}`,
    );
  }
  if (group.vpcId !== loadBalancer.vpcId) {
    throw invalidConfiguration(`The target group '${group.arn}' is in another VPC than load balancer '${loadBalancer.arn}'`);
  }
  if (loadBalancersOf(elbv2, group.arn).some((arn) => arn !== loadBalancer.arn)) {
    throw new ServiceError(
      "TargetGroupAssociationLimit",
      `The following target groups cannot be associated with more than one load balancer: ${group.arn}`,
    );
  }
}
