import assert from "node:assert/strict";
import { test } from "node:test";
import { AllocateAddressCommand, DescribeVpcsCommand } from "@aws-sdk/client-ec2";
import { SetIpAddressTypeCommand, SetSecurityGroupsCommand, SetSubnetsCommand } from "@aws-sdk/client-elastic-load-balancing-v2";
import { balancingBed, createSubnet } from "../balancing/testing.ts";
import { refused } from "../testing.ts";
import { described, group, listener, network } from "./testing.ts";

test("security groups cannot be added to a network load balancer made without any, and are replaced on one that has some", async () => {
  const bed = await balancingBed();
  const bare = await network(bed, { Name: "bare" });
  const set = (LoadBalancerArn: string | undefined, ...SecurityGroups: string[]) =>
    bed.elbv2.send(new SetSecurityGroupsCommand({ LoadBalancerArn, SecurityGroups }));
  await refused(set(bare.LoadBalancerArn, bed.groupId), "InvalidConfigurationRequestException", 400);
  const { LoadBalancerArn } = await network(bed, { SecurityGroups: [bed.groupId] });
  const other = await bed.group("other");
  await refused(set(LoadBalancerArn, "sg-0123456789abcdef0"), "InvalidSecurityGroupException");
  assert.deepEqual((await set(LoadBalancerArn, other)).SecurityGroupIds, [other]);
  assert.deepEqual((await described(bed)).SecurityGroups, [other]);
  const groups = (await bed.interfaces("ELB net/web")).map((one) => one.Groups?.[0]?.GroupId);
  assert.deepEqual(groups, [other, other, other]);
});

test("the enforcement of group rules on PrivateLink traffic is kept", async () => {
  const bed = await balancingBed();
  const { LoadBalancerArn } = await network(bed, { SecurityGroups: [bed.groupId] });
  assert.equal((await described(bed)).EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic, "on");
  const off = { LoadBalancerArn, SecurityGroups: [bed.groupId], EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic: "off" as const };
  await bed.elbv2.send(new SetSecurityGroupsCommand(off));
  assert.equal((await described(bed)).EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic, "off");
});

test("a network load balancer may stand in one subnet, and its subnets are replaced with what stays keeping its addresses", async () => {
  const bed = await balancingBed();
  const { AllocationId } = await bed.ec2.send(new AllocateAddressCommand({ Domain: "vpc" }));
  const { AllocationId: other } = await bed.ec2.send(new AllocateAddressCommand({ Domain: "vpc" }));
  const [a, b, c] = bed.subnets;
  const { LoadBalancerArn } = await network(bed, { SubnetMappings: [{ SubnetId: a, AllocationId }] });
  const changed = [{ SubnetId: a, AllocationId: other }];
  const change = new SetSubnetsCommand({ LoadBalancerArn, SubnetMappings: changed });
  await refused(bed.elbv2.send(change), "InvalidConfigurationRequestException");
  const three = await bed.elbv2.send(new SetSubnetsCommand({ LoadBalancerArn, Subnets: [a, b, c] }));
  assert.deepEqual(
    three.AvailabilityZones?.map((zone) => zone.SubnetId),
    [a, b, c],
  );
  assert.equal(three.AvailabilityZones?.[0]?.LoadBalancerAddresses?.[0]?.AllocationId, AllocationId);
  assert.equal((await bed.interfaces("ELB net/web")).length, 3);
  await bed.elbv2.send(new SetSubnetsCommand({ LoadBalancerArn, Subnets: [b] }));
  bed.world.pass(30_000);
  assert.deepEqual(
    (await bed.interfaces("ELB net/web")).map((one) => one.SubnetId),
    [b],
  );
  const unknown = new SetSubnetsCommand({ LoadBalancerArn, Subnets: ["subnet-0123456789abcdef0"] });
  await refused(bed.elbv2.send(unknown), "SubnetNotFoundException");
});

