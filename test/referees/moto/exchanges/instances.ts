/** Instances: running, describing, stopping, starting, changing. */
import {
  DescribeInstanceAttributeCommand,
  DescribeInstanceStatusCommand,
  DescribeInstancesCommand,
  DescribeInstanceTypesCommand,
  ModifyInstanceAttributeCommand,
  RebootInstancesCommand,
  RunInstancesCommand,
  StartInstancesCommand,
  StopInstancesCommand,
} from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");

const image = "ami-0123456789abcdef0";

export const instanceExchanges: readonly Exchange[] = [
  ask(
    "an instance is run",
    RunInstancesCommand,
    {
      ImageId: image,
      InstanceType: "m5.large",
      MinCount: 1,
      MaxCount: 1,
      SubnetId: "$subnetB",
      SecurityGroupIds: ["$nodes"],
      PrivateIpAddress: "10.0.2.10",
      TagSpecifications: [
        {
          ResourceType: "instance",
          Tags: [
            { Key: "Name", Value: "node-1" },
            { Key: "kubernetes.io/cluster/test", Value: "owned" },
          ],
        },
      ],
    },
    { node: "Instances.0.InstanceId", reservation: "ReservationId", nodeInterface: "Instances.0.NetworkInterfaces.0.NetworkInterfaceId" },
  ),
  ask(
    "an instance is run where it gets a public address",
    RunInstancesCommand,
    {
      ImageId: image,
      InstanceType: "t3.micro",
      MinCount: 1,
      MaxCount: 1,
      NetworkInterfaces: [
        { DeviceIndex: 0, SubnetId: "$subnetA", Groups: ["$nodes"], AssociatePublicIpAddress: true, PrivateIpAddress: "10.0.1.10" },
      ],
      TagSpecifications: [{ ResourceType: "instance", Tags: [{ Key: "Name", Value: "node-2" }] }],
    },
    { otherNode: "Instances.0.InstanceId" },
  ),
  ask(
    "two instances are run at once",
    RunInstancesCommand,
    { ImageId: image, InstanceType: "t3.micro", MinCount: 2, MaxCount: 2, SubnetId: "$subnetB", SecurityGroupIds: ["$nodes"] },
    {
      twinReservation: "ReservationId",
      twinA: "Instances.0.InstanceId",
      twinB: "Instances.1.InstanceId",
      twinAddressA: "Instances.0.PrivateIpAddress",
      twinAddressB: "Instances.1.PrivateIpAddress",
      twinNameA: "Instances.0.PrivateDnsName",
      twinNameB: "Instances.1.PrivateDnsName",
    },
  ),
  ask("an instance is run in a subnet that does not exist", RunInstancesCommand, {
    ImageId: image,
    InstanceType: "t3.micro",
    MinCount: 1,
    MaxCount: 1,
    SubnetId: "subnet-0123456789abcdef0",
  }),
  ask("an instance is run with a security group that does not exist", RunInstancesCommand, {
    ImageId: image,
    InstanceType: "t3.micro",
    MinCount: 1,
    MaxCount: 1,
    SubnetId: "$subnetA",
    SecurityGroupIds: ["sg-0123456789abcdef0"],
  }),
  ask("more instances at least than at most", RunInstancesCommand, {
    ImageId: image,
    InstanceType: "t3.micro",
    MinCount: 2,
    MaxCount: 1,
    SubnetId: "$otherSubnet",
  }),
  ask("running an instance is only tried", RunInstancesCommand, {
    ImageId: image,
    InstanceType: "t3.micro",
    MinCount: 1,
    MaxCount: 1,
    SubnetId: "$subnetA",
    DryRun: true,
  }),
  ask("an instance by id", DescribeInstancesCommand, { InstanceIds: ["$node"] }),
  ask("an instance with a public address", DescribeInstancesCommand, { InstanceIds: ["$otherNode"] }),
  ask("instances of one reservation", DescribeInstancesCommand, { InstanceIds: ["$twinA", "$twinB"] }),
  ask("instances by a tag", DescribeInstancesCommand, { Filters: [{ Name: "tag:kubernetes.io/cluster/test", Values: ["owned"] }] }),
  ask("instances by the presence of a tag", DescribeInstancesCommand, {
    Filters: [{ Name: "tag-key", Values: ["kubernetes.io/cluster/test"] }],
  }),
  ask("instances by their private DNS name", DescribeInstancesCommand, {
    Filters: [{ Name: "private-dns-name", Values: ["ip-10-0-2-10.ec2.internal"] }],
  }),
  ask("instances by state and subnet", DescribeInstancesCommand, {
    Filters: [
      { Name: "instance-state-name", Values: ["pending", "running"] },
      { Name: "subnet-id", Values: ["$subnetB"] },
    ],
  }),
  ask("instances by security group and type", DescribeInstancesCommand, {
    Filters: [
      { Name: "instance.group-id", Values: ["$nodes"] },
      { Name: "instance-type", Values: ["m5.large"] },
    ],
  }),
  ask("instances by a private address", DescribeInstancesCommand, { Filters: [{ Name: "private-ip-address", Values: ["10.0.2.10"] }] }),
  ask("instances by a filter that matches none", DescribeInstancesCommand, { Filters: [{ Name: "tag:Name", Values: ["nobody"] }] }),
  ask("an instance that does not exist", DescribeInstancesCommand, { InstanceIds: ["i-0123456789abcdef0"] }),
  ask("a known instance beside one that does not exist", DescribeInstancesCommand, { InstanceIds: ["$node", "i-0123456789abcdef0"] }),
  ask("an instance whose id is malformed", DescribeInstancesCommand, { InstanceIds: ["i-node"] }),
  ask("ids together with a page size", DescribeInstancesCommand, { InstanceIds: ["$node"], MaxResults: 10 }),
  ask("the status of a running instance", DescribeInstanceStatusCommand, { InstanceIds: ["$node"] }),
  ask("whether an instance drops what is not addressed to it", DescribeInstanceAttributeCommand, {
    InstanceId: "$node",
    Attribute: "sourceDestCheck",
  }),
  ask("an instance is told to route for others", ModifyInstanceAttributeCommand, {
    InstanceId: "$node",
    SourceDestCheck: { Value: false },
  }),
  ask("an instance that routes for others", DescribeInstanceAttributeCommand, { InstanceId: "$node", Attribute: "sourceDestCheck" }),
  ask("an attribute of an instance that does not exist", DescribeInstanceAttributeCommand, {
    InstanceId: "i-0123456789abcdef0",
    Attribute: "sourceDestCheck",
  }),
  ask("a type of instances", DescribeInstanceTypesCommand, { InstanceTypes: ["m5.large"] }),
  ask("types of instances of many kinds", DescribeInstanceTypesCommand, {
    InstanceTypes: ["t3.micro", "t4g.small", "m5.24xlarge", "m7i.large", "c7g.large", "g5.xlarge", "p4d.24xlarge", "trn1.32xlarge"],
  }),
  ask("a type of instances that does not exist", DescribeInstanceTypesCommand, { InstanceTypes: ["m5.colossal" as "m5.large"] }),
];

