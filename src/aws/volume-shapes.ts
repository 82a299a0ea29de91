/** Volumes and snapshots, as much of them as anybody here reads, and how they are picked out of the answers. */
import { flag, name, number, type Tags, tags } from "./instance.ts";
import type { Page } from "./pages.ts";
import { common, fields, list, type Shape, text } from "./scan.ts";

export interface Volume {
  readonly id: string;
  /** `creating`, `available`, `in-use`, `deleting`, `deleted` or `error`. */
  readonly state: string;
  readonly sizeGiB: number;
  readonly type: string;
  readonly iops: number | undefined;
  readonly throughput: number | undefined;
  readonly zone: string;
  readonly zoneId: string | undefined;
  readonly outpostArn: string | undefined;
  readonly encrypted: boolean;
  readonly kmsKeyId: string | undefined;
  readonly snapshotId: string | undefined;
  readonly multiAttach: boolean;
  /** ISO 8601. */
  readonly createTime: string | undefined;
  readonly attachments: readonly VolumeAttachment[];
  readonly tags: Tags;
}

export interface VolumeAttachment {
  readonly instanceId: string | undefined;
  readonly device: string | undefined;
  /** `attaching`, `attached`, `detaching`, `detached` or `busy`. */
  readonly state: string;
  /** ISO 8601. It tells one attachment of the same volume to the same instance from the next. */
  readonly attachTime: string | undefined;
  readonly card: number | undefined;
}

export interface VolumeModification {
  readonly volumeId: string;
  /** `modifying`, `optimizing`, `completed` or `failed`. */
  readonly state: string;
  readonly message: string | undefined;
}

export interface VolumeInitialization {
  readonly volumeId: string;
  /** `initializing`, `completed`; undefined for a volume that needs none. */
  readonly state: string | undefined;
  readonly secondsLeft: number | undefined;
}

export interface Snapshot {
  readonly id: string;
  readonly volumeId: string;
  /** `pending`, `completed`, `error`, `recoverable` or `recovering`. */
  readonly state: string;
  readonly message: string | undefined;
  /** ISO 8601. */
  readonly startTime: string;
  readonly sizeGiB: number;
  readonly tags: Tags;
}

const attachment = fields(
  { instanceId: text, device: common, status: common, attachTime: text, ebsCardIndex: number },
  (found): VolumeAttachment => ({
    instanceId: found.instanceId,
    device: found.device,
    state: found.status ?? "",
    attachTime: found.attachTime,
    card: found.ebsCardIndex,
  }),
);

const volume = fields(
  {
    volumeId: text,
    status: common,
    size: number,
    volumeType: common,
    iops: number,
    throughput: number,
    availabilityZone: common,
    availabilityZoneId: common,
    outpostArn: name,
    encrypted: flag,
    kmsKeyId: common,
    snapshotId: name,
    multiAttachEnabled: flag,
    createTime: text,
    attachmentSet: list(attachment),
    tagSet: tags,
  },
  (found): Volume => ({
    id: found.volumeId ?? "",
    state: found.status ?? "",
    sizeGiB: found.size ?? 0,
    type: found.volumeType ?? "",
    iops: found.iops,
    throughput: found.throughput,
    zone: found.availabilityZone ?? "",
    zoneId: found.availabilityZoneId,
    outpostArn: found.outpostArn,
    encrypted: found.encrypted ?? false,
    kmsKeyId: found.kmsKeyId,
    snapshotId: found.snapshotId,
    multiAttach: found.multiAttachEnabled ?? false,
    createTime: found.createTime,
    attachments: found.attachmentSet ?? [],
    tags: found.tagSet ?? {},
  }),
);

/** The answer to DescribeVolumes. */
export const volumesPage: Shape<Page<Volume>> = fields({ volumeSet: list(volume), nextToken: name }, (found) => ({
  items: found.volumeSet ?? [],
  nextToken: found.nextToken,
}));

const modification = fields(
  { volumeId: text, modificationState: common, statusMessage: name },
  (found): VolumeModification => ({ volumeId: found.volumeId ?? "", state: found.modificationState ?? "", message: found.statusMessage }),
);

/** The answer to DescribeVolumesModifications. */
export const modificationsPage: Shape<Page<VolumeModification>> = fields(
  { volumeModificationSet: list(modification), nextToken: name },
  (found) => ({ items: found.volumeModificationSet ?? [], nextToken: found.nextToken }),
);

const status = fields(
  {
    volumeId: text,
    volumeStatus: fields({ details: list(fields({ name: common, status: common })) }),
    initializationStatusDetails: fields({ estimatedTimeToCompleteInSeconds: number }),
  },
  (found): VolumeInitialization => ({
    volumeId: found.volumeId ?? "",
    state: found.volumeStatus?.details?.find((detail) => detail.name === "initialization-state")?.status,
    secondsLeft: found.initializationStatusDetails?.estimatedTimeToCompleteInSeconds,
  }),
);

/** The answer to DescribeVolumeStatus. */
export const statusesPage: Shape<Page<VolumeInitialization>> = fields({ volumeStatusSet: list(status), nextToken: name }, (found) => ({
  items: found.volumeStatusSet ?? [],
  nextToken: found.nextToken,
}));

const snapshot = fields(
  { snapshotId: text, volumeId: text, status: common, statusMessage: name, startTime: text, volumeSize: number, tagSet: tags },
  (found): Snapshot => ({
    id: found.snapshotId ?? "",
    volumeId: found.volumeId ?? "",
    state: found.status ?? "",
    message: found.statusMessage,
    startTime: found.startTime ?? "",
    sizeGiB: found.volumeSize ?? 0,
    tags: found.tagSet ?? {},
  }),
);

/** The answer to DescribeSnapshots. */
export const snapshotsPage: Shape<Page<Snapshot>> = fields({ snapshotSet: list(snapshot), nextToken: name }, (found) => ({
  items: found.snapshotSet ?? [],
  nextToken: found.nextToken,
}));
