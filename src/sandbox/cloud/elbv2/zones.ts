/** The nodes of a load balancer: one subnet a zone, each with an interface and its addresses. */
import type { AvailabilityZone, SubnetMapping } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Account } from "../account.ts";
import { checkedSubnets, checkRoom, invalidConfiguration, invalidSubnet, openInterface, releaseInterfaces } from "../balancing/network.ts";
import { holdAddress } from "../ec2/addresses.ts";
import { takeIpv6 } from "../ec2/interfaces.ts";
import type { Subnet } from "../ec2/state.ts";
import { ServiceError } from "../errors.ts";
import type { Elbv2, LoadBalancer, ZoneMapping } from "./state.ts";
import { TYPES } from "./types.ts";

/** What a load balancer is made of that its nodes depend on. */
export type Owner = Pick<LoadBalancer, "name" | "arn" | "type" | "scheme" | "ipAddressType" | "ipv6SourceNat" | "groupIds">;

export interface ZoneWish {
  readonly subnet: Subnet;
  readonly mapping: SubnetMapping;
}

/** The subnets asked for, by one of the two parameters, checked as far as that goes without making anything. */
export function zonesAsked(
  account: Account,
  input: { readonly Subnets?: string[] | undefined; readonly SubnetMappings?: SubnetMapping[] | undefined },
  scheme: LoadBalancer["scheme"],
): readonly ZoneWish[] {
  const { Subnets: ids = [], SubnetMappings: mappings = [] } = input;
  if (ids.length > 0 && mappings.length > 0) {
    throw new ServiceError("ValidationError", "Only one of 'subnets' or 'subnet mappings' can be specified");
  }
  const asked = mappings.length > 0 ? mappings : ids.map((SubnetId): SubnetMapping => ({ SubnetId }));
  if (asked.length === 0) throw new ServiceError("ValidationError", "At least one subnet must be specified");
  const subnets = checkedSubnets(
    account,
    asked.map((mapping) => mapping.SubnetId ?? ""),
    scheme === "internet-facing",
  );
  return subnets.map((subnet) => ({ subnet, mapping: checkedMapping(asked.find((one) => one.SubnetId === subnet.id)!, scheme) }));
}

/** Opens a node in each subnet. */
export function openZones(elbv2: Elbv2, owner: Owner, wishes: readonly ZoneWish[]): readonly ZoneMapping[] {
  const { account } = elbv2;
  checkRoom(
    account,
    wishes.map(({ subnet }) => subnet),
  );
  checkAddresses(account, owner, wishes);
  return wishes.map((wish) => openZone(account, owner, wish));
}

/** Gives up nodes, after the time that takes. */
export function closeZones(elbv2: Elbv2, zones: readonly ZoneMapping[]): void {
  releaseInterfaces(
    elbv2.account,
    zones.map((zone) => zone.interfaceId),
  );
}

/** The zones with IPv6 addresses, or without. */
export function withIpv6(elbv2: Elbv2, zones: readonly ZoneMapping[], wanted: boolean): readonly ZoneMapping[] {
  const { ec2 } = elbv2.account;
  const subnets = zones.map((zone) => ec2.subnets.get(zone.subnetId)!);
  if (wanted) checkIpv6(subnets);
  return zones.map((zone, index) => {
    const present = ec2.interfaces.get(zone.interfaceId)?.ipv6Addresses ?? [];
    if (wanted === present.length > 0) return zone;
    if (!wanted) ec2.pools.release(zone.subnetId, present);
    const ipv6Addresses = wanted ? takeIpv6(ec2, subnets[index]!, [], 1) : [];
    ec2.interfaces.update(zone.interfaceId, { ipv6Addresses });
    return { ...zone, ipv6Address: undefined };
  });
}

