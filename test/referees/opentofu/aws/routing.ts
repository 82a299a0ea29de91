/** Route tables, their routes and associations. */
import {
  AssociateRouteTableCommand,
  CreateRouteCommand,
  CreateRouteTableCommand,
  DeleteRouteCommand,
  DeleteRouteTableCommand,
  DescribeRouteTablesCommand,
  DisassociateRouteTableCommand,
  ReplaceRouteCommand,
  ReplaceRouteTableAssociationCommand,
} from "@aws-sdk/client-ec2";
import type { Fields } from "../plan.ts";
import type { ResourceType } from "../plugin.ts";
import { type Aws, optionalText, persist, retag, tagged, tagsIn, text, unlessMissing } from "./account.ts";

const inUse = ["DependencyViolation"];

export function routingTypes(aws: Aws): Readonly<Record<string, ResourceType>> {
  return {
    aws_route_table: routeTable(aws),
    aws_route: route(aws),
    aws_route_table_association: association(aws),
  };
}

function routeTable(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const found = (await unlessMissing(ec2.send(new DescribeRouteTablesCommand({ RouteTableIds: [text(state.id)] }))))?.RouteTables?.[0];
    if (found === undefined) return undefined;
    return { id: found.RouteTableId!, vpc_id: found.VpcId!, owner_id: found.OwnerId!, ...tagsIn(state, found.Tags) };
  };
  return {
    fixed: ["vpc_id"],
    read,
    async create(wanted) {
      const { RouteTable } = await ec2.send(
        new CreateRouteTableCommand({ VpcId: text(wanted.vpc_id), ...tagged("route-table", wanted.tags) }),
      );
      return (await read({ ...wanted, id: RouteTable!.RouteTableId! }))!;
    },
    async update(before, wanted) {
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await persist(aws, `the end of ${text(id)}`, inUse, () => ec2.send(new DeleteRouteTableCommand({ RouteTableId: text(id) })));
    },
  };
}

function route({ ec2 }: Aws): ResourceType {
  const targets = ({ gateway_id, nat_gateway_id, vpc_peering_connection_id, egress_only_gateway_id }: Fields) => ({
    EgressOnlyInternetGatewayId: optionalText(egress_only_gateway_id),
    GatewayId: optionalText(gateway_id),
    NatGatewayId: optionalText(nat_gateway_id),
    VpcPeeringConnectionId: optionalText(vpc_peering_connection_id),
  });
  const place = ({ route_table_id, destination_cidr_block, destination_ipv6_cidr_block }: Fields) => ({
    RouteTableId: text(route_table_id),
    DestinationCidrBlock: optionalText(destination_cidr_block),
    DestinationIpv6CidrBlock: optionalText(destination_ipv6_cidr_block),
  });
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const { RouteTableId, DestinationCidrBlock, DestinationIpv6CidrBlock } = place(state);
    const found = await unlessMissing(ec2.send(new DescribeRouteTablesCommand({ RouteTableIds: [RouteTableId] })));
    const own = found?.RouteTables?.[0]?.Routes?.find(
      (each) => each.DestinationCidrBlock === DestinationCidrBlock && each.DestinationIpv6CidrBlock === DestinationIpv6CidrBlock,
    );
    if (own === undefined) return undefined;
    return {
      id: `r-${RouteTableId}${DestinationCidrBlock ?? DestinationIpv6CidrBlock}`,
      egress_only_gateway_id: own.EgressOnlyInternetGatewayId ?? null,
      gateway_id: own.GatewayId ?? null,
      nat_gateway_id: own.NatGatewayId ?? null,
      vpc_peering_connection_id: own.VpcPeeringConnectionId ?? null,
      origin: own.Origin ?? null,
      state: own.State ?? null,
    };
  };
  return {
    fixed: ["route_table_id", "destination_cidr_block", "destination_ipv6_cidr_block"],
    plain: [
      "destination_cidr_block",
      "destination_ipv6_cidr_block",
      "egress_only_gateway_id",
      "gateway_id",
      "nat_gateway_id",
      "vpc_peering_connection_id",
    ],
    read,
    async create(wanted) {
      await ec2.send(new CreateRouteCommand({ ...place(wanted), ...targets(wanted) }));
      return (await read(wanted))!;
    },
    async update(_, wanted) {
      await ec2.send(new ReplaceRouteCommand({ ...place(wanted), ...targets(wanted) }));
      return (await read(wanted))!;
    },
    async delete(state) {
      await unlessMissing(ec2.send(new DeleteRouteCommand(place(state))));
    },
  };
}

function association({ ec2 }: Aws): ResourceType {
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const Filters = [{ Name: "association.route-table-association-id", Values: [text(state.id)] }];
    const { RouteTables = [] } = await ec2.send(new DescribeRouteTablesCommand({ Filters }));
    const own = RouteTables[0]?.Associations?.find((each) => each.RouteTableAssociationId === state.id);
    return own === undefined ? undefined : { route_table_id: own.RouteTableId!, subnet_id: own.SubnetId! };
  };
  return {
    fixed: ["subnet_id"],
    affects: { route_table_id: ["id"] },
    read,
    async create(wanted) {
      const table = { RouteTableId: text(wanted.route_table_id), SubnetId: text(wanted.subnet_id) };
      const { AssociationId } = await ec2.send(new AssociateRouteTableCommand(table));
      return { id: AssociationId! };
    },
    async update(before, wanted) {
      const input = { AssociationId: text(before.id), RouteTableId: text(wanted.route_table_id) };
      const { NewAssociationId } = await ec2.send(new ReplaceRouteTableAssociationCommand(input));
      return { id: NewAssociationId! };
    },
    async delete({ id }) {
      await unlessMissing(ec2.send(new DisassociateRouteTableCommand({ AssociationId: text(id) })));
    },
  };
}
