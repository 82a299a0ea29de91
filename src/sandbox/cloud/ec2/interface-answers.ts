/** Network interfaces as answers show them, on their own and inside their instance. */
import type { InstanceNetworkInterface, NetworkInterface as InterfaceAnswer, NetworkInterfaceAssociation } from "@aws-sdk/client-ec2";
import { type FilterTable, tagFilters } from "./filters.ts";
import { privateIpName, publicName } from "./names.ts";
import type { Ec2, NetworkInterface } from "./state.ts";
import { tagList } from "./tags.ts";

/** One interface in DescribeNetworkInterfaces. */
export function describeInterface(ec2: Ec2, networkInterface: NetworkInterface): InterfaceAnswer {
  const { attachment } = networkInterface;
  const shared = describeShared(ec2, networkInterface);
  return {
    ...shared,
    Attachment: attachment && {
      ...shared.Attachment,
      InstanceId: attachment.instanceId,
      InstanceOwnerId: attachment.instanceOwnerId,
    },
    AvailabilityZone: networkInterface.zone,
    InterfaceType: networkInterface.interfaceType as InterfaceAnswer["InterfaceType"],
    RequesterId: networkInterface.requesterId,
    RequesterManaged: networkInterface.requesterId !== undefined,
    TagSet: tagList(networkInterface.tags),
  };
}

/** One interface inside DescribeInstances. */
export function describeInstanceInterface(ec2: Ec2, networkInterface: NetworkInterface): InstanceNetworkInterface {
  return { ...describeShared(ec2, networkInterface), InterfaceType: networkInterface.interfaceType };
}

/** What both answers have. */
function describeShared(ec2: Ec2, networkInterface: NetworkInterface) {
  const { attachment, privateAddresses } = networkInterface;
  const primary = privateAddresses[0];
  return {
    Association: primary === undefined ? undefined : publicSide(ec2, networkInterface, primary),
    Attachment: attachment && {
      AttachTime: new Date(attachment.attached),
      AttachmentId: attachment.id,
      DeleteOnTermination: attachment.deleteOnTermination,
      DeviceIndex: attachment.deviceIndex,
      NetworkCardIndex: attachment.networkCardIndex,
      Status: attachment.status,
    },
    Description: networkInterface.description,
    Groups: groupsOf(ec2, networkInterface),
    Ipv6Addresses: networkInterface.ipv6Addresses.map((Ipv6Address) => ({ Ipv6Address, IsPrimaryIpv6: false })),
    MacAddress: networkInterface.mac,
    NetworkInterfaceId: networkInterface.id,
    OwnerId: ec2.account.id,
    PrivateDnsName: primary === undefined ? undefined : privateIpName(ec2, primary),
    PrivateIpAddress: primary,
    PrivateIpAddresses: privateAddresses.map((address, index) => ({
      Association: publicSide(ec2, networkInterface, address),
      Primary: index === 0,
      PrivateDnsName: privateIpName(ec2, address),
      PrivateIpAddress: address,
    })),
    Ipv4Prefixes: networkInterface.ipv4Prefixes.map((Ipv4Prefix) => ({ Ipv4Prefix })),
    Ipv6Prefixes: networkInterface.ipv6Prefixes.map((Ipv6Prefix) => ({ Ipv6Prefix })),
    SourceDestCheck: networkInterface.sourceDestCheck,
    Status: statusOf(networkInterface),
    SubnetId: networkInterface.subnetId,
    VpcId: networkInterface.vpcId,
  };
}

/** The public address in front of a private one: the user's own, or the one AWS lent. */
export function publicSide(ec2: Ec2, networkInterface: NetworkInterface, privateIp: string): NetworkInterfaceAssociation | undefined {
  if (ec2.addresses.size > 0) {
    const own = ec2.addresses
      .values()
      .find(({ association }) => association?.interfaceId === networkInterface.id && association.privateIp === privateIp);
    if (own !== undefined) {
      return {
        AllocationId: own.id,
        AssociationId: own.association?.id,
        IpOwnerId: ec2.account.id,
        PublicDnsName: publicName(ec2, networkInterface.vpcId, own.publicIp),
        PublicIp: own.publicIp,
      };
    }
  }
  const { lentPublicIp } = networkInterface;
  if (lentPublicIp === undefined || networkInterface.privateAddresses[0] !== privateIp) return undefined;
  return {
    IpOwnerId: networkInterface.requesterId ?? "amazon",
    PublicDnsName: publicName(ec2, networkInterface.vpcId, lentPublicIp),
    PublicIp: lentPublicIp,
  };
}

/** The security groups of an interface with their names. */
export function groupsOf(ec2: Ec2, networkInterface: NetworkInterface): { GroupId: string; GroupName: string }[] {
  return networkInterface.groupIds.map((GroupId) => ({ GroupId, GroupName: ec2.securityGroups.get(GroupId)?.name ?? "" }));
}

function statusOf(networkInterface: NetworkInterface): "in-use" | "available" {
  return networkInterface.attachment === undefined ? "available" : "in-use";
}

/** The filters of DescribeNetworkInterfaces. */
export function interfaceFilters(ec2: Ec2): FilterTable<NetworkInterface> {
  const associations = (networkInterface: NetworkInterface) =>
    networkInterface.privateAddresses.map((address) => publicSide(ec2, networkInterface, address));
  return {
    ...tagFilters<NetworkInterface>(),
    "addresses.association.public-ip": (one) => associations(one).map((association) => association?.PublicIp),
    "addresses.primary": (one) => one.privateAddresses.map((_, index) => index === 0),
    "addresses.private-ip-address": (one) => one.privateAddresses,
    "association.allocation-id": (one) => associations(one).map((association) => association?.AllocationId),
    "association.association-id": (one) => associations(one).map((association) => association?.AssociationId),
    "association.public-ip": (one) => associations(one).map((association) => association?.PublicIp),
    "attachment.attachment-id": (one) => one.attachment?.id,
    "attachment.delete-on-termination": (one) => one.attachment?.deleteOnTermination,
    "attachment.device-index": (one) => one.attachment?.deviceIndex,
    "attachment.instance-id": (one) => one.attachment?.instanceId,
    "attachment.instance-owner-id": (one) => one.attachment?.instanceOwnerId,
    "attachment.status": (one) => one.attachment?.status,
    "availability-zone": (one) => one.zone,
    description: (one) => one.description,
    "group-id": (one) => one.groupIds,
    "group-name": (one) => groupsOf(ec2, one).map((group) => group.GroupName),
    "interface-type": (one) => one.interfaceType,
    "ipv6-addresses.ipv6-address": (one) => one.ipv6Addresses,
    "mac-address": (one) => one.mac,
    "network-interface-id": (one) => one.id,
    "owner-id": () => ec2.account.id,
    "private-dns-name": (one) => one.privateAddresses.map((address) => privateIpName(ec2, address)),
    "private-ip-address": (one) => one.privateAddresses,
    "requester-id": (one) => one.requesterId,
    "requester-managed": (one) => one.requesterId !== undefined,
    "source-dest-check": (one) => one.sourceDestCheck,
    status: statusOf,
    "subnet-id": (one) => one.subnetId,
    "vpc-id": (one) => one.vpcId,
  };
}
