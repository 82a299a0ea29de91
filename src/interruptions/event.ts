/** Interruptions: what AWS says is going to happen to an instance, in one form whatever told it. */

/** The kinds of interruptions, and what each is called by those who know the reference. */
export const eventKinds = {
  spot: { name: "SPOT_ITN", reason: "SpotInterruption", taint: "aws-node-termination-handler/spot-itn" },
  reservation: {
    name: "CAPACITY_RESERVATION_INTERRUPTION",
    reason: "CapacityInterruption",
    taint: "aws-node-termination-handler/spot-itn",
  },
  "capacity-block": { name: "CAPACITY_BLOCK_EXPIRATION", reason: "CapacityInterruption", taint: "aws-node-termination-handler/spot-itn" },
  rebalance: {
    name: "REBALANCE_RECOMMENDATION",
    reason: "RebalanceRecommendation",
    taint: "aws-node-termination-handler/rebalance-recommendation",
  },
  maintenance: { name: "SCHEDULED_EVENT", reason: "ScheduledEvent", taint: "aws-node-termination-handler/scheduled-maintenance" },
  "state-change": { name: "STATE_CHANGE", reason: "StateChange", taint: undefined },
  termination: { name: "ASG_LIFECYCLE", reason: "ASGLifecycle", taint: "aws-node-termination-handler/asg-lifecycle-termination" },
} as const;

/** A kind of interruption of a Node. */
export type EventKind = keyof typeof eventKinds;

/** What is done to a Node for a kind of event. */
export type EventPolicy = "ignore" | "cordon" | "drain";

/** Which instance a hook of Auto Scaling holds, and what it takes to let it go. */
export interface HookRef {
  readonly group: string;
  readonly hook: string;
  readonly instanceId: string;
  /** Absent where the message had none: AWS then takes the instance id alone. */
  readonly token?: string;
}

/** One interruption of one instance. */
export interface InterruptionEvent {
  /** The same for every delivery of the same notice. */
  readonly id: string;
  readonly kind: EventKind;
  readonly monitor: Monitor;
  /** Empty in metadata mode, where the Node is known by name. */
  readonly instanceId: string;
  readonly description: string;
  /** When it was told, or when it begins: wall-clock milliseconds. */
  readonly startTime: number;
  /** When the instance goes, as far as that is known. */
  readonly deadline?: number;
  readonly hook?: HookRef;
  /** The Auto Scaling group of the instance, where its tags say one. */
  readonly group?: string;
  /** The machine comes back afterwards: maintenance that restarts it. */
  readonly restarts?: boolean;
  /** Made by `fairlead interruptions simulate`. */
  readonly simulated?: boolean;
}

export type Monitor =
  | "SPOT_ITN_MONITOR"
  | "SCHEDULED_EVENT_MONITOR"
  | "REBALANCE_RECOMMENDATION_MONITOR"
  | "ASG_LIFECYCLE_MONITOR"
  | "SQS_MONITOR";

/** A spot instance has two minutes from its notice. */
export const spotNoticeMs = 120_000;

/** A time as descriptions have it: `2026-01-05 18:00:00 +0000 UTC`. */
export function goTime(ms: number): string {
  const [date, time = ""] = new Date(ms).toISOString().split("T");
  return `${date} ${time.replace(/\.?0*Z$/, "")} +0000 UTC`;
}
