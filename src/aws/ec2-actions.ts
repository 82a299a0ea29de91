/** The EC2 actions the first nouns call. */
import { actionsOf } from "./actions.ts";

/** Declares an EC2 action. */
export const ec2 = actionsOf("ec2", () => import("./sdk/ec2.ts"));

export const describeInstances = ec2("DescribeInstances", (sdk) => sdk.DescribeInstancesCommand);
export const describeNetworkInterfaces = ec2("DescribeNetworkInterfaces", (sdk) => sdk.DescribeNetworkInterfacesCommand);
export const describeAvailabilityZones = ec2("DescribeAvailabilityZones", (sdk) => sdk.DescribeAvailabilityZonesCommand);
export const describeInstanceTopology = ec2("DescribeInstanceTopology", (sdk) => sdk.DescribeInstanceTopologyCommand);
export const createTags = ec2("CreateTags", (sdk) => sdk.CreateTagsCommand);
export const deleteTags = ec2("DeleteTags", (sdk) => sdk.DeleteTagsCommand);
export const authorizeSecurityGroupIngress = ec2("AuthorizeSecurityGroupIngress", (sdk) => sdk.AuthorizeSecurityGroupIngressCommand);
export const createRoute = ec2("CreateRoute", (sdk) => sdk.CreateRouteCommand);
export const createSecurityGroup = ec2("CreateSecurityGroup", (sdk) => sdk.CreateSecurityGroupCommand);
export const deleteRoute = ec2("DeleteRoute", (sdk) => sdk.DeleteRouteCommand);
export const deleteSecurityGroup = ec2("DeleteSecurityGroup", (sdk) => sdk.DeleteSecurityGroupCommand);
export const describeRouteTables = ec2("DescribeRouteTables", (sdk) => sdk.DescribeRouteTablesCommand);
export const describeSecurityGroupRules = ec2("DescribeSecurityGroupRules", (sdk) => sdk.DescribeSecurityGroupRulesCommand);
export const describeSecurityGroups = ec2("DescribeSecurityGroups", (sdk) => sdk.DescribeSecurityGroupsCommand);
export const describeSubnets = ec2("DescribeSubnets", (sdk) => sdk.DescribeSubnetsCommand);
export const describeVpcs = ec2("DescribeVpcs", (sdk) => sdk.DescribeVpcsCommand);
export const modifyInstanceAttribute = ec2("ModifyInstanceAttribute", (sdk) => sdk.ModifyInstanceAttributeCommand);
export const modifyNetworkInterfaceAttribute = ec2("ModifyNetworkInterfaceAttribute", (sdk) => sdk.ModifyNetworkInterfaceAttributeCommand);
export const replaceRoute = ec2("ReplaceRoute", (sdk) => sdk.ReplaceRouteCommand);
export const revokeSecurityGroupIngress = ec2("RevokeSecurityGroupIngress", (sdk) => sdk.RevokeSecurityGroupIngressCommand);
export const updateRuleDescriptions = ec2(
  "UpdateSecurityGroupRuleDescriptionsIngress",
  (sdk) => sdk.UpdateSecurityGroupRuleDescriptionsIngressCommand,
);
