/** VPCs, their attributes and their DHCP options. */
import {
  CreateVpc$,
  type CreateVpcRequest,
  type CreateVpcResult,
  DeleteVpc$,
  type DeleteVpcRequest,
  DescribeDhcpOptions$,
  type DescribeDhcpOptionsRequest,
  type DescribeDhcpOptionsResult,
  DescribeVpcAttribute$,
  type DescribeVpcAttributeRequest,
  type DescribeVpcAttributeResult,
  DescribeVpcs$,
  type DescribeVpcsRequest,
  type DescribeVpcsResult,
  ModifyVpcAttribute$,
  type ModifyVpcAttributeRequest,
  type Vpc as VpcAnswer,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { formatBlock, parseBlock } from "./cidr.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { egressOnlyGateways } from "./ipv6-blocks.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { privateDomain } from "./names.ts";
import { page } from "./pages.ts";
import { createMainTable } from "./route-tables.ts";
import { createDefaultGroup } from "./security-groups.ts";
import type { Ec2, Vpc } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";
import { vpcEndpoints } from "./vpc-endpoints.ts";

/** The operations on VPCs. */
export function vpcOperations(ec2: Ec2): Operations {
  return [
    write<CreateVpcRequest, CreateVpcResult>(CreateVpc$, (input) => ({ Vpc: describe(ec2, createVpc(ec2, input)) }), needsCreateTags),
    write<DeleteVpcRequest, void>(DeleteVpc$, (input) => deleteVpc(ec2, input.VpcId!)),
    read<DescribeVpcsRequest, DescribeVpcsResult>(DescribeVpcs$, (input) => {
      const records = input.VpcIds?.length ? findAll(ec2.vpcs, KINDS.vpc, input.VpcIds) : ec2.vpcs.values();
      const { items, NextToken } = page(ec2, filtered(records, input.Filters, filterTable(ec2)), (vpc) => vpc.id, input, {
        action: "DescribeVpcs",
        min: 5,
        max: 1000,
      });
      return { Vpcs: items.map((vpc) => describe(ec2, vpc)), NextToken };
    }),
    read<DescribeVpcAttributeRequest, DescribeVpcAttributeResult>(DescribeVpcAttribute$, (input) => {
      const vpc = find(ec2.vpcs, KINDS.vpc, input.VpcId!);
      if (input.Attribute === "enableDnsSupport") return { VpcId: vpc.id, EnableDnsSupport: { Value: vpc.dnsSupport } };
      if (input.Attribute === "enableDnsHostnames") return { VpcId: vpc.id, EnableDnsHostnames: { Value: vpc.dnsHostnames } };
      return { VpcId: vpc.id, EnableNetworkAddressUsageMetrics: { Value: false } };
    }),
    write<ModifyVpcAttributeRequest, void>(ModifyVpcAttribute$, (input) => {
      const vpc = find(ec2.vpcs, KINDS.vpc, input.VpcId!);
      ec2.vpcs.update(vpc.id, {
        dnsSupport: input.EnableDnsSupport?.Value ?? vpc.dnsSupport,
        dnsHostnames: input.EnableDnsHostnames?.Value ?? vpc.dnsHostnames,
      });
    }),
    read<DescribeDhcpOptionsRequest, DescribeDhcpOptionsResult>(DescribeDhcpOptions$, (input) => describeDhcpOptions(ec2, input)),
  ];
}

/** A VPC with its main route table and its default security group. */
export function createVpc(ec2: Ec2, input: CreateVpcRequest): Vpc {
  const tags = specifiedTags(input.TagSpecifications, KINDS.vpc);
  const block = parseBlock(input.CidrBlock ?? "");
  if (input.CidrBlock === undefined)
    throw new ServiceError("MissingParameter", "Either 'cidrBlock' or 'ipv4IpamPoolId' should be provided.");
  if (block?.family !== 4)
    throw new ServiceError(
      "InvalidParameterValue",
      `Value (${input.CidrBlock}) for parameter cidrBlock is invalid. This is not a valid CIDR block.`,
    );
  if (block.prefix < 16 || block.prefix > 28) throw new ServiceError("InvalidVpc.Range", `The CIDR '${input.CidrBlock}' is invalid.`);
  if (ec2.vpcs.size >= ec2.account.settings().quotas.vpcsPerRegion) {
    throw new ServiceError("VpcLimitExceeded", "The maximum number of VPCs has been reached.");
  }
  const id = ec2.account.ids.resource("vpc");
  const vpc = ec2.vpcs.put(id, {
    id,
    cidrs: [formatBlock(block)],
    ipv6Cidr: input.AmazonProvidedIpv6CidrBlock ? ec2.pools.takeIpv6Block() : undefined,
    isDefault: false,
    dnsSupport: true,
    dnsHostnames: false,
    dhcpOptionsId: defaultDhcpOptionsId(ec2),
    tags,
  });
  createMainTable(ec2, vpc);
  createDefaultGroup(ec2, vpc.id);
  return vpc;
}

function deleteVpc(ec2: Ec2, id: string): void {
  const vpc = find(ec2.vpcs, KINDS.vpc, id);
  const inVpc = (record: { readonly vpcId: string | undefined }) => record.vpcId === vpc.id;
  const tables = ec2.routeTables.values().filter(inVpc);
  const groups = ec2.securityGroups.values().filter(inVpc);
  const blocked =
    ec2.subnets.values().some(inVpc) ||
    ec2.interfaces.values().some(inVpc) ||
    ec2.internetGateways.values().some(inVpc) ||
    egressOnlyGateways(ec2).values().some(inVpc) ||
    vpcEndpoints(ec2).values().some(inVpc) ||
    groups.some((group) => group.name !== "default") ||
    tables.some((table) => !table.associations.some((association) => association.main));
  if (blocked) throw new ServiceError("DependencyViolation", `The vpc '${id}' has dependencies and cannot be deleted.`);
  for (const table of tables) ec2.routeTables.delete(table.id);
  for (const group of groups) ec2.securityGroups.delete(group.id);
  for (const rule of ec2.rules.values()) if (groups.some((group) => group.id === rule.groupId)) ec2.rules.delete(rule.id);
  ec2.vpcs.delete(vpc.id);
}

/** By what a VPC's IPv6 block is taken away. */
export function vpcIpv6AssociationId({ id }: Pick<Vpc, "id">): string {
  return `vpc-cidr-assoc-1${id.slice(5)}`;
}

function describe(ec2: Ec2, vpc: Vpc): VpcAnswer {
  return {
    OwnerId: ec2.account.id,
    InstanceTenancy: "default",
    Ipv6CidrBlockAssociationSet:
      vpc.ipv6Cidr === undefined
        ? []
        : [
            {
              AssociationId: vpcIpv6AssociationId(vpc),
              Ipv6CidrBlock: vpc.ipv6Cidr,
              Ipv6CidrBlockState: { State: "associated" },
              NetworkBorderGroup: ec2.account.region,
              Ipv6Pool: "Amazon",
            },
          ],
    CidrBlockAssociationSet: vpc.cidrs.map((CidrBlock) => ({
      AssociationId: `vpc-cidr-assoc-${vpc.id.slice(4)}`,
      CidrBlock,
      CidrBlockState: { State: "associated" },
    })),
    IsDefault: vpc.isDefault,
    Tags: tagList(vpc.tags),
    VpcId: vpc.id,
    State: "available",
    CidrBlock: vpc.cidrs[0],
    DhcpOptionsId: vpc.dhcpOptionsId,
  };
}

function filterTable(ec2: Ec2): FilterTable<Vpc> {
  return {
    ...tagFilters<Vpc>(),
    cidr: (vpc) => vpc.cidrs[0],
    "cidr-block-association.cidr-block": (vpc) => vpc.cidrs,
    "cidr-block-association.state": () => "associated",
    "dhcp-options-id": (vpc) => vpc.dhcpOptionsId,
    "ipv6-cidr-block-association.ipv6-cidr-block": (vpc) => vpc.ipv6Cidr,
    "is-default": (vpc) => vpc.isDefault,
    // The older name, which programs still use.
    isDefault: (vpc) => vpc.isDefault,
    "owner-id": () => ec2.account.id,
    state: () => "available",
    "vpc-id": (vpc) => vpc.id,
  };
}

/** AWS makes one set of DHCP options for each account and region; it has no life of its own. */
function defaultDhcpOptionsId(ec2: Ec2): string {
  return `dopt-0${ec2.account.id}abcd`;
}

function describeDhcpOptions(ec2: Ec2, input: DescribeDhcpOptionsRequest): DescribeDhcpOptionsResult {
  const id = defaultDhcpOptionsId(ec2);
  const unknown = input.DhcpOptionsIds?.find((wanted) => wanted !== id);
  if (unknown !== undefined) throw new ServiceError("InvalidDhcpOptionID.NotFound", `The dhcpOption ID '${unknown}' does not exist`);
  const table: FilterTable<{ readonly id: string; readonly tags: Record<string, string> }> = {
    ...tagFilters(),
    "dhcp-options-id": (options) => options.id,
    key: () => ["domain-name", "domain-name-servers"],
    value: () => [privateDomain(ec2), "AmazonProvidedDNS"],
    "owner-id": () => ec2.account.id,
  };
  return {
    DhcpOptions: filtered([{ id, tags: {} }], input.Filters, table).map(() => ({
      OwnerId: ec2.account.id,
      Tags: [],
      DhcpOptionsId: id,
      DhcpConfigurations: [
        { Key: "domain-name", Values: [{ Value: privateDomain(ec2) }] },
        { Key: "domain-name-servers", Values: [{ Value: "AmazonProvidedDNS" }] },
      ],
    })),
  };
}
