/** What the plan of a Node says, for a person. Pure. */
import { activeEvents, type NodePlan, type PlannedEvent, readPlan } from "./plan.ts";

/** One line about where it stands, and one per event; none for a Node that was never interrupted. */
export function explainInterruption(annotation: string | undefined, now: number): readonly string[] {
  if (annotation === undefined) return [];
  const plan = readPlan(annotation);
  if (plan === undefined) return ["its plan cannot be read; the next notice begins a new one"];
  return [standing(plan, now), ...plan.events.toReversed().map((event) => eventLine(event, now))];
}

const phases: Readonly<Record<NodePlan["phase"], string>> = {
  cordoned: "cordoned, the drain is not due yet",
  draining: "is drained",
  drained: "drained, its events are being ended",
  ended: "all of it has ended",
};

function standing(plan: NodePlan, now: number): string {
  const active = activeEvents(plan);
  if (active.length === 0) return plan.events.every(({ end }) => end === "over") ? "over: the node serves again" : phases.ended;
  const begun = plan.phase === "draining" && plan.drainSince !== undefined ? `, for ${span(now - plan.drainSince)}` : "";
  return `${phases[plan.phase]}${begun}; ${worker(plan.holder)} works on it${plan.overdue ? "; it takes longer than its grace period" : ""}`;
}

/** A holder in words. */
function worker(holder: string): string {
  if (holder.startsWith("node/")) return "the handler on the node itself";
  const lease = /^lease\/([^/]+)\/(.+)$/.exec(holder);
  return lease === null ? holder.replace(/_[^_]*$/, "") : `whoever leads by Lease ${lease[1]}/${lease[2]}`;
}

const ends: Readonly<Record<NonNullable<PlannedEvent["end"]>, string>> = {
  done: "done",
  failed: "could not be met in time",
  over: "taken back, or the machine is back",
};

function eventLine({ kind, policy, description, deadline, hook, simulated, end, why }: PlannedEvent, now: number): string {
  const held = hook === undefined ? "" : `, held by hook ${hook.hook} of group ${hook.group}`;
  const state = end === undefined ? `to ${policy}${limit(deadline, now)}${held}` : `${ends[end]}${why === undefined ? "" : ` (${why})`}`;
  return `${simulated ? "simulated " : ""}${kind}: ${state}: ${description}`;
}

function limit(deadline: number | undefined, now: number): string {
  if (deadline === undefined) return "";
  return deadline > now ? `, the instance goes in ${span(deadline - now)}` : `, the instance was to go ${span(now - deadline)} ago`;
}

function span(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 120) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}
