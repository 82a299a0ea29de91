/** Where a volume may be, and where it is. */
import { invalidArgument } from "./csi/errors.ts";
import type { CreateVolumeRequest, StringMap, Topology } from "./csi/messages.ts";
import { topologyKeys } from "./names.ts";

/** Where a volume is to be made. With neither zone nor zone id, anywhere in the region. */
export interface Placement {
  readonly zone: string | undefined;
  /** Only where the zone itself is not known: EC2 takes one of them. */
  readonly zoneId: string | undefined;
  readonly outpostArn: string | undefined;
}

type Requirements = CreateVolumeRequest["accessibilityRequirements"];

/** The first place that is preferred, else the first that is allowed. */
export function placementOf(requirements: Requirements): Placement {
  const entries = [...(requirements?.preferred ?? []), ...(requirements?.requisite ?? [])].map(({ segments }) => segments);
  const zone = firstOf(entries, zoneOf);
  const zoneId = zone === undefined ? firstOf(entries, (segments) => segments[topologyKeys.zoneId] || undefined) : undefined;
  const onOutpost = entries.find((segments) => segments[topologyKeys.outpost]);
  return { zone, zoneId, outpostArn: onOutpost && outpostArnOf(onOutpost) };
}

/** The place of a volume that is cloned or found. */
export interface Place {
  readonly zone: string;
  readonly zoneId: string | undefined;
  readonly outpostArn: string | undefined;
}

/** Whether a clone, which can only be where its source is, would be where it is allowed to be. */
export function isAllowed(requirements: Requirements, place: Place): boolean {
  const requisite = requirements?.requisite ?? [];
  if (requisite.length === 0) return true;
  return requisite.some(({ segments }) => {
    const zone = zoneOf(segments);
    const sameZone = zone === undefined ? segments[topologyKeys.zoneId] === place.zoneId : zone === place.zone;
    const outpost = segments[topologyKeys.outpost] ? outpostArnOf(segments) : undefined;
    return sameZone && (outpost === undefined || outpost === place.outpostArn);
  });
}

/** The segments of a volume, by which pods are brought to it. */
export function segmentsOf(place: Place): Topology {
  return { segments: { [topologyKeys.zone[0]]: place.zone, ...outpostSegments(place.outpostArn) } };
}

/** The segments of an Outpost; none when there is no Outpost, or its ARN has another form. */
export function outpostSegments(arn: string | undefined): StringMap {
  const [, partition, region, account, outpost] = /^arn:([^:]+):outposts:([^:]*):([^:]*):outpost\/(.+)$/.exec(arn ?? "") ?? [];
  if (partition === undefined) return {};
  return {
    [topologyKeys.partition]: partition,
    [topologyKeys.region]: region!,
    [topologyKeys.account]: account!,
    [topologyKeys.outpost]: outpost!,
  };
}

function zoneOf(segments: StringMap): string | undefined {
  return firstOf(topologyKeys.zone, (key) => segments[key] || undefined);
}

/** A whole ARN is taken as the id too. A part that is missing would put the volume into the region, away from its pods. */
function outpostArnOf(segments: StringMap): string {
  const outpost = segments[topologyKeys.outpost] ?? "";
  if (outpost.startsWith("arn:")) return outpost;
  const [partition, region, account] = [topologyKeys.partition, topologyKeys.region, topologyKeys.account].map((key) => segments[key]);
  if (!partition || !region || !account) {
    const needed = [topologyKeys.partition, topologyKeys.region, topologyKeys.account].join(", ");
    throw invalidArgument(`Topology ${topologyKeys.outpost}=${outpost} needs ${needed} beside it, or the whole ARN of the Outpost`);
  }
  return `arn:${partition}:outposts:${region}:${account}:outpost/${outpost}`;
}

function firstOf<T, Found>(all: readonly T[], find: (each: T) => Found | undefined): Found | undefined {
  for (const each of all) {
    const found = find(each);
    if (found !== undefined) return found;
  }
  return undefined;
}
