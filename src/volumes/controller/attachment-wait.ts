/** Waiting until a volume is attached, or is not any more. */
import { attachVolume, detachVolume } from "../../aws/ec2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Volume, VolumeAttachment } from "../../aws/volumes.ts";
import { CsiError } from "../csi/errors.ts";
import { inFlightMs, lagMs, poll, type Schedule, Span } from "../poll.ts";
import { ask, type ControllerContext, type Rpc } from "./context.ts";

/** Both take a few seconds as a rule; the attacher waits for six minutes. */
const schedule: Schedule = { firstMs: 1_000, factor: 1.5, maxMs: 10_000, overallMs: 4 * 60_000 };
/** An attachment that takes this long is not coming: the instance's system does not answer. */
const stuckMs = 90_000;
/** A request whose answer never came is carried out within this time, or not at all. */
const lateMs = 60_000;

export interface Attachment {
  readonly volumeId: string;
  readonly nodeId: string;
  readonly device: string;
  readonly card: number | undefined;
}

/** A volume's attachment to one instance. */
export function ownAttachment({ attachments }: Volume, instanceId: string): VolumeAttachment | undefined {
  return attachments.find((each) => each.instanceId === instanceId && each.state !== "detached");
}

/** Returns when the volume is attached to the node under that name. */
export async function attached(wanted: Attachment, rpc: Rpc, context: ControllerContext): Promise<void> {
  const { volumeId, nodeId } = wanted;
  const { clock } = context.host.world;
  const [missing, absent] = [new Span(clock), new Span(clock)];
  let last = "not shown by EC2";
  const done = await poll(clock, schedule, rpc.signal, async () => {
    const found = await context.cloud.volumes.lookup(volumeId, ask(rpc));
    if ((missing.note(found.kind === "not-found") ?? 0) >= lagMs)
      throw new CsiError("NotFound", `Volume ${JSON.stringify(volumeId)} not found`);
    if (found.kind !== "found") return undefined;
    const { volume } = found;
    if (!volume.multiAttach && volume.attachments.length > 1) {
      throw new CsiError("Internal", `volume ${volumeId} has ${volume.attachments.length} attachments and is not made for more than one`);
    }
    const own = ownAttachment(volume, nodeId);
    const isOld = own !== undefined && context.detachments.isEnded(volumeId, nodeId, own.attachTime);
    last = own === undefined || isOld ? "detached" : `${own.state} as ${own.device}`;
    if ((absent.note(own === undefined || isOld) ?? 0) >= lagMs) await repeatRequest(wanted, volume, rpc, context);
    if (own === undefined || isOld) return undefined;
    if (own.state === "attaching" && isStuck(wanted, own, context)) await giveUp(wanted, own, rpc, context);
    const isRight = own.device === wanted.device && (wanted.card === undefined || own.card === wanted.card);
    return own.state === "attached" && isRight ? true : undefined;
  });
  if (!done) throw new CsiError("Internal", `still ${last}, expected attached as ${wanted.device}`);
}

/** By our own clock since we first saw it, over several calls if need be: the machine's time of day may differ from EC2's. */
function isStuck({ volumeId, nodeId }: Attachment, { attachTime }: VolumeAttachment, { attaching }: ControllerContext): boolean {
  const id = `${volumeId} ${nodeId} ${attachTime}`;
  if (!attaching.has(id)) attaching.note(id);
  return (attaching.ageMs(id) ?? 0) > stuckMs;
}

