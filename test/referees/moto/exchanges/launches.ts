/** Rarer ways to launch an instance, and rarer questions about instances. */
import {
  DescribeInstanceAttributeCommand,
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  ModifyInstanceAttributeCommand,
  RunInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");

const image = "ami-0123456789abcdef0";
const one = { ImageId: image, MinCount: 1, MaxCount: 1 };

export const launchExchanges: readonly Exchange[] = [
  ask(
    "a spot instance with two interfaces is run",
    RunInstancesCommand,
    {
      ...one,
      InstanceType: "m5.large",
      InstanceMarketOptions: { MarketType: "spot" },
      NetworkInterfaces: [
        { DeviceIndex: 0, SubnetId: "$subnetB", Groups: ["$nodes"], PrivateIpAddress: "10.0.2.70", DeleteOnTermination: true },
        { DeviceIndex: 1, SubnetId: "$subnetB", Groups: ["$balancer"], PrivateIpAddress: "10.0.2.71", DeleteOnTermination: true },
      ],
      TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: "Name", Value: "spot" }] }],
    },
    { spot: "Instances.0.InstanceId" },
  ),
  ask("a spot instance", DescribeInstancesCommand, { InstanceIds: ["$spot"] }),
  ask("instances by image, zone and VPC", DescribeInstancesCommand, {
    Filters: [
      { Name: "vpc-id", Values: ["$vpc"] },
      { Name: "image-id", Values: [image] },
      { Name: "availability-zone", Values: ["us-east-1a"] },
    ],
  }),
  ask("instances by two values of a tag", DescribeInstancesCommand, { Filters: [{ Name: "tag:Name", Values: ["spot", "node-2"] }] }),
  ask("instances by a wildcard in a tag", DescribeInstancesCommand, { Filters: [{ Name: "tag:Name", Values: ["no*-2"] }] }),
  ask("statuses by state", DescribeInstanceStatusCommand, {
    Filters: [{ Name: "instance-state-name", Values: ["running"] }],
    InstanceIds: ["$spot"],
  }),
  ask("the status of an instance that does not exist", DescribeInstanceStatusCommand, { InstanceIds: ["i-0123456789abcdef0"] }),
  ask("the type of an instance", DescribeInstanceAttributeCommand, { InstanceId: "$spot", Attribute: "instanceType" }),
  ask("the termination protection of an instance", DescribeInstanceAttributeCommand, {
    InstanceId: "$spot",
    Attribute: "disableApiTermination",
  }),
  ask(
    "an instance is run to be changed",
    RunInstancesCommand,
    { ...one, InstanceType: "t3.small", SubnetId: "$subnetB", SecurityGroupIds: ["$nodes"], PrivateIpAddress: "10.0.2.80" },
    { changed: "Instances.0.InstanceId" },
  ),
  ask("the security groups of an instance are changed", ModifyInstanceAttributeCommand, {
    InstanceId: "$changed",
    Groups: ["$nodes", "$balancer"],
  }),
  ask("an instance whose groups were changed", DescribeInstancesCommand, { InstanceIds: ["$changed"] }),
  ask("an attribute of an instance that does not exist is changed", ModifyInstanceAttributeCommand, {
    InstanceId: "i-0123456789abcdef0",
    SourceDestCheck: { Value: false },
  }),
  ask("instances of several kinds are terminated", TerminateInstancesCommand, { InstanceIds: ["$spot", "$changed"] }),
];