export const lifecycleExchanges: readonly Exchange[] = [
  ask("an instance is stopped", StopInstancesCommand, { InstanceIds: ["$twinA"] }),
  ask("a stopped instance", DescribeInstancesCommand, { InstanceIds: ["$twinA"] }),
  ask("the status of a stopped instance", DescribeInstanceStatusCommand, { InstanceIds: ["$twinA"] }),
  ask("the status of a stopped instance, asked for all", DescribeInstanceStatusCommand, {
    InstanceIds: ["$twinA"],
    IncludeAllInstances: true,
  }),
  ask("a stopped instance is stopped again", StopInstancesCommand, { InstanceIds: ["$twinA"] }),
  ask("an instance is started", StartInstancesCommand, { InstanceIds: ["$twinA"] }),
  ask("a started instance", DescribeInstancesCommand, { InstanceIds: ["$twinA"] }),
  ask("an instance is rebooted", RebootInstancesCommand, { InstanceIds: ["$twinB"] }),
  ask("an instance that does not exist is stopped", StopInstancesCommand, { InstanceIds: ["i-0123456789abcdef0"] }),
  ask("an instance that does not exist is started", StartInstancesCommand, { InstanceIds: ["i-0123456789abcdef0"] }),
  ask("an instance is protected from termination", ModifyInstanceAttributeCommand, {
    InstanceId: "$twinB",
    DisableApiTermination: { Value: true },
  }),
];
