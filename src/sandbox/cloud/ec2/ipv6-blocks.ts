/** IPv6 blocks that VPCs and subnets get after they are made, and the gateway by which their machines reach out and nobody reaches in. */
import {
  AssociateSubnetCidrBlock$,
  type AssociateSubnetCidrBlockRequest,
  type AssociateSubnetCidrBlockResult,
  AssociateVpcCidrBlock$,
  type AssociateVpcCidrBlockRequest,
  type AssociateVpcCidrBlockResult,
  CreateEgressOnlyInternetGateway$,
  type CreateEgressOnlyInternetGatewayRequest,
  type CreateEgressOnlyInternetGatewayResult,
  DeleteEgressOnlyInternetGateway$,
  type DeleteEgressOnlyInternetGatewayRequest,
  type DeleteEgressOnlyInternetGatewayResult,
  DescribeEgressOnlyInternetGateways$,
  type DescribeEgressOnlyInternetGatewaysRequest,
  type DescribeEgressOnlyInternetGatewaysResult,
  DisassociateSubnetCidrBlock$,
  type DisassociateSubnetCidrBlockRequest,
  type DisassociateSubnetCidrBlockResult,
  DisassociateVpcCidrBlock$,
  type DisassociateVpcCidrBlockRequest,
  type DisassociateVpcCidrBlockResult,
  type EgressOnlyInternetGateway as GatewayAnswer,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import type { Table } from "../store.ts";
import { filtered, tagFilters } from "./filters.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import type { Ec2, Tags } from "./state.ts";
import { ipv6Block } from "./subnets.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";
import { vpcIpv6AssociationId } from "./vpcs.ts";

export interface EgressOnlyGateway {
  readonly id: string;
  readonly vpcId: string;
  readonly tags: Tags;
}

/** The account's egress-only internet gateways by id. */
export function egressOnlyGateways(ec2: Ec2): Table<EgressOnlyGateway> {
  return ec2.account.store.table("ec2/egress-only-internet-gateways");
}

export function ipv6Operations(ec2: Ec2): Operations {
  return [
    write<AssociateVpcCidrBlockRequest, AssociateVpcCidrBlockResult>(AssociateVpcCidrBlock$, (input) => associateVpc(ec2, input)),
    write<DisassociateVpcCidrBlockRequest, DisassociateVpcCidrBlockResult>(DisassociateVpcCidrBlock$, (input) =>
      disassociateVpc(ec2, input.AssociationId!),
    ),
    write<AssociateSubnetCidrBlockRequest, AssociateSubnetCidrBlockResult>(AssociateSubnetCidrBlock$, (input) =>
      associateSubnet(ec2, input),
    ),
    write<DisassociateSubnetCidrBlockRequest, DisassociateSubnetCidrBlockResult>(DisassociateSubnetCidrBlock$, (input) =>
      disassociateSubnet(ec2, input.AssociationId!),
    ),
    write<CreateEgressOnlyInternetGatewayRequest, CreateEgressOnlyInternetGatewayResult>(
      CreateEgressOnlyInternetGateway$,
      (input) => {
        const { ClientToken, ...parameters } = input;
        const { id } = ec2.tokens.once("CreateEgressOnlyInternetGateway", ClientToken, parameters, () => createGateway(ec2, input));
        return { ClientToken, EgressOnlyInternetGateway: describe(egressOnlyGateways(ec2).get(id)!) };
      },
      needsCreateTags,
    ),
    write<DeleteEgressOnlyInternetGatewayRequest, DeleteEgressOnlyInternetGatewayResult>(DeleteEgressOnlyInternetGateway$, (input) => {
      const { id } = find(egressOnlyGateways(ec2), KINDS.egressOnlyGateway, input.EgressOnlyInternetGatewayId!);
      egressOnlyGateways(ec2).delete(id);
      return { ReturnCode: true };
    }),
    read<DescribeEgressOnlyInternetGatewaysRequest, DescribeEgressOnlyInternetGatewaysResult>(
      DescribeEgressOnlyInternetGateways$,
      (input) => {
        const { EgressOnlyInternetGatewayIds: ids } = input;
        const all = egressOnlyGateways(ec2);
        const records = ids?.length ? findAll(all, KINDS.egressOnlyGateway, ids) : all.values();
        const rule = { action: "DescribeEgressOnlyInternetGateways", min: 5, max: 255 };
        const { items, NextToken } = page(
          ec2,
          filtered(records, input.Filters, tagFilters<EgressOnlyGateway>()),
          ({ id }) => id,
          input,
          rule,
        );
        return { EgressOnlyInternetGateways: items.map(describe), NextToken };
      },
    ),
  ];
}

function createGateway(ec2: Ec2, input: CreateEgressOnlyInternetGatewayRequest): EgressOnlyGateway {
  const tags = specifiedTags(input.TagSpecifications, KINDS.egressOnlyGateway);
  const { id: vpcId } = find(ec2.vpcs, KINDS.vpc, input.VpcId ?? "");
  const id = ec2.account.ids.resource("eigw");
  return egressOnlyGateways(ec2).put(id, { id, vpcId, tags });
}

function describe({ id, vpcId, tags }: EgressOnlyGateway): GatewayAnswer {
  return { EgressOnlyInternetGatewayId: id, Attachments: [{ State: "attached", VpcId: vpcId }], Tags: tagList(tags) };
}

function associateVpc(ec2: Ec2, input: AssociateVpcCidrBlockRequest): AssociateVpcCidrBlockResult {
  const vpc = find(ec2.vpcs, KINDS.vpc, input.VpcId ?? "");
  if (!input.AmazonProvidedIpv6CidrBlock) {
    throw new ServiceError("OperationNotPermitted", "The simulated cloud gives VPCs further blocks of IPv6 by Amazon alone.");
  }
  if (vpc.ipv6Cidr !== undefined) {
    throw new ServiceError("OperationNotPermitted", "The simulated cloud gives a VPC one block of IPv6, and this one has it.");
  }
  const ipv6Cidr = ec2.pools.takeIpv6Block();
  ec2.vpcs.update(vpc.id, { ipv6Cidr });
  for (const table of ec2.routeTables.values().filter(({ vpcId }) => vpcId === vpc.id)) {
    ec2.routeTables.update(table.id, { routes: [...table.routes, { destination: ipv6Cidr, family: 6, target: { kind: "local" } }] });
  }
  const Ipv6CidrBlockAssociation = {
    AssociationId: vpcIpv6AssociationId(vpc),
    Ipv6CidrBlock: ipv6Cidr,
    Ipv6CidrBlockState: { State: "associating" as const },
  };
  return { VpcId: vpc.id, Ipv6CidrBlockAssociation };
}

function disassociateVpc(ec2: Ec2, id: string): DisassociateVpcCidrBlockResult {
  const vpc = ec2.vpcs.values().find((each) => each.ipv6Cidr !== undefined && vpcIpv6AssociationId(each) === id);
  if (vpc === undefined) {
    throw new ServiceError("InvalidVpcCidrBlockAssociationID.NotFound", `The vpc CIDR block association ID '${id}' does not exist`);
  }
  if (ec2.subnets.values().some((subnet) => subnet.vpcId === vpc.id && subnet.ipv6Cidr !== undefined)) {
    throw new ServiceError("DependencyViolation", `The vpc '${vpc.id}' has subnets in its IPv6 block, which cannot be taken away.`);
  }
  for (const table of ec2.routeTables.values().filter(({ vpcId }) => vpcId === vpc.id)) {
    ec2.routeTables.update(table.id, { routes: table.routes.filter(({ destination }) => destination !== vpc.ipv6Cidr) });
  }
  ec2.vpcs.update(vpc.id, { ipv6Cidr: undefined });
  return { VpcId: vpc.id };
}

function associateSubnet(ec2: Ec2, input: AssociateSubnetCidrBlockRequest): AssociateSubnetCidrBlockResult {
  const subnet = find(ec2.subnets, KINDS.subnet, input.SubnetId ?? "");
  if (subnet.ipv6Cidr !== undefined) {
    throw new ServiceError("InvalidParameterValue", `Subnet '${subnet.id}' has an IPv6 block already.`);
  }
  const ipv6Cidr = ipv6Block(ec2, ec2.vpcs.get(subnet.vpcId)!, input.Ipv6CidrBlock ?? "");
  const ipv6AssociationId = ec2.account.ids.resource("subnet-cidr-assoc");
  ec2.subnets.update(subnet.id, { ipv6Cidr, ipv6AssociationId });
  const Ipv6CidrBlockAssociation = {
    AssociationId: ipv6AssociationId,
    Ipv6CidrBlock: ipv6Cidr,
    Ipv6CidrBlockState: { State: "associating" as const },
  };
  return { SubnetId: subnet.id, Ipv6CidrBlockAssociation };
}

function disassociateSubnet(ec2: Ec2, id: string): DisassociateSubnetCidrBlockResult {
  const subnet = ec2.subnets.values().find(({ ipv6AssociationId }) => ipv6AssociationId === id);
  if (subnet === undefined) {
    throw new ServiceError("InvalidSubnetCidrBlockAssociationID.NotFound", `The subnet CIDR block association ID '${id}' does not exist`);
  }
  if (ec2.interfaces.values().some(({ subnetId, ipv6Addresses }) => subnetId === subnet.id && ipv6Addresses.length > 0)) {
    throw new ServiceError("DependencyViolation", `The subnet '${subnet.id}' has IPv6 addresses in use.`);
  }
  ec2.subnets.update(subnet.id, { ipv6Cidr: undefined, ipv6AssociationId: undefined, ipv6OnLaunch: false });
  return { SubnetId: subnet.id };
}
