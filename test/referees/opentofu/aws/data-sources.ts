/** What configurations look up. A look-up of one thing that finds none or several is an error, as with the real provider. */
import {
  DescribeAvailabilityZonesCommand,
  DescribeInternetGatewaysCommand,
  DescribeRouteTablesCommand,
  DescribeSecurityGroupsCommand,
  DescribeSubnetsCommand,
  DescribeVpcsCommand,
  type Filter,
} from "@aws-sdk/client-ec2";
import { GetCallerIdentityCommand } from "@aws-sdk/client-sts";
import type { Fields } from "../plan.ts";
import type { DataSource } from "../plugin.ts";
import { type Aws, optionalText, tagList, tagsIn, text, texts } from "./account.ts";

export function dataSourcesOf({ ec2, sts }: Aws): Readonly<Record<string, DataSource>> {
  return {
    async aws_availability_zones(config) {
      const { AvailabilityZones = [] } = await ec2.send(new DescribeAvailabilityZonesCommand(filters(config)));
      const sorted = AvailabilityZones.toSorted((a, b) => (a.ZoneName! < b.ZoneName! ? -1 : 1));
      return {
        id: "zones",
        names: sorted.map(({ ZoneName }) => ZoneName!),
        zone_ids: sorted.map(({ ZoneId }) => ZoneId!),
        group_names: [...new Set(sorted.map(({ GroupName }) => GroupName!))],
      };
    },
    async aws_availability_zone(config) {
      const { AvailabilityZones = [] } = await ec2.send(new DescribeAvailabilityZonesCommand({ ZoneNames: [text(config.name)] }));
      const zone = one("EC2 Availability Zone", AvailabilityZones);
      return {
        id: zone.ZoneName!,
        zone_id: zone.ZoneId!,
        region: zone.RegionName!,
        network_border_group: zone.NetworkBorderGroup!,
        opt_in_status: zone.OptInStatus!,
        group_name: zone.GroupName!,
        zone_type: zone.ZoneType!,
        state: zone.State!,
      };
    },
    async aws_subnet(config) {
      const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand(filters(config)));
      const subnet = one("EC2 Subnet", Subnets);
      return {
        id: subnet.SubnetId!,
        vpc_id: subnet.VpcId!,
        cidr_block: subnet.CidrBlock!,
        availability_zone: subnet.AvailabilityZone!,
        availability_zone_id: subnet.AvailabilityZoneId!,
        ...lookedUpTags(config, subnet.Tags),
      };
    },
    async aws_subnets(config) {
      const { Subnets = [] } = await ec2.send(new DescribeSubnetsCommand(filters(config)));
      return { id: "subnets", ids: Subnets.map(({ SubnetId }) => SubnetId!) };
    },
    async aws_security_group(config) {
      const named = { ...config, filter: [...blocks(config), ...given("group-name", config.name), ...given("vpc-id", config.vpc_id)] };
      const { SecurityGroups = [] } = await ec2.send(new DescribeSecurityGroupsCommand(filters(named)));
      const group = one("EC2 Security Group", SecurityGroups);
      return {
        id: group.GroupId!,
        name: group.GroupName!,
        vpc_id: group.VpcId!,
        description: group.Description!,
        ...lookedUpTags(config, group.Tags),
      };
    },
    async aws_caller_identity() {
      const { Account, Arn, UserId } = await sts.send(new GetCallerIdentityCommand({}));
      return { id: Account!, account_id: Account!, arn: Arn!, user_id: UserId! };
    },
    async aws_vpc(config) {
      const { Vpcs = [] } = await ec2.send(new DescribeVpcsCommand({ VpcIds: [text(config.id)] }));
      const vpc = one("EC2 VPC", Vpcs);
      return {
        id: vpc.VpcId!,
        ipv6_cidr_block: vpc.Ipv6CidrBlockAssociationSet?.[0]?.Ipv6CidrBlock ?? "",
        cidr_block: vpc.CidrBlock!,
        cidr_block_associations: (vpc.CidrBlockAssociationSet ?? []).map(({ AssociationId, CidrBlock, CidrBlockState }) => ({
          association_id: AssociationId!,
          cidr_block: CidrBlock!,
          state: CidrBlockState!.State!,
        })),
        ...lookedUpTags(config, vpc.Tags),
      };
    },
    async aws_route_table(config) {
      const { RouteTables = [] } = await ec2.send(
        new DescribeRouteTablesCommand({ Filters: [{ Name: "association.subnet-id", Values: [text(config.subnet_id)] }] }),
      );
      const table = one("EC2 Route Table", RouteTables);
      return { id: table.RouteTableId!, route_table_id: table.RouteTableId!, vpc_id: table.VpcId!, ...lookedUpTags(config, table.Tags) };
    },
    async aws_route_tables(config) {
      const asked = { ...config, filter: [...blocks(config), ...given("vpc-id", config.vpc_id)] };
      const { RouteTables = [] } = await ec2.send(new DescribeRouteTablesCommand(filters(asked)));
      return { id: "tables", ids: RouteTables.map(({ RouteTableId }) => RouteTableId!) };
    },
    async aws_internet_gateway(config) {
      const { InternetGateways = [] } = await ec2.send(new DescribeInternetGatewaysCommand(filters(config)));
      const gateway = one("EC2 Internet Gateway", InternetGateways);
      return { id: gateway.InternetGatewayId!, internet_gateway_id: gateway.InternetGatewayId!, ...lookedUpTags(config, gateway.Tags) };
    },
  };
}

function blocks(config: Fields): readonly Fields[] {
  return (config.filter ?? []) as readonly Fields[];
}

function given(name: string, value: Fields[string] | undefined): Fields[] {
  const asked = optionalText(value);
  return asked === undefined ? [] : [{ name, values: [asked] }];
}

function filters(config: Fields): { Filters?: Filter[] } {
  const all = [
    ...blocks(config).map(({ name, values }) => ({ Name: text(name), Values: texts(values) })),
    ...tagList(config.tags).map(({ Key, Value }) => ({ Name: `tag:${Key}`, Values: [Value!] })),
  ];
  return all.length === 0 ? {} : { Filters: all };
}

/** What was asked for stays as it was asked. */
function lookedUpTags(config: Fields, tags: Parameters<typeof tagsIn>[1]): Fields {
  const { tags: seen } = tagsIn({}, tags);
  return { tags: config.tags ?? seen ?? null };
}

function one<T>(what: string, found: readonly T[]): T {
  if (found.length === 0) throw new Error(`no matching ${what} found`);
  if (found.length > 1) throw new Error(`multiple ${what}s matched; use additional constraints to reduce matches to a single ${what}`);
  return found[0]!;
}
