/**
 * The plan of one Node: what it is interrupted by and how far it has got. It is kept on the Node, so that whoever takes the
 * work up knows all that its predecessor knew.
 */
import type { EventKind, EventPolicy, HookRef, InterruptionEvent } from "./event.ts";

/**
 *     cordoned ──► draining ──► drained ──► ended
 *         └── for what only cordons ────────►┘
 *
 * A new event brings a Node that has ended back to `cordoned`.
 */
export type Phase = "cordoned" | "draining" | "drained" | "ended";

/** How an event ended. */
export type EventEnd =
  /** Everything that its policy asks for was done. */
  | "done"
  /** Its time was over before that. */
  | "failed"
  /** AWS took it back, or it came to pass and the machine is back. */
  | "over";

/** An event in a plan. */
export interface PlannedEvent {
  readonly id: string;
  readonly kind: EventKind;
  readonly policy: Exclude<EventPolicy, "ignore">;
  readonly description: string;
  readonly startTime: number;
  readonly deadline?: number;
  readonly hook?: HookRef;
  readonly group?: string;
  readonly restarts?: boolean;
  readonly simulated?: boolean;
  /** Absent while there is something to do for it. */
  readonly end?: EventEnd;
  /** Why it failed. An Event says it too, but a process may end before it is sent. */
  readonly why?: string;
}

/** The plan of a Node. */
export interface NodePlan {
  /** Counts the changes of the plan: of two, the higher one is the later. */
  readonly revision: number;
  readonly phase: Phase;
  /** Who works on it. */
  readonly holder: string;
  readonly events: readonly PlannedEvent[];
  /** The Node was schedulable before: it is made so again when the reason is over. */
  readonly cordonedByUs: boolean;
  /** The boot of the machine that the events are about. */
  readonly bootId: string;
  /** When it was cordoned for the first of its active events. */
  readonly since: number;
  /** When the draining began. */
  readonly drainSince?: number;
  /** When the last pod was gone. */
  readonly drainedAt?: number;
  /** The grace period of the drain has passed, and was said to have. */
  readonly overdue?: boolean;
  /** By how much the last pod was gone later than the instance was to go. */
  readonly lateMs?: number;
  /** When its holder last showed, by this alone, that it is still at work. */
  readonly renewedAt?: number;
  /** When a drain was given up whose instance was not gone yet. */
  readonly failedAt?: number | undefined;
}

/** So long after a drain that failed it is looked whether the instance is gone. */
const instancePatienceMs = 15 * 60_000;

/** Whether the end of the instance is still waited for, after a drain that failed. */
export function awaitsInstanceEnd({ failedAt }: NodePlan, now: number): boolean {
  return failedAt !== undefined && now - failedAt < instancePatienceMs;
}

/** So many ended events are remembered, so that late copies of their messages are known. */
const maxEnded = 20;

/** Events that something is still to be done for. */
export function activeEvents({ events }: NodePlan): readonly PlannedEvent[] {
  return events.filter(({ end }) => end === undefined);
}

/** When the first of the active events that drain takes the instance; undefined when none of them says. */
export function deadlineOf(plan: NodePlan): number | undefined {
  const deadlines = activeEvents(plan).flatMap(({ policy, deadline }) => (policy === "drain" && deadline !== undefined ? [deadline] : []));
  return deadlines.length === 0 ? undefined : Math.min(...deadlines);
}

/** An event as a plan keeps it. */
export function plannedEvent(event: InterruptionEvent, policy: PlannedEvent["policy"]): PlannedEvent {
  const { id, kind, description, startTime, deadline, hook, group, restarts, simulated } = event;
  return {
    id,
    kind,
    policy,
    description: description.trim(),
    startTime,
    ...(deadline !== undefined && { deadline }),
    ...(hook && { hook }),
    ...(group && { group }),
    ...(restarts && { restarts }),
    ...(simulated && { simulated }),
  };
}

/** The plan, with what has ended long ago left out. */
export function trimmedPlan(plan: NodePlan): NodePlan {
  const ended = plan.events.filter(({ end }) => end !== undefined);
  const forgotten = new Set(ended.slice(0, Math.max(0, ended.length - maxEnded)));
  return forgotten.size === 0 ? plan : { ...plan, events: plan.events.filter((event) => !forgotten.has(event)) };
}

/** The plan as the annotation carries it. */
export function writePlan(plan: NodePlan): string {
  return JSON.stringify(trimmedPlan(plan));
}

/** The plan of an annotation; undefined when there is none, or none that can be read: then the events will be told again. */
export function readPlan(annotation: string | undefined): NodePlan | undefined {
  if (annotation === undefined || annotation === "") return undefined;
  try {
    const plan = JSON.parse(annotation) as Partial<NodePlan>;
    const { revision, phase, holder, events } = plan;
    const sound =
      typeof revision === "number" &&
      typeof holder === "string" &&
      ["cordoned", "draining", "drained", "ended"].includes(phase ?? "") &&
      Array.isArray(events) &&
      events.every((event) => typeof event?.id === "string" && (event.policy === "cordon" || event.policy === "drain"));
    if (!sound) return undefined;
    return { cordonedByUs: false, bootId: "", since: 0, ...plan } as NodePlan;
  } catch {
    return undefined;
  }
}
