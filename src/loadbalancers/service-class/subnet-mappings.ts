/** The addresses of a load balancer in its subnets, as annotations give them. Pure. */
import { type Address, holds, parseAddress, parseCidr } from "../../runtime/ip.ts";
import type { SubnetMapping } from "../model.ts";
import { autoAssigned } from "../network/plan.ts";
import type { Subnet } from "../subnets.ts";
import type { Draft } from "./draft.ts";
import { ServiceFault } from "./reader.ts";

export interface PlaceWish {
  readonly internal: boolean;
  readonly addressType: "ipv4" | "dualstack";
  readonly sourceNat: boolean;
}

/** Whether it has prefixes for source NAT. */
export function sourceNatOf({ read }: Draft, addressType: string, subnets: readonly Subnet[]): boolean {
  if (read.get("aws-load-balancer-enable-prefix-for-ipv6-source-nat") !== "on") return false;
  if (addressType !== "dualstack")
    throw new ServiceFault(
      "enable-prefix-for-ipv6-source-nat annotation is only applicable to Network Load Balancers using Dualstack IP address type.",
    );
  const without = subnets.filter(({ ipv6Cidrs }) => ipv6Cidrs.length === 0).map(({ id }) => id);
  if (without.length === 0) return true;
  throw new ServiceFault(
    `To enable prefix for source NAT, all associated subnets must have an IPv6 CIDR. Subnets without IPv6 CIDR: [${without.join(" ")}].`,
  );
}

/** A mapping per subnet, in their order. */
export function mappingsOf(draft: Draft, subnets: readonly Subnet[], wish: PlaceWish): readonly SubnetMapping[] {
  const allocations = allocationsOf(draft, subnets, wish);
  const privateAddresses = privateAddressesOf(draft, subnets, wish);
  const ipv6Addresses = ipv6AddressesOf(draft, subnets, wish);
  const prefixes = prefixesOf(draft, subnets, wish);
  const mappings = subnets.map(({ id }, i): SubnetMapping => {
    const [allocation, privateIpv4Address, ipv6Address, prefix] = [allocations, privateAddresses, ipv6Addresses, prefixes].map(
      (all) => all?.[i],
    );
    return {
      subnet: id,
      ...(allocation && { allocation }),
      ...(privateIpv4Address && { privateIpv4Address }),
      ...(ipv6Address && { ipv6Address }),
      ...(prefix && { sourceNatIpv6Prefix: prefix }),
    };
  });
  tellDrift(draft, mappings);
  return mappings;
}

function allocationsOf({ read }: Draft, subnets: readonly Subnet[], { internal }: PlaceWish): readonly string[] | undefined {
  const given = read.get("aws-load-balancer-eip-allocations");
  if (given === undefined) return undefined;
  if (internal) throw new ServiceFault("EIP allocations can only be set for internet facing load balancers");
  return counted(given, subnets, (n, m) => `count of EIP allocations (${n}) and subnets (${m}) must match`);
}

function privateAddressesOf({ read }: Draft, subnets: readonly Subnet[], { internal }: PlaceWish): readonly string[] | undefined {
  const given = read.get("aws-load-balancer-private-ipv4-addresses");
  if (given === undefined) return undefined;
  if (!internal) throw new ServiceFault("private IPv4 addresses can only be set for internal load balancers");
  counted(given, subnets, (n, m) => `count of private IPv4 addresses (${n}) and subnets (${m}) must match`);
  const addresses = given.map((text) => addressOf(text, 4, "private IPv4 addresses", "IPv4"));
  return onePerSubnet(given, addresses, subnets, ({ cidr }) => [cidr], "private IPv4 address");
}

function ipv6AddressesOf({ read }: Draft, subnets: readonly Subnet[], { addressType }: PlaceWish): readonly string[] | undefined {
  const given = read.get("aws-load-balancer-ipv6-addresses");
  if (given === undefined) return undefined;
  if (addressType !== "dualstack") throw new ServiceFault("IPv6 addresses can only be set for dualstack load balancers");
  counted(given, subnets, (n, m) => `count of IPv6 addresses (${n}) and subnets (${m}) must match`);
  const addresses = given.map((text) => addressOf(text, 6, "IPv6 addresses", "IPv6"));
  return onePerSubnet(given, addresses, subnets, ({ ipv6Cidrs }) => ipv6Cidrs, "IPv6 address");
}

