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
