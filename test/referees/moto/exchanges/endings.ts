/** How everything ends: what is in use stays, what is gone is gone. */
import {
  DeleteInternetGatewayCommand,
  DeleteNetworkInterfaceCommand,
  DeleteRouteTableCommand,
  DeleteSecurityGroupCommand,
  DeleteSubnetCommand,
  DeleteVpcCommand,
  DescribeInstancesCommand,
  DescribeRouteTablesCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  DetachInternetGatewayCommand,
  DisassociateRouteTableCommand,
  ModifyInstanceAttributeCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");

export const endExchanges: readonly Exchange[] = [
  ask("a VPC that holds something is deleted", DeleteVpcCommand, { VpcId: "$vpc" }),
  ask("a subnet that holds nothing is deleted", DeleteSubnetCommand, { SubnetId: "$otherSubnet" }),
  ask("a security group that does not exist is deleted", DeleteSecurityGroupCommand, { GroupId: "sg-0123456789abcdef0" }),
  ask("an attached internet gateway is deleted", DeleteInternetGatewayCommand, { InternetGatewayId: "$gateway" }),
  ask("a protected instance is terminated", TerminateInstancesCommand, { InstanceIds: ["$twinB"] }),
  ask("a protected instance is protected no more", ModifyInstanceAttributeCommand, {
    InstanceId: "$twinB",
    DisableApiTermination: { Value: false },
  }),
  ask("instances are terminated", TerminateInstancesCommand, { InstanceIds: ["$twinA", "$otherNode"] }),
  ask("terminated instances", DescribeInstancesCommand, { InstanceIds: ["$twinA", "$otherNode"] }),
  ask("a terminated instance is terminated again", TerminateInstancesCommand, { InstanceIds: ["$twinA"] }),
  ask("an instance that does not exist is terminated", TerminateInstancesCommand, { InstanceIds: ["i-0123456789abcdef0"] }),
  ask("an instance that a route leads to is terminated", TerminateInstancesCommand, { InstanceIds: ["$twinB"] }),
  ask("a route to a terminated instance", DescribeRouteTablesCommand, { RouteTableIds: ["$table"] }),
  ask("the last instance is terminated", TerminateInstancesCommand, { InstanceIds: ["$node"] }),
  ask("instances that still run", DescribeInstancesCommand, {
    Filters: [
      { Name: "vpc-id", Values: ["$vpc"] },
      { Name: "instance-state-name", Values: ["running"] },
    ],
  }),
  ask("an interface that outlives its instance is deleted", DeleteNetworkInterfaceCommand, { NetworkInterfaceId: "$otherInterface" }),
  ask("a route table in use is deleted", DeleteRouteTableCommand, { RouteTableId: "$table" }),
  ask("the association ends", DisassociateRouteTableCommand, { AssociationId: "$association" }),
  ask("a route table is deleted", DeleteRouteTableCommand, { RouteTableId: "$table" }),
  ask("a route table is deleted twice", DeleteRouteTableCommand, { RouteTableId: "$table" }),
  ask("an internet gateway is detached", DetachInternetGatewayCommand, { InternetGatewayId: "$gateway", VpcId: "$vpc" }),
  ask("an internet gateway is detached twice", DetachInternetGatewayCommand, { InternetGatewayId: "$gateway", VpcId: "$vpc" }),
  ask("an internet gateway is deleted", DeleteInternetGatewayCommand, { InternetGatewayId: "$gateway" }),
  ask("an internet gateway is deleted twice", DeleteInternetGatewayCommand, { InternetGatewayId: "$gateway" }),
  ask("a security group is deleted", DeleteSecurityGroupCommand, { GroupId: "$nodes" }),
  ask("a security group is deleted twice", DeleteSecurityGroupCommand, { GroupId: "$nodes" }),
  ask("another security group is deleted", DeleteSecurityGroupCommand, { GroupId: "$balancer" }),
  ask("a subnet is deleted", DeleteSubnetCommand, { SubnetId: "$subnetA" }),
  ask("a subnet is deleted twice", DeleteSubnetCommand, { SubnetId: "$subnetA" }),
  ask("subnets that are left", DescribeSubnetsCommand, { Filters: [{ Name: "vpc-id", Values: ["$vpc"] }] }),
  ask("a VPC that does not exist is deleted", DeleteVpcCommand, { VpcId: "vpc-0123456789abcdef0" }),
  ask("the other VPC after a refused deletion", DescribeVpcsCommand, { VpcIds: ["$otherVpc"] }),
];
