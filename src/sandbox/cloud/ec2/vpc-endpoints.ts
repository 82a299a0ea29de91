/** Endpoints of AWS's services inside a VPC: interfaces in subnets, or a way in route tables. */
import {
  CreateVpcEndpoint$,
  type CreateVpcEndpointRequest,
  type CreateVpcEndpointResult,
  DeleteVpcEndpoints$,
  type DeleteVpcEndpointsRequest,
  type DeleteVpcEndpointsResult,
  DescribeVpcEndpoints$,
  type DescribeVpcEndpointsRequest,
  type DescribeVpcEndpointsResult,
  type VpcEndpoint as EndpointAnswer,
  ModifyVpcEndpoint$,
  type ModifyVpcEndpointRequest,
  type ModifyVpcEndpointResult,
  type State,
} from "@aws-sdk/client-ec2";
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import type { Table } from "../store.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { createServiceInterface, removeInterface } from "./interfaces.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import type { Ec2, Tags, Vpc } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";

export interface VpcEndpoint {
  readonly id: string;
  readonly vpcId: string;
  readonly service: string;
  readonly type: "Gateway" | "Interface";
  readonly state: "pending" | "available" | "deleting";
  readonly routeTableIds: readonly string[];
  /** By subnet. */
  readonly interfaces: Readonly<Record<string, string>>;
  readonly groupIds: readonly string[];
  readonly privateDns: boolean;
  readonly created: number;
  readonly tags: Tags;
}

const CREATION_MS = 60_000;
const DELETION_MS = 60_000;

/** Services that route tables lead to, with the prefix list of their addresses. */
const gatewayServices: Readonly<Record<string, string>> = { s3: "pl-63a5400a", dynamodb: "pl-02cd2c6b", s3express: "pl-02ca5e1e" };
const interfaceServices = ["autoscaling", "ec2", "ecr.api", "ecr.dkr", "elasticloadbalancing", "events", "kms", "logs", "s3", "sqs", "sts"];

/** Services whose names have China's own domain there, as DescribeVpcEndpointServices lists them; those of the others are as elsewhere. */
const chineseServices = ["autoscaling", "ec2", "ecr.api", "ecr.dkr", "s3", "sqs", "sts"];

/** The account's endpoints by id. */
export function vpcEndpoints(ec2: Ec2): Table<VpcEndpoint> {
  return ec2.account.store.table("ec2/vpc-endpoints");
}

export function vpcEndpointOperations(ec2: Ec2): Operations {
  return [
    write<CreateVpcEndpointRequest, CreateVpcEndpointResult>(
      CreateVpcEndpoint$,
      (input) => {
        const { ClientToken, ...parameters } = input;
        const { id } = ec2.tokens.once("CreateVpcEndpoint", ClientToken, parameters, () => create(ec2, input));
        return { ClientToken, VpcEndpoint: describe(ec2, vpcEndpoints(ec2).get(id)!) };
      },
      needsCreateTags,
    ),
    write<ModifyVpcEndpointRequest, ModifyVpcEndpointResult>(ModifyVpcEndpoint$, (input) => modify(ec2, input)),
    write<DeleteVpcEndpointsRequest, DeleteVpcEndpointsResult>(DeleteVpcEndpoints$, (input) => {
      for (const { id } of findAll(vpcEndpoints(ec2), KINDS.vpcEndpoint, input.VpcEndpointIds ?? [])) remove(ec2, id);
      return { Unsuccessful: [] };
    }),
    read<DescribeVpcEndpointsRequest, DescribeVpcEndpointsResult>(DescribeVpcEndpoints$, (input) => {
      const all = vpcEndpoints(ec2);
      const records = input.VpcEndpointIds?.length ? findAll(all, KINDS.vpcEndpoint, input.VpcEndpointIds) : all.values();
      const rule = { action: "DescribeVpcEndpoints", min: 5, max: 1000 };
      const { items, NextToken } = page(ec2, filtered(records, input.Filters, FILTERS), ({ id }) => id, input, rule);
      return { VpcEndpoints: items.map((endpoint) => describe(ec2, endpoint)), NextToken };
    }),
  ];
}

