/** What EC2 keeps: one table a kind of resource, records as plain data. */
import type { _InstanceType } from "@aws-sdk/client-ec2";
import type { Account } from "../account.ts";
import type { Table } from "../store.ts";
import { AddressPools } from "./pools.ts";
import { ClientTokens } from "./tokens.ts";
import type { Snapshot, Volume } from "./volumes/state.ts";

/** Tags by key. */
export type Tags = Readonly<Record<string, string>>;

/** A VPC. */
export interface Vpc {
  readonly id: string;
  readonly cidrs: readonly string[];
  readonly ipv6Cidr: string | undefined;
  readonly isDefault: boolean;
  readonly dnsSupport: boolean;
  readonly dnsHostnames: boolean;
  readonly dhcpOptionsId: string;
  readonly tags: Tags;
}

/** What private host names are made of: the address, or the instance's id. */
export type HostnameType = "ip-name" | "resource-name";

/** How an instance is named in private DNS. */
export interface NameOptions {
  readonly hostnameType: HostnameType;
  readonly aRecord: boolean;
  readonly aaaaRecord: boolean;
}

/** A subnet; one without an IPv4 block is IPv6-only. */
export interface Subnet {
  readonly id: string;
  readonly vpcId: string;
  readonly cidr: string | undefined;
  readonly ipv6Cidr: string | undefined;
  readonly ipv6AssociationId: string | undefined;
  readonly zone: string;
  readonly zoneId: string;
  readonly defaultForZone: boolean;
  readonly publicOnLaunch: boolean;
  readonly ipv6OnLaunch: boolean;
  readonly names: NameOptions;
  readonly tags: Tags;
}

/** Where a route leads; a route to an instance leads to its interface. */
export type RouteTarget =
  | { readonly kind: "local" }
  | { readonly kind: "gateway"; readonly id: string }
  | { readonly kind: "nat"; readonly id: string }
  | { readonly kind: "interface"; readonly id: string; readonly instanceId: string | undefined }
  | { readonly kind: "egress-only"; readonly id: string }
  | { readonly kind: "transit"; readonly id: string }
  | { readonly kind: "peering"; readonly id: string }
  /** A gateway endpoint, whose routes come and go with it. */
  | { readonly kind: "endpoint"; readonly id: string };

/** A route of a table. */
export interface Route {
  /** In network form: no host bits. */
  readonly destination: string;
  readonly family: 4 | 6 | "prefix-list";
  readonly target: RouteTarget;
}

/** A route table with its routes and associations. */
export interface RouteTable {
  readonly id: string;
  readonly vpcId: string;
  readonly routes: readonly Route[];
  readonly associations: readonly { readonly id: string; readonly subnetId: string | undefined; readonly main: boolean }[];
  readonly tags: Tags;
}

/** An internet gateway, attached to a VPC or to none. */
export interface InternetGateway {
  readonly id: string;
  readonly vpcId: string | undefined;
  readonly tags: Tags;
}

/** A NAT gateway, which comes and goes slowly. */
export interface NatGateway {
  readonly id: string;
  readonly vpcId: string;
  readonly subnetId: string;
  readonly connectivity: "public" | "private";
  readonly state: "pending" | "available" | "deleting" | "deleted";
  readonly interfaceId: string;
  readonly allocationId: string | undefined;
  readonly created: number;
  readonly deleted: number | undefined;
  readonly tags: Tags;
}

/** A security group; its rules are records of their own. */
export interface SecurityGroup {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly vpcId: string;
  readonly tags: Tags;
}

/** The other end of a rule. */
export type RulePeer =
  | { readonly kind: "ipv4"; readonly cidr: string }
  | { readonly kind: "ipv6"; readonly cidr: string }
  | { readonly kind: "group"; readonly groupId: string; readonly userId: string }
  | { readonly kind: "prefix-list"; readonly id: string };

/** One rule of a security group, for one peer. */
export interface SecurityGroupRule {
  readonly id: string;
  readonly groupId: string;
  readonly egress: boolean;
  /** `tcp`, `udp`, `icmp`, `icmpv6`, `-1`, or a protocol number. */
  readonly protocol: string;
  readonly fromPort: number | undefined;
  readonly toPort: number | undefined;
  readonly peer: RulePeer;
  readonly description: string | undefined;
  readonly tags: Tags;
}

/** An interface's hold on a machine. */
export interface Attachment {
  readonly id: string;
  readonly instanceId: string | undefined;
  /** The account, or the service that owns the machine behind the interface. */
  readonly instanceOwnerId: string;
  readonly deviceIndex: number;
  readonly networkCardIndex: number;
  readonly status: "attaching" | "attached" | "detaching";
  readonly deleteOnTermination: boolean;
  readonly attached: number;
}

