/** The change of a volume: its tags, then at most one ModifyVolume, then the wait until the volume serves as wanted. */
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import { createTags, deleteTags, modifyVolume } from "../../aws/ec2-actions.ts";
import { isAwsError } from "../../aws/errors.ts";
import type { Volume } from "../../aws/volumes.ts";
import type { Clock } from "../../runtime/world.ts";
import { type CodeName, CsiError, wrapped } from "../csi/errors.ts";
import { isVolumeId } from "../names.ts";
import { lagMs, poll, type Schedule, Span } from "../poll.ts";
import type { VolumeChange } from "./modification-windows.ts";
import { type Target, targetOf, unmetBy } from "./plan-modify.ts";
import type { ZoneIops } from "./zone-iops.ts";

/** EC2 takes from seconds to a few minutes until a modified volume serves as wanted. */
const schedule: Schedule = { firstMs: 1_000, factor: 1.7, maxMs: 15_000, overallMs: 150_000 };

export interface ModifyParts {
  readonly cloud: Cloud;
  readonly clock: Clock;
  readonly zoneIops: ZoneIops;
}

/** The size of the volume afterwards; undefined when only tags were changed. */
export async function modify(volumeId: string, change: VolumeChange, signal: AbortSignal, parts: ModifyParts): Promise<number | undefined> {
  try {
    return await carriedOut(volumeId, change, signal, parts);
  } catch (error) {
    // EC2 did not tell how the volume is: what was asked for now or before may be under way.
    if (isAwsError(error)) throw wrapped(`Could not modify volume ${JSON.stringify(volumeId)}`, error, "Aborted");
    throw error;
  }
}

async function carriedOut(volumeId: string, change: VolumeChange, signal: AbortSignal, parts: ModifyParts): Promise<number | undefined> {
  const ask: Ask = { cause: "CSI ModifyVolume", signal, urgency: "user" };
  const tagged = await changeTags(volumeId, change, ask, parts);
  const { sizeGiB, type, iops, throughput, iopsPerGb } = change;
  if ([sizeGiB, type, iops, throughput, iopsPerGb].every((value) => value === undefined)) {
    if (!tagged) await described(volumeId, ask, parts);
    return undefined;
  }
  const volume = await described(volumeId, ask, parts);
  const target = await targetOf(volume, change, (newType) =>
    parts.zoneIops.max(newType, { zone: volume.zone, zoneId: undefined, outpostArn: volume.outpostArn }, { name: "ModifyVolume", signal }),
  );
  const running = await parts.cloud.volumes.modification(volumeId, ask);
  if (running?.state === "modifying") return settled(volumeId, target, ask, parts);
  if (unmetBy(volume, target).length === 0) return volume.sizeGiB;
  if (running?.state === "optimizing") {
    throw new CsiError(
      "Aborted",
      `volume ${volumeId} in OPTIMIZING state, cannot currently modify: EC2 has to finish its last modification first`,
    );
  }
  await request(volumeId, volume, target, tagged, ask, parts);
  return settled(volumeId, target, ask, parts);
}

async function changeTags(
  volumeId: string,
  { tags = {}, tagDeletions = [] }: VolumeChange,
  ask: Ask,
  { cloud }: ModifyParts,
): Promise<boolean> {
  const added = Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));
  if (added.length === 0 && tagDeletions.length === 0) return false;
  if (!isVolumeId(volumeId)) throw notFound(volumeId);
  const options = { ...ask, target: volumeId, repeatable: true };
  try {
    if (tagDeletions.length > 0) {
      await cloud.call(deleteTags, { Resources: [volumeId], Tags: tagDeletions.map((Key) => ({ Key })) }, options);
    }
    if (added.length > 0) await cloud.call(createTags, { Resources: [volumeId], Tags: added }, options);
    return true;
  } catch (error) {
    if (isAwsError(error, "not-found")) throw notFound(volumeId);
    throw wrapped(
      `Could not modify volume tags ${JSON.stringify(volumeId)}`,
      error,
      isAwsError(error, "invalid") ? "InvalidArgument" : "Internal",
    );
  }
}

