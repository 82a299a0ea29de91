import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AssociateSubnetCidrBlockCommand,
  AssociateVpcCidrBlockCommand,
  CreateEgressOnlyInternetGatewayCommand,
  CreateRouteCommand,
  CreateSubnetCommand,
  CreateVpcCommand,
  CreateVpcEndpointCommand,
  DeleteEgressOnlyInternetGatewayCommand,
  DeleteRouteCommand,
  DeleteSubnetCommand,
  DeleteVpcCommand,
  DeleteVpcEndpointsCommand,
  DescribeEgressOnlyInternetGatewaysCommand,
  DescribeNetworkInterfacesCommand,
  DescribeRouteTablesCommand,
  DescribeSubnetsCommand,
  DescribeVpcEndpointsCommand,
  DescribeVpcsCommand,
  DisassociateSubnetCidrBlockCommand,
  DisassociateVpcCidrBlockCommand,
  type EC2Client,
  ModifyVpcAttributeCommand,
  ModifyVpcEndpointCommand,
} from "@aws-sdk/client-ec2";
import { cloudBed, refused } from "../testing.ts";

async function vpcWith(ec2: EC2Client, ...zones: readonly string[]) {
  const VpcId = (await ec2.send(new CreateVpcCommand({ CidrBlock: "10.0.0.0/16" }))).Vpc!.VpcId!;
  const subnets: string[] = [];
  for (const [index, AvailabilityZone] of zones.entries()) {
    const { Subnet } = await ec2.send(new CreateSubnetCommand({ VpcId, AvailabilityZone, CidrBlock: `10.0.${index}.0/24` }));
    subnets.push(Subnet!.SubnetId!);
  }
  const tables = async () =>
    (await ec2.send(new DescribeRouteTablesCommand({ Filters: [{ Name: "vpc-id", Values: [VpcId] }] }))).RouteTables!;
  return { VpcId, subnets, tables, RouteTableId: (await tables())[0]!.RouteTableId! };
}

test("a VPC that stands gets an IPv6 block with its local route, subnets get theirs of it, and all can be given back in the reverse order", async () => {
  const { ec2 } = cloudBed();
  const { VpcId, subnets, tables } = await vpcWith(ec2, "us-east-1a");
  const [SubnetId] = subnets as [string];
  const given = await ec2.send(new AssociateVpcCidrBlockCommand({ VpcId, AmazonProvidedIpv6CidrBlock: true }));
  const block = given.Ipv6CidrBlockAssociation!.Ipv6CidrBlock!;
  const { Vpcs } = await ec2.send(new DescribeVpcsCommand({ VpcIds: [VpcId] }));
  assert.deepEqual(
    Vpcs![0]!.Ipv6CidrBlockAssociationSet!.map(({ Ipv6CidrBlock, Ipv6CidrBlockState }) => [Ipv6CidrBlock, Ipv6CidrBlockState!.State]),
    [[block, "associated"]],
  );
  assert.ok((await tables())[0]!.Routes!.some((route) => route.DestinationIpv6CidrBlock === block && route.GatewayId === "local"));
  const part = block.replace("/56", "/64");
  await refused(ec2.send(new AssociateSubnetCidrBlockCommand({ SubnetId, Ipv6CidrBlock: "2001:db8::/64" })), "InvalidSubnet.Range");
  const subnet = await ec2.send(new AssociateSubnetCidrBlockCommand({ SubnetId, Ipv6CidrBlock: part }));
  const own = { AssociationId: given.Ipv6CidrBlockAssociation!.AssociationId! };
  await refused(ec2.send(new DisassociateVpcCidrBlockCommand(own)), "DependencyViolation");
  await ec2.send(new DisassociateSubnetCidrBlockCommand({ AssociationId: subnet.Ipv6CidrBlockAssociation!.AssociationId! }));
  const { Subnets } = await ec2.send(new DescribeSubnetsCommand({ SubnetIds: [SubnetId] }));
  assert.deepEqual(Subnets![0]!.Ipv6CidrBlockAssociationSet, []);
  await ec2.send(new DisassociateVpcCidrBlockCommand(own));
  assert.ok(!(await tables())[0]!.Routes!.some((route) => route.DestinationIpv6CidrBlock !== undefined));
});

test("an egress-only gateway carries routes while it is there, and holds its VPC", async () => {
  const { ec2 } = cloudBed();
  const { VpcId, tables, RouteTableId } = await vpcWith(ec2);
  const route = { RouteTableId, DestinationIpv6CidrBlock: "::/0" };
  const made = await ec2.send(new CreateEgressOnlyInternetGatewayCommand({ VpcId }));
  const id = made.EgressOnlyInternetGateway!.EgressOnlyInternetGatewayId!;
  await ec2.send(new CreateRouteCommand({ ...route, EgressOnlyInternetGatewayId: id }));
  const state = async () => (await tables())[0]!.Routes!.find(({ DestinationIpv6CidrBlock }) => DestinationIpv6CidrBlock === "::/0")!.State;
  assert.equal(await state(), "active");
  await refused(ec2.send(new DeleteVpcCommand({ VpcId })), "DependencyViolation");
  await ec2.send(new DeleteEgressOnlyInternetGatewayCommand({ EgressOnlyInternetGatewayId: id }));
  assert.equal(await state(), "blackhole");
  assert.deepEqual((await ec2.send(new DescribeEgressOnlyInternetGatewaysCommand({}))).EgressOnlyInternetGateways, []);
  await refused(ec2.send(new CreateRouteCommand({ ...route, EgressOnlyInternetGatewayId: id })), "InvalidGatewayID.NotFound");
});