/** A network interface of a user, an instance or a service. */
export interface NetworkInterface {
  readonly id: string;
  readonly subnetId: string;
  readonly vpcId: string;
  readonly zone: string;
  readonly mac: string;
  readonly description: string;
  readonly groupIds: readonly string[];
  /** The first is the primary one. */
  readonly privateAddresses: readonly string[];
  readonly ipv6Addresses: readonly string[];
  readonly ipv4Prefixes: readonly string[];
  readonly ipv6Prefixes: readonly string[];
  readonly sourceDestCheck: boolean;
  readonly interfaceType: string;
  /** The service that made it and alone may change it, or undefined for the user's own. */
  readonly requesterId: string | undefined;
  readonly attachment: Attachment | undefined;
  /** A public address AWS lent at launch; one of the user's own is in the addresses table. */
  readonly lentPublicIp: string | undefined;
  readonly tags: Tags;
}

/** A public address that the account holds. */
export interface ElasticAddress {
  readonly id: string;
  readonly publicIp: string;
  readonly association: { readonly id: string; readonly interfaceId: string; readonly privateIp: string } | undefined;
  /** The service that holds it associated: nobody else may take it away. */
  readonly managedBy: string | undefined;
  /** Set when it was allocated for another place than the region's usual one. */
  readonly borderGroup?: string;
  readonly tags: Tags;
}

/** The states of an instance. */
export type InstanceStateName = "pending" | "running" | "shutting-down" | "terminated" | "stopping" | "stopped";

/** An instance. What it has of the network is on its interfaces. */
export interface Instance {
  readonly id: string;
  readonly reservationId: string;
  readonly launchIndex: number;
  readonly clientToken: string;
  readonly imageId: string;
  readonly type: _InstanceType;
  readonly state: InstanceStateName;
  readonly stateReason: { readonly code: string; readonly message: string } | undefined;
  readonly transitionReason: string;
  readonly launched: number;
  readonly zone: string;
  readonly zoneId: string;
  readonly placementGroup: string | undefined;
  readonly partitionNumber: number | undefined;
  readonly tenancy: "default" | "dedicated" | "host";
  /** Undefined once terminated, like everything of the network. */
  readonly vpcId: string | undefined;
  readonly subnetId: string | undefined;
  readonly interfaceIds: readonly string[];
  readonly names: NameOptions;
  readonly privateDnsName: string;
  readonly keyName: string | undefined;
  readonly profileArn: string | undefined;
  readonly spot: boolean;
  /** The capacity reservation or block that it was launched into. */
  readonly capacityReservationId: string | undefined;
  readonly terminationProtection: boolean;
  readonly stopProtection: boolean;
  readonly shutdownTerminates: boolean;
  readonly monitoring: boolean;
  readonly userData: string | undefined;
  readonly metadata: MetadataOptions;
  readonly rootVolumeId: string;
  /** The devices besides the root that it was launched with. */
  readonly launchDevices: readonly string[];
  /** All volumes at it, the root volume too, in the order in which they came. */
  readonly volumeIds: readonly string[];
  /** Whether AWS lends it a public address each time it starts. */
  readonly lendsPublicIp: boolean;
  readonly tags: Tags;
}

/** How an instance's metadata service behaves. */
export interface MetadataOptions {
  readonly endpoint: boolean;
  readonly tokensRequired: boolean;
  readonly hopLimit: number;
  readonly tags: boolean;
  readonly ipv6: boolean;
}

/** EC2's tables, and the account they belong to. */
export interface Ec2 {
  readonly account: AccountBase;
  readonly vpcs: Table<Vpc>;
  readonly subnets: Table<Subnet>;
  readonly routeTables: Table<RouteTable>;
  readonly internetGateways: Table<InternetGateway>;
  readonly natGateways: Table<NatGateway>;
  readonly securityGroups: Table<SecurityGroup>;
  readonly rules: Table<SecurityGroupRule>;
  readonly interfaces: Table<NetworkInterface>;
  readonly addresses: Table<ElasticAddress>;
  readonly instances: Table<Instance>;
  readonly volumes: Table<Volume>;
  readonly snapshots: Table<Snapshot>;
  readonly pools: AddressPools;
  readonly tokens: ClientTokens;
}

/** The account without EC2, for EC2 itself. */
export type AccountBase = Omit<Account, "ec2">;

/** An EC2 with nothing in it. */
export function createEc2(account: AccountBase): Ec2 {
  const { store } = account;
  return {
    account,
    vpcs: store.table("ec2/vpcs"),
    subnets: store.table("ec2/subnets"),
    routeTables: store.table("ec2/route-tables"),
    internetGateways: store.table("ec2/internet-gateways"),
    natGateways: store.table("ec2/nat-gateways"),
    securityGroups: store.table("ec2/security-groups"),
    rules: store.table("ec2/security-group-rules"),
    interfaces: store.table("ec2/network-interfaces"),
    addresses: store.table("ec2/addresses"),
    instances: store.table("ec2/instances"),
    volumes: store.table("ec2/volumes"),
    snapshots: store.table("ec2/snapshots"),
    pools: new AddressPools(account.ids.random, (step) => store.undoable(step)),
    tokens: new ClientTokens(),
  };
}
