/** What a step for a Node depends on, and what steps there are. */
import type { EventReason } from "../identity/event-reasons.ts";
import type { InterruptionEvent } from "./event.ts";
import type { Liveness } from "./holders.ts";
import type { NodeChange, NodeFacts } from "./node-change.ts";
import type { NodePlan, PlannedEvent } from "./plan.ts";
import type { Attempt, PodRemoval, PodView } from "./pods.ts";
import type { InterruptionSettings } from "./settings.ts";

/** A Node and its plan. */
export interface PlannedNode extends NodeFacts {
  /** Empty while it is not known. */
  readonly instanceId: string;
  readonly bootId: string;
  readonly plan: NodePlan | undefined;
}

/** What this process remembers of its own work on a Node. All of it can be lost: then something harmless is done twice. */
export interface Memory {
  /** What was tried on pods, by UID. */
  readonly attempts: ReadonlyMap<string, Attempt>;
  /** Events whose hook was let go. */
  readonly hooksDone: ReadonlySet<string>;
  /** When a hook was last told to wait, by event. */
  readonly heartbeats: ReadonlyMap<string, number>;
  /** When hooks run out, by event; absent while it is not known. */
  readonly hookDeadlines: ReadonlyMap<string, number>;
  /** Events that the webhook was told the end of. */
  readonly notified: ReadonlySet<string>;
  /** The pods were told that the drain has begun. */
  readonly podsTold: boolean;
}

/** Everything that a step depends on. */
export interface Situation {
  readonly now: number;
  readonly me: string;
  readonly settings: InterruptionSettings;
  /** Undefined: there is no such Node any more. */
  readonly node: PlannedNode | undefined;
  /** Events that this process was told of. */
  readonly arrived: readonly InterruptionEvent[];
  /** Ids of events that AWS has taken back. */
  readonly over: ReadonlySet<string>;
  /** Whether the holder of the plan, if it is another one, is still there. */
  readonly holderAlive: Liveness;
  /** Undefined while they are not known. */
  readonly pods: readonly PodView[] | undefined;
  readonly orphanedDaemonSets: ReadonlySet<string>;
  /** When the machine was started, in wall-clock milliseconds; known only to a handler that runs on it. */
  readonly bootedAt: number | undefined;
  /** EC2 describes the instance as terminated. */
  readonly instanceGone: boolean;
  readonly memory: Memory;
}

/** What is said where users look, with a write. */
export interface Report {
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
  /** Counted in `actions_total`. */
  readonly action?: { readonly name: "cordon" | "cordon-and-drain" | "pre-drain" | "post-drain" | "uncordon"; readonly ok: boolean };
  /** Whose doing it was, for metrics and the log. */
  readonly eventId?: string;
}

/** The next step. */
export type Step =
  /** Changes the Node and its plan in one write, which fails if anybody else has changed the Node meanwhile. */
  | { readonly kind: "write"; readonly plan: NodePlan; readonly change: NodeChange; readonly reports: readonly Report[] }
  | { readonly kind: "remove-pods"; readonly removals: readonly PodRemoval[]; readonly deadline: number | undefined }
  /** Events about these pods: their Node is drained. */
  | { readonly kind: "tell-pods"; readonly pods: readonly PodView[] }
  | { readonly kind: "heartbeat"; readonly event: PlannedEvent }
  | {
      readonly kind: "complete";
      readonly event: Pick<PlannedEvent, "id" | "hook">;
      readonly result: "CONTINUE" | "ABANDON";
      readonly why: string;
    }
  | { readonly kind: "notify"; readonly event: PlannedEvent }
  /** Their messages may go: this is how far the plan has got. */
  | { readonly kind: "acknowledge"; readonly eventIds: readonly string[]; readonly reached: "ended" | "ignored" | "gone" }
  | { readonly kind: "wait"; readonly until: number | undefined; readonly why: string };

/** A step that changes the plan, and the Node with it. */
export function write(plan: NodePlan, next: Partial<NodePlan>, change: NodeChange, reports: readonly Report[] = []): Step {
  return { kind: "write", plan: { ...plan, ...next, revision: plan.revision + 1 }, change, reports };
}

export function acknowledge(events: readonly { readonly id: string }[], reached: "ended" | "ignored" | "gone"): Step {
  return { kind: "acknowledge", eventIds: events.map(({ id }) => id), reached };
}

export function wait(until: number | undefined, why: string): Step {
  return { kind: "wait", until, why };
}
