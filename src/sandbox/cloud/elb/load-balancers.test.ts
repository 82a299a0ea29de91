import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateVpcCommand, DeleteSecurityGroupCommand } from "@aws-sdk/client-ec2";
import {
  ApplySecurityGroupsToLoadBalancerCommand,
  ConfigureHealthCheckCommand,
  CreateLoadBalancerListenersCommand,
  CreateLoadBalancerPolicyCommand,
  DeleteLoadBalancerCommand,
  DescribeAccountLimitsCommand,
  DescribeInstanceHealthCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancerPoliciesCommand,
  DescribeLoadBalancersCommand,
  DescribeTagsCommand,
  DetachLoadBalancerFromSubnetsCommand,
  ModifyLoadBalancerAttributesCommand,
  RegisterInstancesWithLoadBalancerCommand,
} from "@aws-sdk/client-elastic-load-balancing";
import { balancingBed, createSubnet } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { classic, described } from "./testing.ts";

test("an identical classic re-create succeeds and answers with the same name; one that differs is DuplicateLoadBalancerName", async () => {
  const bed = await balancingBed();
  const Tags = [{ Key: "team", Value: "a" }];
  const first = await bed.elb.send(classic(bed, { Tags }));
  const again = await bed.elb.send(classic(bed, { Tags, Subnets: [...bed.subnets].reverse() }));
  assert.equal(again.DNSName, first.DNSName);
  const differing = [
    { Subnets: [bed.subnets[0]] },
    { Scheme: "internal" },
    { Listeners: [{ Protocol: "tcp", LoadBalancerPort: 81, InstancePort: 31080 }] },
    { SecurityGroups: [await bed.group("other")] },
    { Tags: [{ Key: "team", Value: "b" }] },
  ];
  for (const change of differing) await refused(bed.elb.send(classic(bed, { Tags, ...change })), "DuplicateAccessPointNameException", 400);
});

test("a classic load balancer is described with its zones, hosted zone, VPC, default health check and source security group", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  const web = await described(bed);
  assert.deepEqual(web.AvailabilityZones, ["us-east-1a", "us-east-1b", "us-east-1c"]);
  assert.deepEqual(web.Subnets, [...bed.subnets]);
  assert.equal(web.CanonicalHostedZoneNameID, "Z35SXDOTRQ7X7K");
  assert.equal(web.CanonicalHostedZoneName, web.DNSName);
  assert.equal(web.VPCId, bed.vpcId);
  assert.equal(web.Scheme, "internet-facing");
  assert.deepEqual(web.HealthCheck, { Target: "TCP:31080", Interval: 30, Timeout: 5, UnhealthyThreshold: 2, HealthyThreshold: 10 });
  assert.deepEqual(web.SourceSecurityGroup, { OwnerAlias: "123456789012", GroupName: "balancer" });
  assert.deepEqual(web.SecurityGroups, [bed.groupId]);
  assert.deepEqual(web.ListenerDescriptions?.[0]?.Listener, {
    Protocol: "TCP",
    LoadBalancerPort: 80,
    InstanceProtocol: "TCP",
    InstancePort: 31080,
  });
  assert.deepEqual(web.BackendServerDescriptions, []);
});

test("a classic DNS name has a hash, and the prefix internal- when the load balancer is internal", async () => {
  const bed = await balancingBed();
  const open = await bed.elb.send(classic(bed));
  assert.match(open.DNSName!, /^web-\d+\.us-east-1\.elb\.amazonaws\.com$/);
  const closed = await bed.elb.send(classic(bed, { LoadBalancerName: "inner", Scheme: "internal" }));
  assert.match(closed.DNSName!, /^internal-inner-\d+\.us-east-1\.elb\.amazonaws\.com$/);
});

test("two subnets in one zone, no subnets, both subnets and zones, and names AWS would not take are refused", async () => {
  const bed = await balancingBed();
  const twin = await createSubnet(bed.ec2, bed.vpcId, "10.0.9.0/24", "a");
  const twins = { Subnets: [bed.subnets[0], twin] };
  await refused(bed.elb.send(classic(bed, twins)), "InvalidConfigurationRequestException", 409);
  await refused(bed.elb.send(classic(bed, { Subnets: [] })), "ValidationError");
  await refused(bed.elb.send(classic(bed, { AvailabilityZones: ["us-east-1a"] })), "ValidationError");
  for (const LoadBalancerName of ["x".repeat(33), "-web", "web-", "web_1", "we b"]) {
    await refused(bed.elb.send(classic(bed, { LoadBalancerName })), "ValidationError");
  }
});

