/** What EC2 keeps of block storage: volumes with their attachments and last modification, and snapshots. */
import type { VolumeType } from "@aws-sdk/client-ec2";
import type { Table } from "../../store.ts";
import type { Ec2, Tags } from "../state.ts";

/** What a user buys: all that ModifyVolume can change. */
export interface VolumeSpec {
  readonly type: VolumeType;
  readonly sizeGiB: number;
  /** Absent for types that have no figure of their own: st1, sc1 and standard. */
  readonly iops: number | undefined;
  readonly throughput: number | undefined;
  readonly multiAttach: boolean;
}

/** A volume's hold on an instance. `busy` is a detachment that the machine's system does not let go. */
export interface VolumeAttachment {
  readonly instanceId: string;
  readonly device: string;
  readonly cardIndex: number | undefined;
  readonly state: "attaching" | "attached" | "detaching" | "busy";
  readonly deleteOnTermination: boolean;
  readonly attached: number;
}

/** The last change of a volume; EC2 shows no earlier ones. */
export interface Modification {
  readonly state: "modifying" | "optimizing" | "completed";
  readonly original: VolumeSpec;
  readonly target: VolumeSpec;
  readonly started: number;
  readonly ended: number | undefined;
}

/** A volume. `in-use` is not a state of its own: a volume with an attachment is in use. */
export interface Volume {
  readonly id: string;
  readonly state: "creating" | "available" | "deleting";
  readonly spec: VolumeSpec;
  readonly zone: string;
  readonly zoneId: string;
  readonly outpostArn: string | undefined;
  readonly created: number;
  readonly encrypted: boolean;
  readonly kmsKeyArn: string | undefined;
  readonly snapshotId: string | undefined;
  readonly sourceVolumeId: string | undefined;
  readonly fastRestored: boolean;
  readonly initializationRate: number | undefined;
  /** When the last block of its snapshot will have arrived; undefined for an empty volume. */
  readonly initialised: number | undefined;
  readonly attachments: readonly VolumeAttachment[];
  readonly modification: Modification | undefined;
  /** When modifications were begun, for their limit. */
  readonly modified: readonly number[];
  readonly tags: Tags;
}

/** A lock on a snapshot. */
export interface SnapshotLock {
  readonly mode: "compliance" | "governance";
  readonly created: number;
  readonly coolOffHours: number | undefined;
  readonly durationDays: number;
  readonly expires: number;
}

/** A snapshot of a volume, of this account or shared by another one. */
export interface Snapshot {
  readonly id: string;
  readonly volumeId: string;
  readonly ownerId: string;
  readonly ownerAlias: string | undefined;
  readonly state: "pending" | "completed" | "error";
  readonly started: number;
  /** When it will be, or was, completed. */
  readonly completes: number;
  readonly sizeGiB: number;
  readonly description: string;
  readonly encrypted: boolean;
  readonly kmsKeyArn: string | undefined;
  readonly outpostArn: string | undefined;
  readonly lock: SnapshotLock | undefined;
  readonly tags: Tags;
}

/** What keeps an attachment from going its way: put there by tests and by a person at the sandbox, by volume id. */
export interface Obstruction {
  /** The device never appears on the machine: the attachment stays `attaching`. */
  readonly attaching?: boolean;
  /** The machine does not let go of the device (a file system is mounted): a detachment stays `busy` unless forced. */
  readonly busy?: boolean;
}

/** Obstructions by volume id. */
export function obstructions(ec2: Ec2): Table<Obstruction> {
  return ec2.account.store.table("ec2/volume-obstructions");
}
