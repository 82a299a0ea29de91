/**
 * The snapshotter: has the snapshot of a VolumeSnapshotContent made, tells when it can be used, and has it deleted. Binding
 * contents to VolumeSnapshots is the work of the cluster's snapshot controller. A key is a VolumeSnapshotContent.
 */
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { objectRef } from "../../kube/event-recorder.ts";
import { type Informer, informer, type Trimmed } from "../../kube/informer.ts";
import type { Frozen } from "../../kube/resource.ts";
import { watchSource } from "../../kube/watch-source.ts";
import { again, type Controller, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { snapshotAnswer } from "../controller/create-snapshot.ts";
import { CsiError } from "../csi/errors.ts";
import type { SnapshotAnswer, StringMap } from "../csi/messages.ts";
import { driverName } from "../names.ts";
import { type VolumeSnapshotContent, volumeSnapshotClasses, volumeSnapshotContents } from "../storage-resources.ts";
import { removeFinalizer } from "./finalizers.ts";
import { callDriver, mayStillHappen, type RoleParts, timestamp } from "./parts.ts";

export type Contents = Informer<Trimmed<VolumeSnapshotContent>>;
type SeenContent = Frozen<Trimmed<VolumeSnapshotContent>>;

export const contentInformer = {
  name: "volumesnapshotcontents",
  make: (client: KubeClient): Contents => informer({ client, of: volumeSnapshotContents }),
};

const prefix = "snapshot.storage.kubernetes.io/";
/** Put there by the snapshot controller; taken off here, once nothing is left of the snapshot. */
const boundProtection = `${prefix}volumesnapshotcontent-bound-protection`;
/** While it is there nobody may think that there is no snapshot. */
const beingCreated = `${prefix}volumesnapshot-being-created`;
/** Put there by the snapshot controller once nothing needs the snapshot any more. */
const beingDeleted = `${prefix}volumesnapshot-being-deleted`;
const callMs = 60_000;
/** How often EC2 is asked whether it has stored a snapshot whole. */
const readinessMs = 10_000;

export type SnapshotterParts = Pick<RoleParts, "host" | "kube" | "recorder" | "driver" | "snapshot" | "settings"> & {
  readonly contents: Contents;
};

export function snapshotter(parts: SnapshotterParts): Controller {
  const { contents, settings } = parts;
  return {
    name: "volume-snapshotter",
    concurrency: settings.concurrency,
    backoff: { baseMs: 1_000, maxMs: 5 * 60_000 },
    sources: [
      watchSource(contents, (before, after) =>
        after?.spec.driver === driverName && !isOwnWord(before, after) ? [after.metadata.name] : [],
      ),
    ],
    async reconcile(key, signal): Promise<Outcome> {
      const content = contents.get(key);
      if (content === undefined || content.spec.driver !== driverName) return done;
      const isLeaving = content.metadata.deletionTimestamp !== undefined;
      try {
        if (mayGo(content)) return await remove(content, parts, signal);
        const isBeingCreated = content.metadata.annotations?.[beingCreated] !== undefined;
        if (isLeaving && !isBeingCreated) return done;
        // What may be there is followed to its end also when nobody wants it any more: then it can be deleted.
        return content.status?.readyToUse && !isBeingCreated ? done : await make(content, parts, signal);
      } catch (error) {
        signal.throwIfAborted();
        if (refusalIn(error)) throw error;
        await report(content, isLeaving ? "SnapshotDeleteError" : "SnapshotCreationFailed", error, parts, signal);
        throw error;
      }
    },
  };
}

/**
 * A change of what we write ourselves: a failure that is noted is not a reason to try again at once. That nothing is being made any
 * more counts where it lets the content go.
 */
function isOwnWord(before: SeenContent | undefined, after: SeenContent): boolean {
  const read = ({ metadata: { uid, annotations, deletionTimestamp }, spec }: SeenContent) =>
    JSON.stringify([uid, deletionTimestamp, deletionTimestamp && annotations?.[beingCreated], annotations?.[beingDeleted], spec]);
  return before !== undefined && read(before) === read(after);
}

async function make(content: SeenContent, parts: SnapshotterParts, signal: AbortSignal): Promise<Outcome> {
  const { source, volumeSnapshotRef } = content.spec;
  const name = `snapshot-${volumeSnapshotRef.uid}`;
  if (source.volumeHandle === undefined) return adopt(content, source.snapshotHandle ?? "", parts, signal);
  const stored = await stillStored(content, parts, signal);
  if (stored !== undefined) return tell(content, stored, parts, signal);
  // Before the mark, which keeps the content until an answer takes it off: without its class nothing is asked for.
  const parameters = await parametersOf(content, parts, signal);
  await mark(content, "yes", parts, signal);
  try {
    const request = { name, sourceVolumeId: source.volumeHandle, parameters };
    const { snapshot } = await callDriver<{ snapshot: SnapshotAnswer }>(parts, "CreateSnapshot", request, callMs, signal);
    const outcome = await tell(content, snapshot, parts, signal);
    await mark(content, undefined, parts, signal);
    return outcome;
  } catch (error) {
    if (error instanceof CsiError && !mayStillHappen(error)) await mark(content, undefined, parts, signal);
    throw error;
  }
}

/** A snapshot that was there before, and that its content names. */
async function adopt(content: SeenContent, snapshotId: string, parts: SnapshotterParts, signal: AbortSignal): Promise<Outcome> {
  const request = { maxEntries: 0, startingToken: "", sourceVolumeId: "", snapshotId };
  const { entries } = await callDriver<{ entries: readonly { snapshot: SnapshotAnswer }[] }>(
    parts,
    "ListSnapshots",
    request,
    callMs,
    signal,
  );
  const found = entries[0]?.snapshot;
  if (found === undefined) throw new CsiError("NotFound", `there is no snapshot ${JSON.stringify(snapshotId)}`);
  return tell(content, found, parts, signal);
}

/** The snapshot that the content tells of, made by an earlier call; undefined when EC2 has to be asked to make one. */
async function stillStored(
  { metadata, status }: SeenContent,
  parts: SnapshotterParts,
  signal: AbortSignal,
): Promise<SnapshotAnswer | undefined> {
  if (!status?.snapshotHandle || metadata.annotations?.[beingCreated] !== undefined) return undefined;
  const found = await parts.snapshot(status.snapshotHandle, { name: "CreateSnapshot", signal });
  return found.kind === "found" && found.snapshot.state !== "error" ? snapshotAnswer(found.snapshot) : undefined;
}

async function parametersOf({ metadata, spec }: SeenContent, { kube }: SnapshotterParts, signal: AbortSignal): Promise<StringMap> {
  const name = spec.volumeSnapshotClassName;
  const own = name === undefined ? {} : await classParameters(name, metadata.deletionTimestamp !== undefined, kube, signal);
  const forSidecars = (key: string) => key.startsWith("csi.storage.k8s.io/");
  return {
    ...Object.fromEntries(Object.entries(own).filter(([key]) => !forSidecars(key))),
    "csi.storage.k8s.io/volumesnapshot/name": spec.volumeSnapshotRef.name ?? "",
    "csi.storage.k8s.io/volumesnapshot/namespace": spec.volumeSnapshotRef.namespace ?? "",
    "csi.storage.k8s.io/volumesnapshotcontent/name": metadata.name,
  };
}

/** Of a content that is to go and whose class is gone before it, the snapshot is found by its name alone. */
async function classParameters(name: string, isLeaving: boolean, kube: KubeClient, signal: AbortSignal): Promise<StringMap> {
  try {
    return (await kube.get(volumeSnapshotClasses, { name }, { signal })).parameters ?? {};
  } catch (error) {
    if (isLeaving && isApiError(error, "not-found")) return {};
    throw error;
  }
}

/** Says what EC2 says of the snapshot, and whether to ask again. What is asked for again and again is written when it changes. */
async function tell(content: SeenContent, snapshot: SnapshotAnswer, parts: SnapshotterParts, signal: AbortSignal): Promise<Outcome> {
  const { seconds, nanos } = snapshot.creationTime;
  const status = {
    snapshotHandle: snapshot.snapshotId,
    creationTime: Number(BigInt(seconds) * 1_000_000_000n + BigInt(nanos)),
    restoreSize: Number(snapshot.sizeBytes),
    readyToUse: snapshot.readyToUse,
    error: null,
  };
  const { name, uid } = content.metadata;
  const isTold = Object.entries(status).every(([key, value]) => (content.status?.[key as keyof typeof status] ?? null) === value);
  if (snapshot.readyToUse || !isTold) {
    await parts.kube.patch(volumeSnapshotContents, { name, subresource: "status" }, { merge: { status }, uid }, { signal });
  }
  return snapshot.readyToUse ? done : again(readinessMs, `EC2 still stores ${snapshot.snapshotId}`);
}

async function mark({ metadata }: SeenContent, value: string | undefined, { kube }: SnapshotterParts, signal: AbortSignal): Promise<void> {
  const { name, uid } = metadata;
  const merge = { metadata: { annotations: { [beingCreated]: value ?? null } } };
  await kube.patch(volumeSnapshotContents, { name }, { merge, uid }, { signal });
}

/** Whether a content that is to be deleted is in nobody's way, and nothing is still being made for it. */
function mayGo({ metadata, spec }: SeenContent): boolean {
  if (metadata.deletionTimestamp === undefined) return false;
  if (spec.source.snapshotHandle !== undefined && !spec.volumeSnapshotRef.uid) return true;
  return metadata.annotations?.[beingCreated] === undefined && metadata.annotations?.[beingDeleted] !== undefined;
}

async function remove({ metadata, spec, status }: SeenContent, parts: SnapshotterParts, signal: AbortSignal): Promise<Outcome> {
  const { name, uid } = metadata;
  const snapshotId = status?.snapshotHandle ?? spec.source.snapshotHandle;
  if (spec.deletionPolicy === "Delete" && snapshotId !== undefined) {
    await callDriver(parts, "DeleteSnapshot", { snapshotId }, callMs, signal);
    const empty = { snapshotHandle: null, readyToUse: null, creationTime: null, restoreSize: null };
    await parts.kube.patch(volumeSnapshotContents, { name, subresource: "status" }, { merge: { status: empty }, uid }, { signal });
  }
  await removeFinalizer(parts.kube, volumeSnapshotContents, { name, uid }, boundProtection, signal);
  return done;
}

async function report(
  content: SeenContent,
  reason: "SnapshotCreationFailed" | "SnapshotDeleteError",
  error: unknown,
  { kube, recorder, host }: SnapshotterParts,
  signal: AbortSignal,
): Promise<void> {
  const message = messageOf(error);
  recorder.record(objectRef(volumeSnapshotContents, content), "Warning", reason, message, reason);
  const { name, uid } = content.metadata;
  const status = { error: { message, time: timestamp(host) }, ...(reason === "SnapshotCreationFailed" && { readyToUse: false }) };
  try {
    await kube.patch(volumeSnapshotContents, { name, subresource: "status" }, { merge: { status }, uid }, { signal });
  } catch (cause) {
    signal.throwIfAborted();
    host.log.warn("the VolumeSnapshotContent does not tell why it failed", { content: name, error: cause });
  }
}
