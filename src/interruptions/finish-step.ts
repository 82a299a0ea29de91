/** The end of events whose Node was brought to where their policy wants it. Pure. */
import type { EventReason } from "../identity/event-reasons.ts";
import { nextHeartbeat } from "./heartbeat-step.ts";
import { outOfServiceChange } from "./node-change.ts";
import { activeEvents, type NodePlan, type PlannedEvent } from "./plan.ts";
import { type PlannedNode, type Report, type Situation, type Step, wait, write } from "./situation.ts";

/** Everything was done for these events: hooks are let go, the webhook is told, and their end is written. */
export function finish(situation: Situation, node: PlannedNode, plan: NodePlan, events = activeEvents(plan)): Step {
  const { now, settings, memory } = situation;
  const drained = plan.phase === "drained";
  const held = events.filter(({ id, hook }) => hook !== undefined && !memory.hooksDone.has(id));
  if (held.length > 0) {
    const at = (plan.drainedAt ?? plan.since) + settings.completionDelayMs;
    if (at > now) return wait(Math.min(at, nextHeartbeat(situation, plan)), "the completion of the hook is delayed");
    return { kind: "complete", event: held[0]!, result: "CONTINUE", why: drained ? "the Node is drained" : "the Node is cordoned" };
  }
  const untold = untoldOf(situation, events);
  if (untold !== undefined) return { kind: "notify", event: untold };
  const after = plan.events.map((event) => (events.includes(event) ? { ...event, end: "done" as const } : event));
  const left = after.some(({ end }) => end === undefined);
  const marks = drained && settings.outOfServiceTaint && events.some(({ policy }) => policy === "drain");
  const reports = events.flatMap(({ id, policy }): readonly Report[] => [
    ...(policy === "cordon" ? [report("Cordon", "Node successfully cordoned", { name: "cordon", ok: true }, id)] : []),
    report("PostDrain", "Post-drain task successfully executed", { name: "post-drain", ok: true }, id),
  ]);
  return write(plan, { events: after, ...(!left && { phase: "ended" as const }) }, marks ? outOfServiceChange(node) : {}, reports);
}

/** The first of these events whose end the webhook has not been told. */
export function untoldOf({ settings, memory }: Situation, events: readonly PlannedEvent[]): PlannedEvent | undefined {
  return settings.webhook ? events.find(({ id }) => !memory.notified.has(id)) : undefined;
}

function report(reason: EventReason, message: string, action: NonNullable<Report["action"]>, eventId: string): Report {
  return { type: "Normal", reason, message, action, eventId };
}
