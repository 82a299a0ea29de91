/** In which subnets a Gateway's load balancer stands, and with which addresses. Pure. */
import { type Address, holds, parseAddress, parseCidr } from "../../runtime/ip.ts";
import type { SubnetMapping } from "../model.ts";
import { chooseSubnets } from "../subnet-choice.ts";
import type { Subnet, SubnetChoice } from "../subnets.ts";
import type { LoadBalancerSubnet } from "./config.ts";
import type { Draft } from "./draft.ts";
import { GatewayFault } from "./fault.ts";

export interface Place {
  readonly internal: boolean;
  readonly addressType: "ipv4" | "dualstack" | "dualstack-without-public-ipv4";
  readonly choice: SubnetChoice;
}

export function placeOf(draft: Draft): Place {
  const { config, settings } = draft;
  const internal = (config.scheme ?? settings.defaultScheme) === "internal";
  const addressType = config.ipAddressType ?? "ipv4";
  checkEntries(draft, internal, addressType);
  return { internal, addressType, choice: subnetsOf(draft, internal, addressType) };
}

/** Where none are asked for, one that stands keeps those that it has: a new tag on a subnet moves nobody. */
function subnetsOf({ config, standing, network, settings, flavour }: Draft, internal: boolean, addressType: string): SubnetChoice {
  const { cluster, gates } = settings;
  const needs = {
    cluster,
    internal,
    addressType,
    minimum: gates.singleSubnet ? 1 : flavour.minSubnets,
    checksClusterTag: gates.subnetsClusterTagCheck,
    triesReachability: gates.subnetDiscoveryByReachability,
  };
  const entries = (config.loadBalancerSubnets ?? []).flatMap(({ identifier }) => identifier || []);
  if (entries.length > 0) return chooseSubnets({ kind: "named", entries }, network, needs);
  const tags = config.loadBalancerSubnetsSelector;
  if (tags && Object.keys(tags).length > 0) return chooseSubnets({ kind: "tagged", tags }, network, needs);
  const kept =
    standing?.internal === internal ? standing.subnets.flatMap((id) => network.subnets.find((each) => each.id === id) ?? []) : [];
  if (kept.length === 0) return chooseSubnets({ kind: "discover" }, network, needs);
  const why = "the load balancer is already in it";
  return { kind: "chosen", subnets: kept, verdicts: kept.map((subnet) => ({ subnet, taken: true, why })) };
}

type Field = Exclude<keyof LoadBalancerSubnet, "identifier">;

interface FieldRule {
  readonly field: Field;
  readonly noun: string;
  readonly onlyNetwork: string;
  /** What else it takes. */
  readonly needs?: { readonly text: string; readonly holds: (internal: boolean, addressType: string) => boolean };
}

const fieldRules: readonly FieldRule[] = [
  {
    field: "eipAllocation",
    noun: "eip allocations",
    onlyNetwork: "EIP Allocation is only allowed for Network LoadBalancers",
    needs: { text: "EIPAllocation can only be set for internet facing load balancers", holds: (internal) => !internal },
  },
  {
    field: "ipv6Allocation",
    noun: "ipv6 allocations",
    onlyNetwork: "IPv6Allocation is only supported for Network LoadBalancers",
    needs: { text: "IPv6Allocation can only be set for dualstack load balancers", holds: (_internal, type) => type === "dualstack" },
  },
  {
    field: "privateIPv4Allocation",
    noun: "private ipv4 allocations",
    onlyNetwork: "PrivateIPv4Allocation is only supported for Network LoadBalancers",
    needs: { text: "PrivateIPv4Allocation can only be set for internal load balancers", holds: (internal) => internal },
  },
  {
    field: "sourceNatIPv6Prefix",
    noun: "source nat prefixes",
    onlyNetwork: "SourceNatIPv6Prefix is only supported for Network LoadBalancers",
  },
];

function checkEntries({ config, flavour }: Draft, internal: boolean, addressType: string): void {
  const entries = config.loadBalancerSubnets ?? [];
  for (const { field, onlyNetwork, needs } of fieldRules) {
    if (!entries[0]?.[field]) continue;
    if (flavour.name !== "nlb") throw new GatewayFault(onlyNetwork);
    if (needs && !needs.holds(internal, addressType)) throw new GatewayFault(needs.text);
  }
  const isMixed = (field: keyof LoadBalancerSubnet) => new Set(entries.map((entry) => Boolean(entry[field]))).size > 1;
  if (isMixed("identifier")) throw new GatewayFault("Either specify all subnet identifiers or none.");
  for (const { field, noun } of fieldRules) if (isMixed(field)) throw new GatewayFault(`Either specify all ${noun} or none.`);
}

/** Whether a network load balancer has prefixes for source NAT. */
export const hasSourceNat = ({ config }: Pick<Draft, "config">) =>
  (config.loadBalancerSubnets ?? []).some(({ sourceNatIPv6Prefix }) => sourceNatIPv6Prefix);

/** A mapping per subnet, in their order. */
export function mappingsOf({ config }: Pick<Draft, "config">, subnets: readonly Subnet[]): readonly SubnetMapping[] {
  const given = (field: Field) => (config.loadBalancerSubnets ?? []).flatMap((entry) => entry[field] || []);
  const allocations = counted(given("eipAllocation"), subnets, "EIP allocations");
  const prefixes = counted(given("sourceNatIPv6Prefix"), subnets, "source NAT prefixes");
  const privates = onePerSubnet(given("privateIPv4Allocation"), subnets, ({ cidr }) => [cidr], "private IPv4 address");
  const ipv6 = onePerSubnet(given("ipv6Allocation"), subnets, ({ ipv6Cidrs }) => ipv6Cidrs, "IPv6 address");
  return subnets.map(({ id }, i): SubnetMapping => {
    const [allocation, privateIpv4Address, ipv6Address, prefix] = [allocations, privates, ipv6, prefixes].map((all) => all[i]);
    return {
      subnet: id,
      ...(allocation && { allocation }),
      ...(privateIpv4Address && { privateIpv4Address }),
      ...(ipv6Address && { ipv6Address }),
      ...(prefix && { sourceNatIpv6Prefix: prefix }),
    };
  });
}

function counted(given: readonly string[], subnets: readonly Subnet[], noun: string): readonly string[] {
  if (given.length > 0 && given.length !== subnets.length)
    throw new GatewayFault(`Unable to assign ${noun} we have ${subnets.length} subnets and ${given.length} ${noun}`);
  return given;
}

/** They may be given in any order: each lies in one subnet. */
function onePerSubnet(
  texts: readonly string[],
  subnets: readonly Subnet[],
  cidrsOf: (subnet: Subnet) => readonly string[],
  noun: string,
): readonly string[] {
  if (texts.length === 0) return [];
  const addresses = texts.map((text): Address => {
    const address = parseAddress(text);
    if (address === undefined) throw new GatewayFault(`${text} is no address: expect one ${noun} per subnet`);
    return address;
  });
  return subnets.map((subnet) => {
    const cidrs = cidrsOf(subnet).flatMap((text) => parseCidr(text) ?? []);
    const inside = texts.filter((_, i) => cidrs.some((cidr) => holds(cidr, addresses[i]!)));
    if (inside.length !== 1) throw new GatewayFault(`expect one ${noun} configured for subnet: ${subnet.id}`);
    return inside[0]!;
  });
}
