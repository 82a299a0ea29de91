/**
 * CreateSnapshot. EC2 has no client tokens for snapshots: the name is looked for first, and where an earlier request may have
 * been carried out a moment ago, once more after EC2's answers have caught up. A final refusal is given only when no snapshot
 * carries the name: the snapshotter forgets one that is refused for good, and a snapshot that was made all the same would have
 * no owner. While there may be one the answer is Aborted, after which the same is asked for again.
 */
import { isNotFound } from "../../aws/described.ts";
import { createSnapshot as createSnapshotAction, deleteSnapshot, enableFastSnapshotRestores, lockSnapshot } from "../../aws/ec2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Snapshot } from "../../aws/snapshots.ts";
import { sleep } from "../../runtime/world.ts";
import { bytesOf } from "../capacity.ts";
import { CsiError, invalidArgument, textOf, wrapped } from "../csi/errors.ts";
import type { CreateSnapshotRequest, SnapshotAnswer } from "../csi/messages.ts";
import { isNodeLocal, isVolumeId, tagKeys } from "../names.ts";
import { inFlightMs, lagMs } from "../poll.ts";
import { readSnapshotParameters, type SnapshotLockWish, type SnapshotParameters } from "../snapshot-parameters.ts";
import { snapshotTags } from "../tags.ts";
import { ask, type ControllerContext, type Rpc } from "./context.ts";

export async function createSnapshot(request: CreateSnapshotRequest, rpc: Rpc, context: ControllerContext): Promise<SnapshotAnswer> {
  const { name, sourceVolumeId } = request;
  if (name === "") throw invalidArgument("Snapshot name not provided");
  if (sourceVolumeId === "") throw invalidArgument("Snapshot volume source ID not provided");
  if (isNodeLocal(sourceVolumeId)) throw invalidArgument("node-local volumes cannot be snapshotted");
  return context.inFlight.run(name, `An operation with the given Volume ${name} already exists`, async () => {
    const known = await snapshotNamed(request, rpc, context);
    const parameters = readSnapshotParameters(request.parameters);
    const { log } = context.host;
    const tags = snapshotTags(name, parameters.tags, parameters.variables, context.settings.tags, (message) =>
      log.warn(message, { snapshot: name }),
    );
    if (known !== undefined) {
      if (known.state === "error") await discard(known, name, rpc, context);
      await completed(known, parameters, name, rpc, context);
      return snapshotAnswer(known);
    }
    await checkZones(parameters, rpc, context);
    const made = await requested(request, parameters, tags, rpc, context);
    await completed(made, parameters, name, rpc, context, true);
    return snapshotAnswer(made);
  });
}

/** The snapshot that carries the name; the oldest where there are several, so that the answer is always the same. */
async function snapshotNamed(
  { name, sourceVolumeId }: CreateSnapshotRequest,
  rpc: Rpc,
  context: ControllerContext,
): Promise<Snapshot | undefined> {
  const { cloud, host, startedAt, uncertainSnapshots } = context;
  const look = async () => {
    const found = await cloud.snapshots.tagged(tagKeys.snapshotName, name, ask(rpc)).catch((error: unknown) => {
      // Whether the name has a snapshot is not known.
      throw wrapped(`Could not create snapshot ${JSON.stringify(name)}`, error, "Aborted");
    });
    return found.toSorted((a, b) => (a.startTime === b.startTime ? (a.id < b.id ? -1 : 1) : a.startTime < b.startTime ? -1 : 1))[0];
  };
  let snapshot = await look();
  while (snapshot === undefined) {
    const { clock } = host.world;
    const certainInMs = inFlightMs - Math.min(clock.monotonic() - startedAt, uncertainSnapshots.ageMs(name) ?? Number.POSITIVE_INFINITY);
    if (certainInMs <= 0) return undefined;
    await sleep(clock, Math.min(lagMs, certainInMs), rpc.signal);
    snapshot = await look();
  }
  if (snapshot.volumeId !== sourceVolumeId) {
    throw new CsiError("AlreadyExists", `Snapshot ${name} already exists for different volume (${snapshot.volumeId})`);
  }
  return snapshot;
}

async function checkZones({ fastRestoreZones }: SnapshotParameters, rpc: Rpc, { cloud, host }: ControllerContext): Promise<void> {
  if (fastRestoreZones.length === 0) return;
  let names: readonly string[];
  try {
    names = (await cloud.availabilityZones.all(ask(rpc))).map((zone) => zone.name);
  } catch (error) {
    host.log.warn("the zones of fast snapshot restore are not checked", { error });
    return;
  }
  const unknown = fastRestoreZones.find((zone) => !names.includes(zone));
  if (unknown !== undefined) throw invalidArgument(`Availability zone ${unknown} is not supported for fast snapshot restore`);
}

