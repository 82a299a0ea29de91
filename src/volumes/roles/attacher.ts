/** The attacher: brings a VolumeAttachment to what it says, and what is deleted to nothing. A key is a VolumeAttachment. */

import type { Trimmed } from "../../kube/informer.ts";
import type { Frozen } from "../../kube/resource.ts";
import type { PersistentVolume, VolumeAttachment } from "../../kube/types.ts";
import { watchSource } from "../../kube/watch-source.ts";
import { type Controller, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import type { StringMap } from "../csi/messages.ts";
import { translatedVolume } from "../migration.ts";
import { driverName } from "../names.ts";
import { persistentVolumes, volumeAttachments } from "../storage-resources.ts";
import { addFinalizer, removeFinalizer } from "./finalizers.ts";
import { callDriver, type RoleParts, timestamp } from "./parts.ts";
import { capabilityOf } from "./provision-plan.ts";

/** As csi-attacher names them, so that either can take over from the other. */
export const attachFinalizer = `external-attacher/${driverName.replaceAll(".", "-")}`;
const nodeIdAnnotation = "csi.alpha.kubernetes.io/node-id";

/** The reference's chart gives csi-attacher this long. */
const callMs = 6 * 60_000;

type SeenAttachment = Frozen<Trimmed<VolumeAttachment>>;
type SeenVolume = Frozen<Trimmed<PersistentVolume>>;

export function attacher(parts: RoleParts): Controller {
  const { attachments, volumes, csiNodes, settings } = parts;
  const ours = (attachment: SeenAttachment | undefined) => (attachment?.spec.attacher === driverName ? [attachment.metadata.name] : []);
  const waiting = (keep: (attachment: SeenAttachment) => boolean) =>
    attachments
      .list()
      .filter((each) => !each.status?.attached && keep(each))
      .flatMap(ours);
  return {
    name: "volume-attacher",
    concurrency: settings.concurrency,
    backoff: { baseMs: 1_000, maxMs: 60_000 },
    sources: [
      watchSource(attachments, (before, after) => (isStatusOnly(before, after) ? [] : ours(after))),
      // A volume, or the driver's registration on a node, that comes after the attachment that needs it.
      watchSource(volumes, (before, after) =>
        before === undefined && after !== undefined ? attachments.by("volume", after.metadata.name).flatMap(ours) : [],
      ),
      watchSource(csiNodes, (_, after) => (after === undefined ? [] : waiting(({ spec }) => spec.nodeName === after.metadata.name))),
    ],
    async reconcile(key, signal): Promise<Outcome> {
      const attachment = attachments.get(key);
      if (attachment === undefined || attachment.spec.attacher !== driverName) return done;
      const isLeaving = attachment.metadata.deletionTimestamp !== undefined;
      if (!isLeaving && attachment.status?.attached) return done;
      try {
        await (isLeaving ? detach(attachment, parts, signal) : attach(attachment, parts, signal));
      } catch (error) {
        signal.throwIfAborted();
        if (refusalIn(error)) throw error;
        await report(attachment, isLeaving ? "detachError" : "attachError", error, parts, signal);
        throw error;
      }
      return done;
    },
  };
}

/** Lets a PersistentVolume go that is to be deleted and that nobody has attached. A key is a PersistentVolume. */
export function attachmentGuard(parts: RoleParts): Controller {
  const { attachments, volumes, kube, settings } = parts;
  return {
    name: "volume-attachment-guard",
    concurrency: settings.concurrency,
    backoff: { baseMs: 1_000, maxMs: 60_000 },
    sources: [
      watchSource(volumes, (_, after) => (after !== undefined && isGuarded(after) ? [after.metadata.name] : [])),
      watchSource(attachments, (before, after) => {
        const name = after === undefined ? before?.spec.source.persistentVolumeName : undefined;
        return name === undefined ? [] : [name];
      }),
    ],
    async reconcile(key, signal): Promise<Outcome> {
      const volume = volumes.get(key);
      if (volume === undefined || !isGuarded(volume) || attachments.by("volume", key).length > 0) return done;
      await removeFinalizer(kube, persistentVolumes, volume.metadata, attachFinalizer, signal);
      return done;
    },
  };
}

function isGuarded({ metadata }: SeenVolume): boolean {
  return metadata.deletionTimestamp !== undefined && (metadata.finalizers?.includes(attachFinalizer) ?? false);
}

/** Our own word in it: whether it is attached, or why not. */
function isStatusOnly(before: SeenAttachment | undefined, after: SeenAttachment | undefined): boolean {
  if (before === undefined || after === undefined || before.metadata.uid !== after.metadata.uid) return false;
  return before.metadata.deletionTimestamp === after.metadata.deletionTimestamp && before.status?.attached === after.status?.attached;
}

async function attach(attachment: SeenAttachment, parts: RoleParts, signal: AbortSignal): Promise<void> {
  const { kube, volumes, host } = parts;
  const { metadata, spec } = attachment;
  const nodeId = nodeIdOf(attachment, parts);
  const volume = volumes.get(spec.source.persistentVolumeName ?? "");
  if (volume?.metadata.deletionTimestamp !== undefined) throw new Error(`PersistentVolume ${volume.metadata.name} is marked for deletion`);
  const disk = volumeSpec(attachment, volume);
  const source = disk.csi;
  if (source?.driver !== driverName) throw new Error(`${nameOf(attachment)} is not of ${driverName}`);
  // Before anything is done in AWS: whoever deletes them afterwards waits for us.
  if (volume !== undefined) await addFinalizer(kube, persistentVolumes, volume.metadata, attachFinalizer, signal);
  // First the machine: whoever has to detach what this finalizer keeps may find that the node is gone.
  const noted = metadata.annotations?.[nodeIdAnnotation];
  if (noted !== nodeId) {
    // The node's name has another machine by now: what was begun at the former one ends there, or the volume could not come here.
    if (noted && metadata.finalizers?.includes(attachFinalizer)) {
      await callDriver(parts, "ControllerUnpublishVolume", { volumeId: source.volumeHandle, nodeId: noted }, callMs, signal);
    }
    const merge = { metadata: { annotations: { [nodeIdAnnotation]: nodeId } } };
    await kube.patch(volumeAttachments, { name: metadata.name }, { merge, uid: metadata.uid }, { signal });
  }
  await addFinalizer(kube, volumeAttachments, metadata, attachFinalizer, signal);
  const request = {
    volumeId: source.volumeHandle,
    nodeId,
    volumeCapability: capabilityOf(disk.accessModes?.[0] ?? "", disk.volumeMode, source.fsType ?? "", disk.mountOptions),
    volumeContext: source.volumeAttributes ?? {},
  };
  const answer = await callDriver<{ publishContext: StringMap }>(parts, "ControllerPublishVolume", request, callMs, signal);
  const status = { attached: true, attachmentMetadata: answer.publishContext, attachError: null };
  await kube.patch(volumeAttachments, { name: metadata.name, subresource: "status" }, { merge: { status }, uid: metadata.uid }, { signal });
  host.log.info("attached a volume", { volume: source.volumeHandle, node: spec.nodeName });
}

async function detach(attachment: SeenAttachment, parts: RoleParts, signal: AbortSignal): Promise<void> {
  const { kube, volumes, host } = parts;
  const { metadata, spec } = attachment;
  if (!metadata.finalizers?.includes(attachFinalizer)) return;
  // The finalizer on the PersistentVolume keeps it until here. Without it nobody knows which disk it was.
  const volumeId = volumeSpec(attachment, volumes.get(spec.source.persistentVolumeName ?? "")).csi?.volumeHandle;
  if (volumeId === undefined) throw new Error(`${nameOf(attachment)} is not of ${driverName}: which disk to detach is not known`);
  // As noted when it was attached: the node's name may be another machine's by now.
  const nodeId = metadata.annotations?.[nodeIdAnnotation] || nodeIdOf(attachment, parts);
  await callDriver(parts, "ControllerUnpublishVolume", { volumeId, nodeId }, callMs, signal);
  const status = { attached: false, attachmentMetadata: null, detachError: null };
  await kube.patch(volumeAttachments, { name: metadata.name, subresource: "status" }, { merge: { status }, uid: metadata.uid }, { signal });
  await removeFinalizer(kube, volumeAttachments, metadata, attachFinalizer, signal);
  host.log.info("detached a volume", { volume: volumeId, node: spec.nodeName });
}

/** What is attached: a PersistentVolume, which may be from before CSI, or a pod's own volume from then, translated by whoever asks. */
function volumeSpec(attachment: SeenAttachment, volume: SeenVolume | undefined): NonNullable<SeenVolume["spec"]> {
  const inline = attachment.spec.source.inlineVolumeSpec;
  const spec = inline ?? (volume && translatedVolume(volume).spec);
  if (spec === undefined) throw new Error(`there is no ${nameOf(attachment)}`);
  return spec;
}

function nameOf({ spec }: SeenAttachment): string {
  return spec.source.inlineVolumeSpec ? "the volume of a pod" : `PersistentVolume ${spec.source.persistentVolumeName}`;
}

/** The node's own id of itself; of a node that is gone, what was noted before. */
function nodeIdOf({ metadata, spec }: SeenAttachment, { csiNodes }: RoleParts): string {
  const registered = csiNodes.get(spec.nodeName)?.spec.drivers.find(({ name }) => name === driverName)?.nodeID;
  const known = registered ?? metadata.annotations?.[nodeIdAnnotation];
  if (!known) throw new Error(`${driverName} is not registered on node ${spec.nodeName}`);
  return known;
}

async function report(
  { metadata }: SeenAttachment,
  field: "attachError" | "detachError",
  error: unknown,
  { kube, host }: RoleParts,
  signal: AbortSignal,
): Promise<void> {
  const status = { [field]: { message: messageOf(error), time: timestamp(host) } };
  try {
    await kube.patch(
      volumeAttachments,
      { name: metadata.name, subresource: "status" },
      { merge: { status }, uid: metadata.uid },
      { signal },
    );
  } catch (cause) {
    signal.throwIfAborted();
    host.log.warn("the VolumeAttachment does not tell why it failed", { attachment: metadata.name, error: cause });
  }
}