function counted(given: readonly string[], subnets: readonly Subnet[], complaint: (n: number, m: number) => string): readonly string[] {
  if (given.length !== subnets.length) throw new ServiceFault(complaint(given.length, subnets.length));
  return given;
}

function addressOf(text: string, family: 4 | 6, noun: string, kind: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new ServiceFault(`${noun} must be valid IP address: ${text}`);
  if (address.family !== family) throw new ServiceFault(`${noun} must be valid ${kind} address: ${text}`);
  return address;
}

/** They may be given in any order: each lies in one subnet. */
function onePerSubnet(
  texts: readonly string[],
  addresses: readonly Address[],
  subnets: readonly Subnet[],
  cidrsOf: (subnet: Subnet) => readonly string[],
  noun: string,
): readonly string[] {
  return subnets.map((subnet) => {
    const cidrs = cidrsOf(subnet).flatMap((text) => parseCidr(text) ?? []);
    const inside = texts.filter((_, i) => cidrs.some((cidr) => holds(cidr, addresses[i]!)));
    if (inside.length !== 1) throw new ServiceFault(`expect one ${noun} configured for subnet: ${subnet.id}`);
    return inside[0]!;
  });
}

const prefixLength = "80";

function prefixesOf({ read }: Draft, subnets: readonly Subnet[], { addressType, sourceNat }: PlaceWish): readonly string[] | undefined {
  if (!read.has("aws-load-balancer-source-nat-ipv6-prefixes")) return undefined;
  if (addressType !== "dualstack")
    throw new ServiceFault(
      "source-nat-ipv6-prefixes annotation can only be set for Network Load Balancers using Dualstack IP address type.",
    );
  if (!sourceNat)
    throw new ServiceFault(
      "source-nat-ipv6-prefixes annotation is only applicable if enable-prefix-for-ipv6-source-nat annotation is set to on.",
    );
  const given = read.get("aws-load-balancer-source-nat-ipv6-prefixes") ?? [];
  counted(given, subnets, (n, m) => `Number of values in source-nat-ipv6-prefixes (${n}) must match the number of subnets (${m}).`);
  return given.map((text, i) => checkedPrefix(text, subnets[i]!));
}

function checkedPrefix(text: string, { ipv6Cidrs }: Subnet): string {
  if (text === autoAssigned) return text;
  const refuse = (why: string) => new ServiceFault(`Invalid value in source-nat-ipv6-prefixes: ${text}.${why}`);
  const [address = "", length] = text.split("/");
  if (length === undefined) throw refuse("");
  if (length !== prefixLength) throw refuse(` Prefix length must be ${prefixLength}, but ${length} is specified.`);
  const parsed = parseAddress(address);
  if (parsed?.family !== 6) throw refuse(" Value must be a valid IPv6 CIDR.");
  const isInside = ipv6Cidrs.some((block) => {
    const cidr = parseCidr(block);
    return cidr !== undefined && holds(cidr, parsed);
  });
  if (!isInside) throw refuse(` Value must be within subnet CIDR range: [${ipv6Cidrs.join(" ")}].`);
  return text;
}

/** AWS gives a load balancer that stands no other addresses where it stands: its author is told, and it stays as it is. */
function tellDrift({ standing, warn }: Draft, mappings: readonly SubnetMapping[]): void {
  for (const { subnet, allocation, privateIpv4Address } of mappings) {
    const zone = standing?.zones.find((each) => each.subnet === subnet);
    if (zone === undefined) continue;
    const differs = (wanted: string | undefined, is: string | undefined) => wanted !== undefined && wanted !== is;
    if (differs(allocation, zone.allocation))
      warn(`the load balancer keeps ${zone.allocation ?? "AWS's address"} in ${subnet}: AWS changes no elastic IP to ${allocation} there`);
    if (differs(privateIpv4Address, zone.privateIpv4Address))
      warn(
        `the load balancer keeps ${zone.privateIpv4Address ?? "AWS's choice"} in ${subnet}: AWS changes no private address to ${privateIpv4Address} there`,
      );
  }
}
