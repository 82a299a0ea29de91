/** Volumes that a node brings with it: nothing is attached, only found. */
import { CsiError, invalidArgument } from "../csi/errors.ts";
import type { PublishVolumeRequest, StringMap } from "../csi/messages.ts";
import { contextKeys, nodeLocalPrefix } from "../names.ts";
import type { ControllerContext, Rpc } from "./context.ts";
import { instanceOf } from "./publish.ts";

/** The device and the real id of a node's own volume. */
export async function publishNodeLocal(
  { volumeId, nodeId }: PublishVolumeRequest,
  rpc: Rpc,
  context: ControllerContext,
): Promise<StringMap> {
  if (!context.settings.nodeLocalVolumes) throw invalidArgument("node-local volumes are not enabled");
  const path = volumeId.slice(nodeLocalPrefix.length);
  if (path === "") throw invalidArgument("invalid node-local volume handle format");
  const device = `/${path}`;
  const instance = await instanceOf(nodeId, rpc, context);
  if (device === instance.rootDevice) {
    throw new CsiError("Internal", `Failed to get volume at device ${device} on node ${nodeId}: it is the root device`);
  }
  const disk = instance.disks.find(({ name }) => name === device);
  if (disk === undefined) throw new CsiError("NotFound", `Failed to find volume at device ${device} on node ${nodeId}: there is none`);
  return { [contextKeys.devicePath]: device, [contextKeys.volumeId]: disk.volumeId };
}