test("a gateway endpoint puts a route into its tables, which goes with it and not otherwise", async () => {
  const { ec2 } = cloudBed();
  const { VpcId, tables, RouteTableId } = await vpcWith(ec2);
  await refused(ec2.send(new CreateVpcEndpointCommand({ VpcId, ServiceName: "com.amazonaws.us-east-1.s4" })), "InvalidServiceName");
  const input = { VpcId, ServiceName: "com.amazonaws.us-east-1.s3", RouteTableIds: [RouteTableId] };
  const { VpcEndpoint } = await ec2.send(new CreateVpcEndpointCommand(input));
  const id = VpcEndpoint!.VpcEndpointId!;
  const routes = async () => (await tables())[0]!.Routes!.filter(({ GatewayId }) => GatewayId === id);
  const [route] = await routes();
  assert.equal(VpcEndpoint!.State, "available");
  const own = { RouteTableId, DestinationPrefixListId: route!.DestinationPrefixListId! };
  await refused(ec2.send(new DeleteRouteCommand(own)), "InvalidParameterValue");
  await refused(ec2.send(new CreateVpcEndpointCommand(input)), "RouteAlreadyExists");
  await ec2.send(new ModifyVpcEndpointCommand({ VpcEndpointId: id, RemoveRouteTableIds: [RouteTableId] }));
  assert.deepEqual(await routes(), []);
  await ec2.send(new ModifyVpcEndpointCommand({ VpcEndpointId: id, AddRouteTableIds: [RouteTableId] }));
  await ec2.send(new DeleteVpcEndpointsCommand({ VpcEndpointIds: [id] }));
  assert.deepEqual([await routes(), (await ec2.send(new DescribeVpcEndpointsCommand({}))).VpcEndpoints], [[], []]);
});

test("in China some services have names with its own domain, and gateways do not", async () => {
  const { ec2 } = cloudBed({ region: "cn-north-1" });
  const { VpcId } = await vpcWith(ec2);
  const make = (ServiceName: string, VpcEndpointType: "Interface" | "Gateway") =>
    ec2.send(new CreateVpcEndpointCommand({ VpcId, ServiceName, VpcEndpointType, PrivateDnsEnabled: false }));
  await refused(make("com.amazonaws.cn-north-1.ecr.api", "Interface"), "InvalidServiceName");
  await refused(make("cn.com.amazonaws.cn-north-1.s3", "Gateway"), "InvalidServiceName");
  await refused(make("cn.com.amazonaws.cn-north-1.elasticloadbalancing", "Interface"), "InvalidServiceName");
  await make("cn.com.amazonaws.cn-north-1.ecr.api", "Interface");
  await make("com.amazonaws.cn-north-1.elasticloadbalancing", "Interface");
  await make("com.amazonaws.cn-north-1.s3", "Gateway");
});

test("an interface endpoint has one interface per zone, needs the VPC's DNS for its names, and holds its subnets until it is gone", async () => {
  const { ec2, world } = cloudBed();
  const { VpcId, subnets } = await vpcWith(ec2, "us-east-1a", "us-east-1b", "us-east-1a");
  const input = { VpcId, ServiceName: "com.amazonaws.us-east-1.ec2", VpcEndpointType: "Interface" } as const;
  await refused(ec2.send(new CreateVpcEndpointCommand(input)), "InvalidParameter");
  await ec2.send(new ModifyVpcAttributeCommand({ VpcId, EnableDnsHostnames: { Value: true } }));
  await refused(ec2.send(new CreateVpcEndpointCommand({ ...input, SubnetIds: subnets })), "DuplicateSubnetsInSameZone");
  assert.deepEqual((await ec2.send(new DescribeNetworkInterfacesCommand({}))).NetworkInterfaces, [], "nothing is left of what was refused");
  const { VpcEndpoint } = await ec2.send(new CreateVpcEndpointCommand({ ...input, SubnetIds: [subnets[0]!] }));
  const id = VpcEndpoint!.VpcEndpointId!;
  await refused(ec2.send(new CreateVpcEndpointCommand(input)), "InvalidParameter");
  const shown = async () => (await ec2.send(new DescribeVpcEndpointsCommand({ VpcEndpointIds: [id] }))).VpcEndpoints![0]!;
  assert.equal((await shown()).State, "pending");
  world.pass(60_000);
  await ec2.send(new ModifyVpcEndpointCommand({ VpcEndpointId: id, AddSubnetIds: [subnets[1]!] }));
  const { State, SubnetIds } = await shown();
  assert.deepEqual([State, SubnetIds], ["available", subnets.slice(0, 2)]);
  await refused(ec2.send(new DeleteSubnetCommand({ SubnetId: subnets[1]! })), "DependencyViolation");
  await ec2.send(new DeleteVpcEndpointsCommand({ VpcEndpointIds: [id] }));
  assert.equal((await shown()).State, "deleting");
  await refused(ec2.send(new DeleteSubnetCommand({ SubnetId: subnets[1]! })), "DependencyViolation");
  world.pass(60_000);
  await refused(ec2.send(new DescribeVpcEndpointsCommand({ VpcEndpointIds: [id] })), "InvalidVpcEndpointId.NotFound");
  for (const SubnetId of subnets) await ec2.send(new DeleteSubnetCommand({ SubnetId }));
  await ec2.send(new DeleteVpcCommand({ VpcId }));
});