async function described(volumeId: string, ask: Ask, { cloud }: ModifyParts): Promise<Volume> {
  if (!isVolumeId(volumeId)) throw notFound(volumeId);
  const found = await cloud.volumes.lookup(volumeId, ask);
  if (found.kind === "found") return found.volume;
  if (found.kind === "not-found") throw notFound(volumeId);
  throw new CsiError("Internal", `EC2's answer lacks the volume ${volumeId}`);
}

function notFound(volumeId: string): CsiError {
  return new CsiError("NotFound", `Could not modify volume (not found) ${JSON.stringify(volumeId)}: there is no such volume`);
}

const infeasible: ReadonlySet<string> = new Set([
  "InvalidParameter",
  "InvalidParameterCombination",
  "InvalidParameterDependency",
  "InvalidParameterValue",
  "UnknownParameter",
  "UnknownVolumeType",
  "UnsupportedOperation",
  "ValidationError",
]);
const exhausted: ReadonlySet<string> = new Set(["VolumeModificationSizeLimitExceeded", "MaxIOPSLimitExceeded"]);
const later: ReadonlySet<string> = new Set(["VolumeModificationRateExceeded", "IncorrectModificationState"]);

async function request(volumeId: string, volume: Volume, target: Target, tagged: boolean, ask: Ask, { cloud }: ModifyParts): Promise<void> {
  const { sizeGiB, type, iops, throughput } = target;
  const input = {
    VolumeId: volumeId,
    ...(sizeGiB !== undefined && sizeGiB > volume.sizeGiB ? { Size: sizeGiB } : {}),
    ...(type === undefined ? {} : { VolumeType: type as "gp3" }),
    ...(iops === undefined ? {} : { Iops: iops }),
    ...(throughput === undefined ? {} : { Throughput: throughput }),
  };
  try {
    // A second one could be refused because of the first: whoever asks again looks first.
    await cloud.call(modifyVolume, input, { ...ask, target: volumeId });
  } catch (error) {
    if (!isAwsError(error)) throw error;
    const [code, what] = refusalOf(error.code, tagged);
    throw wrapped(`Could not modify volume${what} ${JSON.stringify(volumeId)}`, error, error.mayHaveHappened ? "Aborted" : code);
  }
}

function refusalOf(code: string, tagged: boolean): readonly [CodeName, string] {
  // The resizer rolls a claim back that cannot be met; tags that were changed would stay.
  if (infeasible.has(code)) return [tagged ? "Internal" : "InvalidArgument", " (invalid argument)"];
  if (exhausted.has(code)) return ["ResourceExhausted", " (resource exhausted)"];
  if (code === "InvalidVolume.NotFound") return ["NotFound", " (not found)"];
  return [later.has(code) ? "Aborted" : "Internal", ""];
}

/** Waits until no modification runs, and sees that the volume is as wanted. */
async function settled(volumeId: string, target: Target, ask: Ask, parts: ModifyParts): Promise<number> {
  const differing = new Span(parts.clock);
  const volume = await poll(parts.clock, schedule, ask.signal, async () => {
    const running = await parts.cloud.volumes.modification(volumeId, ask);
    if (running?.state === "failed") {
      const why = running.message ?? "it does not say why";
      throw new CsiError("Internal", `Could not modify volume ${JSON.stringify(volumeId)}: EC2 failed to: ${why}`);
    }
    if (running?.state === "modifying") return undefined;
    const seen = await described(volumeId, ask, parts);
    const unmet = unmetBy(seen, target);
    // The description may lag behind the modification.
    if ((differing.note(unmet.length > 0) ?? 0) >= lagMs) {
      throw new CsiError("Aborted", `volume ${volumeId} is still being modified or expanded: ${unmet.join(", ")}`);
    }
    return unmet.length === 0 ? seen : undefined;
  });
  if (volume === undefined) throw new CsiError("Aborted", `volume ${volumeId} is still being modified`);
  return volume.sizeGiB;
}
