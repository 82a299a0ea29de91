import assert from "node:assert/strict";
import { test } from "node:test";
import { CreateSecurityGroupCommand, CreateVpcCommand } from "@aws-sdk/client-ec2";
import {
  DeleteLoadBalancerCommand,
  DescribeCapacityReservationCommand,
  DescribeLoadBalancerAttributesCommand,
  DescribeLoadBalancersCommand,
  ModifyCapacityReservationCommand,
  ModifyIpPoolsCommand,
  ModifyLoadBalancerAttributesCommand,
  SetIpAddressTypeCommand,
  SetSecurityGroupsCommand,
  SetSubnetsCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { balancingBed, createSubnet } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { application } from "./application-testing.ts";
import { described, network } from "./testing.ts";

test("an application load balancer has an ARN, a DNS name and a zone of its own kind, and is provisioned before it is active", async () => {
  const bed = await balancingBed();
  const lb = await application(bed);
  assert.match(lb.LoadBalancerArn!, /:loadbalancer\/app\/shop\/[0-9a-f]{16}$/);
  assert.match(lb.DNSName!, /^shop-\d+\.us-east-1\.elb\.amazonaws\.com$/);
  assert.deepEqual(
    [lb.CanonicalHostedZoneId, lb.State?.Code, lb.Type, lb.Scheme],
    ["Z35SXDOTRQ7X7K", "provisioning", "application", "internet-facing"],
  );
  const internal = await application(bed, { Name: "inside", Scheme: "internal" });
  assert.match(internal.DNSName!, /^internal-inside-\d+\.us-east-1\.elb/);
  bed.world.pass(120_000);
  assert.equal((await described(bed, "shop")).State?.Code, "active");
});

test("it needs subnets in two zones, where they are of the region itself", async () => {
  const bed = await balancingBed();
  await refused(application(bed, { Subnets: [bed.subnets[0]] }), "ValidationError");
  const twin = await createSubnet(bed.ec2, bed.vpcId, "10.0.9.0/24", "a");
  await refused(application(bed, { Subnets: [bed.subnets[0], twin] }), "InvalidConfigurationRequestException");
  const lb = await application(bed, { Subnets: bed.subnets.slice(0, 2) });
  const set = (...Subnets: string[]) => bed.elbv2.send(new SetSubnetsCommand({ LoadBalancerArn: lb.LoadBalancerArn, Subnets }));
  await refused(set(bed.subnets[0]), "ValidationError");
  assert.equal((await set(...bed.subnets)).AvailabilityZones?.length, 3);
});

test("one that names no security group has the default group of its VPC, and never none", async () => {
  const bed = await balancingBed();
  const lb = await application(bed);
  assert.equal(lb.SecurityGroups?.length, 1);
  const own = await bed.group("own");
  const set = (...SecurityGroups: string[]) =>
    bed.elbv2.send(new SetSecurityGroupsCommand({ LoadBalancerArn: lb.LoadBalancerArn, SecurityGroups }));
  assert.deepEqual((await set(own)).SecurityGroupIds, [own]);
  const open = await bed.interfaces("ELB app/shop/");
  assert.deepEqual(
    open.map(({ Groups, InterfaceType, RequesterId }) => [Groups?.[0]?.GroupId, InterfaceType, RequesterId]),
    bed.subnets.map(() => [own, "interface", "amazon-elb"]),
  );
  await refused(set(), "InvalidConfigurationRequestException");
  await refused(set("sg-00000000"), "InvalidSecurityGroupException");
});

test("an identical creation returns the one that is there; the same name with other settings is a duplicate, of either type", async () => {
  const bed = await balancingBed();
  const lb = await application(bed);
  assert.equal((await application(bed)).LoadBalancerArn, lb.LoadBalancerArn);
  await refused(application(bed, { Scheme: "internal" }), "DuplicateLoadBalancerNameException");
  await refused(network(bed, { Name: "shop" }), "DuplicateLoadBalancerNameException");
});

test("address families: dual stack needs IPv6 subnets, public IPv4 addresses can be left out, and internal ones have none to leave out", async () => {
  const bed = await balancingBed();
  await refused(application(bed, { IpAddressType: "dualstack" }), "InvalidSubnetException");
  const { vpcId, ec2 } = bed;
  const block = bed.cloud.account.ec2.vpcs.get(vpcId)!.ipv6Cidr!.replace("00::/56", "");
  const six = [
    await createSubnet(ec2, vpcId, "10.0.20.0/24", "a", `${block}20::/64`),
    await createSubnet(ec2, vpcId, "10.0.21.0/24", "b", `${block}21::/64`),
  ];
  const lb = await application(bed, { Subnets: six });
  assert.equal(lb.IpAddressType, "ipv4");
  const set = (IpAddressType: "ipv4" | "dualstack" | "dualstack-without-public-ipv4") =>
    bed.elbv2.send(new SetIpAddressTypeCommand({ LoadBalancerArn: lb.LoadBalancerArn, IpAddressType }));
  for (const type of ["dualstack", "dualstack-without-public-ipv4", "ipv4"] as const) assert.equal((await set(type)).IpAddressType, type);
  const without = await application(bed, { Name: "six", Subnets: six, IpAddressType: "dualstack-without-public-ipv4" });
  assert.equal(without.IpAddressType, "dualstack-without-public-ipv4");
  for (const made of await bed.interfaces("ELB app/six/")) assert.deepEqual([made.Association, made.Ipv6Addresses?.length], [undefined, 1]);
  const inside = { Name: "inside", Scheme: "internal" as const, Subnets: six };
  await refused(application(bed, { ...inside, IpAddressType: "dualstack-without-public-ipv4" }), "InvalidConfigurationRequestException");
  await refused(network(bed, { IpAddressType: "dualstack-without-public-ipv4" }), "InvalidConfigurationRequestException");
});

test("attributes of an application load balancer are all listed, with AWS's defaults, and are not those of a network one", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await application(bed);
  const all = async () => {
    const { Attributes } = await bed.elbv2.send(new DescribeLoadBalancerAttributesCommand({ LoadBalancerArn }));
    return Object.fromEntries(Attributes!.map(({ Key, Value }) => [Key, Value]));
  };
  assert.deepEqual(await all(), {
    "access_logs.s3.enabled": "false",
    "access_logs.s3.bucket": "",
    "access_logs.s3.prefix": "",
    "idle_timeout.timeout_seconds": "60",
    "deletion_protection.enabled": "false",
    "routing.http2.enabled": "true",
    "routing.http.drop_invalid_header_fields.enabled": "false",
    "routing.http.xff_client_port.enabled": "false",
    "routing.http.preserve_host_header.enabled": "false",
    "routing.http.xff_header_processing.mode": "append",
    "load_balancing.cross_zone.enabled": "true",
    "routing.http.desync_mitigation_mode": "defensive",
    "client_keep_alive.seconds": "3600",
    "waf.fail_open.enabled": "false",
    "routing.http.x_amzn_tls_version_and_cipher_suite.enabled": "false",
    "zonal_shift.config.enabled": "false",
    "connection_logs.s3.enabled": "false",
    "connection_logs.s3.bucket": "",
    "connection_logs.s3.prefix": "",
    "health_check_logs.s3.enabled": "false",
    "health_check_logs.s3.bucket": "",
    "health_check_logs.s3.prefix": "",
    "ipv6.deny_all_igw_traffic": "false",
  });
  const set = (Key: string, Value: string) =>
    bed.elbv2.send(new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn, Attributes: [{ Key, Value }] }));
  const bad = {
    "idle_timeout.timeout_seconds": "0",
    "load_balancing.cross_zone.enabled": "false",
    "routing.http.desync_mitigation_mode": "lax",
    "dns_record.client_routing_policy": "any_availability_zone",
    "connection_logs.s3.enabled": "true",
    "client_keep_alive.seconds": "59",
  };
  for (const [key, value] of Object.entries(bad)) await refused(set(key, value), "InvalidConfigurationRequestException");
  await set("health_check_logs.s3.bucket", "logs");
  await set("health_check_logs.s3.enabled", "true");
  assert.equal((await all())["health_check_logs.s3.enabled"], "true");
});

