import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AllocateAddressCommand,
  DeleteSecurityGroupCommand,
  DescribeAddressesCommand,
  DisassociateAddressCommand,
} from "@aws-sdk/client-ec2";
import {
  DeleteLoadBalancerCommand,
  DescribeAccountLimitsCommand,
  DescribeCapacityReservationCommand,
  DescribeLoadBalancersCommand,
  DescribeSSLPoliciesCommand,
  ModifyCapacityReservationCommand,
  ModifyLoadBalancerAttributesCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { balancingBed, createSubnet } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { described, network } from "./testing.ts";

test("an identical create returns the existing load balancer, one with other settings is DuplicateLoadBalancerName", async () => {
  const bed = await balancingBed();
  const first = await network(bed, { SecurityGroups: [bed.groupId], Tags: [{ Key: "a", Value: "1" }] });
  const again = await network(bed, { SecurityGroups: [bed.groupId], Subnets: [...bed.subnets].reverse() });
  assert.equal(again.LoadBalancerArn, first.LoadBalancerArn);
  await refused(network(bed, { SecurityGroups: [bed.groupId], Scheme: "internal" }), "DuplicateLoadBalancerNameException", 400);
  await refused(network(bed, { SecurityGroups: [bed.groupId], Subnets: [bed.subnets[0]] }), "DuplicateLoadBalancerNameException");
  await refused(network(bed), "DuplicateLoadBalancerNameException");
  const { LoadBalancers } = await bed.elbv2.send(new DescribeLoadBalancersCommand({}));
  assert.equal(LoadBalancers?.length, 1);
});

test("a network load balancer's ARN contains /net/, its DNS name has AWS's shape, and its hosted zone is the region's", async () => {
  const bed = await balancingBed();
  const made = await network(bed);
  assert.match(made.LoadBalancerArn!, /^arn:aws:elasticloadbalancing:us-east-1:123456789012:loadbalancer\/net\/web\/[0-9a-f]{16}$/);
  const id = made.LoadBalancerArn!.split("/").at(-1);
  assert.equal(made.DNSName, `web-${id}.elb.us-east-1.amazonaws.com`);
  assert.equal(made.CanonicalHostedZoneId, "Z26RNL4JYFTOTI");
  assert.equal(made.Scheme, "internet-facing");
  assert.equal(made.Type, "network");
  assert.equal(made.VpcId, bed.vpcId);
  assert.equal(made.IpAddressType, "ipv4");
  assert.equal(made.SecurityGroups, undefined);
});

test("a network load balancer is provisioning until its time has passed, whoever describes it", async () => {
  const bed = await balancingBed();
  assert.equal((await network(bed)).State?.Code, "provisioning");
  bed.world.pass(60_000);
  assert.equal((await described(bed)).State?.Code, "provisioning");
  assert.equal((await described(bed)).State?.Code, "provisioning");
  bed.world.pass(61_000);
  assert.equal((await described(bed)).State?.Code, "active");
});

test("how long provisioning takes is a setting", async () => {
  const bed = await balancingBed({ settings: { provisioningMs: 5_000 } });
  await network(bed);
  bed.world.pass(5_000);
  assert.equal((await described(bed)).State?.Code, "active");
});

test("elastic addresses appear in the zones, are associated and managed, and come back when the load balancer is gone", async () => {
  const bed = await balancingBed();
  const { AllocationId, PublicIp } = await bed.ec2.send(new AllocateAddressCommand({ Domain: "vpc" }));
  const made = await network(bed, { SubnetMappings: [{ SubnetId: bed.subnets[0], AllocationId }, { SubnetId: bed.subnets[1] }] });
  assert.deepEqual(made.AvailabilityZones?.[0], {
    ZoneName: "us-east-1a",
    SubnetId: bed.subnets[0],
    LoadBalancerAddresses: [{ IpAddress: PublicIp, AllocationId }],
  });
  assert.deepEqual(made.AvailabilityZones?.[1]?.LoadBalancerAddresses, []);
  const address = async () => (await bed.ec2.send(new DescribeAddressesCommand({ AllocationIds: [AllocationId!] }))).Addresses![0]!;
  const { AssociationId } = await address();
  assert.ok(AssociationId);
  await refused(bed.ec2.send(new DisassociateAddressCommand({ AssociationId })), "AuthFailure");
  const mapping = { SubnetMappings: [{ SubnetId: bed.subnets[2], AllocationId }] };
  await refused(network(bed, { Name: "second", ...mapping }), "ResourceInUseException");
  await bed.elbv2.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: made.LoadBalancerArn }));
  bed.world.pass(30_000);
  assert.equal((await address()).AssociationId, undefined);
  await network(bed, { Name: "second", ...mapping });
});