/** The name was promised or shown, and the volume is not there: an attachment that was asked for did not come to be. */
async function repeatRequest(
  { volumeId, nodeId, device, card }: Attachment,
  volume: Volume,
  rpc: Rpc,
  context: ControllerContext,
): Promise<void> {
  if (volume.attachments.length > 0 && !volume.multiAttach) {
    const holder = volume.attachments[0]!;
    throw new CsiError("Internal", `volume ${volumeId} is ${holder.state} at ${holder.instanceId}`);
  }
  try {
    await context.cloud.call(
      attachVolume,
      { VolumeId: volumeId, InstanceId: nodeId, Device: device, ...(card === undefined ? {} : { EbsCardIndex: card }) },
      { ...ask(rpc), target: `${volumeId} to ${nodeId}`, repeatable: true },
    );
  } catch (error) {
    if (!isAwsError(error) || error.mayHaveHappened) context.uncertainAttachments.note(volumeId + nodeId);
    // EC2 says that it is attached after all, and will show it.
    if (isAwsError(error) && error.code === "VolumeInUse") return;
    // Another name is chosen at the next try.
    if (isAwsError(error) && !["transient", "throttled"].includes(error.class)) context.devices.release(nodeId, volumeId);
    throw error;
  }
}

/** Starts over: the next call finds the volume detached. */
async function giveUp({ volumeId, nodeId }: Attachment, own: VolumeAttachment, rpc: Rpc, context: ControllerContext): Promise<never> {
  context.detachments.note(volumeId, nodeId, own.attachTime);
  await context.cloud.call(
    detachVolume,
    { VolumeId: volumeId, InstanceId: nodeId },
    { ...ask(rpc), target: `${volumeId} from ${nodeId}`, repeatable: true },
  );
  context.devices.release(nodeId, volumeId);
  throw new CsiError(
    "Internal",
    `volume ${volumeId} is stuck in attaching state at ${nodeId} since ${own.attachTime} and is detached again`,
  );
}

/**
 * Returns when what an earlier call asked for has come to be, or is too old to. Such a call did not learn what became of its
 * request, or was one of the process before this one; a detachment that overtakes it would leave an attachment that nobody knows of.
 */
export async function requestEnded(volumeId: string, nodeId: string, rpc: Rpc, context: ControllerContext): Promise<void> {
  const { uncertainAttachments, settledDetachments, attachmentsBegan, cloud, host } = context;
  const { clock } = host.world;
  const id = volumeId + nodeId;
  const mayCome = () =>
    (uncertainAttachments.ageMs(id) ?? lateMs) < lateMs || (attachmentsBegan.note() < inFlightMs && !settledDetachments.has(id));
  await poll(clock, schedule, rpc.signal, async () => {
    if (!mayCome()) return true;
    const instance = await cloud.instances.lookup(nodeId, ask(rpc));
    // Nothing is attached to it any more.
    if (instance.kind === "not-found" || (instance.kind === "found" && instance.instance.state === "terminated")) return true;
    const found = await cloud.volumes.lookup(volumeId, ask(rpc));
    return found.kind === "found" && ownAttachment(found.volume, nodeId) !== undefined ? true : undefined;
  });
  uncertainAttachments.forget(id);
}

/**
 * Returns when the volume is not attached to the node any more. `askedAt` is when EC2 took the request to detach it: an answer
 * from before, which may be from before the attachment as well, says nothing.
 */
export async function detached(
  volumeId: string,
  nodeId: string,
  askedAt: number,
  rpc: Rpc,
  context: ControllerContext,
  note: (state: string) => void,
): Promise<void> {
  const { clock } = context.host.world;
  const missing = new Span(clock);
  let last = "not shown by EC2";
  const done = await poll(clock, schedule, rpc.signal, async () => {
    const found = await context.cloud.volumes.lookup(volumeId, ask(rpc));
    if ((missing.note(found.kind === "not-found") ?? 0) >= lagMs) return true;
    if (found.kind !== "found") return undefined;
    const own = ownAttachment(found.volume, nodeId);
    if (own === undefined) return clock.monotonic() - askedAt >= lagMs ? true : undefined;
    context.detachments.note(volumeId, nodeId, own.attachTime);
    last = own.state;
    note(own.state);
    return undefined;
  });
  if (done) return;
  const hint = last === "busy" ? ": a file system on it is still mounted on the node, unmount it or stop the instance" : "";
  throw new CsiError("Internal", `volume is still ${last}${hint}`);
}