test("dualstack needs IPv6 in every subnet, gives every interface an address, and excludes UDP listeners without source NAT", async () => {
  const bed = await balancingBed();
  const four = await network(bed, { Name: "four" });
  const toDualstack = new SetIpAddressTypeCommand({ LoadBalancerArn: four.LoadBalancerArn, IpAddressType: "dualstack" });
  await refused(bed.elbv2.send(toDualstack), "InvalidSubnetException");
  const { Vpcs } = await bed.ec2.send(new DescribeVpcsCommand({ VpcIds: [bed.vpcId] }));
  const block = Vpcs![0]!.Ipv6CidrBlockAssociationSet![0]!.Ipv6CidrBlock!;
  const Subnets: string[] = [];
  for (const [index, zone] of ["a", "b"].entries()) {
    const ipv6 = block.replace(/00::\/56$/, `0${index}::/64`);
    Subnets.push(await createSubnet(bed.ec2, bed.vpcId, `10.0.1${index}.0/24`, zone, ipv6));
  }
  const lb = await network(bed, { Subnets });
  const { LoadBalancerArn } = lb;
  const set = (IpAddressType: "ipv4" | "dualstack") => bed.elbv2.send(new SetIpAddressTypeCommand({ LoadBalancerArn, IpAddressType }));
  const addresses = async () => (await bed.interfaces("ELB net/web")).map((one) => one.Ipv6Addresses?.length);
  assert.equal((await set("dualstack")).IpAddressType, "dualstack");
  assert.deepEqual(await addresses(), [1, 1]);
  const udp = await group(bed, { Protocol: "UDP" });
  await refused(listener(bed, lb, udp, { Protocol: "UDP", Port: 53 }), "InvalidConfigurationRequestException");
  const nat = new SetSubnetsCommand({ LoadBalancerArn, Subnets, IpAddressType: "dualstack", EnablePrefixForIpv6SourceNat: "on" });
  const natted = await bed.elbv2.send(nat);
  assert.equal(natted.EnablePrefixForIpv6SourceNat, "on");
  for (const zone of natted.AvailabilityZones!) assert.match(zone.SourceNatIpv6Prefixes?.[0] ?? "", /\/80$/);
  await listener(bed, lb, udp, { Protocol: "UDP", Port: 53 });
  await set("ipv4");
  assert.deepEqual(await addresses(), [0, 0]);
});

test("SetSubnets changes the address type too, and an IPv6 address of the user's choice appears in the zone", async () => {
  const bed = await balancingBed();
  const { Vpcs } = await bed.ec2.send(new DescribeVpcsCommand({ VpcIds: [bed.vpcId] }));
  const prefix = Vpcs![0]!.Ipv6CidrBlockAssociationSet![0]!.Ipv6CidrBlock!.replace(/::\/56$/, "");
  const SubnetId = await createSubnet(bed.ec2, bed.vpcId, "10.0.10.0/24", "a", `${prefix}::/64`);
  const { LoadBalancerArn } = await network(bed, { Subnets: [SubnetId] });
  const set = await bed.elbv2.send(new SetSubnetsCommand({ LoadBalancerArn, Subnets: [SubnetId], IpAddressType: "dualstack" }));
  assert.equal(set.IpAddressType, "dualstack");
  const SubnetMappings = [{ SubnetId, IPv6Address: `${prefix}::53` }];
  await refused(network(bed, { Name: "four", SubnetMappings }), "InvalidConfigurationRequestException");
  const made = await network(bed, { Name: "six", SubnetMappings, IpAddressType: "dualstack" });
  assert.deepEqual(made.AvailabilityZones?.[0]?.LoadBalancerAddresses, [{ IPv6Address: `${prefix}::53` }]);
});

test("dualstack without public IPv4 is for application load balancers", async () => {
  const bed = await balancingBed();
  await refused(network(bed, { IpAddressType: "dualstack-without-public-ipv4" }), "InvalidConfigurationRequestException");
});
