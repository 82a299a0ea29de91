/** ControllerPublishVolume: attaches a volume to a node and answers with its device name. */
import { isNotFound } from "../../aws/described.ts";
import { attachVolume } from "../../aws/ec2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Instance } from "../../aws/instance.ts";
import { sleep } from "../../runtime/world.ts";
import { isSupported } from "../capability.ts";
import { CsiError, invalidArgument, wrapped } from "../csi/errors.ts";
import type { PublishVolumeRequest, StringMap } from "../csi/messages.ts";
import type { Choice } from "../devices.ts";
import { cardsOfType } from "../limits.ts";
import { contextKeys, isNodeLocal, isVolumeId } from "../names.ts";
import { lagMs } from "../poll.ts";
import { attached, ownAttachment } from "./attachment-wait.ts";
import { ask, type ControllerContext, type Rpc } from "./context.ts";
import { initialised } from "./initialisation-wait.ts";
import { publishNodeLocal } from "./node-local.ts";

export async function publishVolume(request: PublishVolumeRequest, rpc: Rpc, context: ControllerContext): Promise<StringMap> {
  const { volumeId, nodeId, volumeCapability } = request;
  if (volumeId === "") throw invalidArgument("Volume ID not provided");
  if (isNodeLocal(volumeId)) return publishNodeLocal(request, rpc, context);
  if (nodeId === "") throw invalidArgument("Node ID not provided");
  if (volumeCapability === null) throw invalidArgument("Volume capability not provided");
  if (!isSupported(volumeCapability)) throw invalidArgument("Volume capability not supported");
  refuseHyperPod(nodeId);
  if (!isVolumeId(volumeId)) throw noVolume(volumeId);
  return context.inFlight.run(volumeId + nodeId, `An operation with the given Volume ${volumeId} already exists`, async () => {
    context.attachmentsBegan.note();
    const device = await attach(volumeId, nodeId, rpc, context);
    if (request.volumeContext[contextKeys.waitForInitialization] === "true") await initialised(volumeId, rpc, context);
    return { [contextKeys.devicePath]: device };
  });
}

/** Volumes of such nodes are attached by SageMaker, which is not called. To say that one is detached would be a guess. */
export function refuseHyperPod(nodeId: string): void {
  if (nodeId.startsWith("hyperpod-")) throw new CsiError("Unimplemented", `${nodeId} is a node of HyperPod, which is not served`);
}

/** The node's instance; a refusal that says what is missing when there is none. */
export async function instanceOf(nodeId: string, rpc: Rpc, { cloud }: ControllerContext): Promise<Instance> {
  const found = await cloud.instances.lookup(nodeId, ask(rpc));
  if (found.kind === "found") return found.instance;
  if (found.kind === "absent") throw new CsiError("Internal", `EC2's answer lacks the instance ${nodeId}`);
  throw new CsiError("NotFound", `Instance ${JSON.stringify(nodeId)} not found`);
}

/** Attaches the volume unless it is, and waits for it. The device's name. */
async function attach(volumeId: string, nodeId: string, rpc: Rpc, context: ControllerContext): Promise<string> {
  const { devices, detachments } = context;
  const instance = await instanceOf(nodeId, rpc, context);
  const seen = instance.disks.map((disk) =>
    // Our own detachment that EC2 does not show yet: the name is still taken, but the volume is not there.
    detachments.isEnded(disk.volumeId, nodeId, disk.attachTime) ? { ...disk, volumeId: "" } : disk,
  );
  let choice: Choice;
  try {
    choice = devices.choose(nodeId, volumeId, seen, cardsOfType(instance.type));
  } catch (error) {
    throw notAttached(volumeId, nodeId, error);
  }
  const device = choice.assigned ? choice.name : await request(volumeId, nodeId, choice, rpc, context);
  try {
    await attached({ volumeId, nodeId, device, card: device === choice.name ? choice.card : undefined }, rpc, context);
  } catch (error) {
    // The name stays promised: it may be this volume's already, and must not be given to another.
    throw notAttached(volumeId, nodeId, error);
  }
  devices.release(nodeId, volumeId);
  context.uncertainAttachments.forget(volumeId + nodeId);
  return device;
}

/** Asks EC2 for the attachment. The name under which it is made, or was made before. */
async function request(volumeId: string, nodeId: string, choice: Choice, rpc: Rpc, context: ControllerContext): Promise<string> {
  const { cloud, devices, uncertainAttachments } = context;
  const card = choice.card === undefined ? {} : { EbsCardIndex: choice.card };
  try {
    await cloud.call(
      attachVolume,
      { VolumeId: volumeId, InstanceId: nodeId, Device: choice.name, ...card },
      { ...ask(rpc), target: `${volumeId} to ${nodeId}`, repeatable: true },
    );
    devices.clear(nodeId, choice.name);
    return choice.name;
  } catch (error) {
    // The answer may be lost, or nobody waited for it: then the volume may be under this name, now or in a moment.
    if (!isAwsError(error) || error.mayHaveHappened) uncertainAttachments.note(volumeId + nodeId);
    if (!isAwsError(error)) throw error;
    if (["transient", "throttled"].includes(error.class)) throw notAttached(volumeId, nodeId, error);
    devices.release(nodeId, volumeId);
    if (isNotFound(error, volumeId)) throw noVolume(volumeId);
    if (error.code === "InvalidParameterValue" && error.detail.includes("already in use")) devices.suspect(nodeId, choice.name);
    if (error.code === "AttachmentLimitExceeded") {
      throw wrapped(
        `Attachment limit exceeded for volume ${JSON.stringify(volumeId)} on node ${JSON.stringify(nodeId)}`,
        error,
        "ResourceExhausted",
      );
    }
    if (error.code === "VolumeInUse") return nameInUse(volumeId, nodeId, error, rpc, context);
    throw notAttached(volumeId, nodeId, error);
  }
}

/** The volume is attached already; that is what was asked for if it is to this node. EC2's list of devices did not show it yet. */
async function nameInUse(volumeId: string, nodeId: string, error: unknown, rpc: Rpc, context: ControllerContext): Promise<string> {
  const look = async () => {
    const found = await context.cloud.volumes.lookup(volumeId, ask(rpc));
    return { found, own: found.kind === "found" ? ownAttachment(found.volume, nodeId) : undefined };
  };
  let { found, own } = await look();
  if (own !== undefined && context.detachments.isEnded(volumeId, nodeId, own.attachTime)) {
    // Either EC2 did not carry our detachment out, or it shows what was: then another one has the volume now.
    await sleep(context.host.world.clock, lagMs, rpc.signal);
    ({ found, own } = await look());
  }
  if (own?.device === undefined || (own.state !== "attaching" && own.state !== "attached")) {
    const holders = found.kind === "found" ? found.volume.attachments.map((each) => `${each.instanceId} (${each.state})`) : [];
    const where = holders.length === 0 ? "" : `, it is at ${holders.join(", ")}`;
    throw notAttached(volumeId, nodeId, new Error(`${(error as Error).message}${where}`, { cause: error }));
  }
  context.detachments.forget(volumeId, nodeId, own.attachTime);
  return own.device;
}

function noVolume(volumeId: string): CsiError {
  return new CsiError("NotFound", `Volume ${JSON.stringify(volumeId)} not found`);
}

function notAttached(volumeId: string, nodeId: string, error: unknown): CsiError {
  return wrapped(`Could not attach volume ${JSON.stringify(volumeId)} to node ${JSON.stringify(nodeId)}`, error);
}
