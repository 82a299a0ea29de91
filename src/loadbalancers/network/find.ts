/** A network load balancer as the list of all of them tells it. */
import type { AvailabilityZone, LoadBalancer } from "@aws-sdk/client-elastic-load-balancing-v2";
import { type FoundBalancer, foundBalancer } from "../elbv2/found.ts";

export interface FoundNetwork extends FoundBalancer {
  readonly kind: "network";
  readonly zones: readonly FoundZone[];
  /** Whether it has prefixes of addresses of its own towards IPv6 targets. */
  readonly sourceNat: boolean;
  /** Whether its groups' rules count for what comes by PrivateLink; undefined of one without groups. */
  readonly privateLinkRules?: "on" | "off";
}

/** Where it stands. Of addresses only those are told that were chosen. */
export interface FoundZone {
  readonly subnet: string;
  readonly allocation?: string;
  readonly privateIpv4Address?: string;
  readonly ipv6Address?: string;
  readonly sourceNatPrefix?: string;
}

export function foundNetwork(description: LoadBalancer): FoundNetwork {
  return {
    ...foundBalancer("network", description),
    zones: (description.AvailabilityZones ?? []).map(foundZone),
    sourceNat: description.EnablePrefixForIpv6SourceNat === "on",
    privateLinkRules: privateLinkRules(description),
  };
}

function foundZone({ SubnetId = "", LoadBalancerAddresses = [], SourceNatIpv6Prefixes = [] }: AvailabilityZone): FoundZone {
  const [address] = LoadBalancerAddresses;
  const [sourceNatPrefix] = SourceNatIpv6Prefixes;
  return {
    subnet: SubnetId,
    ...(address?.AllocationId && { allocation: address.AllocationId }),
    ...(address?.PrivateIPv4Address && { privateIpv4Address: address.PrivateIPv4Address }),
    ...(address?.IPv6Address && { ipv6Address: address.IPv6Address }),
    ...(sourceNatPrefix && { sourceNatPrefix }),
  };
}

function privateLinkRules({ EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic: said }: LoadBalancer): "on" | "off" | undefined {
  return said === "on" || said === "off" ? said : undefined;
}
