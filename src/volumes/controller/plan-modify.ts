/** What a volume is to become, with the IOPS that follow from its size. */
import type { Volume } from "../../aws/volumes.ts";
import { invalidArgument } from "../csi/errors.ts";
import { cappedIops } from "../iops.ts";
import { tagKeys } from "../names.ts";
import { int32 } from "../parameters.ts";
import type { VolumeChange } from "./modification-windows.ts";

/** What EC2 is asked for; undefined leaves it to EC2. */
export interface Target {
  readonly sizeGiB: number | undefined;
  readonly type: string | undefined;
  readonly iops: number | undefined;
  readonly throughput: number | undefined;
}

const goTruths: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"]);
const goFalsehoods: ReadonlySet<string> = new Set(["0", "f", "F", "FALSE", "false", "False"]);

/** The change with IOPS within the limits of type and size. `zoneMax` tells the most a zone offers of a type. */
export async function targetOf(
  volume: Volume,
  change: VolumeChange,
  zoneMax: (type: string) => Promise<number | undefined>,
): Promise<Target> {
  const type = change.type ?? volume.type;
  const sizeGiB = Math.max(change.sizeGiB ?? 0, volume.sizeGiB);
  const asked = askedIops(volume, change, sizeGiB);
  const iops =
    asked === undefined ? undefined : cappedIops({ type, sizeGiB, iops: asked, mayIncrease: true, zoneMax: await zoneMax(type) });
  return { sizeGiB: change.sizeGiB, type: change.type, iops, throughput: change.throughput };
}

/** IOPS by number, or by size where both the ratio and the leave to raise them are given: by this request, or by the volume's tags. */
function askedIops({ id, tags }: Volume, change: VolumeChange, sizeGiB: number): number | undefined {
  const taggedRatio = tagged(id, tags, tagKeys.iopsPerGb, int32, "a 32-bit integer");
  const taggedLeave = tagged(id, tags, tagKeys.allowIopsIncrease, goBool, "true or false");
  if (change.iops !== undefined && change.iopsPerGb !== undefined) {
    throw invalidArgument("invalid VAC parameter; specify either IOPS or IOPSPerGb, not both");
  }
  if (change.iops !== undefined) return change.iops;
  const ratio = change.iopsPerGb ?? taggedRatio;
  const mayFollow = change.allowIopsIncrease || taggedLeave;
  return ratio !== undefined && mayFollow ? ratio * sizeGiB : undefined;
}

function tagged<T>(id: string, tags: Volume["tags"], key: string, read: (text: string) => T | undefined, what: string): T | undefined {
  const text = tags[key];
  if (text === undefined) return undefined;
  const value = read(text);
  if (value === undefined) throw invalidArgument(`tag ${key} of volume ${id} is ${JSON.stringify(text)}, not ${what}`);
  return value;
}

function goBool(text: string): boolean | undefined {
  return goTruths.has(text) ? true : goFalsehoods.has(text) ? false : undefined;
}

/** In what a volume is not as wanted. A larger volume is large enough. */
export function unmetBy(volume: Volume, target: Target): readonly string[] {
  const { sizeGiB, type, iops, throughput } = target;
  return [
    ...(sizeGiB !== undefined && volume.sizeGiB < sizeGiB ? [`size ${volume.sizeGiB} GiB, wanted ${sizeGiB}`] : []),
    ...(type !== undefined && volume.type.toLowerCase() !== type.toLowerCase() ? [`type ${volume.type}, wanted ${type}`] : []),
    ...(iops !== undefined && volume.iops !== iops ? [`IOPS ${volume.iops}, wanted ${iops}`] : []),
    ...(throughput !== undefined && volume.throughput !== throughput ? [`throughput ${volume.throughput}, wanted ${throughput}`] : []),
  ];
}
