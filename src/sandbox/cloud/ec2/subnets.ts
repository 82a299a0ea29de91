/** Subnets: their place in the VPC and the zone, and how many addresses they have left. */
import {
  CreateSubnet$,
  type CreateSubnetRequest,
  type CreateSubnetResult,
  DeleteSubnet$,
  type DeleteSubnetRequest,
  DescribeSubnets$,
  type DescribeSubnetsRequest,
  type DescribeSubnetsResult,
  ModifySubnetAttribute$,
  type ModifySubnetAttributeRequest,
  type Subnet as SubnetAnswer,
} from "@aws-sdk/client-ec2";
import { arn } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { type Operations, read, write } from "../service.ts";
import { contains, formatBlock, overlaps, parseBlock } from "./cidr.ts";
import { type FilterTable, filtered, tagFilters } from "./filters.ts";
import { find, findAll, KINDS } from "./kinds.ts";
import { page } from "./pages.ts";
import { dissociateSubnet } from "./route-tables.ts";
import type { Ec2, Subnet, Vpc } from "./state.ts";
import { needsCreateTags, specifiedTags, tagList } from "./tags.ts";
import { optedIn, type Zone, zoneNamed, zonesOf } from "./zones.ts";

/** The operations on subnets. */
export function subnetOperations(ec2: Ec2): Operations {
  return [
    write<CreateSubnetRequest, CreateSubnetResult>(
      CreateSubnet$,
      (input) => ({ Subnet: describeSubnet(ec2, createSubnet(ec2, input)) }),
      needsCreateTags,
    ),
    write<DeleteSubnetRequest, void>(DeleteSubnet$, (input) => deleteSubnet(ec2, input.SubnetId!)),
    read<DescribeSubnetsRequest, DescribeSubnetsResult>(DescribeSubnets$, (input) => {
      const records = input.SubnetIds?.length ? findAll(ec2.subnets, KINDS.subnet, input.SubnetIds) : ec2.subnets.values();
      const { items, NextToken } = page(ec2, filtered(records, input.Filters, filterTable(ec2)), (subnet) => subnet.id, input, {
        action: "DescribeSubnets",
        min: 5,
        max: 1000,
      });
      return { Subnets: items.map((subnet) => describeSubnet(ec2, subnet)), NextToken };
    }),
    write<ModifySubnetAttributeRequest, void>(ModifySubnetAttribute$, (input) => modifySubnet(ec2, input)),
  ];
}

/** A subnet, refused where AWS would. */
export function createSubnet(ec2: Ec2, input: CreateSubnetRequest): Subnet {
  const tags = specifiedTags(input.TagSpecifications, KINDS.subnet);
  const vpc = find(ec2.vpcs, KINDS.vpc, input.VpcId!);
  const zone = zoneFor(ec2, input);
  if (input.CidrBlock === undefined && !input.Ipv6Native)
    throw new ServiceError("MissingParameter", "Either 'cidrBlock' or 'ipv4IpamPoolId' should be provided.");
  const cidr = input.Ipv6Native ? undefined : ipv4Block(ec2, vpc, input.CidrBlock ?? "");
  const ipv6Cidr = input.Ipv6CidrBlock === undefined ? undefined : ipv6Block(ec2, vpc, input.Ipv6CidrBlock);
  if (ec2.subnets.values().filter((subnet) => subnet.vpcId === vpc.id).length >= ec2.account.settings().quotas.subnetsPerVpc) {
    throw new ServiceError("SubnetLimitExceeded", "The maximum number of subnets for this VPC has been reached.");
  }
  const id = ec2.account.ids.resource("subnet");
  return ec2.subnets.put(id, {
    id,
    vpcId: vpc.id,
    cidr,
    ipv6Cidr,
    ipv6AssociationId: ipv6Cidr === undefined ? undefined : ec2.account.ids.resource("subnet-cidr-assoc"),
    zone: zone.name,
    zoneId: zone.id,
    defaultForZone: false,
    publicOnLaunch: false,
    ipv6OnLaunch: Boolean(input.Ipv6Native),
    names: { hostnameType: input.Ipv6Native ? "resource-name" : "ip-name", aRecord: false, aaaaRecord: false },
    tags,
  });
}

