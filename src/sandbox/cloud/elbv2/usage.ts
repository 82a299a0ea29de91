/** Who uses a target group, and what that asks of it. */
import type { ProtocolEnum } from "@aws-sdk/client-elastic-load-balancing-v2";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import { targetsOf } from "./health-state.ts";
import { type Elbv2, groupsOf, type LoadBalancer, loadBalancersOf, type TargetGroup } from "./state.ts";
import { TYPES } from "./types.ts";

interface Place {
  readonly elbv2: Elbv2;
  readonly loadBalancer: LoadBalancer;
  readonly protocol: ProtocolEnum;
}

/** Refuses to forward to groups that do not go with the listener, or that are too many for its load balancer. */
export function checkGroups(place: Place, groups: readonly TargetGroup[]): void {
  const { elbv2, loadBalancer } = place;
  for (const group of groups) checkGroup(place, group);
  if (loadBalancer.type !== "application") return;
  const { quotas } = elbv2.account.settings();
  const all = new Set([...groupsOf(elbv2, loadBalancer.arn), ...groups.map(({ arn }) => arn)]);
  if (all.size > quotas.targetGroupsPerApplicationLoadBalancer) {
    throw new ServiceError(
      "TooManyUniqueTargetGroupsPerLoadBalancer",
      "The maximum number of unique target groups has been reached on this load balancer",
    );
  }
  checkTargetCount(elbv2, [...all]);
}

/** Refuses more targets than one application load balancer may have, over all of its groups. */
export function checkTargetCount(elbv2: Elbv2, groups: readonly string[]): void {
  const serving = groups.flatMap((arn) => targetsOf(elbv2, arn).filter(({ drainingSince }) => drainingSince === undefined));
  if (serving.length > elbv2.account.settings().quotas.targetsPerApplicationLoadBalancer) {
    throw new ServiceError("TooManyTargets", "The maximum number of targets per load balancer has been reached");
  }
}

function checkGroup({ elbv2, loadBalancer, protocol }: Place, group: TargetGroup): void {
  const { protocols } = TYPES[loadBalancer.type];
  const fits = group.protocol === undefined ? loadBalancer.type === "application" : protocols[protocol]?.includes(group.protocol);
  if (!fits) {
    throw new ServiceError(
      "IncompatibleProtocols",
      `The target group '${group.arn}' with protocol ${group.protocol} cannot be used with a listener with protocol ${protocol}`,
    );
  }
  // https://docs.aws.amazon.com/elasticloadbalancing/latest/application/load-balancer-target-groups.html#target-group-protocol-version
  if (protocol === "HTTP" && (group.version === "GRPC" || group.version === "HTTP2")) {
    throw invalidConfiguration(
      `Listener protocol 'HTTP' is not supported with a target group with the protocol-version '${group.version}'`,
    );
  }
  if (group.vpcId !== undefined && group.vpcId !== loadBalancer.vpcId) {
    throw invalidConfiguration(`The target group '${group.arn}' is in another VPC than load balancer '${loadBalancer.arn}'`);
  }
  if (loadBalancersOf(elbv2, group.arn).some((arn) => arn !== loadBalancer.arn)) {
    throw new ServiceError(
      "TargetGroupAssociationLimit",
      `The following target groups cannot be associated with more than one load balancer: ${group.arn}`,
    );
  }
}
