/** The actions of the classic load-balancer API. */
import { actionsOf } from "./actions.ts";

const elb = actionsOf("elb", () => import("./sdk/elb.ts"));

export const describeLoadBalancers = elb("DescribeLoadBalancers", (sdk) => sdk.DescribeLoadBalancersCommand);
export const describeLoadBalancerAttributes = elb("DescribeLoadBalancerAttributes", (sdk) => sdk.DescribeLoadBalancerAttributesCommand);
export const describeInstanceHealth = elb("DescribeInstanceHealth", (sdk) => sdk.DescribeInstanceHealthCommand);
export const describeTags = elb("DescribeTags", (sdk) => sdk.DescribeTagsCommand);
export const addTags = elb("AddTags", (sdk) => sdk.AddTagsCommand);
export const createLoadBalancer = elb("CreateLoadBalancer", (sdk) => sdk.CreateLoadBalancerCommand);
export const deleteLoadBalancer = elb("DeleteLoadBalancer", (sdk) => sdk.DeleteLoadBalancerCommand);
export const attachSubnets = elb("AttachLoadBalancerToSubnets", (sdk) => sdk.AttachLoadBalancerToSubnetsCommand);
export const detachSubnets = elb("DetachLoadBalancerFromSubnets", (sdk) => sdk.DetachLoadBalancerFromSubnetsCommand);
export const applySecurityGroups = elb("ApplySecurityGroupsToLoadBalancer", (sdk) => sdk.ApplySecurityGroupsToLoadBalancerCommand);
export const createListeners = elb("CreateLoadBalancerListeners", (sdk) => sdk.CreateLoadBalancerListenersCommand);
export const deleteListeners = elb("DeleteLoadBalancerListeners", (sdk) => sdk.DeleteLoadBalancerListenersCommand);
export const createPolicy = elb("CreateLoadBalancerPolicy", (sdk) => sdk.CreateLoadBalancerPolicyCommand);
export const setBackendPolicies = elb(
  "SetLoadBalancerPoliciesForBackendServer",
  (sdk) => sdk.SetLoadBalancerPoliciesForBackendServerCommand,
);
export const setListenerPolicies = elb("SetLoadBalancerPoliciesOfListener", (sdk) => sdk.SetLoadBalancerPoliciesOfListenerCommand);
export const modifyAttributes = elb("ModifyLoadBalancerAttributes", (sdk) => sdk.ModifyLoadBalancerAttributesCommand);
export const configureHealthCheck = elb("ConfigureHealthCheck", (sdk) => sdk.ConfigureHealthCheckCommand);
export const registerInstances = elb("RegisterInstancesWithLoadBalancer", (sdk) => sdk.RegisterInstancesWithLoadBalancerCommand);
export const deregisterInstances = elb("DeregisterInstancesFromLoadBalancer", (sdk) => sdk.DeregisterInstancesFromLoadBalancerCommand);