function zoneFor(ec2: Ec2, input: CreateSubnetRequest): Zone {
  const { AvailabilityZone: name, AvailabilityZoneId: id } = input;
  if (name === undefined && id === undefined) return zonesOf(ec2.account.region, ec2.account.id)[0]!;
  const zone = zoneNamed(ec2, name, id);
  if (zone === undefined || !optedIn(ec2, zone)) {
    const usable = zonesOf(ec2.account.region, ec2.account.id).filter((candidate) => optedIn(ec2, candidate));
    const [parameter, value] = name === undefined ? ["availabilityZoneId", id] : ["availabilityZone", name];
    const names = usable.map((candidate) => (name === undefined ? candidate.id : candidate.name)).join(", ");
    throw new ServiceError(
      "InvalidParameterValue",
      `Value (${value}) for parameter ${parameter} is invalid. Subnets can currently only be created in the following availability zones: ${names}.`,
    );
  }
  return zone;
}

function ipv4Block(ec2: Ec2, vpc: Vpc, text: string): string {
  const block = parseBlock(text);
  if (block?.family !== 4)
    throw new ServiceError("InvalidParameterValue", `Value (${text}) for parameter cidrBlock is invalid. This is not a valid CIDR block.`);
  const fits = vpc.cidrs.some((cidr) => contains(parseBlock(cidr)!, block));
  if (!fits || block.prefix < 16 || block.prefix > 28) throw new ServiceError("InvalidSubnet.Range", `The CIDR '${text}' is invalid.`);
  const taken = ec2.subnets
    .values()
    .some((subnet) => subnet.vpcId === vpc.id && subnet.cidr !== undefined && overlaps(parseBlock(subnet.cidr)!, block));
  if (taken) throw new ServiceError("InvalidSubnet.Conflict", `The CIDR '${text}' conflicts with another subnet`);
  return formatBlock(block);
}

/** A block of the VPC's for a subnet, refused where AWS would. */
export function ipv6Block(ec2: Ec2, vpc: Vpc, text: string): string {
  const block = parseBlock(text);
  if (block?.family !== 6 || block.prefix !== 64)
    throw new ServiceError("InvalidParameterValue", `invalid value for parameter Ipv6 CIDR: ${text}`);
  if (vpc.ipv6Cidr === undefined || !contains(parseBlock(vpc.ipv6Cidr)!, block)) {
    throw new ServiceError("InvalidSubnet.Range", `The CIDR '${text}' is invalid.`);
  }
  const canonical = formatBlock(block);
  if (ec2.subnets.values().some((subnet) => subnet.ipv6Cidr === canonical)) {
    throw new ServiceError("InvalidSubnet.Conflict", `The CIDR '${text}' conflicts with another subnet`);
  }
  return canonical;
}

function deleteSubnet(ec2: Ec2, id: string): void {
  const subnet = find(ec2.subnets, KINDS.subnet, id);
  if (ec2.interfaces.values().some((networkInterface) => networkInterface.subnetId === id)) {
    throw new ServiceError("DependencyViolation", `The subnet '${id}' has dependencies and cannot be deleted.`);
  }
  dissociateSubnet(ec2, id);
  ec2.subnets.delete(subnet.id);
}

