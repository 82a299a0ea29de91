/** NodeExpandVolume and NodeGetVolumeStats. */
import { isBlock, isSupported } from "../capability.ts";
import { CsiError, invalidArgument, wrapped } from "../csi/errors.ts";
import type { NodeExpandRequest, VolumeStatsRequest } from "../csi/messages.ts";
import type { Rpc } from "../rpc.ts";
import { exclusively, type NodeContext } from "./context.ts";
import { deviceSize, grow } from "./file-systems.ts";
import { deviceMissing, findDevice } from "./find-device.ts";
import { mountAt } from "./mounts.ts";
import type { FileFacts } from "./system.ts";

/** The size in bytes; undefined when it is not known here. */
export async function expandVolume(
  { volumeId, volumePath, volumeCapability }: NodeExpandRequest,
  rpc: Rpc,
  context: NodeContext,
): Promise<string | undefined> {
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (volumePath === "") throw invalidArgument("volume path must be provided");
  const { system, host } = context;
  if (volumeCapability !== null) {
    if (!isSupported(volumeCapability)) throw invalidArgument("VolumeCapability is invalid");
    if (isBlock(volumeCapability)) return undefined;
  } else if ((await existing(volumePath, context)).kind === "block") return deviceSize(volumePath, system);
  await existing(volumePath, context);
  return exclusively(volumeId, volumeId, context, async () => {
    const mounted = await mountAt(await system.realPath(volumePath), system);
    if (mounted === undefined)
      throw new CsiError("Internal", `failed to get device name from mount ${volumePath}: nothing is mounted there`);
    const device = await findDevice(volumeId, mounted.source, "", system, host.world.clock, rpc.signal).catch((error: unknown) => {
      throw new CsiError("NotFound", deviceMissing(mounted.source, error), { cause: error });
    });
    try {
      await grow(device, volumePath, system);
      return await deviceSize(device, system);
    } catch (error) {
      throw wrapped(`Could not resize volume "${volumeId}" ("${device}")`, error, "Internal");
    }
  });
}

export interface VolumeUsage {
  readonly unit: "BYTES" | "INODES";
  readonly total: string;
  readonly available?: string;
  readonly used?: string;
}

export async function volumeStats({ volumeId, volumePath }: VolumeStatsRequest, context: NodeContext): Promise<readonly VolumeUsage[]> {
  if (volumeId === "") throw invalidArgument("NodeGetVolumeStats volume ID was empty");
  if (volumePath === "") throw invalidArgument("NodeGetVolumeStats volume path was empty");
  const { system } = context;
  try {
    if ((await existing(volumePath, context)).kind === "block") return [{ unit: "BYTES", total: await deviceSize(volumePath, system) }];
    const facts = await system.filesystem(volumePath);
    const usage = (unit: VolumeUsage["unit"], total: bigint, available: bigint, used: bigint): VolumeUsage => ({
      unit,
      total: String(total),
      available: String(available),
      used: String(used),
    });
    const { blockSize, blocks, freeBlocks, availableBlocks, inodes, freeInodes } = facts;
    const bytes = usage("BYTES", blocks * blockSize, availableBlocks * blockSize, (blocks - freeBlocks) * blockSize);
    return inodes === 0n ? [bytes] : [bytes, usage("INODES", inodes, freeInodes, inodes - freeInodes)];
  } catch (error) {
    throw error instanceof CsiError ? error : wrapped(`failed to get stats of ${volumePath}`, error, "Internal");
  }
}

async function existing(path: string, { system }: NodeContext): Promise<FileFacts> {
  const facts = await system.stat(path);
  if (facts === undefined) throw new CsiError("NotFound", `path ${path} does not exist`);
  return facts;
}
