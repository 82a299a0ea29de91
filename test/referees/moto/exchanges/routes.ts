/** Route tables, their associations and their routes. */
import {
  AssociateRouteTableCommand,
  CreateRouteCommand,
  CreateRouteTableCommand,
  DeleteRouteCommand,
  DescribeRouteTablesCommand,
  DisassociateRouteTableCommand,
  ReplaceRouteCommand,
  ReplaceRouteTableAssociationCommand,
} from "@aws-sdk/client-ec2";
import { asker, type Exchange } from "../script.ts";

const ask = asker("ec2");

/** Before there are instances. */
export const routeTableExchanges: readonly Exchange[] = [
  ask("the main route table of a VPC", DescribeRouteTablesCommand, {
    Filters: [
      { Name: "vpc-id", Values: ["$vpc"] },
      { Name: "association.main", Values: ["true"] },
    ],
  }),
  ask(
    "a route table is created",
    CreateRouteTableCommand,
    { VpcId: "$vpc", TagSpecifications: [{ ResourceType: "route-table", Tags: [{ Key: "Name", Value: "public" }] }] },
    { table: "RouteTable.RouteTableId" },
  ),
  ask("a second route table is created", CreateRouteTableCommand, { VpcId: "$vpc" }, { otherTable: "RouteTable.RouteTableId" }),
  ask("a route table of a VPC that does not exist", CreateRouteTableCommand, { VpcId: "vpc-0123456789abcdef0" }),
  ask(
    "a route table is associated with a subnet",
    AssociateRouteTableCommand,
    { RouteTableId: "$table", SubnetId: "$subnetA" },
    { association: "AssociationId" },
  ),
  ask("a route table is associated with the same subnet again", AssociateRouteTableCommand, {
    RouteTableId: "$table",
    SubnetId: "$subnetA",
  }),
  ask("a route table is associated with a subnet that does not exist", AssociateRouteTableCommand, {
    RouteTableId: "$table",
    SubnetId: "subnet-0123456789abcdef0",
  }),
  ask("a route to the internet gateway", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "0.0.0.0/0",
    GatewayId: "$gateway",
  }),
  ask("the same route again", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "0.0.0.0/0",
    GatewayId: "$gateway",
  }),
  ask("a route to a gateway that does not exist", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "172.16.0.0/16",
    GatewayId: "igw-0123456789abcdef0",
  }),
  ask("a route to an instance that does not exist", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "172.16.0.0/16",
    InstanceId: "i-0123456789abcdef0",
  }),
  ask("a route in a table that does not exist", CreateRouteCommand, {
    RouteTableId: "rtb-0123456789abcdef0",
    DestinationCidrBlock: "0.0.0.0/0",
    GatewayId: "$gateway",
  }),
  ask("a route whose destination is no block", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "nowhere",
    GatewayId: "$gateway",
  }),
  ask("a route table by id", DescribeRouteTablesCommand, { RouteTableIds: ["$table"] }),
  ask("route tables by an associated subnet", DescribeRouteTablesCommand, {
    Filters: [{ Name: "association.subnet-id", Values: ["$subnetA"] }],
  }),
  ask("route tables by a tag", DescribeRouteTablesCommand, { Filters: [{ Name: "tag:Name", Values: ["public"] }] }),
  ask("route tables by a route's destination", DescribeRouteTablesCommand, {
    Filters: [
      { Name: "vpc-id", Values: ["$vpc"] },
      { Name: "route.destination-cidr-block", Values: ["0.0.0.0/0"] },
    ],
  }),
  ask("a route table that does not exist", DescribeRouteTablesCommand, { RouteTableIds: ["rtb-0123456789abcdef0"] }),
  ask(
    "an association is moved to another table",
    ReplaceRouteTableAssociationCommand,
    { AssociationId: "$association", RouteTableId: "$otherTable" },
    { movedAssociation: "NewAssociationId" },
  ),
  ask("the table an association was moved to", DescribeRouteTablesCommand, { RouteTableIds: ["$otherTable"] }),
  ask("an association is removed", DisassociateRouteTableCommand, { AssociationId: "$movedAssociation" }),
  ask("an association is removed twice", DisassociateRouteTableCommand, { AssociationId: "$movedAssociation" }),
  ask("a table without associations", DescribeRouteTablesCommand, { RouteTableIds: ["$otherTable"] }),
  ask(
    "the association is made again",
    AssociateRouteTableCommand,
    { RouteTableId: "$table", SubnetId: "$subnetA" },
    { association: "AssociationId" },
  ),
];

/** With instances and interfaces as targets. */
export const podRouteExchanges: readonly Exchange[] = [
  ask("a route to an instance", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "10.200.0.0/24",
    InstanceId: "$otherNode",
  }),
  ask("a route to an instance with several interfaces", CreateRouteCommand, {
    RouteTableId: "$otherTable",
    DestinationCidrBlock: "10.200.9.0/24",
    InstanceId: "$node",
  }),
  ask("a route to an interface", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "10.200.1.0/24",
    NetworkInterfaceId: "$interface",
  }),
  ask("an IPv6 route to the internet gateway", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationIpv6CidrBlock: "::/0",
    GatewayId: "$gateway",
  }),
  ask("a table with routes of every kind", DescribeRouteTablesCommand, { RouteTableIds: ["$table"] }),
  ask("a route to an instance where one exists", CreateRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "10.200.0.0/24",
    InstanceId: "$twinB",
  }),
  ask("a route is replaced", ReplaceRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "10.200.0.0/24",
    InstanceId: "$twinB",
  }),
  ask("a route that does not exist is replaced", ReplaceRouteCommand, {
    RouteTableId: "$table",
    DestinationCidrBlock: "10.250.0.0/24",
    InstanceId: "$otherNode",
  }),
  ask("a table with a replaced route", DescribeRouteTablesCommand, { RouteTableIds: ["$table"] }),
  ask("a route is deleted", DeleteRouteCommand, { RouteTableId: "$table", DestinationCidrBlock: "10.200.1.0/24" }),
  ask("a route is deleted twice", DeleteRouteCommand, { RouteTableId: "$table", DestinationCidrBlock: "10.200.1.0/24" }),
  ask("the IPv6 route is deleted", DeleteRouteCommand, { RouteTableId: "$table", DestinationIpv6CidrBlock: "::/0" }),
  ask("a table after deletions", DescribeRouteTablesCommand, { RouteTableIds: ["$table"] }),
];
