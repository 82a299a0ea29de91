/** ControllerExpandVolume and ControllerModifyVolume: two ways into the same window of changes. */
import { isBlock } from "../capability.ts";
import { bytesOf, sizeInRange } from "../capacity.ts";
import { CsiError, invalidArgument, wrapped } from "../csi/errors.ts";
import type { ExpandVolumeRequest, ModifyVolumeRequest, StringMap } from "../csi/messages.ts";
import { isNodeLocal } from "../names.ts";
import { readModification } from "../parameters.ts";
import { modificationTags, reservedTag } from "../tags.ts";
import type { ControllerContext, Rpc } from "./context.ts";
import type { VolumeChange } from "./modification-windows.ts";

export interface Expanded {
  readonly capacityBytes: string;
  readonly nodeExpansionRequired: boolean;
}

export async function expandVolume(request: ExpandVolumeRequest, rpc: Rpc, { windows }: ControllerContext): Promise<Expanded> {
  const { volumeId, capacityRange, volumeCapability } = request;
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (isNodeLocal(volumeId)) throw invalidArgument("node-local volumes cannot be expanded");
  if (capacityRange === null) throw invalidArgument("Capacity range not provided");
  const sizeGiB = sizeInRange(capacityRange);
  if (sizeGiB === 0) throw invalidArgument(`Capacity range asks for no bytes (required_bytes ${capacityRange.requiredBytes})`);
  try {
    const actual = await windows.request(volumeId, { sizeGiB }, rpc.signal);
    return { capacityBytes: bytesOf(actual ?? sizeGiB), nodeExpansionRequired: volumeCapability === null || !isBlock(volumeCapability) };
  } catch (error) {
    throw wrapped(`Could not resize volume ${JSON.stringify(volumeId)}`, error);
  }
}

export async function modifyVolume(
  { volumeId, mutableParameters }: ModifyVolumeRequest,
  rpc: Rpc,
  context: ControllerContext,
): Promise<void> {
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (isNodeLocal(volumeId)) throw invalidArgument("node-local volumes cannot be modified");
  await requestModification(volumeId, mutableParameters, rpc, context);
}

/** The same for the older `modify.v1` service. */
export async function modifyProperties(name: string, parameters: StringMap, rpc: Rpc, context: ControllerContext): Promise<void> {
  if (name === "") throw invalidArgument("Volume name not provided");
  await requestModification(name, parameters, rpc, context);
}

async function requestModification(volumeId: string, parameters: StringMap, rpc: Rpc, { windows }: ControllerContext): Promise<void> {
  const change = changeOf(parameters);
  try {
    await windows.request(volumeId, change, rpc.signal);
  } catch (error) {
    throw error instanceof CsiError ? error : wrapped(`Could not modify volume ${JSON.stringify(volumeId)}`, error);
  }
}

function changeOf(parameters: StringMap): VolumeChange {
  const modification = readModification(parameters);
  const { type, iops, throughput, iopsPerGb, allowIopsIncrease, ownTags, tagDeletions } = modification;
  for (const key of tagDeletions) {
    const reserved = reservedTag(key);
    if (reserved !== undefined) throw invalidArgument(`Cannot delete reserved tag: ${reserved}`);
  }
  const tags = { ...modificationTags(modification.tags, modification.names), ...ownTags };
  return {
    type,
    iops,
    throughput,
    iopsPerGb,
    allowIopsIncrease,
    tags: Object.keys(tags).length === 0 ? undefined : tags,
    tagDeletions: tagDeletions.length === 0 ? undefined : tagDeletions,
  };
}
