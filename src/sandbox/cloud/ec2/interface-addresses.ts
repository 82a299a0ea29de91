/** Addresses and prefixes that interfaces gain and lose. */
import {
  AssignIpv6Addresses$,
  type AssignIpv6AddressesRequest,
  type AssignIpv6AddressesResult,
  AssignPrivateIpAddresses$,
  type AssignPrivateIpAddressesRequest,
  type AssignPrivateIpAddressesResult,
  UnassignIpv6Addresses$,
  type UnassignIpv6AddressesRequest,
  type UnassignIpv6AddressesResult,
  UnassignPrivateIpAddresses$,
  type UnassignPrivateIpAddressesRequest,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../errors.ts";
import { type Operations, write } from "../service.ts";
import { takeIpv6 } from "./interfaces.ts";
import { find, KINDS } from "./kinds.ts";
import type { Ec2, NetworkInterface } from "./state.ts";

/** The operations on the addresses of interfaces. */
export function interfaceAddressOperations(ec2: Ec2): Operations {
  return [
    write<AssignPrivateIpAddressesRequest, AssignPrivateIpAddressesResult>(AssignPrivateIpAddresses$, (input) => assignIpv4(ec2, input)),
    write<UnassignPrivateIpAddressesRequest, void>(UnassignPrivateIpAddresses$, (input) => unassignIpv4(ec2, input)),
    write<AssignIpv6AddressesRequest, AssignIpv6AddressesResult>(AssignIpv6Addresses$, (input) => assignIpv6(ec2, input)),
    write<UnassignIpv6AddressesRequest, UnassignIpv6AddressesResult>(UnassignIpv6Addresses$, (input) => unassignIpv6(ec2, input)),
  ];
}

/** Delegates prefixes to an interface: blocks of 16 IPv4 addresses, /80 blocks of IPv6. */
export function takePrefixes(ec2: Ec2, one: NetworkInterface, count: { readonly ipv4: number; readonly ipv6: number }): NetworkInterface {
  if (count.ipv4 === 0 && count.ipv6 === 0) return one;
  const subnet = find(ec2.subnets, KINDS.subnet, one.subnetId);
  const { cidr, ipv6Cidr } = subnet;
  if (count.ipv4 > 0 && cidr === undefined)
    throw new ServiceError("InvalidParameterValue", `The subnet '${subnet.id}' does not have an IPv4 CIDR block.`);
  if (count.ipv6 > 0 && ipv6Cidr === undefined)
    throw new ServiceError("InvalidParameterValue", `The subnet '${subnet.id}' does not have an IPv6 CIDR block.`);
  return ec2.interfaces.update(one.id, {
    ipv4Prefixes: [...one.ipv4Prefixes, ...Array.from({ length: count.ipv4 }, () => ec2.pools.takePrefix(subnet.id, cidr!))],
    ipv6Prefixes: [...one.ipv6Prefixes, ...Array.from({ length: count.ipv6 }, () => ec2.pools.takeIpv6Prefix(subnet.id, ipv6Cidr!))],
  });
}

/** The answer names what was added, not what was there before. */
function assignIpv4(ec2: Ec2, input: AssignPrivateIpAddressesRequest): AssignPrivateIpAddressesResult {
  const one = find(ec2.interfaces, KINDS.networkInterface, input.NetworkInterfaceId!);
  const subnet = find(ec2.subnets, KINDS.subnet, one.subnetId);
  if (subnet.cidr === undefined)
    throw new ServiceError("InvalidParameterValue", `The subnet '${subnet.id}' does not have an IPv4 CIDR block.`);
  const wished = input.PrivateIpAddresses ?? Array.from({ length: input.SecondaryPrivateIpAddressCount ?? 0 }, () => undefined);
  const added = wished.map((address) => ec2.pools.take(subnet.id, subnet.cidr!, address));
  ec2.interfaces.update(one.id, { privateAddresses: [...one.privateAddresses, ...added] });
  const before = one.ipv4Prefixes.length;
  const { ipv4Prefixes } = takePrefixes(ec2, ec2.interfaces.get(one.id)!, {
    ipv4: input.Ipv4PrefixCount ?? input.Ipv4Prefixes?.length ?? 0,
    ipv6: 0,
  });
  return {
    NetworkInterfaceId: one.id,
    AssignedPrivateIpAddresses: added.map((PrivateIpAddress) => ({ PrivateIpAddress })),
    AssignedIpv4Prefixes: ipv4Prefixes.slice(before).map((Ipv4Prefix) => ({ Ipv4Prefix })),
  };
}

function unassignIpv4(ec2: Ec2, input: UnassignPrivateIpAddressesRequest): void {
  const one = find(ec2.interfaces, KINDS.networkInterface, input.NetworkInterfaceId!);
  const addresses = input.PrivateIpAddresses ?? [];
  const prefixes = input.Ipv4Prefixes ?? [];
  if (addresses.includes(one.privateAddresses[0] ?? "")) {
    throw new ServiceError("InvalidParameterValue", `The primary private IP address of interface ${one.id} cannot be unassigned`);
  }
  const foreign = [...addresses, ...prefixes].find((text) => !one.privateAddresses.includes(text) && !one.ipv4Prefixes.includes(text));
  if (foreign !== undefined)
    throw new ServiceError("InvalidParameterValue", `Some of [${foreign}] are not assigned to interface ${one.id}`);
  ec2.pools.release(one.subnetId, addresses);
  ec2.pools.releasePrefixes(one.subnetId, prefixes);
  ec2.interfaces.update(one.id, {
    privateAddresses: one.privateAddresses.filter((address) => !addresses.includes(address)),
    ipv4Prefixes: one.ipv4Prefixes.filter((prefix) => !prefixes.includes(prefix)),
  });
}

function assignIpv6(ec2: Ec2, input: AssignIpv6AddressesRequest): AssignIpv6AddressesResult {
  const one = find(ec2.interfaces, KINDS.networkInterface, input.NetworkInterfaceId!);
  const subnet = find(ec2.subnets, KINDS.subnet, one.subnetId);
  const added = takeIpv6(ec2, subnet, input.Ipv6Addresses ?? [], input.Ipv6AddressCount ?? 0);
  const changed = ec2.interfaces.update(one.id, { ipv6Addresses: [...one.ipv6Addresses, ...added] });
  const { ipv6Prefixes } = takePrefixes(ec2, changed, { ipv4: 0, ipv6: input.Ipv6PrefixCount ?? input.Ipv6Prefixes?.length ?? 0 });
  return {
    NetworkInterfaceId: one.id,
    AssignedIpv6Addresses: [...added],
    AssignedIpv6Prefixes: ipv6Prefixes.slice(one.ipv6Prefixes.length),
  };
}

function unassignIpv6(ec2: Ec2, input: UnassignIpv6AddressesRequest): UnassignIpv6AddressesResult {
  const one = find(ec2.interfaces, KINDS.networkInterface, input.NetworkInterfaceId!);
  const addresses = input.Ipv6Addresses ?? [];
  const prefixes = input.Ipv6Prefixes ?? [];
  const foreign = addresses.find((address) => !one.ipv6Addresses.includes(address));
  if (foreign !== undefined)
    throw new ServiceError("InvalidParameterValue", `Some of [${foreign}] are not assigned to interface ${one.id}`);
  ec2.pools.release(one.subnetId, addresses);
  ec2.pools.releasePrefixes(one.subnetId, prefixes);
  ec2.interfaces.update(one.id, {
    ipv6Addresses: one.ipv6Addresses.filter((address) => !addresses.includes(address)),
    ipv6Prefixes: one.ipv6Prefixes.filter((prefix) => !prefixes.includes(prefix)),
  });
  return { NetworkInterfaceId: one.id, UnassignedIpv6Addresses: addresses, UnassignedIpv6Prefixes: prefixes };
}
