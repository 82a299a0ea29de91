/** Network interfaces as they come and go: the user's own, those of instances, and those that services hold. */
import { ServiceError } from "../errors.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import type { Attachment, Ec2, NetworkInterface, Subnet, Tags } from "./state.ts";

/** What a new interface is asked to be. */
export interface InterfaceWish {
  readonly subnetId: string;
  readonly description?: string | undefined;
  /** The VPC's default group when absent. */
  readonly groupIds?: readonly string[] | undefined;
  readonly privateAddress?: string | undefined;
  readonly secondaryAddresses?: readonly string[] | undefined;
  readonly secondaryCount?: number | undefined;
  readonly ipv6Addresses?: readonly string[] | undefined;
  readonly ipv6Count?: number | undefined;
  readonly interfaceType?: string | undefined;
  readonly tags?: Tags | undefined;
}

/** A new interface with its addresses, attached to nothing. */
export function createInterface(ec2: Ec2, wish: InterfaceWish): NetworkInterface {
  const subnet = find(ec2.subnets, KINDS.subnet, wish.subnetId);
  const groupIds = checkedGroups(ec2, subnet.vpcId, wish.groupIds);
  const privateAddresses = subnet.cidr === undefined ? [] : takeIpv4(ec2, subnet.id, subnet.cidr, wish);
  const ipv6Addresses = takeIpv6(ec2, subnet, wish.ipv6Addresses ?? [], wish.ipv6Count ?? (subnet.ipv6OnLaunch ? 1 : 0));
  const id = ec2.account.ids.resource("eni");
  return ec2.interfaces.put(id, {
    id,
    subnetId: subnet.id,
    vpcId: subnet.vpcId,
    zone: subnet.zone,
    mac: ec2.account.ids.mac(),
    description: wish.description ?? "",
    groupIds,
    privateAddresses,
    ipv6Addresses,
    ipv4Prefixes: [],
    ipv6Prefixes: [],
    sourceDestCheck: true,
    interfaceType: wish.interfaceType ?? "interface",
    requesterId: undefined,
    attachment: undefined,
    lentPublicIp: undefined,
    tags: wish.tags ?? {},
  });
}

/** An interface that a service holds, such as a load balancer's: users see it and cannot change it, and it keeps its security groups busy. */
export function createServiceInterface(
  ec2: Ec2,
  service: { readonly requesterId: string; readonly ownerId: string; readonly publicIp: boolean },
  wish: InterfaceWish,
): NetworkInterface {
  const made = createInterface(ec2, wish);
  return ec2.interfaces.update(made.id, {
    requesterId: service.requesterId,
    sourceDestCheck: false,
    lentPublicIp: service.publicIp ? ec2.pools.takePublic() : undefined,
    attachment: newAttachment(ec2, { instanceId: undefined, instanceOwnerId: service.ownerId, deviceIndex: 1, deleteOnTermination: false }),
  });
}

/** Attached from this moment on. */
export function newAttachment(
  ec2: Ec2,
  content: Pick<Attachment, "instanceId" | "instanceOwnerId" | "deviceIndex" | "deleteOnTermination"> & Partial<Attachment>,
): Attachment {
  return {
    id: ec2.account.ids.resource("eni-attach"),
    networkCardIndex: 0,
    status: "attached",
    attached: ec2.account.time.now(),
    ...content,
  };
}

/** Makes an interface disappear with everything it held. The one who calls has checked that it may. */
export function removeInterface(ec2: Ec2, id: string): void {
  const networkInterface = ec2.interfaces.get(id);
  if (networkInterface === undefined) return;
  ec2.pools.release(networkInterface.subnetId, [...networkInterface.privateAddresses, ...networkInterface.ipv6Addresses]);
  ec2.pools.releasePrefixes(networkInterface.subnetId, [...networkInterface.ipv4Prefixes, ...networkInterface.ipv6Prefixes]);
  if (networkInterface.lentPublicIp !== undefined) ec2.pools.releasePublic(networkInterface.lentPublicIp);
  for (const address of ec2.addresses.values()) {
    if (address.association?.interfaceId === id) ec2.addresses.update(address.id, { association: undefined, managedBy: undefined });
  }
  ec2.interfaces.delete(id);
}

/** Security groups of one VPC, or its default group when none are given. */
export function checkedGroups(ec2: Ec2, vpcId: string, ids: readonly string[] | undefined): readonly string[] {
  if (ids === undefined || ids.length === 0) {
    const fallback = ec2.securityGroups.values().find((group) => group.vpcId === vpcId && group.name === "default");
    return fallback === undefined ? [] : [fallback.id];
  }
  const groups = findAll(ec2.securityGroups, KINDS.securityGroup, ids);
  if (groups.some((group) => group.vpcId !== vpcId)) {
    throw new ServiceError("InvalidGroup.NotFound", "You have specified two resources that belong to different networks.");
  }
  if (groups.length > ec2.account.settings().quotas.securityGroupsPerInterface) {
    throw new ServiceError(
      "SecurityGroupsPerInterfaceLimitExceeded",
      "The maximum number of security groups per interface has been reached.",
    );
  }
  return groups.map((group) => group.id);
}

/** IPv6 addresses of a subnet: the wished ones, then as many as asked for. */
export function takeIpv6(ec2: Ec2, subnet: Subnet, wished: readonly string[], count: number): readonly string[] {
  const wanted = Math.max(count, wished.length);
  if (wanted === 0) return [];
  const { ipv6Cidr } = subnet;
  if (ipv6Cidr === undefined) {
    throw new ServiceError("InvalidParameterValue", `The subnet '${subnet.id}' does not have an IPv6 CIDR block.`);
  }
  return Array.from({ length: wanted }, (_, index) => ec2.pools.takeIpv6(subnet.id, ipv6Cidr, wished[index]));
}

/** The primary address, then the secondary ones. */
function takeIpv4(ec2: Ec2, subnetId: string, cidr: string, wish: InterfaceWish): readonly string[] {
  const unnamed = Array.from({ length: wish.secondaryCount ?? 0 }, () => undefined);
  return [wish.privateAddress, ...(wish.secondaryAddresses ?? []), ...unnamed].map((address) => ec2.pools.take(subnetId, cidr, address));
}