function create(ec2: Ec2, input: CreateVpcEndpointRequest): VpcEndpoint {
  const tags = specifiedTags(input.TagSpecifications, KINDS.vpcEndpoint);
  const vpc = find(ec2.vpcs, KINDS.vpc, input.VpcId ?? "");
  const service = input.ServiceName ?? "";
  const type = (input.VpcEndpointType ?? "Gateway") as VpcEndpoint["type"];
  const offered = type === "Gateway" ? Object.keys(gatewayServices) : interfaceServices;
  if (!offered.some((name) => service === serviceName(ec2.account, name, type))) {
    throw new ServiceError("InvalidServiceName", `The Vpc Endpoint Service '${service}' does not exist`);
  }
  const privateDns = type === "Interface" && (input.PrivateDnsEnabled ?? true);
  if (privateDns) checkPrivateDns(ec2, vpc, service);
  const id = ec2.account.ids.resource("vpce");
  const endpoint = vpcEndpoints(ec2).put(id, {
    ...{ id, vpcId: vpc.id, service, type, privateDns, tags },
    state: type === "Gateway" ? "available" : "pending",
    routeTableIds: [],
    interfaces: {},
    groupIds: type === "Gateway" ? [] : (input.SecurityGroupIds ?? [defaultGroup(ec2, vpc)]),
    created: ec2.account.time.now(),
  });
  try {
    addParts(ec2, endpoint, input.RouteTableIds ?? [], input.SubnetIds ?? []);
  } catch (error) {
    dropParts(ec2, vpcEndpoints(ec2).get(id)!);
    vpcEndpoints(ec2).delete(id);
    throw error;
  }
  ec2.account.time.after(CREATION_MS, () => {
    if (vpcEndpoints(ec2).get(id)?.state === "pending") vpcEndpoints(ec2).update(id, { state: "available" });
  });
  return endpoint;
}

function serviceName({ partition, region }: Pick<Account, "partition" | "region">, name: string, type: VpcEndpoint["type"]): string {
  const isChinese = partition === "aws-cn" && type === "Interface" && chineseServices.includes(name);
  return `${isChinese ? "cn." : ""}com.amazonaws.${region}.${name}`;
}

function checkPrivateDns(ec2: Ec2, vpc: Vpc, service: string): void {
  if (!vpc.dnsSupport || !vpc.dnsHostnames) {
    throw new ServiceError(
      "InvalidParameter",
      "Enabling private DNS requires both enableDnsSupport and enableDnsHostnames VPC attributes set to true",
    );
  }
  const taken = vpcEndpoints(ec2)
    .values()
    .some((each) => each.vpcId === vpc.id && each.service === service && each.privateDns && each.state !== "deleting");
  if (taken) {
    throw new ServiceError(
      "InvalidParameter",
      `private-dns-enabled cannot be set because there is already a conflicting DNS domain for ${service} in the VPC ${vpc.id}`,
    );
  }
}

function defaultGroup(ec2: Ec2, vpc: Vpc): string {
  return ec2.securityGroups.values().find(({ vpcId, name }) => vpcId === vpc.id && name === "default")!.id;
}

/** Routes of a gateway endpoint come and go with it; an interface endpoint has one interface per zone. */
function addParts(ec2: Ec2, { id }: VpcEndpoint, tables: readonly string[], subnets: readonly string[]): void {
  const all = vpcEndpoints(ec2);
  const { service, type } = all.get(id)!;
  for (const tableId of type === "Gateway" ? tables : []) {
    const table = find(ec2.routeTables, KINDS.routeTable, tableId);
    const destination = gatewayServices[service.split(".").at(-1)!]!;
    if (table.routes.some((route) => route.destination === destination)) {
      throw new ServiceError(
        "RouteAlreadyExists",
        `route table ${tableId} already has a route with destination-prefix-list-id ${destination}`,
      );
    }
    ec2.routeTables.update(tableId, {
      routes: [...table.routes, { destination, family: "prefix-list", target: { kind: "endpoint", id } }],
    });
    all.update(id, { routeTableIds: [...all.get(id)!.routeTableIds, tableId] });
  }
  for (const subnetId of type === "Interface" ? subnets : []) {
    const { zone } = find(ec2.subnets, KINDS.subnet, subnetId);
    const { interfaces, groupIds } = all.get(id)!;
    if (Object.keys(interfaces).some((other) => ec2.subnets.get(other)?.zone === zone)) {
      throw new ServiceError("DuplicateSubnetsInSameZone", `Found another VPC endpoint subnet in the availability zone of ${subnetId}.`);
    }
    const { id: interfaceId } = createServiceInterface(
      ec2,
      { requesterId: "727180483921", ownerId: "amazon-aws", publicIp: false },
      { subnetId, groupIds, description: `VPC Endpoint Interface ${id}`, interfaceType: "vpc_endpoint" },
    );
    all.update(id, { interfaces: { ...interfaces, [subnetId]: interfaceId } });
  }
}

