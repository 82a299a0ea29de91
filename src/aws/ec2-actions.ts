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
export const attachVolume = ec2("AttachVolume", (sdk) => sdk.AttachVolumeCommand);
export const copyVolumes = ec2("CopyVolumes", (sdk) => sdk.CopyVolumesCommand);
export const createSnapshot = ec2("CreateSnapshot", (sdk) => sdk.CreateSnapshotCommand);
export const createVolume = ec2("CreateVolume", (sdk) => sdk.CreateVolumeCommand);
export const deleteSnapshot = ec2("DeleteSnapshot", (sdk) => sdk.DeleteSnapshotCommand);
export const deleteVolume = ec2("DeleteVolume", (sdk) => sdk.DeleteVolumeCommand);
export const describeSnapshots = ec2("DescribeSnapshots", (sdk) => sdk.DescribeSnapshotsCommand);
export const describeVolumes = ec2("DescribeVolumes", (sdk) => sdk.DescribeVolumesCommand);
export const describeVolumesModifications = ec2("DescribeVolumesModifications", (sdk) => sdk.DescribeVolumesModificationsCommand);
export const describeAddresses = ec2("DescribeAddresses", (sdk) => sdk.DescribeAddressesCommand);
export const describeAddressesAttribute = ec2("DescribeAddressesAttribute", (sdk) => sdk.DescribeAddressesAttributeCommand);
export const describeImages = ec2("DescribeImages", (sdk) => sdk.DescribeImagesCommand);
export const describeInstanceTypes = ec2("DescribeInstanceTypes", (sdk) => sdk.DescribeInstanceTypesCommand);
export const describeInstanceTypeOfferings = ec2("DescribeInstanceTypeOfferings", (sdk) => sdk.DescribeInstanceTypeOfferingsCommand);
export const describeVolumeStatus = ec2("DescribeVolumeStatus", (sdk) => sdk.DescribeVolumeStatusCommand);
export const detachVolume = ec2("DetachVolume", (sdk) => sdk.DetachVolumeCommand);
export const enableFastSnapshotRestores = ec2("EnableFastSnapshotRestores", (sdk) => sdk.EnableFastSnapshotRestoresCommand);
export const lockSnapshot = ec2("LockSnapshot", (sdk) => sdk.LockSnapshotCommand);
export const modifyVolume = ec2("ModifyVolume", (sdk) => sdk.ModifyVolumeCommand);
