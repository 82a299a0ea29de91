import assert from "node:assert/strict";
import { test } from "node:test";
import {
  CreateSecurityGroupCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DescribeFleetsCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
} from "@aws-sdk/client-ec2";
import { cloudBed, refused } from "./testing.ts";

test("an SDK client reads back what it made, through the wire form", async () => {
  const { ec2 } = cloudBed();
  const { Vpc: vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: "10.0.0.0/16" }));
  const { Subnet: subnet } = await ec2.send(
    new CreateSubnetCommand({
      VpcId: vpc?.VpcId,
      CidrBlock: "10.0.1.0/24",
      AvailabilityZone: "us-east-1b",
      TagSpecifications: [{ ResourceType: "subnet", Tags: [{ Key: "Name", Value: "<a & b>" }] }],
    }),
  );
  const { Subnets } = await ec2.send(new DescribeSubnetsCommand({ Filters: [{ Name: "tag:Name", Values: ["<a*"] }] }));
  assert.deepEqual(Subnets, [subnet]);
  assert.equal(subnet?.AvailableIpAddressCount, 251);
  const group = await ec2.send(new CreateSecurityGroupCommand({ GroupName: "web", Description: "web", VpcId: vpc?.VpcId }));
  const { SecurityGroups } = await ec2.send(new DescribeSecurityGroupsCommand({ GroupIds: [group.GroupId!] }));
  assert.equal(SecurityGroups?.[0]?.IpPermissionsEgress?.[0]?.IpRanges?.[0]?.CidrIp, "0.0.0.0/0");
});

test("an action the cloud does not model is answered with InvalidAction and 400, never with 500", async () => {
  const { ec2 } = cloudBed();
  await refused(ec2.send(new DescribeFleetsCommand({})), "InvalidAction", 400);
});
