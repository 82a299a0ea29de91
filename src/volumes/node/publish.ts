/** NodePublishVolume and NodeUnpublishVolume: the staged file system, or the raw device, appears in the pod's directory. */
import { dirname } from "node:path";
import { isBlock } from "../capability.ts";
import { CsiError, invalidArgument, wrapped } from "../csi/errors.ts";
import type { NodePublishRequest, NodeUnpublishRequest } from "../csi/messages.ts";
import { contextKeys } from "../names.ts";
import type { Rpc } from "../rpc.ts";
import { exclusively, type NodeContext } from "./context.ts";
import { bindMount, remountBound, unmount } from "./file-systems.ts";
import { mountAt } from "./mounts.ts";
import { checkedCapability, checkedPartition, deviceOf, filesystemOf } from "./stage.ts";
import { codeOf } from "./system.ts";

export async function publishVolume(request: NodePublishRequest, rpc: Rpc, context: NodeContext): Promise<void> {
  const { volumeId, stagingTargetPath, targetPath } = request;
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (stagingTargetPath === "") throw invalidArgument("Staging target not provided");
  if (targetPath === "") throw invalidArgument("Target path not provided");
  const capability = checkedCapability(request.volumeCapability, volumeId);
  // Several pods of a node may share a volume, each with its own target.
  await exclusively(`${volumeId} ${targetPath}`, volumeId, context, async () => {
    if (isBlock(capability)) await publishBlock(request, rpc, context);
    else if (capability.mount) await publishMount(request, context);
  });
}

async function publishBlock(request: NodePublishRequest, rpc: Rpc, context: NodeContext): Promise<void> {
  const { publishContext, volumeContext, targetPath } = request;
  const devicePath = publishContext[contextKeys.devicePath];
  if (!devicePath) throw invalidArgument("Device path not provided");
  const partition = checkedPartition(volumeContext, "Volume Attribute is invalid");
  const device = await deviceOf(request, devicePath, partition, rpc, context);
  const { system } = context;
  const flags = request.readonly ? ["ro"] : [];
  const wanted = (await system.stat(device))?.device;
  await bound(device, targetPath, flags, "", context, {
    prepare: async () => {
      await system.makeDirectory(dirname(targetPath));
      await system.makeFile(targetPath);
    },
    isRight: async () => (await system.stat(targetPath))?.device === wanted,
    ready: async () => {},
  });
}

async function publishMount(request: NodePublishRequest, context: NodeContext): Promise<void> {
  const { stagingTargetPath, targetPath, volumeCapability } = request;
  const { system } = context;
  const type = filesystemOf(volumeCapability!, "NodePublishVolume");
  const flags = [
    ...new Set([...(request.readonly ? ["ro"] : []), ...volumeCapability!.mount!.mountFlags, ...(type === "xfs" ? ["nouuid"] : [])]),
  ];
  const stagedMount = async () => mountAt(await system.realPath(stagingTargetPath).catch(() => stagingTargetPath), system);
  await bound(stagingTargetPath, targetPath, flags, type, context, {
    prepare: () => system.makeDirectory(targetPath),
    isRight: async (device) => {
      const staged = await stagedMount();
      return staged === undefined || staged.device === device;
    },
    ready: async () => {
      // The pod would write to the node's own disk.
      if ((await stagedMount()) === undefined) throw new CsiError("FailedPrecondition", "the volume is not staged there");
    },
  });
}

interface Target {
  prepare(): Promise<void>;
  /** Whether what is mounted there, from that device, is what is wanted. */
  isRight(device: string): Promise<boolean>;
  /** Rejects when there is nothing to bind. */
  ready(): Promise<void>;
}

/** Binds the source to the target, unless it is. A target that cannot be read, or shows another device, is mounted anew. */
async function bound(
  source: string,
  path: string,
  flags: readonly string[],
  type: string,
  { system, host }: NodeContext,
  target: Target,
): Promise<void> {
  try {
    if (await isCorrupted(path, (message, fields) => host.log.warn(message, fields), system)) await unmount(path, system);
    await target.prepare();
    const mounted = await mountAt(await system.realPath(path), system);
    if (mounted !== undefined) {
      if (await target.isRight(mounted.device)) {
        // A process that ended between the two steps of a mount has left it writable.
        if (flags.includes("ro") && !mounted.options.includes("ro")) await remountBound(source, path, flags, type, system);
        return;
      }
      host.log.warn("another device is mounted at the target of a volume and is unmounted", { path, device: mounted.source });
      await unmount(path, system);
    }
    try {
      await target.ready();
      await bindMount(source, path, flags, type, system);
    } catch (error) {
      await system.remove(path);
      throw error;
    }
  } catch (error) {
    throw wrapped(`Could not mount "${source}" at "${path}"`, error);
  }
}

/** Errors of a mount whose device or server has gone. */
const corruptions: ReadonlySet<string> = new Set(["ENOTCONN", "ESTALE", "EIO", "EACCES", "EHOSTDOWN", "EWOULDBLOCK", "EAGAIN", "ENODEV"]);

async function isCorrupted(
  path: string,
  warn: (message: string, fields: Readonly<Record<string, unknown>>) => void,
  system: NodeContext["system"],
): Promise<boolean> {
  try {
    await system.stat(path);
    return false;
  } catch (error) {
    if (!corruptions.has(codeOf(error) ?? "")) throw error;
    warn("a mount is corrupted and is made again", { path, error });
    return true;
  }
}

export async function unpublishVolume({ volumeId, targetPath }: NodeUnpublishRequest, context: NodeContext): Promise<void> {
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (targetPath === "") throw invalidArgument("Target path not provided");
  const { system } = context;
  await exclusively(`${volumeId} ${targetPath}`, volumeId, context, async () => {
    try {
      if ((await mountAt(await system.realPath(targetPath).catch(() => targetPath), system)) !== undefined)
        await unmount(targetPath, system);
      await system.remove(targetPath);
    } catch (error) {
      throw wrapped(`Could not unmount "${targetPath}"`, error, "Internal");
    }
  });
}
