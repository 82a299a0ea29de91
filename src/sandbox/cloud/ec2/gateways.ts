/** Internet gateways and NAT gateways: enough for routes to lead somewhere, and to become black holes. */
import {
  AttachInternetGateway$,
  type AttachInternetGatewayRequest,
  CreateInternetGateway$,
  type CreateInternetGatewayRequest,
  type CreateInternetGatewayResult,
  CreateNatGateway$,
  type CreateNatGatewayRequest,
  type CreateNatGatewayResult,
  DeleteInternetGateway$,
  type DeleteInternetGatewayRequest,
  DeleteNatGateway$,
  type DeleteNatGatewayRequest,
  type DeleteNatGatewayResult,
  DescribeInternetGateways$,
  type DescribeInternetGatewaysRequest,
  type DescribeInternetGatewaysResult,
  DescribeNatGateways$,
  type DescribeNatGatewaysRequest,
  type DescribeNatGatewaysResult,
  DetachInternetGateway$,
  type DetachInternetGatewayRequest,
  type InternetGateway as InternetGatewayAnswer,
  type NatGateway as NatGatewayAnswer,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { holdAddress } from "./addresses.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { createServiceInterface, removeInterface } from "./interfaces.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import type { Ec2, InternetGateway, NatGateway } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";

const NAT_CREATION_MS = 90_000;
const NAT_DELETION_MS = 45_000;
/** A deleted NAT gateway is shown for about an hour. */
const NAT_MEMORY_MS = 3_600_000;

/** The operations on both kinds of gateways. */
export function gatewayOperations(ec2: Ec2): Operations {
  return [
    write<CreateInternetGatewayRequest, CreateInternetGatewayResult>(
      CreateInternetGateway$,
      (input) => {
        const id = ec2.account.ids.resource("igw");
        const tags = specifiedTags(input.TagSpecifications, KINDS.internetGateway);
        return { InternetGateway: describeInternetGateway(ec2, ec2.internetGateways.put(id, { id, vpcId: undefined, tags })) };
      },
      needsCreateTags,
    ),
    write<AttachInternetGatewayRequest, void>(AttachInternetGateway$, (input) => attach(ec2, input.InternetGatewayId!, input.VpcId!)),
    write<DetachInternetGatewayRequest, void>(DetachInternetGateway$, (input) => detach(ec2, input.InternetGatewayId!, input.VpcId!)),
    write<DeleteInternetGatewayRequest, void>(DeleteInternetGateway$, (input) => {
      const gateway = find(ec2.internetGateways, KINDS.internetGateway, input.InternetGatewayId!);
      if (gateway.vpcId !== undefined) {
        throw new ServiceError("DependencyViolation", `The internetGateway '${gateway.id}' has dependencies and cannot be deleted.`);
      }
      ec2.internetGateways.delete(gateway.id);
    }),
    read<DescribeInternetGatewaysRequest, DescribeInternetGatewaysResult>(DescribeInternetGateways$, (input) => {
      const { InternetGatewayIds: ids } = input;
      const records = ids?.length ? findAll(ec2.internetGateways, KINDS.internetGateway, ids) : ec2.internetGateways.values();
      const rule = { action: "DescribeInternetGateways", min: 5, max: 1000 };
      const { items, NextToken } = page(ec2, filtered(records, input.Filters, internetFilters(ec2)), (gateway) => gateway.id, input, rule);
      return { InternetGateways: items.map((gateway) => describeInternetGateway(ec2, gateway)), NextToken };
    }),
    write<CreateNatGatewayRequest, CreateNatGatewayResult>(
      CreateNatGateway$,
      (input) => {
        const { ClientToken, ...parameters } = input;
        const { id } = ec2.tokens.once("CreateNatGateway", ClientToken, parameters, () => createNatGateway(ec2, input));
        return { ClientToken, NatGateway: describeNatGateway(ec2, ec2.natGateways.get(id)!) };
      },
      needsCreateTags,
    ),
    write<DeleteNatGatewayRequest, DeleteNatGatewayResult>(DeleteNatGateway$, (input) => ({
      NatGatewayId: deleteNatGateway(ec2, input.NatGatewayId!).id,
    })),
    read<DescribeNatGatewaysRequest, DescribeNatGatewaysResult>(DescribeNatGateways$, (input) => {
      const records = input.NatGatewayIds?.length
        ? findAll(ec2.natGateways, KINDS.natGateway, input.NatGatewayIds)
        : ec2.natGateways.values();
      const rule = { action: "DescribeNatGateways", min: 5, max: 1000 };
      const { items, NextToken } = page(ec2, filtered(records, input.Filter, NAT_FILTERS), (gateway) => gateway.id, input, rule);
      return { NatGateways: items.map((gateway) => describeNatGateway(ec2, gateway)), NextToken };
    }),
  ];
}

function attach(ec2: Ec2, id: string, vpcId: string): void {
  const gateway = find(ec2.internetGateways, KINDS.internetGateway, id);
  find(ec2.vpcs, KINDS.vpc, vpcId);
  if (gateway.vpcId !== undefined) {
    throw new ServiceError("Resource.AlreadyAssociated", `resource ${id} is already attached to network ${gateway.vpcId}`);
  }
  if (ec2.internetGateways.values().some((other) => other.vpcId === vpcId)) {
    throw new ServiceError("InvalidParameterValue", `Network ${vpcId} already has an internet gateway attached`);
  }
  ec2.internetGateways.update(id, { vpcId });
}

function detach(ec2: Ec2, id: string, vpcId: string): void {
  const gateway = find(ec2.internetGateways, KINDS.internetGateway, id);
  if (gateway.vpcId !== vpcId) throw new ServiceError("Gateway.NotAttached", `resource ${id} is not attached to network ${vpcId}`);
  const interfaces = ec2.interfaces.values().filter((networkInterface) => networkInterface.vpcId === vpcId);
  const mapped = ec2.addresses.values().some((address) => interfaces.some(({ id: own }) => own === address.association?.interfaceId));
  if (mapped || interfaces.some((networkInterface) => networkInterface.lentPublicIp !== undefined)) {
    throw new ServiceError(
      "DependencyViolation",
      `Network ${vpcId} has some mapped public address(es). Please unmap those public address(es) before detaching the gateway.`,
    );
  }
  ec2.internetGateways.update(id, { vpcId: undefined });
}

function createNatGateway(ec2: Ec2, input: CreateNatGatewayRequest): NatGateway {
  const tags = specifiedTags(input.TagSpecifications, KINDS.natGateway);
  const subnet = find(ec2.subnets, KINDS.subnet, input.SubnetId ?? "");
  const connectivity = input.ConnectivityType ?? "public";
  if (connectivity === "public" && input.AllocationId === undefined) {
    throw new ServiceError(
      "MissingParameter",
      "The request must include the AllocationId parameter. Add the required parameter and retry the request.",
    );
  }
  const id = ec2.account.ids.resource("nat");
  const { id: interfaceId } = createServiceInterface(
    ec2,
    { requesterId: `${ec2.account.id}`, ownerId: "amazon-aws", publicIp: false },
    {
      subnetId: subnet.id,
      description: `Interface for NAT Gateway ${id}`,
      interfaceType: "nat_gateway",
      privateAddress: input.PrivateIpAddress,
    },
  );
  if (input.AllocationId !== undefined) holdAddress(ec2, input.AllocationId, interfaceId, "nat-gateway");
  ec2.account.time.after(NAT_CREATION_MS, () => {
    if (ec2.natGateways.get(id)?.state === "pending") ec2.natGateways.update(id, { state: "available" });
  });
  return ec2.natGateways.put(id, {
    id,
    vpcId: subnet.vpcId,
    subnetId: subnet.id,
    connectivity,
    state: "pending",
    interfaceId,
    allocationId: input.AllocationId,
    created: ec2.account.time.now(),
    deleted: undefined,
    tags,
  });
}

function deleteNatGateway(ec2: Ec2, id: string): NatGateway {
  const gateway = find(ec2.natGateways, KINDS.natGateway, id);
  if (gateway.state === "deleting" || gateway.state === "deleted") return gateway;
  ec2.account.time.after(NAT_DELETION_MS, () => {
    removeInterface(ec2, gateway.interfaceId);
    ec2.natGateways.update(id, { state: "deleted", deleted: ec2.account.time.now() });
    ec2.account.time.forgetAfter(NAT_MEMORY_MS, () => ec2.natGateways.delete(id));
  });
  return ec2.natGateways.update(id, { state: "deleting" });
}

function describeInternetGateway(ec2: Ec2, gateway: InternetGateway): InternetGatewayAnswer {
  return {
    // EC2 says "available" of an attached internet gateway, whatever the SDK's type has.
    Attachments: gateway.vpcId === undefined ? [] : [{ State: "available" as "attached", VpcId: gateway.vpcId }],
    InternetGatewayId: gateway.id,
    OwnerId: ec2.account.id,
    Tags: tagList(gateway.tags),
  };
}

function describeNatGateway(ec2: Ec2, gateway: NatGateway): NatGatewayAnswer {
  const networkInterface = ec2.interfaces.get(gateway.interfaceId);
  const address = gateway.allocationId === undefined ? undefined : ec2.addresses.get(gateway.allocationId);
  return {
    CreateTime: new Date(gateway.created),
    DeleteTime: gateway.deleted === undefined ? undefined : new Date(gateway.deleted),
    NatGatewayAddresses: [
      {
        AllocationId: gateway.allocationId,
        AssociationId: address?.association?.id,
        NetworkInterfaceId: gateway.interfaceId,
        PrivateIp: networkInterface?.privateAddresses[0],
        PublicIp: address?.publicIp,
        IsPrimary: true,
        Status: "succeeded",
      },
    ],
    NatGatewayId: gateway.id,
    State: gateway.state,
    SubnetId: gateway.subnetId,
    VpcId: gateway.vpcId,
    Tags: tagList(gateway.tags),
    ConnectivityType: gateway.connectivity,
  };
}

function internetFilters(ec2: Ec2): FilterTable<InternetGateway> {
  return {
    ...tagFilters<InternetGateway>(),
    "attachment.state": (gateway) => (gateway.vpcId === undefined ? undefined : "available"),
    "attachment.vpc-id": (gateway) => gateway.vpcId,
    "internet-gateway-id": (gateway) => gateway.id,
    "owner-id": () => ec2.account.id,
  };
}

const NAT_FILTERS: FilterTable<NatGateway> = {
  ...tagFilters<NatGateway>(),
  "nat-gateway-id": (gateway) => gateway.id,
  state: (gateway) => gateway.state,
  "subnet-id": (gateway) => gateway.subnetId,
  "vpc-id": (gateway) => gateway.vpcId,
};