test("deletion protection is enforced", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await application(bed);
  const protect = (Value: string) =>
    bed.elbv2.send(
      new ModifyLoadBalancerAttributesCommand({ LoadBalancerArn, Attributes: [{ Key: "deletion_protection.enabled", Value }] }),
    );
  await protect("true");
  const message = await refused(bed.elbv2.send(new DeleteLoadBalancerCommand({ LoadBalancerArn })), "OperationNotPermittedException");
  assert.match(message, /deletion protection/);
  await protect("false");
  await bed.elbv2.send(new DeleteLoadBalancerCommand({ LoadBalancerArn }));
  await bed.elbv2.send(new DeleteLoadBalancerCommand({ LoadBalancerArn }));
});

test("address pools: an IPAM pool is kept, replaced and removed, for public application load balancers only", async () => {
  const bed = await balancingBed();
  const IpamPools = { Ipv4IpamPoolId: "ipam-pool-0123456789abcdef0" };
  const { LoadBalancerArn } = await application(bed, { IpamPools });
  assert.deepEqual((await described(bed, "shop")).IpamPools, IpamPools);
  const other = { Ipv4IpamPoolId: "ipam-pool-0fedcba9876543210" };
  assert.deepEqual((await bed.elbv2.send(new ModifyIpPoolsCommand({ LoadBalancerArn, IpamPools: other }))).IpamPools, other);
  await bed.elbv2.send(new ModifyIpPoolsCommand({ LoadBalancerArn, RemoveIpamPools: ["ipv4"] }));
  assert.equal((await described(bed, "shop")).IpamPools, undefined);
  await refused(application(bed, { Name: "b", IpamPools: { Ipv4IpamPoolId: "pool" } }), "ValidationError");
  await refused(application(bed, { Name: "b", Scheme: "internal", IpamPools }), "InvalidConfigurationRequestException");
  await refused(network(bed, { IpamPools }), "InvalidConfigurationRequestException");
  await refused(application(bed, { Name: "b", CustomerOwnedIpv4Pool: "ipv4pool-coip-1" }), "InvalidConfigurationRequestException");
});

