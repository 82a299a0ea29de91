/** An EC2 instance, as much of it as anybody here reads, and how it is picked out of the answer. */
import type { Page } from "./pages.ts";
import { common, fields, list, type Shape, text } from "./scan.ts";

export type InstanceState = "pending" | "running" | "shutting-down" | "terminated" | "stopping" | "stopped";

export interface Instance {
  readonly id: string;
  readonly type: string;
  /** Undefined when AWS tells none. */
  readonly state: InstanceState | undefined;
  readonly zone: string | undefined;
  readonly zoneId: string | undefined;
  readonly vpc: string | undefined;
  readonly subnet: string | undefined;
  readonly privateDnsName: string | undefined;
  readonly publicDnsName: string | undefined;
  readonly privateIp: string | undefined;
  readonly publicIp: string | undefined;
  readonly ipv6: string | undefined;
  readonly sourceDestCheck: boolean | undefined;
  /** ISO 8601. */
  readonly launchTime: string | undefined;
  /** `spot`, `scheduled`, `capacity-block`; undefined for on-demand. */
  readonly lifecycle: string | undefined;
  /** How the private name is made: `ip-name` or `resource-name`. */
  readonly hostnameType: string | undefined;
  readonly groups: readonly string[];
  readonly interfaces: readonly NetworkInterface[];
  /** The device name of the root volume. */
  readonly rootDevice: string | undefined;
  readonly disks: readonly Disk[];
  readonly tags: Tags;
}

/** An EBS volume as its instance shows it. */
export interface Disk {
  readonly name: string;
  readonly volumeId: string;
  /** Only where the instance has more than one EBS card. */
  readonly card: number | undefined;
  /** ISO 8601. */
  readonly attachTime: string | undefined;
}

export type Tags = Readonly<Record<string, string>>;

export interface NetworkInterface {
  readonly id: string;
  readonly status: string | undefined;
  readonly zone: string | undefined;
  readonly vpc: string | undefined;
  readonly subnet: string | undefined;
  readonly privateDnsName: string | undefined;
  readonly privateIp: string | undefined;
  readonly publicIp: string | undefined;
  readonly type: string | undefined;
  readonly description: string | undefined;
  readonly sourceDestCheck: boolean | undefined;
  /** Undefined when it is attached to nothing. */
  readonly attachment: Attachment | undefined;
  readonly privateAddresses: readonly { readonly ip: string; readonly primary: boolean }[];
  readonly ipv6Addresses: readonly string[];
  readonly ipv4Prefixes: readonly string[];
  readonly ipv6Prefixes: readonly string[];
  readonly groups: readonly string[];
  readonly tags: Tags;
}

export interface Attachment {
  readonly status: string | undefined;
  readonly deviceIndex: number;
  readonly cardIndex: number;
  readonly instanceId: string | undefined;
}

/** Texts of XML that are not texts. */
export const flag: Shape<boolean> = { kind: "text", make: (value) => value === "true" };
export const number: Shape<number> = { kind: "text", make: Number };

/** EC2 sends an empty element where there is no name. */
export const name: Shape<string | undefined> = { kind: "text", make: (value) => value || undefined };

export const tags = {
  ...list(fields({ key: common, value: text })),
  make: (items: unknown[]) =>
    Object.fromEntries((items as { key?: string; value?: string }[]).map(({ key = "", value = "" }) => [key, value])) as Tags,
} as Shape<Tags>;

const groups = list(fields({ groupId: common }, ({ groupId }) => groupId ?? ""));

const attachment = fields(
  { status: common, deviceIndex: number, networkCardIndex: number, instanceId: text },
  (found): Attachment => ({
    status: found.status,
    deviceIndex: found.deviceIndex ?? 0,
    cardIndex: found.networkCardIndex ?? 0,
    instanceId: found.instanceId,
  }),
);

