/** Heartbeats: what keeps a lifecycle hook waiting while its Node is worked on. Pure. */
import { activeEvents, type NodePlan } from "./plan.ts";
import type { Situation, Step } from "./situation.ts";

/** A hook that is worked for is told so, at its interval and up to its limit. */
export function heartbeat({ now, settings, memory }: Situation, plan: NodePlan): Step | undefined {
  const { heartbeat: wanted } = settings;
  if (wanted === undefined) return undefined;
  const isOver = (startTime: number) => now > lastHeartbeat(plan, startTime, wanted.untilMs);
  const due = activeEvents(plan).find(({ id, hook, startTime }) => {
    if (hook === undefined || memory.hooksDone.has(id) || isOver(startTime)) return false;
    return now - (memory.heartbeats.get(id) ?? plan.since) >= wanted.intervalMs;
  });
  return due && { kind: "heartbeat", event: due };
}

/** When the next heartbeat is due. */
export function nextHeartbeat({ now, settings, memory }: Situation, plan: NodePlan): number {
  const { heartbeat: wanted } = settings;
  if (wanted === undefined) return Number.POSITIVE_INFINITY;
  const times = activeEvents(plan)
    .filter(
      ({ id, hook, startTime }) => hook !== undefined && !memory.hooksDone.has(id) && now <= lastHeartbeat(plan, startTime, wanted.untilMs),
    )
    .map(({ id }) => (memory.heartbeats.get(id) ?? plan.since) + wanted.intervalMs);
  return Math.min(Number.POSITIVE_INFINITY, ...times);
}

/** None is sent after this: the limit counts from when the work for the hook began, however late its message came. */
function lastHeartbeat({ since }: NodePlan, startTime: number, untilMs: number): number {
  return Math.max(since, startTime) + untilMs;
}
