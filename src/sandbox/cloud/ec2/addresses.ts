/** Elastic addresses: allocated, associated with an interface, released. */
import {
  type Address as AddressAnswer,
  AllocateAddress$,
  type AllocateAddressRequest,
  type AllocateAddressResult,
  AssociateAddress$,
  type AssociateAddressRequest,
  type AssociateAddressResult,
  DescribeAddresses$,
  type DescribeAddressesRequest,
  type DescribeAddressesResult,
  DisassociateAddress$,
  type DisassociateAddressRequest,
  ReleaseAddress$,
  type ReleaseAddressRequest,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import type { Ec2, ElasticAddress, NetworkInterface } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";
import { zonesOf } from "./zones.ts";

/** The operations on addresses. */
export function addressOperations(ec2: Ec2): Operations {
  return [
    write<AllocateAddressRequest, AllocateAddressResult>(
      AllocateAddress$,
      (input) => {
        const address = allocate(ec2, input);
        return {
          PublicIp: address.publicIp,
          AllocationId: address.id,
          PublicIpv4Pool: "amazon",
          NetworkBorderGroup: borderGroupOf(ec2, address),
          Domain: "vpc",
        };
      },
      needsCreateTags,
    ),
    write<AssociateAddressRequest, AssociateAddressResult>(AssociateAddress$, (input) => ({ AssociationId: associate(ec2, input) })),
    write<DisassociateAddressRequest, void>(DisassociateAddress$, (input) => disassociate(ec2, input)),
    write<ReleaseAddressRequest, void>(ReleaseAddress$, (input) => release(ec2, input)),
    read<DescribeAddressesRequest, DescribeAddressesResult>(DescribeAddresses$, (input) => {
      const records = input.AllocationIds?.length ? findAll(ec2.addresses, KINDS.allocation, input.AllocationIds) : ec2.addresses.values();
      for (const ip of input.PublicIps ?? []) byPublicIp(ec2, ip);
      const asked = records.filter((address) => !input.PublicIps?.length || input.PublicIps.includes(address.publicIp));
      return { Addresses: filtered(asked, input.Filters, filterTable(ec2)).map((address) => describeAddress(ec2, address)) };
    }),
  ];
}

/** Gives a user's address to an interface that a service holds. */
export function holdAddress(ec2: Ec2, allocationId: string, interfaceId: string, service: string): ElasticAddress {
  const address = find(ec2.addresses, KINDS.allocation, allocationId);
  if (address.association !== undefined) {
    throw new ServiceError(
      "Resource.AlreadyAssociated",
      `resource ${allocationId} is already associated with associate-id ${address.association.id}`,
    );
  }
  const networkInterface = find(ec2.interfaces, KINDS.networkInterface, interfaceId);
  return ec2.addresses.update(address.id, { association: associationWith(ec2, networkInterface, undefined), managedBy: service });
}

function allocate(ec2: Ec2, input: AllocateAddressRequest): ElasticAddress {
  const tags = specifiedTags(input.TagSpecifications, KINDS.allocation);
  if (ec2.addresses.size >= ec2.account.settings().quotas.addresses) {
    throw new ServiceError("AddressLimitExceeded", "The maximum number of addresses has been reached.");
  }
  const { NetworkBorderGroup: borderGroup } = input;
  if (borderGroup !== undefined && !zonesOf(ec2.account.region, ec2.account.id).some((zone) => zone.borderGroup === borderGroup)) {
    throw new ServiceError("InvalidParameterValue", `Invalid network border group: ${borderGroup}`);
  }
  const id = ec2.account.ids.resource("eipalloc");
  const address = { id, publicIp: ec2.pools.takePublic(), association: undefined, managedBy: undefined, tags };
  return ec2.addresses.put(id, borderGroup === undefined ? address : { ...address, borderGroup });
}

/** Where an address is advertised from: the region, if nothing else was asked for. */
function borderGroupOf(ec2: Ec2, { borderGroup = ec2.account.region }: ElasticAddress): string {
  return borderGroup;
}

function associate(ec2: Ec2, input: AssociateAddressRequest): string {
  const address = addressGiven(ec2, input);
  const networkInterface = interfaceGiven(ec2, input);
  if (!ec2.internetGateways.values().some((gateway) => gateway.vpcId === networkInterface.vpcId)) {
    throw new ServiceError("Gateway.NotAttached", `Network ${networkInterface.vpcId} is not attached to any internet gateway`);
  }
  const association = associationWith(ec2, networkInterface, input.PrivateIpAddress);
  const { association: current } = address;
  if (current?.interfaceId === association.interfaceId && current.privateIp === association.privateIp) return current.id;
  if (current !== undefined && !input.AllowReassociation) {
    throw new ServiceError("Resource.AlreadyAssociated", `resource ${address.id} is already associated with associate-id ${current.id}`);
  }
  refuseManaged(address);
  for (const other of ec2.addresses.values()) {
    if (other.association?.interfaceId === association.interfaceId && other.association.privateIp === association.privateIp) {
      if (!input.AllowReassociation && other.id !== address.id) {
        throw new ServiceError(
          "Resource.AlreadyAssociated",
          `resource ${networkInterface.id} is already associated with address ${other.publicIp}`,
        );
      }
      ec2.addresses.update(other.id, { association: undefined });
    }
  }
  ec2.addresses.update(address.id, { association });
  // An address of the user's own replaces the one AWS lent.
  if (networkInterface.lentPublicIp !== undefined && association.privateIp === networkInterface.privateAddresses[0]) {
    ec2.pools.releasePublic(networkInterface.lentPublicIp);
    ec2.interfaces.update(networkInterface.id, { lentPublicIp: undefined });
  }
  return association.id;
}

function associationWith(
  ec2: Ec2,
  networkInterface: NetworkInterface,
  privateIp: string | undefined,
): NonNullable<ElasticAddress["association"]> {
  const ip = privateIp ?? networkInterface.privateAddresses[0];
  if (ip === undefined || !networkInterface.privateAddresses.includes(ip)) {
    throw new ServiceError("InvalidParameterValue", `Private address ${ip ?? ""} is not assigned to interface ${networkInterface.id}`);
  }
  return { id: ec2.account.ids.resource("eipassoc"), interfaceId: networkInterface.id, privateIp: ip };
}

function disassociate(ec2: Ec2, input: DisassociateAddressRequest): void {
  const address =
    input.AssociationId === undefined
      ? byPublicIp(ec2, input.PublicIp ?? "")
      : ec2.addresses.values().find((other) => other.association?.id === input.AssociationId);
  if (address === undefined)
    throw new ServiceError("InvalidAssociationID.NotFound", `The association ID '${input.AssociationId}' does not exist`);
  refuseManaged(address);
  ec2.addresses.update(address.id, { association: undefined });
}

function release(ec2: Ec2, input: ReleaseAddressRequest): void {
  const address = addressGiven(ec2, input);
  if (address.association !== undefined) throw new ServiceError("InvalidIPAddress.InUse", `Address ${address.id} is in use.`);
  ec2.pools.releasePublic(address.publicIp);
  ec2.addresses.delete(address.id);
}

function refuseManaged(address: ElasticAddress): void {
  if (address.managedBy !== undefined)
    throw new ServiceError("AuthFailure", "You do not have permission to access the specified resource.", 401);
}

function addressGiven(
  ec2: Ec2,
  input: { readonly AllocationId?: string | undefined; readonly PublicIp?: string | undefined },
): ElasticAddress {
  if (input.AllocationId !== undefined) return find(ec2.addresses, KINDS.allocation, input.AllocationId);
  if (input.PublicIp !== undefined) return byPublicIp(ec2, input.PublicIp);
  throw new ServiceError("MissingParameter", "Either public IP or allocation id must be specified");
}

function byPublicIp(ec2: Ec2, ip: string): ElasticAddress {
  const address = ec2.addresses.values().find((other) => other.publicIp === ip);
  if (address === undefined) throw new ServiceError("InvalidAddress.NotFound", `Address '${ip}' not found.`);
  return address;
}

function interfaceGiven(ec2: Ec2, input: AssociateAddressRequest): NetworkInterface {
  if (input.NetworkInterfaceId !== undefined) return find(ec2.interfaces, KINDS.networkInterface, input.NetworkInterfaceId);
  if (input.InstanceId === undefined)
    throw new ServiceError("MissingParameter", "Either 'instanceId' or 'networkInterfaceId' must be specified");
  const instance = find(ec2.instances, KINDS.instance, input.InstanceId);
  if (instance.interfaceIds.length !== 1) {
    throw new ServiceError("InvalidInstanceID", `The instance '${instance.id}' does not have exactly one network interface attached.`);
  }
  return find(ec2.interfaces, KINDS.networkInterface, instance.interfaceIds[0]!);
}

function describeAddress(ec2: Ec2, address: ElasticAddress): AddressAnswer {
  const { association } = address;
  const networkInterface = association === undefined ? undefined : ec2.interfaces.get(association.interfaceId);
  return {
    AllocationId: address.id,
    AssociationId: association?.id,
    Domain: "vpc",
    NetworkInterfaceId: association?.interfaceId,
    NetworkInterfaceOwnerId: association === undefined ? undefined : ec2.account.id,
    PrivateIpAddress: association?.privateIp,
    Tags: tagList(address.tags),
    PublicIpv4Pool: "amazon",
    NetworkBorderGroup: borderGroupOf(ec2, address),
    InstanceId: networkInterface?.attachment?.instanceId,
    PublicIp: address.publicIp,
  };
}

function filterTable(ec2: Ec2): FilterTable<ElasticAddress> {
  return {
    ...tagFilters<ElasticAddress>(),
    "allocation-id": (address) => address.id,
    "association-id": (address) => address.association?.id,
    domain: () => "vpc",
    "instance-id": (address) => describeAddress(ec2, address).InstanceId,
    "network-border-group": (address) => borderGroupOf(ec2, address),
    "network-interface-id": (address) => address.association?.interfaceId,
    "network-interface-owner-id": (address) => (address.association === undefined ? undefined : ec2.account.id),
    "private-ip-address": (address) => address.association?.privateIp,
    "public-ip": (address) => address.publicIp,
  };
}
