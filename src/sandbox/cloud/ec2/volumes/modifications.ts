/** Volumes changed while they serve: ModifyVolume and DescribeVolumesModifications. */
import {
  DescribeVolumesModifications$,
  type DescribeVolumesModificationsRequest,
  type DescribeVolumesModificationsResult,
  ModifyVolume$,
  type ModifyVolumeRequest,
  type ModifyVolumeResult,
  type VolumeModification,
} from "@aws-sdk/client-ec2";
import { ServiceError } from "../../errors.ts";
import { type Operations, read, write } from "../../service.ts";
import { type FilterTable, filtered } from "../filters.ts";
import { find, KINDS } from "../kinds.ts";
import { page } from "../pages.ts";
import type { Ec2 } from "../state.ts";
import { atMost, recordsAsked } from "./queries.ts";
import { checkedSpec, checkQuotas } from "./specs.ts";
import type { Modification, Volume, VolumeSpec } from "./state.ts";

const MODIFYING_MS = 5000;
const OPTIMIZING_MS = 120_000;
const HOUR_MS = 3_600_000;
const MAX_MODIFICATIONS = 500;

/** The operations on modifications. */
export function volumeModificationOperations(ec2: Ec2): Operations {
  return [
    write<ModifyVolumeRequest, ModifyVolumeResult>(ModifyVolume$, (input) => {
      const volume = modify(ec2, input);
      return { VolumeModification: describeModification(ec2, volume, volume.modification!) };
    }),
    read<DescribeVolumesModificationsRequest, DescribeVolumesModificationsResult>(DescribeVolumesModifications$, (input) => {
      const asked = recordsAsked(ec2.volumes, KINDS.volume, input.VolumeIds, input.MaxResults, MAX_MODIFICATIONS);
      const never = input.VolumeIds?.length ? asked.filter(({ modification }) => modification === undefined) : [];
      if (never.length > 0) {
        throw new ServiceError(
          "InvalidVolumeModification.NotFound",
          `Modification for volume '${never.map(({ id }) => id).join(", ")}' does not exist.`,
        );
      }
      const modified = asked.filter(isModified);
      const { items, NextToken } = page(ec2, filtered(modified, input.Filters, FILTERS), ({ id }) => id, atMost(input, MAX_MODIFICATIONS), {
        action: "DescribeVolumesModifications",
        min: 1,
        max: MAX_MODIFICATIONS,
      });
      return { VolumesModifications: items.map((volume) => describeModification(ec2, volume, volume.modification)), NextToken };
    }),
  ];
}

type ModifiedVolume = Volume & { readonly modification: Modification };

function isModified(volume: Volume): volume is ModifiedVolume {
  return volume.modification !== undefined;
}

function modify(ec2: Ec2, input: ModifyVolumeRequest): Volume {
  const { time } = ec2.account;
  const volume = find(ec2.volumes, KINDS.volume, input.VolumeId!);
  if (volume.state !== "available") {
    throw new ServiceError("IncorrectState", `The volume '${volume.id}' is in the '${volume.state}' state.`);
  }
  const target = targetOf(volume, input);
  checkRunning(volume);
  checkRate(ec2, volume);
  checkQuotas(ec2, target, volume.spec, "VolumeModificationSizeLimitExceeded");
  const now = time.now();
  const modification: Modification = { state: "modifying", original: volume.spec, target, started: now, ended: undefined };
  // The new size and speed are there when the volume is optimizing; it serves at both speeds until that has ended.
  step(ec2, volume.id, now, MODIFYING_MS, () => ({ spec: target, modification: { ...modification, state: "optimizing" } }));
  step(ec2, volume.id, now, MODIFYING_MS + OPTIMIZING_MS, () => ({
    modification: { ...modification, state: "completed", ended: time.now() },
  }));
  return ec2.volumes.update(volume.id, { modification, modified: [...volume.modified, now] });
}

/** One step of the modification begun at that moment, unless the volume is gone or modified anew. */
function step(ec2: Ec2, id: string, started: number, ms: number, change: () => Partial<Volume>): void {
  ec2.account.time.after(ms, () => {
    if (ec2.volumes.get(id)?.modification?.started === started) ec2.volumes.update(id, change());
  });
}