test("unknown subnets, groups and schemes, groups of another VPC and full subnets are refused with the service's own codes", async () => {
  const bed = await balancingBed();
  await refused(bed.elb.send(classic(bed, { Subnets: ["subnet-0123456789abcdef0"] })), "SubnetNotFoundException");
  await refused(bed.elb.send(classic(bed, { SecurityGroups: ["sg-0123456789abcdef0"] })), "InvalidSecurityGroupException");
  await refused(bed.elb.send(classic(bed, { Scheme: "private" })), "InvalidSchemeException");
  const other = (await bed.ec2.send(new CreateVpcCommand({ CidrBlock: "10.9.0.0/16" }))).Vpc!.VpcId!;
  const lonely = await createSubnet(bed.ec2, other, "10.9.0.0/24", "a");
  await refused(bed.elb.send(classic(bed, { Subnets: [lonely] })), "InvalidSubnetException");
  await refused(bed.elb.send(classic(bed, { Subnets: [lonely], Scheme: "internal" })), "InvalidSecurityGroupException");
  const small = await createSubnet(bed.ec2, bed.vpcId, "10.0.9.0/28", "a");
  await bed.elb.send(classic(bed, { LoadBalancerName: "fits", Subnets: [small] }));
  for (const name of ["b", "c", "d"]) await bed.elb.send(classic(bed, { LoadBalancerName: name, Subnets: [small] }));
  await refused(bed.elb.send(classic(bed, { LoadBalancerName: "e", Subnets: [small] })), "InvalidSubnetException");
});

test("a classic load balancer has an interface in every subnet, which keeps its security group busy for a while after deletion", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  const interfaces = await bed.interfaces("ELB web");
  assert.deepEqual(interfaces.map((one) => one.SubnetId).sort(), [...bed.subnets].sort());
  for (const one of interfaces) {
    assert.equal(one.RequesterManaged, true);
    assert.equal(one.RequesterId, "amazon-elb");
    assert.ok(one.Association?.PublicIp);
    assert.deepEqual(one.Groups, [{ GroupId: bed.groupId, GroupName: "balancer" }]);
  }
  await bed.elb.send(new DeleteLoadBalancerCommand({ LoadBalancerName: "web" }));
  await refused(bed.ec2.send(new DeleteSecurityGroupCommand({ GroupId: bed.groupId })), "DependencyViolation");
  bed.world.pass(30_000);
  assert.equal((await bed.interfaces("ELB web")).length, 0);
  await bed.ec2.send(new DeleteSecurityGroupCommand({ GroupId: bed.groupId }));
});

test("deleting a classic load balancer is idempotent", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  await bed.elb.send(classic(bed, { LoadBalancerName: "kept" }));
  await bed.elb.send(new DeleteLoadBalancerCommand({ LoadBalancerName: "web" }));
  await bed.elb.send(new DeleteLoadBalancerCommand({ LoadBalancerName: "web" }));
  await bed.elb.send(new DeleteLoadBalancerCommand({ LoadBalancerName: "never" }));
  const { LoadBalancerDescriptions } = await bed.elb.send(new DescribeLoadBalancersCommand({}));
  assert.deepEqual(
    LoadBalancerDescriptions?.map(({ LoadBalancerName }) => LoadBalancerName),
    ["kept"],
  );
});

