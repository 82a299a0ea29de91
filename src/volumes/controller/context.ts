/** What the controller's calls share. */
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import type { Host } from "../../runtime/host.ts";
import type { ClientTokens } from "../client-tokens.ts";
import type { DeviceNames } from "../devices.ts";
import type { InFlight } from "../in-flight.ts";
import type { Rpc } from "../rpc.ts";
import type { TagSettings } from "../tags.ts";
import type { DetachPending } from "./detach-pending.ts";
import type { Detachments, FirstTime, RecentIds } from "./memory.ts";
import type { ModificationWindows } from "./modification-windows.ts";
import type { ZoneIops } from "./zone-iops.ts";

export type { Rpc } from "../rpc.ts";

/** What the operator says. */
export interface ControllerSettings {
  readonly tags: TagSettings;
  readonly nodeLocalVolumes: boolean;
  /** The zone of this machine, where the same process serves its volumes; a volume that may be anywhere is made there. */
  readonly ownZone?: string;
  /** How long a modification waits for others of the same volume. */
  readonly modifyWindowMs: number;
}

export interface ControllerContext {
  readonly host: Host;
  readonly cloud: Cloud;
  readonly settings: ControllerSettings;
  readonly inFlight: InFlight;
  readonly tokens: ClientTokens;
  readonly devices: DeviceNames;
  readonly zoneIops: ZoneIops;
  readonly windows: ModificationWindows;
  /** Volumes made a moment ago: EC2 may not show them yet. */
  readonly made: RecentIds;
  /** What was deleted a moment ago: when EC2 does not show it, it is gone. */
  readonly deleted: RecentIds;
  readonly detachments: Detachments;
  readonly detachPending: DetachPending;
  /** Attachments that were seen on their way, since when. */
  readonly attaching: RecentIds;
  /** Volumes and nodes, joined, for which an attachment was asked without an answer. */
  readonly uncertainAttachments: RecentIds;
  /** The same, of those that this process has seen detached. */
  readonly settledDetachments: RecentIds;
  /** Volumes that are filled from their snapshot, which they stay. */
  readonly initialisedVolumes: RecentIds;
  /** Names of snapshots that were asked for a moment ago: EC2 may not show them yet. */
  readonly uncertainSnapshots: RecentIds;
  /** Snapshots whose fast restore and lock are done. */
  readonly completedSnapshots: RecentIds;
  /** Names of volumes that were asked for without an answer: EC2 may still make them. */
  readonly uncertainVolumes: RecentIds;
  readonly startedAt: number;
  /** When this process was first asked to attach or detach something: one that stands by takes over long after it has started. */
  readonly attachmentsBegan: FirstTime;
}

/** The question a call puts to AWS: a user waits for the answer. */
export function ask(rpc: Rpc): Ask & { readonly urgency: "user" } {
  return { cause: `CSI ${rpc.name}`, signal: rpc.signal, urgency: "user" };
}