const networkInterface = fields(
  {
    networkInterfaceId: text,
    status: common,
    availabilityZone: common,
    vpcId: common,
    subnetId: common,
    privateDnsName: name,
    privateIpAddress: text,
    interfaceType: common,
    description: name,
    sourceDestCheck: flag,
    attachment,
    association: fields({ publicIp: text }),
    privateIpAddressesSet: list(
      fields({ privateIpAddress: text, primary: flag }, (found) => ({ ip: found.privateIpAddress ?? "", primary: found.primary ?? false })),
    ),
    ipv6AddressesSet: list(fields({ ipv6Address: text }, ({ ipv6Address }) => ipv6Address ?? "")),
    ipv4PrefixSet: list(fields({ ipv4Prefix: text }, ({ ipv4Prefix }) => ipv4Prefix ?? "")),
    ipv6PrefixSet: list(fields({ ipv6Prefix: text }, ({ ipv6Prefix }) => ipv6Prefix ?? "")),
    groupSet: groups,
    tagSet: tags,
  },
  (found): NetworkInterface => ({
    id: found.networkInterfaceId ?? "",
    status: found.status,
    zone: found.availabilityZone,
    vpc: found.vpcId,
    subnet: found.subnetId,
    privateDnsName: found.privateDnsName,
    privateIp: found.privateIpAddress,
    publicIp: found.association?.publicIp,
    type: found.interfaceType,
    description: found.description,
    sourceDestCheck: found.sourceDestCheck,
    attachment: found.attachment,
    privateAddresses: found.privateIpAddressesSet ?? [],
    ipv6Addresses: found.ipv6AddressesSet ?? [],
    ipv4Prefixes: found.ipv4PrefixSet ?? [],
    ipv6Prefixes: found.ipv6PrefixSet ?? [],
    groups: found.groupSet ?? [],
    tags: found.tagSet ?? {},
  }),
);

const disk = fields(
  { deviceName: common, ebs: fields({ volumeId: text, ebsCardIndex: number, attachTime: text }) },
  ({ deviceName = "", ebs }): Disk | undefined =>
    ebs && { name: deviceName, volumeId: ebs.volumeId ?? "", card: ebs.ebsCardIndex, attachTime: ebs.attachTime },
);

const instance = fields(
  {
    instanceId: text,
    instanceType: common,
    instanceState: fields({ name: common }),
    placement: fields({ availabilityZone: common, availabilityZoneId: common }),
    vpcId: common,
    subnetId: common,
    privateDnsName: name,
    dnsName: name,
    privateIpAddress: text,
    ipAddress: text,
    ipv6Address: text,
    sourceDestCheck: flag,
    launchTime: text,
    instanceLifecycle: common,
    privateDnsNameOptions: fields({ hostnameType: common }),
    groupSet: groups,
    networkInterfaceSet: list(networkInterface),
    rootDeviceName: common,
    blockDeviceMapping: list(disk),
    tagSet: tags,
  },
  (found): Instance => ({
    id: found.instanceId ?? "",
    type: found.instanceType ?? "",
    state: found.instanceState?.name as InstanceState | undefined,
    zone: found.placement?.availabilityZone,
    zoneId: found.placement?.availabilityZoneId,
    vpc: found.vpcId,
    subnet: found.subnetId,
    privateDnsName: found.privateDnsName,
    publicDnsName: found.dnsName,
    privateIp: found.privateIpAddress,
    publicIp: found.ipAddress,
    ipv6: found.ipv6Address,
    sourceDestCheck: found.sourceDestCheck,
    launchTime: found.launchTime,
    lifecycle: found.instanceLifecycle,
    hostnameType: found.privateDnsNameOptions?.hostnameType,
    groups: found.groupSet ?? [],
    interfaces: found.networkInterfaceSet ?? [],
    rootDevice: found.rootDeviceName,
    disks: (found.blockDeviceMapping ?? []).filter((each) => each !== undefined),
    tags: found.tagSet ?? {},
  }),
);

/** The answer to DescribeInstances. */
export const instancesPage = fields(
  { reservationSet: list(fields({ instancesSet: list(instance) })), nextToken: name },
  (found): Page<Instance> => ({
    items: (found.reservationSet ?? []).flatMap(({ instancesSet }) => instancesSet ?? []),
    nextToken: found.nextToken,
  }),
);

/** The answer to DescribeNetworkInterfaces. */
export const networkInterfacesPage = fields(
  { networkInterfaceSet: list(networkInterface), nextToken: name },
  (found): Page<NetworkInterface> => ({ items: found.networkInterfaceSet ?? [], nextToken: found.nextToken }),
);