test("an unknown classic load balancer is LoadBalancerNotFound in every operation", async () => {
  const bed = await balancingBed();
  await bed.elb.send(classic(bed));
  const LoadBalancerName = "absent";
  const HealthCheck = { Target: "TCP:80", Interval: 10, Timeout: 5, UnhealthyThreshold: 2, HealthyThreshold: 2 };
  const calls = [
    () => bed.elb.send(new DescribeLoadBalancersCommand({ LoadBalancerNames: ["web", LoadBalancerName] })),
    () => bed.elb.send(new DescribeLoadBalancerAttributesCommand({ LoadBalancerName })),
    () =>
      bed.elb.send(
        new ModifyLoadBalancerAttributesCommand({ LoadBalancerName, LoadBalancerAttributes: { ConnectionSettings: { IdleTimeout: 60 } } }),
      ),
    () => bed.elb.send(new ConfigureHealthCheckCommand({ LoadBalancerName, HealthCheck })),
    () => bed.elb.send(new ApplySecurityGroupsToLoadBalancerCommand({ LoadBalancerName, SecurityGroups: [bed.groupId] })),
    () => bed.elb.send(new DetachLoadBalancerFromSubnetsCommand({ LoadBalancerName, Subnets: [bed.subnets[0]] })),
    () =>
      bed.elb.send(new CreateLoadBalancerPolicyCommand({ LoadBalancerName, PolicyName: "p", PolicyTypeName: "ProxyProtocolPolicyType" })),
    () => bed.elb.send(new DescribeLoadBalancerPoliciesCommand({ LoadBalancerName })),
    () =>
      bed.elb.send(new RegisterInstancesWithLoadBalancerCommand({ LoadBalancerName, Instances: [{ InstanceId: "i-0123456789abcdef0" }] })),
    () => bed.elb.send(new DescribeInstanceHealthCommand({ LoadBalancerName })),
    () => bed.elb.send(new DescribeTagsCommand({ LoadBalancerNames: [LoadBalancerName] })),
    () =>
      bed.elb.send(
        new CreateLoadBalancerListenersCommand({
          LoadBalancerName,
          Listeners: [{ Protocol: "TCP", LoadBalancerPort: 80, InstancePort: 80 }],
        }),
      ),
  ];
  for (const call of calls) await refused(call(), "AccessPointNotFoundException", 400);
});

test("the quota of classic load balancers is TooManyLoadBalancers, and is among the account's limits", async () => {
  const bed = await balancingBed();
  bed.cloud.controls.change({ quotas: { classicLoadBalancers: 1 } });
  await bed.elb.send(classic(bed));
  await refused(bed.elb.send(classic(bed, { LoadBalancerName: "second" })), "TooManyAccessPointsException");
  const { Limits } = await bed.elb.send(new DescribeAccountLimitsCommand({}));
  assert.equal(Limits?.find((limit) => limit.Name === "classic-load-balancers")?.Max, "1");
});

test("classic descriptions come in pages no larger than asked", async () => {
  const bed = await balancingBed();
  for (const LoadBalancerName of ["c", "a", "b"]) await bed.elb.send(classic(bed, { LoadBalancerName }));
  const first = await bed.elb.send(new DescribeLoadBalancersCommand({ PageSize: 2 }));
  assert.deepEqual(
    first.LoadBalancerDescriptions?.map((one) => one.LoadBalancerName),
    ["a", "b"],
  );
  const second = await bed.elb.send(new DescribeLoadBalancersCommand({ PageSize: 2, Marker: first.NextMarker }));
  assert.deepEqual(
    second.LoadBalancerDescriptions?.map((one) => one.LoadBalancerName),
    ["c"],
  );
  assert.equal(second.NextMarker, undefined);
  await refused(bed.elb.send(new DescribeLoadBalancersCommand({ PageSize: 401 })), "ValidationError");
});

/** What AWS checks while the service-linked role of load balancing does not exist. */
const forServiceRole = ["ec2:DescribeAccountAttributes", "ec2:DescribeInternetGateways", "iam:CreateServiceLinkedRole"];

test("creating with tags also needs AddTags, and the first load balancer of the account what makes the service-linked role", async () => {
  const bed = await balancingBed();
  for (const action of forServiceRole) {
    const lift = bed.cloud.controls.deny(action);
    await assert.rejects(bed.elb.send(classic(bed)), { name: "AccessDenied", message: new RegExp(action) });
    lift();
  }
  await bed.elb.send(classic(bed));
  bed.cloud.controls.deny(...forServiceRole, "elasticloadbalancing:AddTags");
  await bed.elb.send(classic(bed, { LoadBalancerName: "second" }));
  const Tags = [{ Key: "a", Value: "b" }];
  await refused(bed.elb.send(classic(bed, { LoadBalancerName: "third", Tags })), "AccessDenied", 403);
});

test("too many classic requests are answered with Throttling", async () => {
  const bed = await balancingBed();
  bed.cloud.controls.change({ buckets: { "elasticloadbalancing:Describe*": { capacity: 1, refillPerSecond: 1 } } });
  await bed.elb.send(new DescribeLoadBalancersCommand({}));
  await refused(bed.elb.send(new DescribeLoadBalancersCommand({})), "Throttling", 400);
});