test("unknown allocations are AllocationIdNotFound, and addresses must suit the scheme and the subnet", async () => {
  const bed = await balancingBed();
  const { AllocationId } = await bed.ec2.send(new AllocateAddressCommand({ Domain: "vpc" }));
  const SubnetId = bed.subnets[0];
  const unknown = [{ SubnetId, AllocationId: "eipalloc-0123456789abcdef0" }];
  await refused(network(bed, { SubnetMappings: unknown }), "AllocationIdNotFoundException");
  const internal = { Scheme: "internal" as const };
  await refused(network(bed, { ...internal, SubnetMappings: [{ SubnetId, AllocationId }] }), "InvalidConfigurationRequestException");
  const open = [{ SubnetId, PrivateIPv4Address: "10.0.0.50" }];
  await refused(network(bed, { SubnetMappings: open }), "InvalidConfigurationRequestException");
  const outside = [{ SubnetId, PrivateIPv4Address: "10.0.1.50" }];
  await refused(network(bed, { ...internal, SubnetMappings: outside }), "InvalidConfigurationRequestException");
  const made = await network(bed, { ...internal, SubnetMappings: open });
  assert.deepEqual(made.AvailabilityZones?.[0]?.LoadBalancerAddresses, [{ PrivateIPv4Address: "10.0.0.50" }]);
  await refused(network(bed, { Name: "second", ...internal, SubnetMappings: open }), "ResourceInUseException");
  assert.equal((await bed.interfaces("ELB net/")).length, 1);
});

test("an unknown group, subnet or scheme, two subnets in one zone, no subnet at all and bad names are refused", async () => {
  const bed = await balancingBed();
  await refused(network(bed, { SecurityGroups: ["sg-0123456789abcdef0"] }), "InvalidSecurityGroupException");
  await refused(network(bed, { Subnets: ["subnet-0123456789abcdef0"] }), "SubnetNotFoundException");
  const twin = await createSubnet(bed.ec2, bed.vpcId, "10.0.9.0/24", "a");
  await refused(network(bed, { Subnets: [bed.subnets[0], twin] }), "InvalidConfigurationRequestException", 400);
  await refused(network(bed, { Subnets: [] }), "ValidationError");
  for (const Name of ["x".repeat(33), "-web", "web-", "internal-web", "we_b"]) await refused(network(bed, { Name }), "ValidationError");
});

test("an interface stands in every subnet, users cannot tell it from AWS's, and its groups stay busy after deletion", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await network(bed, { SecurityGroups: [bed.groupId] });
  const id = LoadBalancerArn!.split("/").at(-1);
  const interfaces = await bed.interfaces("ELB net/web");
  assert.equal(interfaces.length, 3);
  for (const one of interfaces) {
    assert.equal(one.Description, `ELB net/web/${id}`);
    assert.equal(one.InterfaceType, "network_load_balancer");
    assert.equal(one.RequesterManaged, true);
    assert.deepEqual(one.Groups, [{ GroupId: bed.groupId, GroupName: "balancer" }]);
  }
  await bed.elbv2.send(new DeleteLoadBalancerCommand({ LoadBalancerArn }));
  await refused(bed.ec2.send(new DeleteSecurityGroupCommand({ GroupId: bed.groupId })), "DependencyViolation");
  bed.world.pass(30_000);
  await bed.ec2.send(new DeleteSecurityGroupCommand({ GroupId: bed.groupId }));
});

test("the interfaces of a network load balancer without security groups have none", async () => {
  const bed = await balancingBed();
  await network(bed);
  assert.deepEqual(
    (await bed.interfaces("ELB net/")).map((one) => one.Groups),
    [[], [], []],
  );
});

test("a known and an unknown ARN or name together are LoadBalancerNotFound", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await network(bed);
  const unknown = LoadBalancerArn!.replace(/.$/, (last) => (last === "0" ? "1" : "0"));
  const byArn = new DescribeLoadBalancersCommand({ LoadBalancerArns: [LoadBalancerArn!, unknown] });
  await refused(bed.elbv2.send(byArn), "LoadBalancerNotFoundException", 400);
  await refused(bed.elbv2.send(new DescribeLoadBalancersCommand({ Names: ["web", "absent"] })), "LoadBalancerNotFoundException", 400);
  await refused(bed.elbv2.send(new DescribeLoadBalancersCommand({ Names: Array(21).fill("web") })), "ValidationError");
});

test("deletion protection is enforced, and deletion is idempotent", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await network(bed);
  const protect = (Value: string) =>
    bed.elbv2.send(
      new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn, Attributes: [{ Key: "deletion_protection.enabled", Value }] }),
    );
  const remove = () => bed.elbv2.send(new DeleteLoadBalancerCommand({ LoadBalancerArn }));
  await protect("true");
  await refused(remove(), "OperationNotPermittedException");
  await protect("false");
  await remove();
  await remove();
  await refused(bed.elbv2.send(new DescribeLoadBalancersCommand({ Names: ["web"] })), "LoadBalancerNotFoundException");
});

