import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AllocateAddressCommand,
  AssociateAddressCommand,
  CreateNatGatewayCommand,
  CreateRouteCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  DeleteInternetGatewayCommand,
  DeleteNatGatewayCommand,
  DeleteRouteCommand,
  DeleteRouteTableCommand,
  DeleteSubnetCommand,
  DeleteVpcCommand,
  DescribeAddressesCommand,
  DescribeAvailabilityZonesCommand,
  DescribeDhcpOptionsCommand,
  DescribeNatGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  type EC2Client,
  ModifyAvailabilityZoneGroupCommand,
  ReleaseAddressCommand,
  ReplaceRouteCommand,
  type Route,
  StopInstancesCommand,
  TerminateInstancesCommand,
} from "@aws-sdk/client-ec2";
import { launchNodes } from "../network.ts";
import { cloudBed, networkBed, refused } from "../testing.ts";

const MINUTE = 60_000;

async function routes(ec2: EC2Client, tableId: string): Promise<Route[]> {
  const { RouteTables } = await ec2.send(new DescribeRouteTablesCommand({ RouteTableIds: [tableId] }));
  return RouteTables![0]!.Routes!;
}

async function routeTo(ec2: EC2Client, tableId: string, destination: string): Promise<Route | undefined> {
  return (await routes(ec2, tableId)).find(
    (route) => route.DestinationCidrBlock === destination || route.DestinationIpv6CidrBlock === destination,
  );
}

test("DescribeAvailabilityZones: ids follow the account, an unknown name is InvalidParameterValue, local and Wavelength zones show when asked for", async () => {
  const { ec2 } = cloudBed();
  const { AvailabilityZones: own } = await ec2.send(new DescribeAvailabilityZonesCommand({}));
  assert.equal(own?.length, 6);
  assert.equal(new Set(own?.map((zone) => zone.ZoneId)).size, 6);
  const same = await cloudBed({ seed: 99 }).ec2.send(new DescribeAvailabilityZonesCommand({}));
  assert.deepEqual(same.AvailabilityZones, own);
  await refused(ec2.send(new DescribeAvailabilityZonesCommand({ ZoneNames: ["us-east-1z"] })), "InvalidParameterValue", 400);
  const { AvailabilityZones: all } = await ec2.send(new DescribeAvailabilityZonesCommand({ AllAvailabilityZones: true }));
  assert.deepEqual([...new Set(all?.map((zone) => zone.ZoneType))], ["availability-zone", "local-zone", "wavelength-zone"]);
  const local = all!.find((zone) => zone.ZoneType === "local-zone")!;
  await ec2.send(new ModifyAvailabilityZoneGroupCommand({ GroupName: local.GroupName, OptInStatus: "opted-in" }));
  const { AvailabilityZones: after } = await ec2.send(new DescribeAvailabilityZonesCommand({}));
  assert.ok(after?.some((zone) => zone.ZoneName === local.ZoneName && zone.OptInStatus === "opted-in"));
});

test("Subnets: the IPv6 association state is a word, a subnet by zone id has no default flags, one in use is not deleted", async () => {
  const { ec2, network, cloud } = networkBed({ ipv6: true });
  const { Subnets } = await ec2.send(new DescribeSubnetsCommand({ SubnetIds: [network.privateSubnetIds[0]!] }));
  assert.equal(Subnets?.[0]?.Ipv6CidrBlockAssociationSet?.[0]?.Ipv6CidrBlockState?.State, "associated");
  const { AvailabilityZones } = await ec2.send(new DescribeAvailabilityZonesCommand({}));
  const { Subnet } = await ec2.send(
    new CreateSubnetCommand({ VpcId: network.vpcId, CidrBlock: "10.0.250.0/24", AvailabilityZoneId: AvailabilityZones![3]!.ZoneId }),
  );
  assert.deepEqual([Subnet?.AvailabilityZone, Subnet?.DefaultForAz, Subnet?.MapPublicIpOnLaunch], ["us-east-1d", false, false]);
  launchNodes(cloud, network, 1);
  await refused(ec2.send(new DeleteSubnetCommand({ SubnetId: network.privateSubnetIds[0] })), "DependencyViolation", 400);
  await ec2.send(new DeleteSubnetCommand({ SubnetId: Subnet?.SubnetId }));
});