async function requested(
  { name, sourceVolumeId }: CreateSnapshotRequest,
  { outpostArn }: SnapshotParameters,
  tags: Readonly<Record<string, string>>,
  rpc: Rpc,
  { cloud, uncertainSnapshots }: ControllerContext,
): Promise<Snapshot> {
  if (!isVolumeId(sourceVolumeId)) throw new CsiError("NotFound", failure(name, `there is no volume ${JSON.stringify(sourceVolumeId)}`));
  const input = {
    VolumeId: sourceVolumeId,
    Description: `Created by AWS EBS CSI driver for volume ${sourceVolumeId}`,
    TagSpecifications: [{ ResourceType: "snapshot" as const, Tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })) }],
    ...(outpostArn === undefined ? {} : { OutpostArn: outpostArn }),
  };
  // Until EC2 has answered, and shows what it made, the name may have a snapshot that cannot be seen.
  uncertainSnapshots.note(name);
  try {
    const made = await cloud.call(createSnapshotAction, input, { ...ask(rpc), target: sourceVolumeId });
    return {
      id: made.SnapshotId ?? "",
      volumeId: made.VolumeId ?? sourceVolumeId,
      state: made.State ?? "pending",
      message: undefined,
      startTime: made.StartTime?.toISOString() ?? "",
      sizeGiB: made.VolumeSize ?? 0,
      tags,
    };
  } catch (error) {
    if (!isAwsError(error) || error.mayHaveHappened) {
      uncertainSnapshots.note(name);
      throw wrapped(`Could not create snapshot ${JSON.stringify(name)}`, error, "Aborted");
    }
    // What EC2 refused it has not made.
    uncertainSnapshots.forget(name);
    if (isAwsError(error, "limit-exceeded") && error.code === "SnapshotLimitExceeded") {
      throw wrapped(`Could not create snapshot (resource exhausted) ${JSON.stringify(name)}`, error, "ResourceExhausted");
    }
    if (error.code === "InvalidVolume.NotFound") throw wrapped(failure(name, "no such volume"), error, "NotFound");
    throw wrapped(`Could not create snapshot ${JSON.stringify(name)}`, error, "Internal");
  }
}

/**
 * Fast restore and lock, once for each snapshot. One that this request made is removed when they fail: it is not what was asked
 * for. One that was there before stays, and its owner asks again.
 */
async function completed(
  snapshot: Snapshot,
  parameters: SnapshotParameters,
  name: string,
  rpc: Rpc,
  context: ControllerContext,
  isNew = false,
): Promise<void> {
  const { fastRestoreZones, lock } = parameters;
  if (context.completedSnapshots.has(snapshot.id)) return;
  const isOld = context.host.world.clock.now() - Date.parse(snapshot.startTime) > 10 * 60_000;
  if (isOld && !isNew) return;
  const step = async (heading: string, work: () => Promise<void>) => {
    try {
      await work();
    } catch (error) {
      if (isNew) await remove(snapshot.id, name, rpc, context);
      throw wrapped(heading, error, isNew ? "Internal" : "Aborted");
    }
  };
  if (fastRestoreZones.length > 0) {
    const heading = `Failed to create Fast Snapshot Restores for snapshot ID ${JSON.stringify(name)}`;
    await step(heading, () => restoreFast(snapshot.id, fastRestoreZones, rpc, context));
  }
  if (lock !== undefined) await step(`Failed to lock snapshot for ${JSON.stringify(name)}`, () => lockFor(snapshot.id, lock, rpc, context));
  context.completedSnapshots.note(snapshot.id);
}

async function restoreFast(id: string, zones: readonly string[], rpc: Rpc, { cloud }: ControllerContext): Promise<void> {
  const input = { AvailabilityZones: [...zones], SourceSnapshotIds: [id] };
  const { Unsuccessful } = await cloud.call(enableFastSnapshotRestores, input, { ...ask(rpc), target: id, repeatable: true });
  const errors = (Unsuccessful ?? []).flatMap((item) => item.FastSnapshotRestoreStateErrors ?? []);
  if ((Unsuccessful ?? []).length === 0) return;
  throw new Error(
    errors.map(({ AvailabilityZone: zone, Error: error }) => `${zone}: ${error?.Code}: ${error?.Message}`).join("; ") || "EC2 refused it",
  );
}

async function lockFor(id: string, lock: SnapshotLockWish, rpc: Rpc, { cloud }: ControllerContext): Promise<void> {
  const input = {
    SnapshotId: id,
    LockMode: lock.mode as "governance" | undefined,
    LockDuration: lock.durationDays,
    ExpirationDate: lock.expires === undefined ? undefined : new Date(lock.expires),
    CoolOffPeriod: lock.coolOffHours,
  };
  await cloud.call(lockSnapshot, input, { ...ask(rpc), target: id, repeatable: true });
}

/** A snapshot that failed stays in its state for ever. It was made for this name alone. */
async function discard({ id, message }: Snapshot, name: string, rpc: Rpc, context: ControllerContext): Promise<never> {
  await remove(id, name, rpc, context);
  throw new CsiError("Aborted", failure(name, `${id} ended in the state error and was removed: ${message || "EC2 does not say why"}`));
}

async function remove(id: string, name: string, rpc: Rpc, { cloud }: ControllerContext): Promise<void> {
  try {
    await cloud.call(deleteSnapshot, { SnapshotId: id }, { ...ask(rpc), target: id, repeatable: true });
  } catch (error) {
    if (isNotFound(error, id)) return;
    throw new CsiError("Aborted", `Could not delete snapshot ID ${JSON.stringify(name)}: ${textOf(error)}`, { cause: error });
  }
}

function failure(name: string, why: string): string {
  return `Could not create snapshot ${JSON.stringify(name)}: ${why}`;
}

/** A snapshot as CSI shows it. It can be restored once EC2 has stored it whole. */
export function snapshotAnswer(snapshot: Snapshot): SnapshotAnswer {
  const started = Date.parse(snapshot.startTime);
  return {
    snapshotId: snapshot.id,
    sourceVolumeId: snapshot.volumeId,
    sizeBytes: bytesOf(snapshot.sizeGiB),
    creationTime: { seconds: String(Math.floor(started / 1000)), nanos: (started % 1000) * 1_000_000 },
    readyToUse: snapshot.state === "completed",
  };
}
