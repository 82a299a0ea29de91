/** Zones, VPCs, subnets and internet gateways: the ground everything else stands on. */
import {
  AttachInternetGatewayCommand,
  CreateInternetGatewayCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DescribeAvailabilityZonesCommand,
  DescribeInternetGatewaysCommand,
  DescribeRegionsCommand,
  DescribeSubnetsCommand,
  DescribeVpcAttributeCommand,
  DescribeVpcsCommand,
  ModifySubnetAttributeCommand,
  ModifyVpcAttributeCommand,
} from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");

export const vpcExchanges: readonly Exchange[] = [
  ask("the zones of the region", DescribeAvailabilityZonesCommand, {}, { zoneC: "AvailabilityZones.2.ZoneId" }),
  ask("zones by name", DescribeAvailabilityZonesCommand, { ZoneNames: ["us-east-1a", "us-east-1b"] }),
  ask("zones by a filter on their name", DescribeAvailabilityZonesCommand, { Filters: [{ Name: "zone-name", Values: ["us-east-1c"] }] }),
  ask("zones by their state", DescribeAvailabilityZonesCommand, { Filters: [{ Name: "state", Values: ["available"] }] }),
  ask("a zone that does not exist", DescribeAvailabilityZonesCommand, { ZoneNames: ["us-east-1z"] }),
  ask("one region by name", DescribeRegionsCommand, { RegionNames: ["us-east-1"] }),

  ask(
    "a VPC is created",
    CreateVpcCommand,
    {
      CidrBlock: "10.0.0.0/16",
      TagSpecifications: [{ ResourceType: "vpc", Tags: [{ Key: "Name", Value: "cluster" }] }],
    },
    { vpc: "Vpc.VpcId" },
  ),
  ask("a second VPC is created", CreateVpcCommand, { CidrBlock: "192.168.0.0/20" }, { otherVpc: "Vpc.VpcId" }),
  ask("a VPC larger than AWS allows", CreateVpcCommand, { CidrBlock: "10.0.0.0/8" }),
  ask("a VPC smaller than AWS allows", CreateVpcCommand, { CidrBlock: "10.0.0.0/29" }),
  ask("a VPC whose block is no block", CreateVpcCommand, { CidrBlock: "ten" }),
  ask("a VPC by id", DescribeVpcsCommand, { VpcIds: ["$vpc"] }),
  ask("two VPCs by id", DescribeVpcsCommand, { VpcIds: ["$vpc", "$otherVpc"] }),
  ask("VPCs by the Name tag", DescribeVpcsCommand, { Filters: [{ Name: "tag:Name", Values: ["cluster"] }] }),
  ask("VPCs by a wildcard in a tag's value", DescribeVpcsCommand, { Filters: [{ Name: "tag:Name", Values: ["clus*"] }] }),
  ask("VPCs by their block", DescribeVpcsCommand, { Filters: [{ Name: "cidr", Values: ["192.168.0.0/20"] }] }),
  ask("VPCs by two filters of which one matches nothing", DescribeVpcsCommand, {
    Filters: [
      { Name: "vpc-id", Values: ["$vpc"] },
      { Name: "cidr", Values: ["10.9.0.0/16"] },
    ],
  }),
  ask("a VPC that does not exist", DescribeVpcsCommand, { VpcIds: ["vpc-0123456789abcdef0"] }),
  ask("a VPC whose id is malformed", DescribeVpcsCommand, { VpcIds: ["vpc-xyz"] }),
  ask("whether a new VPC names its hosts", DescribeVpcAttributeCommand, { VpcId: "$vpc", Attribute: "enableDnsHostnames" }),
  ask("whether a new VPC resolves names", DescribeVpcAttributeCommand, { VpcId: "$vpc", Attribute: "enableDnsSupport" }),
  ask("a VPC is told to name its hosts", ModifyVpcAttributeCommand, { VpcId: "$vpc", EnableDnsHostnames: { Value: true } }),
  ask("whether a changed VPC names its hosts", DescribeVpcAttributeCommand, { VpcId: "$vpc", Attribute: "enableDnsHostnames" }),

  ask(
    "a subnet in zone a",
    CreateSubnetCommand,
    {
      VpcId: "$vpc",
      CidrBlock: "10.0.1.0/24",
      AvailabilityZone: "us-east-1a",
      TagSpecifications: [
        {
          ResourceType: "subnet",
          Tags: [
            { Key: "Name", Value: "public-a" },
            { Key: "kubernetes.io/role/elb", Value: "1" },
          ],
        },
      ],
    },
    { subnetA: "Subnet.SubnetId" },
  ),
  ask(
    "a subnet in zone b",
    CreateSubnetCommand,
    { VpcId: "$vpc", CidrBlock: "10.0.2.0/24", AvailabilityZone: "us-east-1b" },
    { subnetB: "Subnet.SubnetId" },
  ),
  ask(
    "a subnet in the zone of an id",
    CreateSubnetCommand,
    { VpcId: "$vpc", CidrBlock: "10.0.3.0/24", AvailabilityZoneId: "$zoneC" },
    { subnetC: "Subnet.SubnetId" },
  ),
  ask(
    "a small subnet of the second VPC",
    CreateSubnetCommand,
    { VpcId: "$otherVpc", CidrBlock: "192.168.1.0/28", AvailabilityZone: "us-east-1a" },
    { otherSubnet: "Subnet.SubnetId" },
  ),
  ask("a subnet that overlaps another", CreateSubnetCommand, { VpcId: "$vpc", CidrBlock: "10.0.1.128/25" }),
  ask("a subnet outside its VPC", CreateSubnetCommand, { VpcId: "$vpc", CidrBlock: "10.7.0.0/24" }),
  ask("a subnet in a zone that does not exist", CreateSubnetCommand, {
    VpcId: "$vpc",
    CidrBlock: "10.0.9.0/24",
    AvailabilityZone: "us-east-1z",
  }),
  ask("a subnet of a VPC that does not exist", CreateSubnetCommand, { VpcId: "vpc-0123456789abcdef0", CidrBlock: "10.0.9.0/24" }),
  ask("a subnet by id", DescribeSubnetsCommand, { SubnetIds: ["$subnetA"] }),
  ask("the subnets of a VPC", DescribeSubnetsCommand, { Filters: [{ Name: "vpc-id", Values: ["$vpc"] }] }),
  ask("the subnets of a VPC in one zone", DescribeSubnetsCommand, {
    Filters: [
      { Name: "vpc-id", Values: ["$vpc"] },
      { Name: "availability-zone", Values: ["us-east-1b"] },
    ],
  }),
  ask("subnets by the presence of a tag", DescribeSubnetsCommand, {
    Filters: [{ Name: "tag-key", Values: ["kubernetes.io/role/elb"] }],
  }),
  ask("subnets by their block", DescribeSubnetsCommand, { Filters: [{ Name: "cidr-block", Values: ["10.0.3.0/24"] }] }),
  ask("a subnet that does not exist", DescribeSubnetsCommand, { SubnetIds: ["subnet-0123456789abcdef0"] }),
  ask("a known subnet beside one that does not exist", DescribeSubnetsCommand, {
    SubnetIds: ["$subnetA", "subnet-0123456789abcdef0"],
  }),
  ask("a subnet is told to give its instances public addresses", ModifySubnetAttributeCommand, {
    SubnetId: "$subnetA",
    MapPublicIpOnLaunch: { Value: true },
  }),
  ask("a subnet that gives public addresses", DescribeSubnetsCommand, { SubnetIds: ["$subnetA"] }),

  ask(
    "an internet gateway is created",
    CreateInternetGatewayCommand,
    { TagSpecifications: [{ ResourceType: "internet-gateway", Tags: [{ Key: "Name", Value: "door" }] }] },
    { gateway: "InternetGateway.InternetGatewayId" },
  ),
  ask("an internet gateway is attached", AttachInternetGatewayCommand, { InternetGatewayId: "$gateway", VpcId: "$vpc" }),
  ask("an internet gateway by id", DescribeInternetGatewaysCommand, { InternetGatewayIds: ["$gateway"] }),
  ask("internet gateways by the VPC they are attached to", DescribeInternetGatewaysCommand, {
    Filters: [{ Name: "attachment.vpc-id", Values: ["$vpc"] }],
  }),
  ask("an internet gateway that is attached is attached again", AttachInternetGatewayCommand, {
    InternetGatewayId: "$gateway",
    VpcId: "$otherVpc",
  }),
  ask("an internet gateway that does not exist", DescribeInternetGatewaysCommand, {
    InternetGatewayIds: ["igw-0123456789abcdef0"],
  }),
];