function modifySubnet(ec2: Ec2, input: ModifySubnetAttributeRequest): void {
  const subnet = find(ec2.subnets, KINDS.subnet, input.SubnetId!);
  if (input.AssignIpv6AddressOnCreation?.Value && subnet.ipv6Cidr === undefined) {
    throw new ServiceError(
      "InvalidParameterValue",
      `Invalid value '${true}' for assignIpv6AddressOnCreation. Subnet '${subnet.id}' has no IPv6 block.`,
    );
  }
  ec2.subnets.update(subnet.id, {
    publicOnLaunch: input.MapPublicIpOnLaunch?.Value ?? subnet.publicOnLaunch,
    ipv6OnLaunch: input.AssignIpv6AddressOnCreation?.Value ?? subnet.ipv6OnLaunch,
    names: {
      hostnameType: input.PrivateDnsHostnameTypeOnLaunch ?? subnet.names.hostnameType,
      aRecord: input.EnableResourceNameDnsARecordOnLaunch?.Value ?? subnet.names.aRecord,
      aaaaRecord: input.EnableResourceNameDnsAAAARecordOnLaunch?.Value ?? subnet.names.aaaaRecord,
    },
  });
}

/** How many IPv4 addresses a subnet has left. */
export function freeAddresses(ec2: Ec2, subnet: Subnet): number {
  return subnet.cidr === undefined ? 0 : ec2.pools.free(subnet.id, subnet.cidr);
}

function describeSubnet(ec2: Ec2, subnet: Subnet): SubnetAnswer {
  return {
    AvailabilityZoneId: subnet.zoneId,
    MapCustomerOwnedIpOnLaunch: false,
    OwnerId: ec2.account.id,
    AssignIpv6AddressOnCreation: subnet.ipv6OnLaunch,
    Ipv6CidrBlockAssociationSet:
      subnet.ipv6Cidr === undefined
        ? []
        : [{ AssociationId: subnet.ipv6AssociationId, Ipv6CidrBlock: subnet.ipv6Cidr, Ipv6CidrBlockState: { State: "associated" } }],
    Tags: tagList(subnet.tags),
    SubnetArn: arn(ec2.account, "ec2", `subnet/${subnet.id}`),
    EnableDns64: false,
    Ipv6Native: subnet.cidr === undefined,
    PrivateDnsNameOptionsOnLaunch: {
      HostnameType: subnet.names.hostnameType,
      EnableResourceNameDnsARecord: subnet.names.aRecord,
      EnableResourceNameDnsAAAARecord: subnet.names.aaaaRecord,
    },
    SubnetId: subnet.id,
    State: "available",
    VpcId: subnet.vpcId,
    CidrBlock: subnet.cidr,
    AvailableIpAddressCount: freeAddresses(ec2, subnet),
    AvailabilityZone: subnet.zone,
    DefaultForAz: subnet.defaultForZone,
    MapPublicIpOnLaunch: subnet.publicOnLaunch,
  };
}

function filterTable(ec2: Ec2): FilterTable<Subnet> {
  const zone = (subnet: Subnet) => subnet.zone;
  const zoneId = (subnet: Subnet) => subnet.zoneId;
  const cidr = (subnet: Subnet) => subnet.cidr;
  const defaultForZone = (subnet: Subnet) => subnet.defaultForZone;
  return {
    ...tagFilters<Subnet>(),
    "availability-zone": zone,
    availabilityZone: zone,
    "availability-zone-id": zoneId,
    availabilityZoneId: zoneId,
    "available-ip-address-count": (subnet) => freeAddresses(ec2, subnet),
    "cidr-block": cidr,
    cidr,
    cidrBlock: cidr,
    "default-for-az": defaultForZone,
    defaultForAz: defaultForZone,
    "ipv6-cidr-block-association.ipv6-cidr-block": (subnet) => subnet.ipv6Cidr,
    "ipv6-cidr-block-association.state": (subnet) => (subnet.ipv6Cidr === undefined ? undefined : "associated"),
    "ipv6-native": (subnet) => subnet.cidr === undefined,
    "map-public-ip-on-launch": (subnet) => subnet.publicOnLaunch,
    "owner-id": () => ec2.account.id,
    "private-dns-name-options-on-launch.hostname-type": (subnet) => subnet.names.hostnameType,
    state: () => "available",
    "subnet-arn": (subnet) => arn(ec2.account, "ec2", `subnet/${subnet.id}`),
    "subnet-id": (subnet) => subnet.id,
    "vpc-id": (subnet) => subnet.vpcId,
  };
}
