/** What a request for a volume asks for, before EC2 is asked for anything. */
import type { Tags } from "../../aws/instance.ts";
import { isMultiAttach, isSupported } from "../capability.ts";
import { defaultSizeGiB, sizeInRange } from "../capacity.ts";
import { invalidArgument } from "../csi/errors.ts";
import type { ContentSource, CreateVolumeRequest, StringMap } from "../csi/messages.ts";
import { checkFormatOptions } from "../filesystem.ts";
import { readMutableAtCreation, readVolumeParameters } from "../parameters.ts";
import { type TagSettings, volumeTags } from "../tags.ts";
import { type Placement, placementOf } from "../topology.ts";

/** What can be said of the size and use without the parameters. */
export interface VolumeShape {
  readonly sizeGiB: number;
  readonly multiAttach: boolean;
}

export type Source = { readonly kind: "none" } | { readonly kind: "snapshot" | "volume"; readonly id: string };

/** A volume to be made. */
export interface Creation extends VolumeShape {
  readonly name: string;
  readonly type: string;
  /** 0 for none. */
  readonly iops: number;
  readonly mayIncreaseIops: boolean;
  readonly throughput: number | undefined;
  readonly encrypted: boolean;
  /** Said to be unencrypted, which a clone cannot be. */
  readonly refusesEncryption: boolean;
  readonly kmsKeyId: string | undefined;
  readonly initializationRate: number | undefined;
  readonly source: Source;
  readonly placement: Placement;
  readonly tags: Tags;
  readonly context: StringMap;
}

/** The first checks, in the order of the reference. */
export function checkShape({ name, volumeCapabilities, capacityRange }: CreateVolumeRequest): VolumeShape {
  if (name === "") throw invalidArgument("Volume name not provided");
  if (volumeCapabilities.length === 0) throw invalidArgument("Volume capabilities not provided");
  if (!volumeCapabilities.every(isSupported)) throw invalidArgument("Volume capabilities not supported");
  return {
    sizeGiB: capacityRange === null ? defaultSizeGiB : sizeInRange(capacityRange),
    multiAttach: volumeCapabilities.some(isMultiAttach),
  };
}

/** The rest of them: parameters, tags, format options, source, topology. */
export function planCreation(
  request: CreateVolumeRequest,
  shape: VolumeShape,
  settings: TagSettings,
  warn: (message: string) => void,
): Creation {
  const parameters = readVolumeParameters(request.parameters);
  for (const key of parameters.ignored) warn(`parameter ${key} no longer has an effect`);
  const mutable = readMutableAtCreation(request.mutableParameters);
  const type = mutable.type ?? parameters.type;
  const iops = mutable.iops ?? parameters.iops ?? 0;
  const tags = volumeTags(request.name, parameters, mutable.tags, settings, warn);
  checkFormatOptions(parameters.context, request.volumeCapabilities);
  const source = sourceOf(request.volumeContentSource);
  const placement = placementOf(request.accessibilityRequirements);
  const iopsPerGb = parameters.iopsPerGb ?? 0;
  if (iops > 0 && iopsPerGb > 0) throw refused(request, "invalid StorageClass parameters; specify either IOPS or IOPSPerGb, not both");
  if (shape.multiAttach && type !== "io2")
    throw refused(request, "invalid StorageClass parameters; multi-attach is only supported for io2 volumes");
  return {
    ...shape,
    name: request.name,
    type,
    iops: iops > 0 ? iops : iopsPerGb * shape.sizeGiB,
    mayIncreaseIops: parameters.allowIopsIncrease,
    throughput: positive(mutable.throughput ?? parameters.throughput),
    encrypted: parameters.encrypted === true || parameters.kmsKeyId !== undefined,
    refusesEncryption: parameters.encrypted === false,
    kmsKeyId: parameters.kmsKeyId,
    initializationRate: positive(parameters.initializationRate),
    source,
    placement,
    tags,
    context: parameters.context,
  };
}

function refused({ name }: CreateVolumeRequest, why: string) {
  return invalidArgument(`Could not create volume ${JSON.stringify(name)}: ${why}`);
}

function sourceOf(content: ContentSource | null): Source {
  if (content === null) return { kind: "none" };
  const id = content.snapshot?.snapshotId ?? content.volume?.volumeId;
  if (id === undefined) throw invalidArgument("Unsupported volumeContentSource type");
  if (id === "") return { kind: "none" };
  return { kind: content.snapshot ? "snapshot" : "volume", id };
}

function positive(value: number | undefined): number | undefined {
  return value !== undefined && value > 0 ? value : undefined;
}
