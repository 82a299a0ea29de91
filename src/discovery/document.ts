/** What discovery publishes of the account, as one document. */
import type { AvailabilityZone } from "../aws/availability-zones.ts";
import type { Image } from "../aws/images.ts";
import type { Offering } from "../aws/instance-types.ts";
import type { SecurityGroup } from "../aws/security-groups.ts";
import type { Subnet } from "../aws/subnets.ts";
import { byteOrder } from "./catalog.ts";
import { type VolumeTypeLimits, volumeTypes } from "./volume-types.ts";

/** The parts that come from AWS. Each is absent where nothing is known of it. */
export interface Discovered {
  readonly vpcID?: string;
  readonly zones?: readonly string[];
  readonly availabilityZones?: readonly ZoneEntry[];
  readonly subnets?: readonly SubnetEntry[];
  readonly securityGroups?: readonly { readonly id: string; readonly name: string }[];
  readonly instanceTypeZones?: Readonly<Record<string, readonly string[]>>;
  readonly defaultAMI?: Image;
}

/** The whole document. Readers ignore fields that they do not know. */
export interface DiscoveryDocument extends Discovered {
  readonly apiVersion: "deckhouse.io/v1alpha1";
  readonly kind: "AWSCloudProviderDiscoveryData";
  readonly region: string;
  readonly volumeTypes: readonly VolumeTypeLimits[];
}

interface ZoneEntry {
  readonly name: string;
  readonly id: string;
  readonly type: string;
  readonly state: string;
  readonly optInStatus: string;
  readonly networkBorderGroup: string;
}

interface SubnetEntry {
  readonly id: string;
  readonly zone: string;
  readonly cidr: string;
  readonly availableIPs: number;
  readonly mapPublicIP: boolean;
  readonly name: string;
  readonly role: "public" | "internal" | "";
}

/** A Secret takes 1 MiB; this leaves room for the rest of it. */
const maxBytes = 900 * 1024;

/**
 * The bytes of the document: the same for the same input. Which zones have which types is the largest part, and the first
 * that is left out when it does not fit.
 */
export function documentText(region: string, found: Discovered): string {
  const text = JSON.stringify(documentOf(region, found));
  if (Buffer.byteLength(text) <= maxBytes) return text;
  const { instanceTypeZones: _, ...rest } = found;
  return JSON.stringify(documentOf(region, rest));
}

function documentOf(region: string, found: Discovered): DiscoveryDocument {
  // One order of fields, and none that is undefined: the bytes tell whether anything has changed.
  return {
    apiVersion: "deckhouse.io/v1alpha1",
    kind: "AWSCloudProviderDiscoveryData",
    region,
    ...(found.vpcID !== undefined && { vpcID: found.vpcID }),
    ...(found.zones !== undefined && { zones: found.zones }),
    ...(found.availabilityZones !== undefined && { availabilityZones: found.availabilityZones }),
    ...(found.subnets !== undefined && { subnets: found.subnets }),
    ...(found.securityGroups !== undefined && { securityGroups: found.securityGroups }),
    ...(found.instanceTypeZones !== undefined && { instanceTypeZones: found.instanceTypeZones }),
    volumeTypes,
    ...(found.defaultAMI !== undefined && { defaultAMI: found.defaultAMI }),
  };
}

/** Names of the zones that machines can be made in: those that work, and that the cluster is in. */
export function usableZones(zones: readonly AvailabilityZone[], ofCluster: readonly string[] | undefined): readonly string[] {
  return zones
    .filter(({ name, state }) => state === "available" && (ofCluster === undefined || ofCluster.includes(name)))
    .map(({ name }) => name)
    .sort(byteOrder);
}

export function zoneEntries(zones: readonly AvailabilityZone[]): readonly ZoneEntry[] {
  return zones
    .map(({ name, id, type, state, optInStatus, borderGroup }) => ({ name, id, type, state, optInStatus, networkBorderGroup: borderGroup }))
    .sort((a, b) => byteOrder(a.name, b.name));
}

export function subnetEntries(subnets: readonly Subnet[]): readonly SubnetEntry[] {
  return subnets
    .map((subnet) => ({
      id: subnet.id,
      zone: subnet.zone,
      cidr: subnet.cidr,
      availableIPs: subnet.availableAddresses,
      mapPublicIP: subnet.publicOnLaunch ?? false,
      name: subnet.tags.Name ?? "",
      role: roleOf(subnet),
    }))
    .sort((a, b) => byteOrder(a.id, b.id));
}

function roleOf({ tags }: Subnet): SubnetEntry["role"] {
  if (tags["kubernetes.io/role/elb"] !== undefined) return "public";
  return tags["kubernetes.io/role/internal-elb"] === undefined ? "" : "internal";
}

export function groupEntries(groups: readonly SecurityGroup[]): readonly { readonly id: string; readonly name: string }[] {
  return groups.map(({ id, name }) => ({ id, name })).sort((a, b) => byteOrder(a.id, b.id));
}

/** The zones of each type. */
export function zonesByType(offerings: readonly Offering[]): Readonly<Record<string, readonly string[]>> {
  const types = Map.groupBy(offerings, ({ type }) => type);
  return Object.fromEntries(
    [...types].sort(([a], [b]) => byteOrder(a, b)).map(([type, places]) => [type, places.map(({ zone }) => zone).sort(byteOrder)]),
  );
}
