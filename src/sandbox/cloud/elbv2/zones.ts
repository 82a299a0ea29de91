/** The nodes of a load balancer: one subnet a zone, each with an interface and its addresses. */
import type { AvailabilityZone, SubnetMapping } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Account } from "../account.ts";
import { checkedSubnets, checkRoom, invalidConfiguration, invalidSubnet, openInterface, releaseInterfaces } from "../balancing/network.ts";
import { holdAddress } from "../ec2/addresses.ts";
import { contains, parseBlock } from "../ec2/cidr.ts";
import { takeIpv6 } from "../ec2/interfaces.ts";
import type { Subnet } from "../ec2/state.ts";
import { zoneNamed } from "../ec2/zones.ts";
import { ServiceError } from "../errors.ts";
import type { Elbv2, LoadBalancer, ZoneMapping } from "./state.ts";
import { TYPES } from "./types.ts";

/** What a load balancer is made of that its nodes depend on. */
export type Owner = Pick<LoadBalancer, "name" | "arn" | "type" | "scheme" | "ipAddressType" | "ipv6SourceNat" | "groupIds">;

/** A subnet that exists, and what was asked for in it. */
export interface ZoneWish {
  readonly subnet: Subnet;
  readonly mapping: SubnetMapping;
}

/** The subnets asked for, by one of the two parameters, checked as far as that goes without making anything. */
export function zonesAsked(
  account: Account,
  input: { readonly Subnets?: string[] | undefined; readonly SubnetMappings?: SubnetMapping[] | undefined },
  { type, scheme }: Pick<LoadBalancer, "type" | "scheme">,
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
  const { minSubnets } = TYPES[type];
  // A load balancer of a local zone or an Outpost has no second zone to stand in.
  const regional = subnets.every((subnet) => zoneNamed(account.ec2, subnet.zone, undefined)?.type === "availability-zone");
  if (regional && subnets.length < minSubnets) {
    throw new ServiceError("ValidationError", "At least two subnets in two different Availability Zones must be specified");
  }
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

/** Zones that stay, brought to the address family and source NAT of their load balancer, with the addresses that are asked for. */
export function adaptZones(
  elbv2: Elbv2,
  { ipAddressType, ipv6SourceNat }: Pick<Owner, "ipAddressType" | "ipv6SourceNat">,
  zones: readonly ZoneMapping[],
  wishes: readonly ZoneWish[] = [],
): readonly ZoneMapping[] {
  const { ec2 } = elbv2.account;
  const dualstack = isDualstack({ ipAddressType });
  if (dualstack) checkIpv6(zones.map((zone) => ec2.subnets.get(zone.subnetId)!));
  return zones.map((zone) => {
    const subnet = ec2.subnets.get(zone.subnetId)!;
    const { ipv6Addresses } = ec2.interfaces.get(zone.interfaceId)!;
    const { IPv6Address: address, SourceNatIpv6Prefix: prefix } = wishes.find((wish) => wish.subnet.id === zone.subnetId)?.mapping ?? {};
    let changed = zone;
    if (dualstack !== ipv6Addresses.length > 0) {
      ec2.pools.release(zone.subnetId, ipv6Addresses);
      const given = address === undefined ? [] : [address];
      ec2.interfaces.update(zone.interfaceId, { ipv6Addresses: dualstack ? takeIpv6(ec2, subnet, given, 1) : [] });
      changed = { ...changed, ipv6Address: dualstack ? address : undefined };
    }
    const isOther = prefix !== undefined && prefix !== "auto_assigned" && prefix !== zone.sourceNatPrefix;
    if ((ipv6SourceNat === "on") !== (zone.sourceNatPrefix !== undefined) || (ipv6SourceNat === "on" && isOther)) {
      ec2.pools.releasePrefixes(zone.subnetId, zone.sourceNatPrefix === undefined ? [] : [zone.sourceNatPrefix]);
      const sourceNatPrefix = ipv6SourceNat === "on" ? takeSourceNat(elbv2.account, subnet, zone.interfaceId, prefix) : undefined;
      changed = { ...changed, sourceNatPrefix };
    }
    return changed;
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

/** Whether IPv6 clients can reach it, with IPv4 ones or without those of the internet. */
function isDualstack({ ipAddressType }: Pick<Owner, "ipAddressType">): boolean {
  return ipAddressType !== "ipv4";
}

function hasPublicIpv4({ scheme, ipAddressType }: Pick<Owner, "scheme" | "ipAddressType">): boolean {
  return scheme === "internet-facing" && ipAddressType !== "dualstack-without-public-ipv4";
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
    if (mapping.IPv6Address !== undefined && !isDualstack(owner)) {
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
  if (isDualstack(owner)) checkIpv6(wishes.map(({ subnet }) => subnet));
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
      ownerId: TYPES[owner.type].ownerId,
      groupIds: owner.groupIds,
      publicIp: hasPublicIpv4(owner) && mapping.AllocationId === undefined,
      privateAddress: mapping.PrivateIPv4Address,
      ipv6Address: mapping.IPv6Address,
      ipv6Count: isDualstack(owner) ? 1 : 0,
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
    sourceNatPrefix: owner.ipv6SourceNat === "on" ? takeSourceNat(account, subnet, made.id, mapping.SourceNatIpv6Prefix) : undefined,
  };
}

/** The prefix that connections of IPv6 clients leave from: the one asked for, or a free one. */
function takeSourceNat(account: Account, subnet: Subnet, interfaceId: string, asked: string | undefined): string {
  if (subnet.ipv6Cidr === undefined) throw invalidSubnet(`The subnet '${subnet.id}' does not have an IPv6 CIDR block`);
  const chosen = asked === undefined || asked === "auto_assigned" ? undefined : asked;
  const block = chosen === undefined ? undefined : parseBlock(chosen);
  if (chosen !== undefined && (block?.prefix !== 80 || !contains(parseBlock(subnet.ipv6Cidr)!, block))) {
    throw invalidConfiguration(`'${chosen}' is not a /80 prefix of subnet '${subnet.id}'`);
  }
  const prefix = chosen ?? account.ec2.pools.takeIpv6Prefix(subnet.id, subnet.ipv6Cidr);
  account.ec2.interfaces.update(interfaceId, { ipv6Prefixes: [prefix] });
  return prefix;
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
