/** What a load balancer needs of the network: one subnet a zone with room in it, security groups of its VPC, interfaces. */
import type { Account } from "../account.ts";
import { createServiceInterface, removeInterface } from "../ec2/interfaces.ts";
import type { NetworkInterface, Subnet } from "../ec2/state.ts";
import { freeAddresses } from "../ec2/subnets.ts";
import { ServiceError } from "../errors.ts";

/** Load balancers keep this many addresses of a subnet for growth. */
const ROOM_NEEDED = 8;
/** How long AWS takes to give back the interfaces of a deleted load balancer; their security groups stay busy meanwhile. */
const RELEASE_MS = 20_000;

/** The subnets of these ids: they exist, and lie in one VPC and in different zones. */
export function checkedSubnets(account: Account, ids: readonly string[], internetFacing: boolean): readonly Subnet[] {
  const subnets = [...new Set(ids)].map((id) => {
    const subnet = account.ec2.subnets.get(id);
    if (subnet === undefined) throw new ServiceError("SubnetNotFound", `The subnet ID '${id}' does not exist`);
    return subnet;
  });
  for (const subnet of subnets) {
    if (subnet.vpcId !== subnets[0]?.vpcId) throw invalidSubnet("All subnets must belong to the same VPC");
    const twin = subnets.find((other) => other !== subnet && other.zone === subnet.zone);
    if (twin !== undefined)
      throw invalidConfiguration("A load balancer cannot be attached to multiple subnets in the same Availability Zone");
  }
  const vpcId = subnets[0]?.vpcId;
  if (internetFacing && !account.ec2.internetGateways.values().some((gateway) => gateway.vpcId === vpcId)) {
    throw invalidSubnet(`VPC ${vpcId} has no internet gateway`);
  }
  return subnets;
}

/** Refuses subnets too full to hold a node of a load balancer. */
export function checkRoom(account: Account, subnets: readonly Subnet[]): void {
  for (const subnet of subnets) {
    if (freeAddresses(account.ec2, subnet) < ROOM_NEEDED) {
      const needs = `ELB requires at least ${ROOM_NEEDED} free IP addresses in each subnet.`;
      throw invalidSubnet(`Not enough IP space available in ${subnet.id}. ${needs}`);
    }
  }
}

/** Security groups of the VPC, each once. */
export function checkedSecurityGroups(account: Account, vpcId: string, ids: readonly string[]): readonly string[] {
  const unique = [...new Set(ids)];
  for (const id of unique) {
    const group = account.ec2.securityGroups.get(id);
    if (group === undefined) throw invalidGroup(`The security group '${id}' does not exist`);
    if (group.vpcId !== vpcId) throw invalidGroup(`Security group '${id}' does not belong to VPC '${vpcId}'`);
  }
  const limit = account.settings().quotas.securityGroupsPerInterface;
  if (unique.length > limit) throw invalidConfiguration(`The maximum number of security groups is ${limit}`);
  return unique;
}

/** The group a VPC gives to those who name none. */
export function defaultGroup(account: Account, vpcId: string): readonly string[] {
  const group = account.ec2.securityGroups.values().find((other) => other.vpcId === vpcId && other.name === "default");
  return group === undefined ? [] : [group.id];
}

/** What the interface of one node is to be like. */
export interface NodeWish {
  readonly subnet: Subnet;
  readonly description: string;
  readonly interfaceType: string;
  /** Who AWS names as the owner of the machine behind the interface. */
  readonly ownerId: string;
  readonly groupIds: readonly string[];
  readonly publicIp: boolean;
  readonly privateAddress?: string | undefined;
  readonly ipv6Address?: string | undefined;
  readonly ipv6Count?: number | undefined;
}

/** The interface of one node of a load balancer. */
export function openInterface(account: Account, wish: NodeWish): NetworkInterface {
  const made = createServiceInterface(
    account.ec2,
    { requesterId: "amazon-elb", ownerId: wish.ownerId, publicIp: wish.publicIp },
    {
      subnetId: wish.subnet.id,
      description: wish.description,
      interfaceType: wish.interfaceType,
      groupIds: wish.groupIds,
      privateAddress: wish.privateAddress,
      ipv6Addresses: wish.ipv6Address === undefined ? undefined : [wish.ipv6Address],
      ipv6Count: wish.ipv6Count ?? 0,
    },
  );
  // EC2 gives the default group to interfaces that name none; a network load balancer without groups has none at all.
  return account.ec2.interfaces.update(made.id, { groupIds: wish.groupIds });
}

/** Gives interfaces back, after the time that takes. */
export function releaseInterfaces(account: Account, ids: readonly string[]): void {
  account.time.after(RELEASE_MS, () => {
    for (const id of ids) removeInterface(account.ec2, id);
  });
}

/** A subnet that cannot hold the load balancer. */
export function invalidSubnet(message: string): ServiceError {
  return new ServiceError("InvalidSubnet", message);
}

/** A request that contradicts itself or what is there. */
export function invalidConfiguration(message: string): ServiceError {
  return new ServiceError("InvalidConfigurationRequest", message);
}

function invalidGroup(message: string): ServiceError {
  return new ServiceError("InvalidSecurityGroup", message);
}