test("Subnets: free addresses count down with interfaces, and a full subnet refuses", async () => {
  const { ec2, cloud, network } = networkBed();
  const free = async () =>
    (await ec2.send(new DescribeSubnetsCommand({ SubnetIds: [network.privateSubnetIds[0]!] }))).Subnets![0]!.AvailableIpAddressCount!;
  const before = await free();
  launchNodes(cloud, network, 6);
  assert.equal(await free(), before - 2);
  const { Subnet } = await ec2.send(new CreateSubnetCommand({ VpcId: network.vpcId, CidrBlock: "10.0.250.0/28" }));
  const small = { ...network, privateSubnetIds: [Subnet!.SubnetId!] };
  launchNodes(cloud, small, 11);
  assert.throws(() => launchNodes(cloud, small, 1), { code: "InsufficientFreeAddressesInSubnet" });
});

test("Subnets: a CIDR outside the VPC, a conflicting one and an unknown zone are refused", async () => {
  const { ec2, network } = networkBed();
  const create = (CidrBlock: string, AvailabilityZone?: string) =>
    ec2.send(new CreateSubnetCommand({ VpcId: network.vpcId, CidrBlock, AvailabilityZone }));
  await refused(create("10.1.0.0/24"), "InvalidSubnet.Range");
  await refused(create("10.0.0.0/25"), "InvalidSubnet.Conflict");
  await refused(create("10.0.251.0/24", "us-east-1q"), "InvalidParameterValue");
});

test("Route tables filter by route.instance-id, and by every association and route field", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  await ec2.send(
    new CreateRouteCommand({ RouteTableId: network.privateTableId, DestinationCidrBlock: "10.200.0.0/24", InstanceId: node!.id }),
  );
  for (const [Name, Value] of [
    ["route.instance-id", node!.id],
    ["route.destination-cidr-block", "10.200.0.*"],
    ["association.subnet-id", network.privateSubnetIds[2]!],
    ["tag:kubernetes.io/cluster/test", "owned"],
  ] as const) {
    const { RouteTables } = await ec2.send(new DescribeRouteTablesCommand({ Filters: [{ Name, Values: [Value] }] }));
    assert.deepEqual(
      RouteTables?.map((table) => table.RouteTableId),
      [network.privateTableId],
      Name,
    );
  }
});

test("A route to an instance carries NetworkInterfaceId and InstanceOwnerId too", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  await ec2.send(
    new CreateRouteCommand({ RouteTableId: network.privateTableId, DestinationCidrBlock: "10.200.0.0/24", InstanceId: node!.id }),
  );
  assert.deepEqual(await routeTo(ec2, network.privateTableId, "10.200.0.0/24"), {
    DestinationCidrBlock: "10.200.0.0/24",
    InstanceId: node!.id,
    InstanceOwnerId: "123456789012",
    NetworkInterfaceId: node!.interfaceIds[0],
    Origin: "CreateRoute",
    State: "active",
  });
});

test("A route becomes a blackhole when its instance is stopped or terminated, and stays until it is replaced or deleted", async () => {
  const { ec2, network, cloud, world } = networkBed();
  const [node, spare] = launchNodes(cloud, network, 2);
  world.pass(MINUTE);
  const route = { RouteTableId: network.privateTableId, DestinationCidrBlock: "10.200.0.0/24" };
  await ec2.send(new CreateRouteCommand({ ...route, InstanceId: node!.id }));
  const state = async () => (await routeTo(ec2, network.privateTableId, "10.200.0.0/24"))?.State;
  await ec2.send(new StopInstancesCommand({ InstanceIds: [node!.id] }));
  world.pass(MINUTE);
  assert.equal(await state(), "blackhole");
  await ec2.send(new TerminateInstancesCommand({ InstanceIds: [node!.id] }));
  world.pass(120 * MINUTE);
  assert.equal(await state(), "blackhole");
  assert.equal((await routeTo(ec2, network.privateTableId, "10.200.0.0/24"))?.InstanceId, undefined);
  await refused(ec2.send(new CreateRouteCommand({ ...route, InstanceId: spare!.id })), "RouteAlreadyExists");
  await ec2.send(new ReplaceRouteCommand({ ...route, InstanceId: spare!.id }));
  assert.equal(await state(), "active");
});

