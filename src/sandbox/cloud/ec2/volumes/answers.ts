/** Volumes as answers show them, and the filters of their Describe calls. */
import type { Volume as VolumeAnswer, VolumeStatusItem } from "@aws-sdk/client-ec2";
import { arn } from "../../account.ts";
import { type FilterTable, tagFilters } from "../filters.ts";
import type { Ec2 } from "../state.ts";
import { tagList } from "../tags.ts";
import { describeAttachment } from "./attachments.ts";
import type { Volume, VolumeAttachment } from "./state.ts";

/** A volume with attachments is in use, whatever their state. */
export function stateOf(volume: Volume): "creating" | "available" | "in-use" | "deleting" {
  return volume.state === "available" && volume.attachments.length > 0 ? "in-use" : volume.state;
}

/** A volume as CreateVolume and DescribeVolumes show it. */
export function describeVolume(ec2: Ec2, volume: Volume): VolumeAnswer {
  const { spec } = volume;
  return {
    VolumeId: volume.id,
    VolumeArn: arn(ec2.account, "ec2", `volume/${volume.id}`),
    OwnerId: ec2.account.id,
    Size: spec.sizeGiB,
    VolumeType: spec.type,
    Iops: spec.iops,
    Throughput: spec.throughput,
    MultiAttachEnabled: spec.multiAttach,
    State: stateOf(volume),
    AvailabilityZone: volume.zone,
    AvailabilityZoneId: volume.zoneId,
    OutpostArn: volume.outpostArn,
    CreateTime: new Date(volume.created),
    Encrypted: volume.encrypted,
    KmsKeyId: volume.kmsKeyArn,
    SnapshotId: volume.snapshotId ?? "",
    SourceVolumeId: volume.sourceVolumeId,
    FastRestored: volume.fastRestored ? true : undefined,
    VolumeInitializationRate: volume.initializationRate,
    Attachments: volume.attachments.map((attachment) => describeAttachment(volume.id, attachment)),
    Tags: volume.tags && tagList(volume.tags),
  };
}

/** The filters of DescribeVolumes. */
export function volumeFilters(): FilterTable<Volume> {
  const each = (value: (attachment: VolumeAttachment) => string | boolean) => (volume: Volume) => volume.attachments.map(value);
  return {
    ...tagFilters<Volume>(),
    "attachment.attach-time": each(({ attached }) => new Date(attached).toISOString()),
    "attachment.delete-on-termination": each((attachment) => attachment.deleteOnTermination),
    "attachment.device": each((attachment) => attachment.device),
    "attachment.instance-id": each((attachment) => attachment.instanceId),
    "attachment.status": each((attachment) => attachment.state),
    "availability-zone": (volume) => volume.zone,
    "availability-zone-id": (volume) => volume.zoneId,
    "create-time": (volume) => new Date(volume.created).toISOString(),
    encrypted: (volume) => volume.encrypted,
    "fast-restored": (volume) => volume.fastRestored,
    "multi-attach-enabled": (volume) => volume.spec.multiAttach,
    size: (volume) => volume.spec.sizeGiB,
    "snapshot-id": (volume) => volume.snapshotId,
    "source-volume-id": (volume) => volume.sourceVolumeId,
    status: stateOf,
    "volume-id": (volume) => volume.id,
    "volume-type": (volume) => volume.spec.type,
  };
}

/** A volume as DescribeVolumeStatus shows it. What still comes from a snapshot is said to be initializing. */
export function describeVolumeStatus(ec2: Ec2, volume: Volume): VolumeStatusItem {
  const { time } = ec2.account;
  const left = volume.initialised === undefined ? 0 : Math.max(0, volume.initialised - time.now());
  const ready = volume.state === "available";
  const total = (volume.initialised ?? 0) - volume.created;
  return {
    VolumeId: volume.id,
    AvailabilityZone: volume.zone,
    AvailabilityZoneId: volume.zoneId,
    OutpostArn: volume.outpostArn,
    Actions: [],
    Events: [],
    AttachmentStatuses: volume.attachments.map(({ instanceId }) => ({ InstanceId: instanceId, IoPerformance: "not-applicable" })),
    VolumeStatus: {
      Status: ready ? "ok" : "insufficient-data",
      Details: [
        { Name: "io-enabled", Status: ready ? "passed" : "insufficient-data" },
        { Name: "io-performance", Status: "not-applicable" },
        ...(volume.initialised === undefined
          ? []
          : [{ Name: "initialization-state" as const, Status: left > 0 ? "initializing" : "completed" }]),
      ],
    },
    InitializationStatusDetails:
      volume.initialised === undefined || volume.fastRestored
        ? undefined
        : {
            InitializationType: volume.initializationRate === undefined ? "default" : "provisioned-rate",
            Progress: left > 0 ? Math.floor(100 * (1 - left / total)) : 100,
            // EC2 can tell how long only where a rate was paid for.
            EstimatedTimeToCompleteInSeconds: volume.initializationRate === undefined ? undefined : Math.ceil(left / 1000),
          },
  };
}