function targetOf(volume: Volume, input: ModifyVolumeRequest): VolumeSpec {
  const { spec } = volume;
  const asked = [input.Size, input.VolumeType, input.Iops, input.Throughput, input.MultiAttachEnabled];
  if (asked.every((value) => value === undefined)) {
    throw new ServiceError(
      "InvalidParameterValue",
      "You must specify at least one of size, volumeType, iops, throughput or multiAttachEnabled.",
    );
  }
  if (spec.type === "standard") {
    throw new ServiceError("UnsupportedOperation", `The volume '${volume.id}' of type standard cannot be modified.`);
  }
  if (input.Size !== undefined && input.Size < spec.sizeGiB) {
    throw new ServiceError("InvalidParameterValue", `New size cannot be smaller than existing size: ${input.Size} < ${spec.sizeGiB}`);
  }
  const type = input.VolumeType ?? spec.type;
  const sameType = type === spec.type;
  const multiAttach = input.MultiAttachEnabled ?? spec.multiAttach;
  checkMultiAttach(volume, multiAttach, sameType);
  const chosen = type === "gp3" || type === "io1" || type === "io2";
  return checkedSpec({
    type,
    sizeGiB: input.Size ?? spec.sizeGiB,
    // What is not given is kept; a change of type to one with provisioned IOPS begins at 3,000.
    iops: input.Iops ?? (chosen ? (sameType ? spec.iops : 3000) : undefined),
    throughput: input.Throughput ?? (type === "gp3" && sameType ? spec.throughput : undefined),
    multiAttach,
  });
}

/** Multi-Attach changes only on io2 volumes that are attached nowhere; while it is on, the type stays. */
function checkMultiAttach(volume: Volume, wanted: boolean, sameType: boolean): void {
  const { spec } = volume;
  if (spec.multiAttach && !sameType) {
    throw new ServiceError("InvalidParameterCombination", `The type of '${volume.id}' cannot be changed while Multi-Attach is enabled.`);
  }
  if (wanted === spec.multiAttach) return;
  if (spec.type !== "io2") {
    throw new ServiceError("InvalidParameterCombination", `Multi-Attach can be changed on io2 volumes only, not on ${spec.type}.`);
  }
  if (volume.attachments.length > 0)
    throw new ServiceError("IncorrectState", `The volume '${volume.id}' must be detached from all instances.`);
}

function checkRunning({ id, modification }: Volume): void {
  if (modification === undefined || modification.state === "completed") return;
  throw new ServiceError(
    "IncorrectModificationState",
    `Cannot modify volume ${id} in modification state ${modification.state.toUpperCase()}`,
  );
}

/** So many modifications in a rolling window: four in 24 hours. Before 2026 it was one in six. */
function checkRate(ec2: Ec2, volume: Volume): void {
  const { volumeModifications: most, volumeModificationHours: hours } = ec2.account.settings().quotas;
  const since = ec2.account.time.now() - hours * HOUR_MS;
  if (volume.modified.filter((at) => at > since).length < most) return;
  throw new ServiceError(
    "VolumeModificationRateExceeded",
    `You've reached the maximum modification rate per volume limit: ${most} in ${hours} hours for ${volume.id}.`,
  );
}

function describeModification(ec2: Ec2, volume: Volume, modification: Modification): VolumeModification {
  const { original, target, state, started, ended } = modification;
  const { time } = ec2.account;
  const elapsed = time.now() - started;
  const share = elapsed === 0 ? 0 : (elapsed * time.speed) / (MODIFYING_MS + OPTIMIZING_MS);
  return {
    VolumeId: volume.id,
    ModificationState: state,
    TargetSize: target.sizeGiB,
    TargetIops: target.iops,
    TargetVolumeType: target.type,
    TargetThroughput: target.throughput,
    TargetMultiAttachEnabled: target.multiAttach,
    OriginalSize: original.sizeGiB,
    OriginalIops: original.iops,
    OriginalVolumeType: original.type,
    OriginalThroughput: original.throughput,
    OriginalMultiAttachEnabled: original.multiAttach,
    Progress: state === "completed" ? 100 : Math.min(99, Math.floor(100 * share)),
    StartTime: new Date(started),
    EndTime: ended === undefined ? undefined : new Date(ended),
  };
}

const FILTERS: FilterTable<ModifiedVolume> = {
  "modification-state": ({ modification }) => modification.state,
  "original-iops": ({ modification }) => modification.original.iops,
  "original-size": ({ modification }) => modification.original.sizeGiB,
  "original-volume-type": ({ modification }) => modification.original.type,
  originalMultiAttachEnabled: ({ modification }) => modification.original.multiAttach,
  "start-time": ({ modification }) => new Date(modification.started).toISOString(),
  "target-iops": ({ modification }) => modification.target.iops,
  "target-size": ({ modification }) => modification.target.sizeGiB,
  "target-volume-type": ({ modification }) => modification.target.type,
  targetMultiAttachEnabled: ({ modification }) => modification.target.multiAttach,
  "volume-id": (volume) => volume.id,
};
