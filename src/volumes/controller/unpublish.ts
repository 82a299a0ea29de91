/** ControllerUnpublishVolume: detaches a volume, and says so only when EC2 does. */
import { isNotFound } from "../../aws/described.ts";
import { detachVolume } from "../../aws/ec2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import { isInstanceId } from "../../aws/instances.ts";
import { invalidArgument, wrapped } from "../csi/errors.ts";
import type { UnpublishVolumeRequest } from "../csi/messages.ts";
import { isNodeLocal, isVolumeId } from "../names.ts";
import { detached, ownAttachment, requestEnded } from "./attachment-wait.ts";
import { ask, type ControllerContext, type Rpc } from "./context.ts";
import { refuseHyperPod } from "./publish.ts";

export async function unpublishVolume({ volumeId, nodeId }: UnpublishVolumeRequest, rpc: Rpc, context: ControllerContext): Promise<void> {
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (nodeId === "") throw invalidArgument("Node ID not provided");
  refuseHyperPod(nodeId);
  // Neither can be attached to anything.
  if (isNodeLocal(volumeId) || !isVolumeId(volumeId) || !isInstanceId(nodeId)) return;
  await context.inFlight.run(volumeId + nodeId, `An operation with the given Volume ${volumeId} already exists`, async () => {
    try {
      await detach(volumeId, nodeId, rpc, context);
      context.detachPending.clear(volumeId, nodeId);
      context.settledDetachments.note(volumeId + nodeId);
    } catch (error) {
      throw wrapped(`Could not detach volume ${JSON.stringify(volumeId)} from node ${JSON.stringify(nodeId)}`, error, "Internal");
    } finally {
      context.devices.release(nodeId, volumeId);
    }
  });
}

async function detach(volumeId: string, nodeId: string, rpc: Rpc, context: ControllerContext): Promise<void> {
  const { cloud, host, detachments } = context;
  await requestEnded(volumeId, nodeId, rpc, context);
  const instance = await cloud.instances.lookup(nodeId, ask(rpc));
  if (instance.kind === "found") {
    // Its volumes are free, or will be in a moment: nothing runs there that could write to them.
    if (instance.instance.state === "terminated") return;
    const disk = instance.instance.disks.find((each) => each.volumeId === volumeId);
    if (disk !== undefined) detachments.note(volumeId, nodeId, disk.attachTime);
  } else if (!(await isAttached(volumeId, nodeId, rpc, context))) return;
  try {
    await cloud.call(
      detachVolume,
      { VolumeId: volumeId, InstanceId: nodeId },
      { ...ask(rpc), target: `${volumeId} from ${nodeId}`, repeatable: true },
    );
  } catch (error) {
    if (isNotFound(error, volumeId)) return;
    if (!isAwsError(error)) throw error;
    if (error.code === "InvalidAttachment.NotFound") return;
    // Available, or on its way there: EC2's list tells which.
    if (error.code !== "IncorrectState") throw error;
  }
  await detached(volumeId, nodeId, host.world.clock.monotonic(), rpc, context, (state) =>
    context.detachPending.note(volumeId, nodeId, state),
  );
}

/** EC2 does not know the instance; the volume may. */
async function isAttached(volumeId: string, nodeId: string, rpc: Rpc, { cloud }: ControllerContext): Promise<boolean> {
  const found = await cloud.volumes.lookup(volumeId, ask(rpc));
  return found.kind === "absent" || (found.kind === "found" && ownAttachment(found.volume, nodeId) !== undefined);
}
