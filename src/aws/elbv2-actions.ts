/** The actions of the load-balancer API of version 2. */
import { actionsOf } from "./actions.ts";

const elbv2 = actionsOf("elbv2", () => import("./sdk/elbv2.ts"));

export const describeLoadBalancers = elbv2("DescribeLoadBalancers", (sdk) => sdk.DescribeLoadBalancersCommand);
export const describeLoadBalancerAttributes = elbv2("DescribeLoadBalancerAttributes", (sdk) => sdk.DescribeLoadBalancerAttributesCommand);
export const describeListeners = elbv2("DescribeListeners", (sdk) => sdk.DescribeListenersCommand);
export const describeTargetGroups = elbv2("DescribeTargetGroups", (sdk) => sdk.DescribeTargetGroupsCommand);
export const describeTargetGroupAttributes = elbv2("DescribeTargetGroupAttributes", (sdk) => sdk.DescribeTargetGroupAttributesCommand);
export const describeTargetHealth = elbv2("DescribeTargetHealth", (sdk) => sdk.DescribeTargetHealthCommand);
export const describeTags = elbv2("DescribeTags", (sdk) => sdk.DescribeTagsCommand);
export const createLoadBalancer = elbv2("CreateLoadBalancer", (sdk) => sdk.CreateLoadBalancerCommand);
export const deleteLoadBalancer = elbv2("DeleteLoadBalancer", (sdk) => sdk.DeleteLoadBalancerCommand);
export const modifyLoadBalancerAttributes = elbv2("ModifyLoadBalancerAttributes", (sdk) => sdk.ModifyLoadBalancerAttributesCommand);
export const setSecurityGroups = elbv2("SetSecurityGroups", (sdk) => sdk.SetSecurityGroupsCommand);
export const createTargetGroup = elbv2("CreateTargetGroup", (sdk) => sdk.CreateTargetGroupCommand);
export const modifyTargetGroup = elbv2("ModifyTargetGroup", (sdk) => sdk.ModifyTargetGroupCommand);
export const modifyTargetGroupAttributes = elbv2("ModifyTargetGroupAttributes", (sdk) => sdk.ModifyTargetGroupAttributesCommand);
export const deleteTargetGroup = elbv2("DeleteTargetGroup", (sdk) => sdk.DeleteTargetGroupCommand);
export const registerTargets = elbv2("RegisterTargets", (sdk) => sdk.RegisterTargetsCommand);
export const deregisterTargets = elbv2("DeregisterTargets", (sdk) => sdk.DeregisterTargetsCommand);
export const createListener = elbv2("CreateListener", (sdk) => sdk.CreateListenerCommand);
export const modifyListener = elbv2("ModifyListener", (sdk) => sdk.ModifyListenerCommand);
export const deleteListener = elbv2("DeleteListener", (sdk) => sdk.DeleteListenerCommand);
