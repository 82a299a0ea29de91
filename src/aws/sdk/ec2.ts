/** What is used of the EC2 client. Imported dynamically, so that it is loaded only when needed and the bundle holds only this. */
export {
  CreateTagsCommand,
  DeleteTagsCommand,
  DescribeAvailabilityZonesCommand,
  DescribeInstancesCommand,
  DescribeInstanceTopologyCommand,
  DescribeNetworkInterfacesCommand,
  EC2Client as Client,
} from "@aws-sdk/client-ec2";
