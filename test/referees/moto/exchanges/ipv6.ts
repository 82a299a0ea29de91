/** A VPC with IPv6, NAT gateways, and rarer questions about the network. */
import {
  AllocateAddressCommand,
  CreateNatGatewayCommand,
  CreateNetworkInterfaceCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DeleteNatGatewayCommand,
  DeleteSubnetCommand,
  DeleteVpcCommand,
  DescribeNatGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
} from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");

export const ipv6Exchanges: readonly Exchange[] = [
  ask(
    "a VPC with IPv6 is created",
    CreateVpcCommand,
    { CidrBlock: "172.16.0.0/16", AmazonProvidedIpv6CidrBlock: true },
    { sixVpc: "Vpc.VpcId" },
  ),
  ask("a VPC with IPv6", DescribeVpcsCommand, { VpcIds: ["$sixVpc"] }, { sixBlock: "Vpcs.0.Ipv6CidrBlockAssociationSet.0.Ipv6CidrBlock" }),
  ask("the routes of a VPC with IPv6", DescribeRouteTablesCommand, { Filters: [{ Name: "vpc-id", Values: ["$sixVpc"] }] }),
  ask("the default security group of a VPC with IPv6", DescribeSecurityGroupsCommand, {
    Filters: [{ Name: "vpc-id", Values: ["$sixVpc"] }],
  }),
  ask(
    "a subnet of a VPC with IPv6, without it",
    CreateSubnetCommand,
    { VpcId: "$sixVpc", CidrBlock: "172.16.0.0/24", AvailabilityZone: "us-east-1a" },
    { sixSubnet: "Subnet.SubnetId" },
  ),
  ask(
    "an IPv6 address in a subnet without IPv6",
    CreateNetworkInterfaceCommand,
    { SubnetId: "$sixSubnet", Ipv6AddressCount: 1 },
    { sixInterface: "NetworkInterface.NetworkInterfaceId" },
  ),
  ask("an address for a NAT gateway", AllocateAddressCommand, { Domain: "vpc" }, { natAllocation: "AllocationId", natAddress: "PublicIp" }),
  ask(
    "a NAT gateway is created",
    CreateNatGatewayCommand,
    {
      SubnetId: "$subnetA",
      AllocationId: "$natAllocation",
      TagSpecifications: [{ ResourceType: "natgateway", Tags: [{ Key: "Name", Value: "way out" }] }],
    },
    { nat: "NatGateway.NatGatewayId" },
  ),
  ask("a NAT gateway by id", DescribeNatGatewaysCommand, { NatGatewayIds: ["$nat"] }),
  ask("NAT gateways by VPC and state", DescribeNatGatewaysCommand, {
    Filter: [
      { Name: "vpc-id", Values: ["$vpc"] },
      { Name: "state", Values: ["available"] },
    ],
  }),
  ask("a NAT gateway that does not exist", DescribeNatGatewaysCommand, { NatGatewayIds: ["nat-0123456789abcdef0"] }),
  ask("a NAT gateway in a subnet that does not exist", CreateNatGatewayCommand, {
    SubnetId: "subnet-0123456789abcdef0",
    AllocationId: "$natAllocation",
  }),
  ask("a NAT gateway is deleted", DeleteNatGatewayCommand, { NatGatewayId: "$nat" }),
  ask("subnets by several values of one filter", DescribeSubnetsCommand, {
    Filters: [
      { Name: "vpc-id", Values: ["$vpc"] },
      { Name: "availability-zone", Values: ["us-east-1a", "us-east-1b"] },
    ],
  }),
  ask("VPCs by two values of a filter", DescribeVpcsCommand, {
    Filters: [{ Name: "vpc-id", Values: ["$vpc", "$otherVpc"] }],
  }),
  ask("default VPCs among ours", DescribeVpcsCommand, {
    Filters: [
      { Name: "isDefault", Values: ["true"] },
      { Name: "vpc-id", Values: ["$vpc", "$otherVpc"] },
    ],
  }),
  ask("the VPC with IPv6 goes: its subnet", DeleteSubnetCommand, { SubnetId: "$sixSubnet" }),
  ask("the VPC with IPv6 goes: itself", DeleteVpcCommand, { VpcId: "$sixVpc" }),
  ask("the VPC with IPv6 is gone", DescribeVpcsCommand, { VpcIds: ["$sixVpc"] }),
];