/** A zone as answers carry it: only addresses that the user chose are told. */
export function describeZone(zone: ZoneMapping): AvailabilityZone {
  const { publicIp: IpAddress, allocationId: AllocationId, privateAddress: PrivateIPv4Address, ipv6Address: IPv6Address } = zone;
  const chosen = AllocationId !== undefined || PrivateIPv4Address !== undefined || IPv6Address !== undefined;
  return {
    ZoneName: zone.zone,
    SubnetId: zone.subnetId,
    LoadBalancerAddresses: chosen ? [{ IpAddress, AllocationId, PrivateIPv4Address, IPv6Address }] : [],
    SourceNatIpv6Prefixes: zone.sourceNatPrefix === undefined ? undefined : [zone.sourceNatPrefix],
  };
}

function checkedMapping(mapping: SubnetMapping, scheme: LoadBalancer["scheme"]): SubnetMapping {
  if (mapping.AllocationId !== undefined && scheme === "internal") {
    throw invalidConfiguration("Elastic IP addresses cannot be specified for an internal load balancer");
  }
  if (mapping.PrivateIPv4Address !== undefined && scheme !== "internal") {
    throw invalidConfiguration("Private IPv4 addresses can only be specified for an internal load balancer");
  }
  return mapping;
}

function checkAddresses(account: Account, owner: Owner, wishes: readonly ZoneWish[]): void {
  const seen = new Set<string>();
  for (const { mapping } of wishes) {
    const { AllocationId: id } = mapping;
    if (mapping.IPv6Address !== undefined && owner.ipAddressType !== "dualstack") {
      throw invalidConfiguration("IPv6 addresses can only be specified for a dualstack load balancer");
    }
    if (id === undefined) continue;
    const address = account.ec2.addresses.get(id);
    if (address === undefined) throw new ServiceError("AllocationIdNotFound", `The allocation IDs '${id}' do not exist`);
    if (address.association !== undefined || seen.has(id)) {
      throw new ServiceError("ResourceInUse", `The allocation IDs '${id}' are not available for use`);
    }
    seen.add(id);
  }
  if (owner.ipAddressType === "dualstack") checkIpv6(wishes.map(({ subnet }) => subnet));
}

function checkIpv6(subnets: readonly Subnet[]): void {
  const without = subnets.find((subnet) => subnet.ipv6Cidr === undefined);
  if (without !== undefined) throw invalidSubnet(`The subnet '${without.id}' does not have an IPv6 CIDR block`);
}

function openZone(account: Account, owner: Owner, { subnet, mapping }: ZoneWish): ZoneMapping {
  const { ec2 } = account;
  const made = translated(mapping, () =>
    openInterface(account, {
      subnet,
      description: `ELB ${owner.arn.slice(owner.arn.indexOf("loadbalancer/") + "loadbalancer/".length)}`,
      interfaceType: TYPES[owner.type].interfaceType,
      ownerId: "amazon-aws",
      groupIds: owner.groupIds,
      publicIp: owner.scheme === "internet-facing" && mapping.AllocationId === undefined,
      privateAddress: mapping.PrivateIPv4Address,
      ipv6Address: mapping.IPv6Address,
      ipv6Count: owner.ipAddressType === "dualstack" ? 1 : 0,
    }),
  );
  const held = mapping.AllocationId === undefined ? undefined : holdAddress(ec2, mapping.AllocationId, made.id, "elasticloadbalancing");
  return {
    subnetId: subnet.id,
    zone: subnet.zone,
    interfaceId: made.id,
    allocationId: held?.id,
    publicIp: held?.publicIp,
    privateAddress: mapping.PrivateIPv4Address,
    ipv6Address: mapping.IPv6Address,
    sourceNatPrefix: owner.ipv6SourceNat === "on" ? (mapping.SourceNatIpv6Prefix ?? "auto_assigned") : undefined,
  };
}

/** What EC2 says of an address, in the words of this service. */
function translated<T>(mapping: SubnetMapping, open: () => T): T {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    if (error.code === "InvalidIPAddress.InUse") throw new ServiceError("ResourceInUse", error.message);
    throw invalidConfiguration(`Subnet '${mapping.SubnetId}': ${error.message}`);
  }
}