test("load balancers come in pages, also when no size is asked and the cloud's pages are small", async () => {
  const bed = await balancingBed({ settings: { pageSize: 2 } });
  for (const Name of ["a", "b", "c"]) await network(bed, { Name });
  const first = await bed.elbv2.send(new DescribeLoadBalancersCommand({}));
  assert.equal(first.LoadBalancers?.length, 2);
  const second = await bed.elbv2.send(new DescribeLoadBalancersCommand({ Marker: first.NextMarker }));
  assert.equal(second.LoadBalancers?.length, 1);
  assert.equal(second.NextMarker, undefined);
  await refused(bed.elbv2.send(new DescribeLoadBalancersCommand({ PageSize: 401 })), "ValidationError");
  await refused(bed.elbv2.send(new DescribeLoadBalancersCommand({ Marker: "???" })), "ValidationError");
});

test("the quota of network load balancers is TooManyLoadBalancers, and is among the account's limits", async () => {
  const bed = await balancingBed();
  bed.cloud.controls.change({ quotas: { networkLoadBalancers: 1 } });
  await network(bed);
  await refused(network(bed, { Name: "second" }), "TooManyLoadBalancersException");
  const { Limits } = await bed.elbv2.send(new DescribeAccountLimitsCommand({}));
  assert.equal(Limits?.find((limit) => limit.Name === "network-load-balancers")?.Max, "1");
});

/** What AWS checks while the service-linked role of load balancing does not exist. */
const forServiceRole = ["ec2:DescribeAccountAttributes", "ec2:DescribeInternetGateways", "iam:CreateServiceLinkedRole"];

test("creating with tags also needs AddTags, and the first load balancer of the account what makes the service-linked role", async () => {
  const bed = await balancingBed();
  for (const action of forServiceRole) {
    const lift = bed.cloud.controls.deny(action);
    await assert.rejects(network(bed), { name: "AccessDenied", message: new RegExp(action) });
    lift();
  }
  await network(bed);
  bed.cloud.controls.deny(...forServiceRole, "elasticloadbalancing:AddTags");
  await network(bed, { Name: "second" });
  await refused(network(bed, { Name: "third", Tags: [{ Key: "a", Value: "b" }] }), "AccessDenied", 403);
});

test("capacity can be reserved, takes its time, and is lowered twice at most", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await network(bed);
  const describe = () => bed.elbv2.send(new DescribeCapacityReservationCommand({ LoadBalancerArn }));
  assert.deepEqual((await describe()).CapacityReservationState, []);
  const reserve = (CapacityUnits: number) =>
    bed.elbv2.send(new ModifyCapacityReservationCommand({ LoadBalancerArn, MinimumLoadBalancerCapacity: { CapacityUnits } }));
  for (const units of [400, 300, 200]) {
    await reserve(units);
    assert.equal((await describe()).CapacityReservationState?.[0]?.State?.Code, "pending");
    await refused(reserve(1000), "CapacityReservationPendingException");
    bed.world.pass(600_000);
    assert.equal((await describe()).CapacityReservationState?.[2]?.EffectiveCapacityUnits, units);
  }
  await refused(reserve(100), "CapacityDecreaseRequestsLimitExceededException");
});

test("security policies are described, and an unknown one is SSLPolicyNotFound", async () => {
  const bed = await balancingBed();
  const name = "ELBSecurityPolicy-TLS13-1-3-2021-06";
  const { SslPolicies } = await bed.elbv2.send(new DescribeSSLPoliciesCommand({ Names: [name] }));
  assert.deepEqual(SslPolicies?.[0]?.SslProtocols, ["TLSv1.3"]);
  const { SslPolicies: all = [] } = await bed.elbv2.send(new DescribeSSLPoliciesCommand({}));
  const ciphers = (version: string) => all.find((policy) => policy.Name === `ELBSecurityPolicy-${version}`)?.Ciphers?.length;
  const counts = ["2016-08", "TLS13-1-2-2021-06", "TLS13-1-2-Res-2021-06", "TLS13-1-3-FIPS-2023-04"].map(ciphers);
  assert.deepEqual(counts, [18, 11, 7, 2]);
  await refused(bed.elbv2.send(new DescribeSSLPoliciesCommand({ Names: ["no-such"] })), "SSLPolicyNotFoundException");
});

test("customer-owned and IPAM address pools are refused for network load balancers, not dropped", async () => {
  const bed = await balancingBed();
  await refused(network(bed, { CustomerOwnedIpv4Pool: "ipv4pool-coip-1" }), "InvalidConfigurationRequestException");
  await refused(network(bed, { IpamPools: { Ipv4IpamPoolId: "ipam-pool-1" } }), "InvalidConfigurationRequestException");
});

test("what the cloud does not model of this service it says, and never as a fault of its own", async () => {
  const bed = await balancingBed();
  await refused(network(bed, { Type: "gateway" }), "InvalidAction", 400);
});

test("too many requests are answered with Throttling", async () => {
  const bed = await balancingBed();
  bed.cloud.controls.change({ buckets: { "elasticloadbalancing:Describe*": { capacity: 1, refillPerSecond: 1 } } });
  await bed.elbv2.send(new DescribeLoadBalancersCommand({}));
  await refused(bed.elbv2.send(new DescribeLoadBalancersCommand({})), "Throttling", 400);
});
