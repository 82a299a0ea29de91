/** Gateways for IPv6, and endpoints of services. */
import {
  CreateEgressOnlyInternetGatewayCommand,
  CreateVpcEndpointCommand,
  DeleteEgressOnlyInternetGatewayCommand,
  DeleteVpcEndpointsCommand,
  DescribeEgressOnlyInternetGatewaysCommand,
  DescribeVpcEndpointsCommand,
  ModifyVpcEndpointCommand,
} from "@aws-sdk/client-ec2";
import type { Fields } from "../plan.ts";
import type { ResourceType } from "../plugin.ts";
import { type Aws, persist, retag, tagged, tagsIn, text, texts, unlessMissing, waitFor } from "./account.ts";

export function endpointTypes(aws: Aws): Readonly<Record<string, ResourceType>> {
  return { aws_egress_only_internet_gateway: egressOnlyGateway(aws), aws_vpc_endpoint: endpoint(aws) };
}

function egressOnlyGateway(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const asked = ec2.send(new DescribeEgressOnlyInternetGatewaysCommand({ EgressOnlyInternetGatewayIds: [text(state.id)] }));
    const found = (await unlessMissing(asked))?.EgressOnlyInternetGateways?.[0];
    if (found === undefined) return undefined;
    return { id: found.EgressOnlyInternetGatewayId!, vpc_id: found.Attachments![0]!.VpcId!, ...tagsIn(state, found.Tags) };
  };
  return {
    fixed: ["vpc_id"],
    read,
    async create(wanted) {
      const input = { VpcId: text(wanted.vpc_id), ...tagged("egress-only-internet-gateway", wanted.tags) };
      const made = await ec2.send(new CreateEgressOnlyInternetGatewayCommand(input));
      return (await read({ ...wanted, id: made.EgressOnlyInternetGateway!.EgressOnlyInternetGatewayId! }))!;
    },
    async update(before, wanted) {
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await ec2.send(new DeleteEgressOnlyInternetGatewayCommand({ EgressOnlyInternetGatewayId: text(id) }));
    },
  };
}

function endpoint(aws: Aws): ResourceType {
  const { ec2 } = aws;
  const find = async (id: string) =>
    (await unlessMissing(ec2.send(new DescribeVpcEndpointsCommand({ VpcEndpointIds: [id] }))))?.VpcEndpoints?.[0];
  const read = async (state: Fields): Promise<Fields | undefined> => {
    const found = await find(text(state.id));
    if (found === undefined) return undefined;
    return {
      id: found.VpcEndpointId!,
      vpc_id: found.VpcId!,
      service_name: found.ServiceName!,
      vpc_endpoint_type: found.VpcEndpointType!,
      state: found.State!,
      private_dns_enabled: found.PrivateDnsEnabled ?? false,
      route_table_ids: [...(found.RouteTableIds ?? [])].sort(),
      subnet_ids: [...(found.SubnetIds ?? [])].sort(),
      security_group_ids: (found.Groups ?? []).map(({ GroupId }) => GroupId!).sort(),
      network_interface_ids: [...(found.NetworkInterfaceIds ?? [])].sort(),
      ...tagsIn(state, found.Tags),
    };
  };
  const change = (before: Fields, wanted: Fields, key: string) => {
    const [old, now] = [texts(before[key]), texts(wanted[key])];
    return { add: now.filter((id) => !old.includes(id)), remove: old.filter((id) => !now.includes(id)) };
  };
  return {
    fixed: ["vpc_id", "service_name", "vpc_endpoint_type"],
    affects: { subnet_ids: ["network_interface_ids"] },
    read,
    async create(wanted) {
      const isInterface = wanted.vpc_endpoint_type === "Interface";
      const { VpcEndpoint } = await ec2.send(
        new CreateVpcEndpointCommand({
          VpcId: text(wanted.vpc_id),
          ServiceName: text(wanted.service_name),
          VpcEndpointType: isInterface ? "Interface" : "Gateway",
          ...(isInterface
            ? { SubnetIds: texts(wanted.subnet_ids), SecurityGroupIds: texts(wanted.security_group_ids), PrivateDnsEnabled: true }
            : { RouteTableIds: texts(wanted.route_table_ids) }),
          ...tagged("vpc-endpoint", wanted.tags),
        }),
      );
      const id = VpcEndpoint!.VpcEndpointId!;
      await waitFor(aws, `${id} to be available`, async () => (((await find(id))?.State as string) === "available" ? id : undefined));
      return (await read({ ...wanted, id }))!;
    },
    async update(before, wanted) {
      const [tables, subnets, groups] = ["route_table_ids", "subnet_ids", "security_group_ids"].map((key) => change(before, wanted, key));
      await ec2.send(
        new ModifyVpcEndpointCommand({
          VpcEndpointId: text(before.id),
          AddRouteTableIds: tables!.add,
          RemoveRouteTableIds: tables!.remove,
          AddSubnetIds: subnets!.add,
          RemoveSubnetIds: subnets!.remove,
          AddSecurityGroupIds: groups!.add,
          RemoveSecurityGroupIds: groups!.remove,
        }),
      );
      await retag(aws, text(before.id), before.tags, wanted.tags);
      return (await read(wanted))!;
    },
    async delete({ id }) {
      await persist(aws, `the end of ${text(id)}`, [], () => ec2.send(new DeleteVpcEndpointsCommand({ VpcEndpointIds: [text(id)] })));
      await waitFor(aws, `the end of ${text(id)}`, async () => ((await find(text(id))) === undefined ? true : undefined));
    },
  };
}