function dropParts(ec2: Ec2, { id, routeTableIds, interfaces }: VpcEndpoint): void {
  dropRoutes(ec2, id, routeTableIds);
  for (const interfaceId of Object.values(interfaces)) removeInterface(ec2, interfaceId);
}

function dropRoutes(ec2: Ec2, id: string, tables: readonly string[]): void {
  for (const tableId of tables) {
    const table = ec2.routeTables.get(tableId);
    if (table === undefined) continue;
    const others = table.routes.filter(({ target }) => !(target.kind === "endpoint" && target.id === id));
    ec2.routeTables.update(tableId, { routes: others });
  }
}

function modify(ec2: Ec2, input: ModifyVpcEndpointRequest): ModifyVpcEndpointResult {
  const all = vpcEndpoints(ec2);
  const endpoint = find(all, KINDS.vpcEndpoint, input.VpcEndpointId ?? "");
  const gone = new Set(input.RemoveRouteTableIds);
  dropRoutes(ec2, endpoint.id, [...gone]);
  const leaving = input.RemoveSubnetIds ?? [];
  for (const subnetId of leaving) if (endpoint.interfaces[subnetId] !== undefined) removeInterface(ec2, endpoint.interfaces[subnetId]);
  const removedGroups = new Set(input.RemoveSecurityGroupIds);
  const groupIds = [...endpoint.groupIds.filter((group) => !removedGroups.has(group)), ...(input.AddSecurityGroupIds ?? [])];
  const interfaces = Object.fromEntries(Object.entries(endpoint.interfaces).filter(([subnetId]) => !leaving.includes(subnetId)));
  all.update(endpoint.id, { routeTableIds: endpoint.routeTableIds.filter((table) => !gone.has(table)), interfaces, groupIds });
  for (const interfaceId of Object.values(interfaces)) ec2.interfaces.update(interfaceId, { groupIds });
  addParts(ec2, endpoint, input.AddRouteTableIds ?? [], input.AddSubnetIds ?? []);
  return { Return: true };
}

function remove(ec2: Ec2, id: string): void {
  const all = vpcEndpoints(ec2);
  const endpoint = all.get(id)!;
  if (endpoint.state === "deleting") return;
  if (endpoint.type === "Gateway") {
    dropParts(ec2, endpoint);
    all.delete(id);
    return;
  }
  all.update(id, { state: "deleting" });
  ec2.account.time.after(DELETION_MS, () => {
    dropParts(ec2, all.get(id)!);
    all.delete(id);
  });
}

function describe(ec2: Ec2, endpoint: VpcEndpoint): EndpointAnswer {
  const { id, vpcId, service, type, state, routeTableIds, interfaces, groupIds, privateDns, created, tags } = endpoint;
  return {
    VpcEndpointId: id,
    VpcEndpointType: type,
    VpcId: vpcId,
    ServiceName: service,
    // EC2 answers in lower case, whatever the SDK's type has.
    State: state as State,
    RouteTableIds: [...routeTableIds],
    SubnetIds: Object.keys(interfaces),
    Groups: groupIds.map((GroupId) => ({ GroupId, GroupName: ec2.securityGroups.get(GroupId)?.name })),
    NetworkInterfaceIds: Object.values(interfaces),
    PrivateDnsEnabled: privateDns,
    RequesterManaged: false,
    OwnerId: ec2.account.id,
    CreationTimestamp: new Date(created),
    Tags: tagList(tags),
  };
}

const FILTERS: FilterTable<VpcEndpoint> = {
  ...tagFilters<VpcEndpoint>(),
  "service-name": ({ service }) => service,
  "vpc-endpoint-id": ({ id }) => id,
  "vpc-endpoint-state": ({ state }) => state,
  "vpc-endpoint-type": ({ type }) => type,
  "vpc-id": ({ vpcId }) => vpcId,
};