test("The quota of 50 routes a table is enforced, and can be raised", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const add = (index: number) =>
    ec2.send(
      new CreateRouteCommand({ RouteTableId: network.privateTableId, DestinationCidrBlock: `10.200.${index}.0/24`, InstanceId: node!.id }),
    );
  for (let index = 0; index < 50; index++) await add(index);
  await refused(add(50), "RouteLimitExceeded", 400);
  cloud.controls.change({ quotas: { routesPerTable: 60 } });
  await add(50);
});

test("CreateRoute refuses the VPC's own CIDR, a missing target, an IPv6 text in the IPv4 field and an interface of another network", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const RouteTableId = network.privateTableId;
  const add = (route: Partial<CreateRouteCommand["input"]>) => ec2.send(new CreateRouteCommand({ RouteTableId, ...route }));
  await refused(add({ DestinationCidrBlock: "10.0.0.0/16", InstanceId: node!.id }), "RouteAlreadyExists");
  await refused(add({ DestinationCidrBlock: "10.0.7.0/26", InstanceId: node!.id }), "InvalidParameterValue");
  await refused(add({ DestinationCidrBlock: "10.200.0.0/24" }), "MissingParameter");
  await refused(add({ DestinationCidrBlock: "fd00::/64", InstanceId: node!.id }), "InvalidParameterValue");
  await refused(add({ DestinationCidrBlock: "10.200.0.0/24", InstanceId: "i-0000000000000000a" }), "InvalidInstanceID.NotFound");
  await refused(
    add({ RouteTableId: "rtb-0000000000000000a", DestinationCidrBlock: "10.200.0.0/24", InstanceId: node!.id }),
    "InvalidRouteTableID.NotFound",
  );
});

test("A destination with host bits is kept in network form, and a second route to it is a duplicate", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const add = (DestinationCidrBlock: string) =>
    ec2.send(new CreateRouteCommand({ RouteTableId: network.privateTableId, DestinationCidrBlock, InstanceId: node!.id }));
  await add("10.200.3.77/24");
  assert.ok(await routeTo(ec2, network.privateTableId, "10.200.3.0/24"));
  await refused(add("10.200.3.0/24"), "RouteAlreadyExists");
  await add("10.200.4.0/24");
});

test("DeleteRoute: missing is InvalidRoute.NotFound, the local route stays; ReplaceRoute of a missing one is InvalidParameterValue", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const { privateTableId: RouteTableId } = network;
  await refused(ec2.send(new DeleteRouteCommand({ RouteTableId, DestinationCidrBlock: "10.200.0.0/24" })), "InvalidRoute.NotFound", 400);
  await refused(ec2.send(new DeleteRouteCommand({ RouteTableId, DestinationCidrBlock: "10.0.0.0/16" })), "InvalidParameterValue");
  const replace = new ReplaceRouteCommand({ RouteTableId, DestinationCidrBlock: "10.200.0.0/24", InstanceId: node!.id });
  await refused(ec2.send(replace), "InvalidParameterValue", 400);
});

test("IPv6 routes have their own field", async () => {
  const { ec2, network, cloud } = networkBed({ ipv6: true });
  const [node] = launchNodes(cloud, network, 1);
  const route = { RouteTableId: network.privateTableId, DestinationIpv6CidrBlock: "fd00:0:0:1::/64" };
  await ec2.send(new CreateRouteCommand({ ...route, InstanceId: node!.id }));
  const seen = await routeTo(ec2, network.privateTableId, "fd00:0:0:1::/64");
  assert.equal(seen?.State, "active");
  assert.equal(seen?.DestinationCidrBlock, undefined);
});