test("capacity is reserved for it as for a network load balancer, pending at first", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await application(bed);
  await bed.elbv2.send(new ModifyCapacityReservationCommand({ LoadBalancerArn, MinimumLoadBalancerCapacity: { CapacityUnits: 500 } }));
  const state = async () =>
    (await bed.elbv2.send(new DescribeCapacityReservationCommand({ LoadBalancerArn }))).CapacityReservationState?.[0]?.State?.Code;
  assert.equal(await state(), "pending");
  bed.world.pass(300_000);
  assert.equal(await state(), "provisioned");
  await bed.elbv2.send(new ModifyCapacityReservationCommand({ LoadBalancerArn, ResetCapacityReservation: true }));
  assert.equal(await state(), undefined);
});

test("a known and an unknown ARN together are LoadBalancerNotFound", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await application(bed);
  const unknown = LoadBalancerArn!.replace(/.{4}$/, "ffff");
  const ask = bed.elbv2.send(new DescribeLoadBalancersCommand({ LoadBalancerArns: [LoadBalancerArn!, unknown] }));
  await refused(ask, "LoadBalancerNotFoundException");
});

test("a security group of another VPC is refused", async () => {
  const bed = await balancingBed();
  const { Vpc } = await bed.ec2.send(new CreateVpcCommand({ CidrBlock: "10.1.0.0/16" }));
  const { GroupId } = await bed.ec2.send(new CreateSecurityGroupCommand({ GroupName: "x", Description: "x", VpcId: Vpc?.VpcId }));
  await refused(application(bed, { SecurityGroups: [GroupId!] }), "InvalidSecurityGroupException");
});
