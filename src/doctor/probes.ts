/** A harmless call for each action: a dry run where EC2 has one, a read of nothing where load balancing has none. */
import type { Action, AnyAction } from "../aws/actions.ts";
import type { Ask } from "../aws/ask.ts";
import type { Cloud } from "../aws/cloud.ts";
import * as ec2 from "../aws/ec2-actions.ts";
import * as elb from "../aws/elb-actions.ts";
import * as elbv2 from "../aws/elbv2-actions.ts";
import { isAwsError } from "../aws/errors.ts";
import { partitionOf } from "../aws/partitions.ts";
import { type Feature, iamName } from "./permissions.ts";
import { checkedPrograms } from "./programs.ts";
import { type Refusal, refusalIn } from "./refusal.ts";

/** Real things of the cluster, because a policy may ask for their tags; made-up ones where there are none. */
export interface Samples {
  readonly instance: string;
  readonly networkInterface: string;
  readonly securityGroup: string;
  readonly routeTable: string;
  readonly vpc: string;
  readonly region: string;
  readonly account: string;
  readonly clusterId: string;
}

/** Whether an action may be called. */
export interface Answer {
  readonly verdict: "allowed" | "denied" | "unknown";
  /** When it is denied. */
  readonly refusal?: Refusal;
}

/** Asks AWS; `unknown` where there is no harmless way to ask, or no clear answer. */
export async function probe(cloud: Cloud, feature: Feature, action: AnyAction, samples: Samples, ask: Ask): Promise<Answer> {
  const input = inputFor(feature, action, samples);
  return input === undefined ? { verdict: "unknown" } : await attempt(cloud, action, input, iamName(action), ask);
}

/** Makes a harmless call and tells what its outcome says of a permission. */
export async function attempt(cloud: Cloud, action: AnyAction, input: object, permission: string, ask: Ask): Promise<Answer> {
  try {
    await cloud.call(action as Action<object, unknown>, input, { ...ask, urgency: "user" });
    return { verdict: "allowed" };
  } catch (error) {
    if (isAwsError(error, "denied")) {
      // A call can be refused for want of another permission that is checked on its way, which has a probe of its own.
      return error.iamAction === permission ? { verdict: "denied", refusal: refusalIn(error.detail) } : { verdict: "unknown" };
    }
    // AWS refuses whoever may not call before it looks whether the thing exists.
    const allowed = isAwsError(error, "not-found", "invalid") || (isAwsError(error) && error.code === "DryRunOperation");
    return { verdict: allowed ? "allowed" : "unknown" };
  }
}

function inputFor(feature: Feature, action: AnyAction, samples: Samples): object | undefined {
  const elbRead = elbReads.get(action)?.(samples);
  if (elbRead !== undefined) return elbRead;
  if (action.service !== "ec2") return undefined;
  const writes = ec2Writes(feature, samples).get(action);
  if (action.writes && writes === undefined) return undefined;
  return { DryRun: true, ...(ec2Reads.get(action)?.(samples) ?? writes) };
}

const ec2Reads: ReadonlyMap<AnyAction, (samples: Samples) => object> = new Map([
  [ec2.describeInstanceTopology, ({ instance }: Samples) => ({ InstanceIds: [instance] })],
]);

const balancingArn = ({ region, account }: Samples, resource: string) =>
  `arn:${partitionOf(region).name}:elasticloadbalancing:${region}:${account}:${resource}`;
const loadBalancer = (samples: Samples) => balancingArn(samples, "loadbalancer/net/fairlead-doctor/0123456789abcdef");
const targetGroup = (samples: Samples) => balancingArn(samples, "targetgroup/fairlead-doctor/0123456789abcdef");
const noName = { LoadBalancerName: "fairlead-doctor" };

const elbReads: ReadonlyMap<AnyAction, (samples: Samples) => object> = new Map<AnyAction, (samples: Samples) => object>([
  [elb.describeLoadBalancers, () => ({ PageSize: 1 })],
  [elb.describeLoadBalancerAttributes, () => noName],
  [elb.describeInstanceHealth, () => noName],
  [elb.describeTags, () => ({ LoadBalancerNames: [noName.LoadBalancerName] })],
  [elbv2.describeLoadBalancers, () => ({ PageSize: 1 })],
  [elbv2.describeTargetGroups, () => ({ PageSize: 1 })],
  [elbv2.describeListeners, (samples) => ({ LoadBalancerArn: loadBalancer(samples) })],
  [elbv2.describeLoadBalancerAttributes, (samples) => ({ LoadBalancerArn: loadBalancer(samples) })],
  [elbv2.describeTags, (samples) => ({ ResourceArns: [loadBalancer(samples)] })],
  [elbv2.describeTargetGroupAttributes, (samples) => ({ TargetGroupArn: targetGroup(samples) })],
  [elbv2.describeTargetHealth, (samples) => ({ TargetGroupArn: targetGroup(samples) })],
]);

/** Only for the controller manager: the policies of other programs ask for marks of their own, which nothing here may carry. */
function ec2Writes(feature: Feature, samples: Samples): ReadonlyMap<AnyAction, object> {
  if (!checkedPrograms["controller-manager"].features.includes(feature)) return new Map();
  const { instance, networkInterface, securityGroup, routeTable, vpc, clusterId } = samples;
  const owned = { Key: `kubernetes.io/cluster/${clusterId}`, Value: "owned" };
  const tagged = feature === "tagging" ? instance : securityGroup;
  const route = { RouteTableId: routeTable, DestinationCidrBlock: "192.0.2.0/24" };
  const rule = {
    GroupId: securityGroup,
    IpPermissions: [{ IpProtocol: "tcp", FromPort: 9, ToPort: 9, IpRanges: [{ CidrIp: "192.0.2.0/24" }] }],
  };
  const check = { SourceDestCheck: { Value: false } };
  return new Map<AnyAction, object>([
    [ec2.createTags, { Resources: [tagged], Tags: [owned] }],
    [ec2.deleteTags, { Resources: [tagged], Tags: [{ Key: "fairlead-doctor" }] }],
    [ec2.createRoute, { ...route, InstanceId: instance }],
    [ec2.replaceRoute, { ...route, InstanceId: instance }],
    [ec2.deleteRoute, route],
    [ec2.modifyInstanceAttribute, { InstanceId: instance, ...check }],
    [ec2.modifyNetworkInterfaceAttribute, { NetworkInterfaceId: networkInterface, ...check }],
    [
      ec2.createSecurityGroup,
      {
        GroupName: "fairlead-doctor",
        Description: "never made",
        VpcId: vpc,
        TagSpecifications: [{ ResourceType: "security-group", Tags: [owned] }],
      },
    ],
    [ec2.authorizeSecurityGroupIngress, rule],
    [ec2.revokeSecurityGroupIngress, rule],
    [ec2.updateRuleDescriptions, rule],
    [ec2.deleteSecurityGroup, { GroupId: securityGroup }],
  ]);
}