test("A route to a detached or deleted gateway is a blackhole; a NAT gateway takes its time", async () => {
  const { ec2, network, cloud, world } = networkBed();
  const { AllocationId } = await ec2.send(new AllocateAddressCommand({}));
  const { NatGateway } = await ec2.send(new CreateNatGatewayCommand({ SubnetId: network.publicSubnetIds[0], AllocationId }));
  const NatGatewayId = NatGateway!.NatGatewayId!;
  assert.equal(NatGateway?.State, "pending");
  await ec2.send(new CreateRouteCommand({ RouteTableId: network.privateTableId, DestinationCidrBlock: "0.0.0.0/0", NatGatewayId }));
  world.pass(2 * MINUTE);
  const { NatGateways } = await ec2.send(new DescribeNatGatewaysCommand({}));
  assert.equal(NatGateways?.[0]?.State, "available");
  assert.match(NatGateways?.[0]?.NatGatewayAddresses?.[0]?.AssociationId ?? "", /^eipassoc-0[0-9a-f]{16}$/);
  await refused(ec2.send(new ReleaseAddressCommand({ AllocationId })), "InvalidIPAddress.InUse");
  await ec2.send(new DeleteNatGatewayCommand({ NatGatewayId }));
  world.pass(MINUTE);
  assert.equal((await routeTo(ec2, network.privateTableId, "0.0.0.0/0"))?.State, "blackhole");
  await ec2.send(new ReleaseAddressCommand({ AllocationId }));
  await refused(ec2.send(new DeleteInternetGatewayCommand({ InternetGatewayId: network.internetGatewayId })), "DependencyViolation");
  cloud.account.ec2.internetGateways.delete(network.internetGatewayId);
  assert.equal((await routeTo(ec2, network.publicTableId, "0.0.0.0/0"))?.State, "blackhole");
});

test("A table with associations is not deleted", async () => {
  const { ec2, network } = networkBed();
  await refused(ec2.send(new DeleteRouteTableCommand({ RouteTableId: network.privateTableId })), "DependencyViolation");
});

test("Elastic IPs are public addresses; releasing an associated one is refused", async () => {
  const { ec2, network, cloud } = networkBed();
  const [node] = launchNodes(cloud, network, 1);
  const { AllocationId, PublicIp } = await ec2.send(new AllocateAddressCommand({}));
  assert.doesNotMatch(PublicIp!, /^(127|10|192\.168)\./);
  const { AssociationId } = await ec2.send(new AssociateAddressCommand({ AllocationId, InstanceId: node!.id }));
  const { Addresses } = await ec2.send(new DescribeAddressesCommand({ AllocationIds: [AllocationId!] }));
  assert.deepEqual([Addresses?.[0]?.AssociationId, Addresses?.[0]?.InstanceId], [AssociationId, node!.id]);
  await refused(ec2.send(new ReleaseAddressCommand({ AllocationId })), "InvalidIPAddress.InUse", 400);
  await refused(ec2.send(new DescribeAddressesCommand({ AllocationIds: ["eipalloc-0000000000000000a"] })), "InvalidAllocationID.NotFound");
});

test("Elastic IPs come and go with their quota", async () => {
  const { ec2 } = networkBed();
  for (let count = 0; count < 5; count++) await ec2.send(new AllocateAddressCommand({}));
  await refused(ec2.send(new AllocateAddressCommand({})), "AddressLimitExceeded");
});

test("VPC: its blocks have associations of their own, and default VPCs are found by either name of the filter", async () => {
  const { ec2, network } = networkBed({ ipv6: true });
  const { Vpcs } = await ec2.send(new DescribeVpcsCommand({ VpcIds: [network.vpcId] }));
  const { CidrBlockAssociationSet = [], Ipv6CidrBlockAssociationSet = [] } = Vpcs![0]!;
  const ids = [...CidrBlockAssociationSet, ...Ipv6CidrBlockAssociationSet].map(({ AssociationId }) => AssociationId!);
  assert.equal(new Set(ids).size, 2);
  for (const id of ids) assert.match(id, /^vpc-cidr-assoc-[0-9a-f]{17}$/);
  for (const Name of ["is-default", "isDefault"]) {
    const found = await ec2.send(new DescribeVpcsCommand({ Filters: [{ Name, Values: ["false"] }] }));
    assert.equal(found.Vpcs?.length, 1, Name);
  }
});

test("VPC: the default DHCP option set is listed; one with dependencies is not deleted", async () => {
  const { ec2, network } = networkBed();
  const { Vpcs } = await ec2.send(new DescribeVpcsCommand({ VpcIds: [network.vpcId] }));
  const { DhcpOptions } = await ec2.send(new DescribeDhcpOptionsCommand({}));
  assert.equal(DhcpOptions?.[0]?.DhcpOptionsId, Vpcs?.[0]?.DhcpOptionsId);
  await refused(ec2.send(new DeleteVpcCommand({ VpcId: network.vpcId })), "DependencyViolation");
  const { Vpc } = await ec2.send(new CreateVpcCommand({ CidrBlock: "10.9.0.0/16" }));
  await ec2.send(new DeleteVpcCommand({ VpcId: Vpc?.VpcId }));
});
