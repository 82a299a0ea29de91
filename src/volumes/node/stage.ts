/** NodeStageVolume and NodeUnstageVolume: a volume's file system is mounted once on the node. */
import { isBlock, isSupported, isSupportedLocally } from "../capability.ts";
import { CsiError, invalidArgument, wrapped } from "../csi/errors.ts";
import type { StageVolumeRequest, StringMap, UnstageVolumeRequest, VolumeCapability } from "../csi/messages.ts";
import { defaultFilesystem, filesystems, formatOptions, isPlainValue } from "../filesystem.ts";
import { contextKeys, isNodeLocal } from "../names.ts";
import type { Rpc } from "../rpc.ts";
import { exclusively, type NodeContext } from "./context.ts";
import { contentOf, formatAndMount, grow, isReadOnly, unmount } from "./file-systems.ts";
import { deviceMissing, findDevice } from "./find-device.ts";
import { mountAt, mounts } from "./mounts.ts";

export async function stageVolume(request: StageVolumeRequest, rpc: Rpc, context: NodeContext): Promise<void> {
  const { volumeId, stagingTargetPath: path, volumeCapability, publishContext, volumeContext } = request;
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (path === "") throw invalidArgument("Staging target not provided");
  const capability = checkedCapability(volumeCapability, volumeId);
  const partition = checkedPartition(volumeContext, "Volume Attribute is not valid");
  if (isBlock(capability)) return;
  if (!capability.mount) throw invalidArgument("NodeStageVolume: mount is nil within volume capability");
  const type = filesystemOf(capability, "NodeStageVolume");
  const options = checkedOptions(volumeContext, type);
  await exclusively(volumeId, volumeId, context, async () => {
    const devicePath = publishContext[contextKeys.devicePath];
    if (!devicePath) throw invalidArgument("Device path not provided");
    const device = await deviceOf(request, devicePath, partition, rpc, context);
    try {
      await mountStaged(
        { device, path, type, mountFlags: capability.mount!.mountFlags, options, legacyXfs: context.settings.legacyXfs },
        context,
      );
    } catch (error) {
      throw wrapped(`could not format "${device}" and mount it at "${path}"`, error, "Internal");
    }
  });
}

/** The device of a volume; a node's own one is known by its real id. */
export async function deviceOf(
  { volumeId, publishContext }: Pick<StageVolumeRequest, "volumeId" | "publishContext">,
  devicePath: string,
  partition: string,
  rpc: Rpc,
  { system, host }: NodeContext,
): Promise<string> {
  const id = isNodeLocal(volumeId) ? (publishContext[contextKeys.volumeId] ?? volumeId) : volumeId;
  try {
    return await findDevice(id, devicePath, partition, system, host.world.clock, rpc.signal);
  } catch (error) {
    throw new CsiError("NotFound", deviceMissing(devicePath, error), { cause: error });
  }
}

async function mountStaged(request: Parameters<typeof formatAndMount>[0], { system, host }: NodeContext): Promise<void> {
  const { device, path } = request;
  const warn = (message: string) => host.log.warn(message);
  await system.makeDirectory(path);
  const mounted = await mountAt(await system.realPath(path), system);
  if (mounted !== undefined) {
    if (mounted.device === (await system.stat(device))?.device) return;
    // The volume was attached anew while the old device was still mounted here: that file system is gone.
    warn(`${mounted.source} is mounted at ${path} instead of ${device} and is unmounted`);
    await unmount(path, system);
  }
  await formatAndMount(request, system, warn);
  // A volume restored from a smaller snapshot has a file system that is too small for it.
  if (!(await isReadOnly(device, system)) && (await contentOf(device, system)) !== "") await grow(device, path, system);
}

export async function unstageVolume({ volumeId, stagingTargetPath: path }: UnstageVolumeRequest, context: NodeContext): Promise<void> {
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (path === "") throw invalidArgument("Staging target not provided");
  const { system, host } = context;
  await exclusively(volumeId, volumeId, context, async () => {
    const real = await system.realPath(path).catch(() => path);
    const mounted = await mountAt(real, system);
    if (mounted === undefined) return;
    const references = (await mounts(system)).filter(({ device }) => device === mounted.device).length;
    if (references > 1) host.log.warn("the device of a volume is mounted elsewhere too", { path, device: mounted.source, references });
    try {
      await unmount(real, system);
      await system.remove(path);
    } catch (error) {
      throw wrapped(`Could not unmount target "${path}"`, error, "Internal");
    }
  });
}

/** The capability, if it can be had. */
export function checkedCapability(capability: VolumeCapability | null, volumeId: string): VolumeCapability {
  if (capability === null) throw invalidArgument("Volume capability not provided");
  const supported = isNodeLocal(volumeId) ? isSupportedLocally(capability) : isSupported(capability);
  if (!supported) throw invalidArgument("Volume capability not supported");
  return capability;
}

/** The partition that a volume's attributes name; empty for the whole device. */
export function checkedPartition(volumeContext: StringMap, refusal: string): string {
  const partition = volumeContext[contextKeys.partition];
  if (partition === undefined) return "";
  if (!/^\+?\d+$/.test(partition)) throw invalidArgument(refusal);
  return String(Number(partition));
}

/** The file system that a capability asks for. */
export function filesystemOf(capability: VolumeCapability, what: string): string {
  const type = capability.mount?.fsType || defaultFilesystem;
  const known = filesystems.find((each) => each === type.toLowerCase());
  if (known === undefined) throw invalidArgument(`${what}: invalid fstype ${type}`);
  return known;
}

function checkedOptions(volumeContext: StringMap, type: string): StringMap {
  const chosen = formatOptions.filter(({ key }) => volumeContext[key] !== undefined);
  for (const { key, refusedBy } of chosen) {
    if (!isPlainValue(volumeContext[key]!)) throw invalidArgument(`Invalid ${key} (aborting!): <nil>`);
    if (refusedBy.includes(type)) throw invalidArgument(`Cannot use ${key} with fstype ${type}`);
  }
  return Object.fromEntries(chosen.map(({ key }) => [key, volumeContext[key]!]));
}
