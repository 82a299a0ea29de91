/** Changes to where a load balancer stands: subnets, address family, security groups. */
import {
  type IpAddressType,
  SetIpAddressType$,
  type SetIpAddressTypeInput,
  type SetIpAddressTypeOutput,
  SetSecurityGroups$,
  type SetSecurityGroupsInput,
  type SetSecurityGroupsOutput,
  SetSubnets$,
  type SetSubnetsInput,
  type SetSubnetsOutput,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { checkedSecurityGroups, invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, write } from "../service.ts";
import { type Elbv2, type LoadBalancer, listenersOf, loadBalancerAt } from "./state.ts";
import { TYPES } from "./types.ts";
import { adaptZones, closeZones, describeZone, openZones, type ZoneWish, zonesAsked } from "./zones.ts";

/** The operations that move a load balancer. */
export function networkOperations(elbv2: Elbv2): Operations {
  return [
    write<SetSubnetsInput, SetSubnetsOutput>(SetSubnets$, (input) => {
      const updated = setSubnets(elbv2, loadBalancerAt(elbv2, input.LoadBalancerArn), input);
      return {
        AvailabilityZones: updated.zones.map(describeZone),
        IpAddressType: updated.ipAddressType,
        EnablePrefixForIpv6SourceNat: updated.type === "network" ? updated.ipv6SourceNat : undefined,
      };
    }),
    write<SetIpAddressTypeInput, SetIpAddressTypeOutput>(SetIpAddressType$, (input) => ({
      IpAddressType: setIpAddressType(elbv2, loadBalancerAt(elbv2, input.LoadBalancerArn), input.IpAddressType).ipAddressType,
    })),
    write<SetSecurityGroupsInput, SetSecurityGroupsOutput>(SetSecurityGroups$, (input) => {
      const updated = setSecurityGroups(elbv2, loadBalancerAt(elbv2, input.LoadBalancerArn), input);
      return {
        SecurityGroupIds: [...updated.groupIds],
        EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic: updated.type === "network" ? updated.privateLinkRules : undefined,
      };
    }),
  ];
}

/** The address family of a load balancer. */
export function checkedIpAddressType(
  { type, scheme }: Pick<LoadBalancer, "type" | "scheme">,
  asked: IpAddressType | undefined = "ipv4",
): IpAddressType {
  if (!TYPES[type].ipAddressTypes.includes(asked)) {
    throw invalidConfiguration(`The IP address type '${asked}' is not supported for ${type} load balancers`);
  }
  if (asked === "dualstack-without-public-ipv4" && scheme === "internal") {
    throw invalidConfiguration(`The IP address type '${asked}' is not supported for internal load balancers`);
  }
  return asked;
}

/** QUIC connections wander between addresses of a client, which security groups could not follow: AWS takes them without groups only. */
export function checkQuic({ groupIds }: Pick<LoadBalancer, "groupIds">, protocol: string): void {
  if (protocol.includes("QUIC") && groupIds.length > 0) {
    throw invalidConfiguration(`Listeners with protocol ${protocol} are not supported on a load balancer with security groups`);
  }
}

/** Listeners that speak UDP need source addresses of their own before IPv6 clients can come: AWS calls that source NAT. */
export function checkUdp(loadBalancer: Pick<LoadBalancer, "ipAddressType" | "ipv6SourceNat">, protocols: readonly string[]): void {
  const datagrams = protocols.find((protocol) => protocol.includes("UDP") || protocol.includes("QUIC"));
  if (datagrams !== undefined && loadBalancer.ipAddressType === "dualstack" && loadBalancer.ipv6SourceNat === "off") {
    throw invalidConfiguration(
      `Listeners with protocol ${datagrams} are not supported on a dualstack load balancer without source NAT prefixes`,
    );
  }
}

function setSubnets(elbv2: Elbv2, loadBalancer: LoadBalancer, input: SetSubnetsInput): LoadBalancer {
  const wishes = zonesAsked(elbv2.account, input, loadBalancer);
  const target = {
    ...loadBalancer,
    ipAddressType: checkedIpAddressType(loadBalancer, input.IpAddressType ?? loadBalancer.ipAddressType),
    ipv6SourceNat: input.EnablePrefixForIpv6SourceNat ?? loadBalancer.ipv6SourceNat,
  };
  if (wishes[0]?.subnet.vpcId !== loadBalancer.vpcId)
    throw new ServiceError("InvalidSubnet", "The subnets are in another VPC than the load balancer");
  if (target.ipv6SourceNat === "on" && target.ipAddressType !== "dualstack") {
    throw invalidConfiguration("Source NAT prefixes can only be used by dualstack load balancers");
  }
  checkUdp(target, protocolsOf(elbv2, loadBalancer));
  const kept = loadBalancer.zones.filter((zone) => wishes.some((wish) => keeps(zone, wish)));
  const fresh = wishes.filter(({ subnet }) => !kept.some((zone) => zone.subnetId === subnet.id));
  const zones = [...adaptZones(elbv2, target, kept, wishes), ...openZones(elbv2, target, fresh)];
  closeZones(
    elbv2,
    loadBalancer.zones.filter((zone) => !kept.includes(zone)),
  );
  const order = wishes.map(({ subnet }) => subnet.id);
  return elbv2.loadBalancers.update(loadBalancer.arn, {
    zones: zones.sort((a, b) => order.indexOf(a.subnetId) - order.indexOf(b.subnetId)),
    ipAddressType: target.ipAddressType,
    ipv6SourceNat: target.ipv6SourceNat,
  });
}

/** A subnet that is enabled keeps its addresses: other ones for it are refused. */
function keeps(zone: LoadBalancer["zones"][number], { subnet, mapping }: ZoneWish): boolean {
  if (zone.subnetId !== subnet.id) return false;
  const { AllocationId: allocation, PrivateIPv4Address: address } = mapping;
  if ((allocation !== undefined && allocation !== zone.allocationId) || (address !== undefined && address !== zone.privateAddress)) {
    throw invalidConfiguration(`The addresses of subnet '${subnet.id}' cannot be changed while it is enabled`);
  }
  return true;
}

function setIpAddressType(elbv2: Elbv2, loadBalancer: LoadBalancer, wanted: IpAddressType | undefined): LoadBalancer {
  const ipAddressType = checkedIpAddressType(loadBalancer, wanted);
  checkUdp({ ...loadBalancer, ipAddressType }, protocolsOf(elbv2, loadBalancer));
  const ipv6SourceNat = ipAddressType === "dualstack" ? loadBalancer.ipv6SourceNat : "off";
  const zones = adaptZones(elbv2, { ipAddressType, ipv6SourceNat }, loadBalancer.zones);
  return elbv2.loadBalancers.update(loadBalancer.arn, { ipAddressType, ipv6SourceNat, zones });
}

/** A network load balancer made without security groups can never have any. */
function setSecurityGroups(elbv2: Elbv2, loadBalancer: LoadBalancer, input: SetSecurityGroupsInput): LoadBalancer {
  if (loadBalancer.groupIds.length === 0) {
    throw invalidConfiguration(`You cannot set security groups on a network load balancer created without: '${loadBalancer.arn}'`);
  }
  if (!input.SecurityGroups?.length) throw invalidConfiguration("At least one security group must be specified");
  const groupIds = checkedSecurityGroups(elbv2.account, loadBalancer.vpcId, input.SecurityGroups);
  for (const zone of loadBalancer.zones) elbv2.account.ec2.interfaces.update(zone.interfaceId, { groupIds });
  return elbv2.loadBalancers.update(loadBalancer.arn, {
    groupIds,
    privateLinkRules: input.EnforceSecurityGroupInboundRulesOnPrivateLinkTraffic ?? loadBalancer.privateLinkRules,
  });
}

function protocolsOf(elbv2: Elbv2, loadBalancer: LoadBalancer): readonly string[] {
  return listenersOf(elbv2, loadBalancer.arn).map((listener) => listener.protocol);
}
