/** Route tables and their associations with subnets. Routes are in `routes.ts`. */
import {
  AssociateRouteTable$,
  type AssociateRouteTableRequest,
  type AssociateRouteTableResult,
  CreateRouteTable$,
  type CreateRouteTableRequest,
  type CreateRouteTableResult,
  DeleteRouteTable$,
  type DeleteRouteTableRequest,
  DescribeRouteTables$,
  type DescribeRouteTablesRequest,
  type DescribeRouteTablesResult,
  DisassociateRouteTable$,
  type DisassociateRouteTableRequest,
  ReplaceRouteTableAssociation$,
  type ReplaceRouteTableAssociationRequest,
  type ReplaceRouteTableAssociationResult,
  type RouteTable as RouteTableAnswer,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import { describeRoute } from "./routes.ts";
import type { Ec2, RouteTable, Tags, Vpc } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";

/** The operations on tables and associations. */
export function routeTableOperations(ec2: Ec2): Operations {
  return [
    write<CreateRouteTableRequest, CreateRouteTableResult>(
      CreateRouteTable$,
      (input) => {
        const { ClientToken, ...parameters } = input;
        const table = ec2.tokens.once("CreateRouteTable", ClientToken, parameters, () => {
          const tags = specifiedTags(input.TagSpecifications, KINDS.routeTable);
          return createTable(ec2, find(ec2.vpcs, KINDS.vpc, input.VpcId!), false, tags);
        });
        return { RouteTable: describeTable(ec2, table), ClientToken };
      },
      needsCreateTags,
    ),
    write<DeleteRouteTableRequest, void>(DeleteRouteTable$, (input) => deleteTable(ec2, input.RouteTableId!)),
    write<AssociateRouteTableRequest, AssociateRouteTableResult>(AssociateRouteTable$, (input) => associate(ec2, input)),
    write<DisassociateRouteTableRequest, void>(DisassociateRouteTable$, (input) => disassociate(ec2, input.AssociationId!)),
    write<ReplaceRouteTableAssociationRequest, ReplaceRouteTableAssociationResult>(ReplaceRouteTableAssociation$, (input) =>
      replaceAssociation(ec2, input.AssociationId!, input.RouteTableId!),
    ),
    read<DescribeRouteTablesRequest, DescribeRouteTablesResult>(DescribeRouteTables$, (input) => {
      const records = input.RouteTableIds?.length
        ? findAll(ec2.routeTables, KINDS.routeTable, input.RouteTableIds)
        : ec2.routeTables.values();
      const { items, NextToken } = page(ec2, filtered(records, input.Filters, filterTable(ec2)), (table) => table.id, input, {
        action: "DescribeRouteTables",
        min: 5,
        max: 100,
        usual: 100,
      });
      return { RouteTables: items.map((table) => describeTable(ec2, table)), NextToken };
    }),
  ];
}

/** The table a VPC is born with, used by every subnet that has none of its own. */
export function createMainTable(ec2: Ec2, vpc: Vpc): RouteTable {
  return createTable(ec2, vpc, true, {});
}

/** Takes a subnet out of the table it was given. */
export function dissociateSubnet(ec2: Ec2, subnetId: string): void {
  for (const table of ec2.routeTables.values()) {
    const associations = table.associations.filter((association) => association.subnetId !== subnetId);
    if (associations.length < table.associations.length) ec2.routeTables.update(table.id, { associations });
  }
}

/** A table with nothing but the way to its own VPC. */
function createTable(ec2: Ec2, vpc: Vpc, main: boolean, tags: Tags): RouteTable {
  const id = ec2.account.ids.resource("rtb");
  const local = { kind: "local" } as const;
  return ec2.routeTables.put(id, {
    id,
    vpcId: vpc.id,
    routes: [
      ...vpc.cidrs.map((destination) => ({ destination, family: 4 as const, target: local })),
      ...(vpc.ipv6Cidr === undefined ? [] : [{ destination: vpc.ipv6Cidr, family: 6 as const, target: local }]),
    ],
    associations: main ? [{ id: ec2.account.ids.resource("rtbassoc"), subnetId: undefined, main: true }] : [],
    tags,
  });
}

/** A table of a VPC, for those who build networks from inside; returns its id. */
export function createTableIn(ec2: Ec2, vpcId: string, tags: Tags): string {
  return createTable(ec2, find(ec2.vpcs, KINDS.vpc, vpcId), false, tags).id;
}

/** Gives a subnet its own table. */
export function associateTable(ec2: Ec2, RouteTableId: string, SubnetId: string): void {
  associate(ec2, { RouteTableId, SubnetId });
}

function deleteTable(ec2: Ec2, id: string): void {
  const table = find(ec2.routeTables, KINDS.routeTable, id);
  if (table.associations.length > 0) {
    throw new ServiceError("DependencyViolation", `The routeTable '${id}' has dependencies and cannot be deleted.`);
  }
  ec2.routeTables.delete(id);
}

function associate(ec2: Ec2, input: AssociateRouteTableRequest): AssociateRouteTableResult {
  const table = find(ec2.routeTables, KINDS.routeTable, input.RouteTableId!);
  const subnet = find(ec2.subnets, KINDS.subnet, input.SubnetId ?? "");
  if (subnet.vpcId !== table.vpcId) {
    throw new ServiceError("InvalidParameterValue", `route table ${table.id} and network ${subnet.id} belong to different networks`);
  }
  const same = table.associations.find((association) => association.subnetId === subnet.id);
  if (same !== undefined) return { AssociationId: same.id, AssociationState: { State: "associated" } };
  const elsewhere = ec2.routeTables.values().some((other) => other.associations.some((association) => association.subnetId === subnet.id));
  if (elsewhere) {
    throw new ServiceError(
      "Resource.AlreadyAssociated",
      `the specified association for route table ${table.id} conflicts with an existing association`,
    );
  }
  const id = ec2.account.ids.resource("rtbassoc");
  ec2.routeTables.update(table.id, { associations: [...table.associations, { id, subnetId: subnet.id, main: false }] });
  return { AssociationId: id, AssociationState: { State: "associated" } };
}

function disassociate(ec2: Ec2, id: string): void {
  const { table, association } = associationNamed(ec2, id);
  if (association.main) {
    throw new ServiceError("InvalidParameterValue", `cannot disassociate the main route table association ${id}`);
  }
  ec2.routeTables.update(table.id, { associations: table.associations.filter((other) => other.id !== id) });
}

function replaceAssociation(ec2: Ec2, id: string, tableId: string): ReplaceRouteTableAssociationResult {
  const { table, association } = associationNamed(ec2, id);
  const next = find(ec2.routeTables, KINDS.routeTable, tableId);
  const NewAssociationId = ec2.account.ids.resource("rtbassoc");
  ec2.routeTables.update(table.id, { associations: table.associations.filter((other) => other.id !== id) });
  const current = ec2.routeTables.get(next.id)!;
  ec2.routeTables.update(next.id, { associations: [...current.associations, { ...association, id: NewAssociationId }] });
  return { NewAssociationId, AssociationState: { State: "associated" } };
}

function associationNamed(ec2: Ec2, id: string): { readonly table: RouteTable; readonly association: RouteTable["associations"][number] } {
  for (const table of ec2.routeTables.values()) {
    const association = table.associations.find((other) => other.id === id);
    if (association !== undefined) return { table, association };
  }
  throw new ServiceError("InvalidAssociationID.NotFound", `The association ID '${id}' does not exist`);
}

function describeTable(ec2: Ec2, table: RouteTable): RouteTableAnswer {
  return {
    Associations: table.associations.map((association) => ({
      Main: association.main,
      RouteTableAssociationId: association.id,
      RouteTableId: table.id,
      SubnetId: association.subnetId,
      AssociationState: { State: "associated" },
    })),
    PropagatingVgws: [],
    RouteTableId: table.id,
    Routes: table.routes.map((route) => describeRoute(ec2, route)),
    Tags: tagList(table.tags),
    VpcId: table.vpcId,
    OwnerId: ec2.account.id,
  };
}

function filterTable(ec2: Ec2): FilterTable<RouteTable> {
  const eachRoute = (value: (route: ReturnType<typeof describeRoute>) => string | undefined) => (table: RouteTable) =>
    table.routes.map((route) => value(describeRoute(ec2, route)));
  return {
    ...tagFilters<RouteTable>(),
    "association.main": (table) => table.associations.some((association) => association.main),
    "association.route-table-association-id": (table) => table.associations.map((association) => association.id),
    "association.route-table-id": (table) => (table.associations.length > 0 ? table.id : undefined),
    "association.subnet-id": (table) => table.associations.map((association) => association.subnetId),
    "association.gateway-id": () => undefined,
    "owner-id": () => ec2.account.id,
    "route-table-id": (table) => table.id,
    "route.destination-cidr-block": eachRoute((route) => route.DestinationCidrBlock),
    "route.destination-ipv6-cidr-block": eachRoute((route) => route.DestinationIpv6CidrBlock),
    "route.destination-prefix-list-id": eachRoute((route) => route.DestinationPrefixListId),
    "route.egress-only-internet-gateway-id": eachRoute((route) => route.EgressOnlyInternetGatewayId),
    "route.gateway-id": eachRoute((route) => route.GatewayId),
    "route.instance-id": eachRoute((route) => route.InstanceId),
    "route.nat-gateway-id": eachRoute((route) => route.NatGatewayId),
    "route.transit-gateway-id": eachRoute((route) => route.TransitGatewayId),
    "route.origin": eachRoute((route) => route.Origin),
    "route.state": eachRoute((route) => route.State),
    "route.vpc-peering-connection-id": eachRoute((route) => route.VpcPeeringConnectionId),
    "vpc-id": (table) => table.vpcId,
  };
}
