import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AcceptVpcPeeringConnectionCommand,
  CreateRouteCommand,
  CreateVpcCommand,
  CreateVpcPeeringConnectionCommand,
  DeleteVpcPeeringConnectionCommand,
  DescribeRouteTablesCommand,
  DescribeVpcPeeringConnectionsCommand,
  type EC2Client,
} from "@aws-sdk/client-ec2";
import { cloudBed, refused } from "../testing.ts";

async function vpc(ec2: EC2Client, CidrBlock: string): Promise<string> {
  return (await ec2.send(new CreateVpcCommand({ CidrBlock }))).Vpc!.VpcId!;
}

async function statuses(ec2: EC2Client): Promise<readonly string[]> {
  const { VpcPeeringConnections = [] } = await ec2.send(new DescribeVpcPeeringConnectionsCommand({}));
  return VpcPeeringConnections.map(({ Status }) => Status!.Code!);
}

test("a peering connection is requested, accepted and deleted, and routes over it lead somewhere only while it is active", async () => {
  const { ec2, world } = cloudBed();
  const [own, peer] = [await vpc(ec2, "10.0.0.0/16"), await vpc(ec2, "10.1.0.0/16")];
  const request = new CreateVpcPeeringConnectionCommand({ VpcId: own, PeerVpcId: peer });
  const { VpcPeeringConnection } = await ec2.send(request);
  const id = VpcPeeringConnection!.VpcPeeringConnectionId!;
  await refused(ec2.send(request), "VpcPeeringConnectionAlreadyExists");
  await refused(ec2.send(new AcceptVpcPeeringConnectionCommand({ VpcPeeringConnectionId: id })), "InvalidStateTransition");
  assert.deepEqual(await statuses(ec2), ["initiating-request"]);
  world.pass(5_000);
  assert.deepEqual(await statuses(ec2), ["pending-acceptance"]);

  const { RouteTables } = await ec2.send(new DescribeRouteTablesCommand({ Filters: [{ Name: "vpc-id", Values: [own] }] }));
  const RouteTableId = RouteTables![0]!.RouteTableId!;
  await ec2.send(new CreateRouteCommand({ RouteTableId, DestinationCidrBlock: "10.1.0.0/16", VpcPeeringConnectionId: id }));
  const state = async () => {
    const shown = await ec2.send(new DescribeRouteTablesCommand({ RouteTableIds: [RouteTableId] }));
    return shown.RouteTables![0]!.Routes!.find(({ VpcPeeringConnectionId }) => VpcPeeringConnectionId === id)?.State;
  };
  assert.equal(await state(), "blackhole");
  await ec2.send(new AcceptVpcPeeringConnectionCommand({ VpcPeeringConnectionId: id }));
  world.pass(5_000);
  assert.deepEqual([await statuses(ec2), await state()], [["active"], "active"]);

  await ec2.send(new DeleteVpcPeeringConnectionCommand({ VpcPeeringConnectionId: id }));
  assert.deepEqual([await statuses(ec2), await state()], [["deleted"], "blackhole"]);
  await refused(ec2.send(new DeleteVpcPeeringConnectionCommand({ VpcPeeringConnectionId: id })), "InvalidStateTransition");
  await ec2.send(request);
  world.pass(3 * 3_600_000);
  assert.deepEqual(await statuses(ec2), ["pending-acceptance"]);
});

test("VPCs whose ranges overlap are not peered, and a route needs a connection of its own VPC", async () => {
  const { ec2, world } = cloudBed();
  const [one, same, other] = [await vpc(ec2, "10.0.0.0/16"), await vpc(ec2, "10.0.128.0/17"), await vpc(ec2, "10.2.0.0/16")];
  await ec2.send(new CreateVpcPeeringConnectionCommand({ VpcId: one, PeerVpcId: same }));
  world.pass(5_000);
  assert.deepEqual(await statuses(ec2), ["failed"]);

  const { VpcPeeringConnection } = await ec2.send(new CreateVpcPeeringConnectionCommand({ VpcId: one, PeerVpcId: other }));
  const { RouteTables } = await ec2.send(new DescribeRouteTablesCommand({ Filters: [{ Name: "vpc-id", Values: [same] }] }));
  const route = { RouteTableId: RouteTables![0]!.RouteTableId!, DestinationCidrBlock: "10.2.0.0/16" };
  const { VpcPeeringConnectionId } = VpcPeeringConnection!;
  await refused(ec2.send(new CreateRouteCommand({ ...route, VpcPeeringConnectionId })), "InvalidParameterValue");
  await refused(
    ec2.send(new CreateRouteCommand({ ...route, VpcPeeringConnectionId: "pcx-0123456789abcdef0" })),
    "InvalidVpcPeeringConnectionID.NotFound",
  );
  await refused(
    ec2.send(new CreateVpcPeeringConnectionCommand({ VpcId: one, PeerVpcId: other, PeerOwnerId: "210987654321" })),
    "OperationNotPermitted",
  );
});
