/** The drain of a Node: pods go, until the last is gone or the time is over. Pure. */
import { finish, untoldOf } from "./finish-step.ts";
import { nextHeartbeat } from "./heartbeat-step.ts";
import { outOfServiceChange } from "./node-change.ts";
import { activeEvents, deadlineOf, type NodePlan, type PlannedEvent } from "./plan.ts";
import { planDrain } from "./pods.ts";
import { type PlannedNode, type Report, type Situation, type Step, wait, write } from "./situation.ts";

/** Events that say nothing of their end are given up after this long. */
const giveUpMs = 3_600_000;
/** Hooks are let go so long before they run out by themselves. */
const hookMarginMs = 5_000;
const podCheckMs = 250;
const drainCheckMs = 5_000;
const instanceCheckMs = 10_000;
/** An annotation is not for long texts; the Event has all of it. */
const maxWhy = 300;

export function draining(situation: Situation, node: PlannedNode, plan: NodePlan): Step {
  const { now, settings, pods, memory } = situation;
  const since = plan.drainSince ?? now;
  if (situation.instanceGone) return giveUp(situation, node, plan, activeEvents(plan), "the instance is gone");
  const late = activeEvents(plan).filter((event) => limitOf(situation, plan, event) <= now);
  if (late.length > 0) return giveUp(situation, node, plan, late, notDrained(situation));
  if (pods === undefined) return wait(now + podCheckMs, "the pods of the Node are not known yet");
  if (settings.podEvents && !memory.podsTold) return { kind: "tell-pods", pods };
  const deadline = Math.min(
    ...activeEvents(plan).map(({ id, deadline: own }) => own ?? memory.hookDeadlines.get(id) ?? Number.POSITIVE_INFINITY),
  );
  const known = Number.isFinite(deadline) ? deadline : undefined;
  const drain = planDrain(pods, memory.attempts, settings.drain, known, now, situation.orphanedDaemonSets);
  if (drain.problem === undefined && drain.remaining.length === 0) {
    return drained(situation, node, plan);
  }
  const overdue = settings.graceMs !== 0 && now - since >= settings.graceMs;
  if (!plan.overdue && (overdue || drain.problem !== undefined)) {
    const why = drain.problem ?? notDrained(situation);
    return write(plan, { overdue: true }, {}, [failedDrain(why)]);
  }
  if (drain.removals.length > 0) return { kind: "remove-pods", removals: drain.removals, deadline: known };
  const limits = activeEvents(plan).map((event) => limitOf(situation, plan, event));
  const until = Math.min(drain.lookAgainAt ?? now + drainCheckMs, now + drainCheckMs, nextHeartbeat(situation, plan), ...limits);
  return wait(until, `${drain.remaining.length} pods are terminating`);
}

/** The last pod is gone. Where nobody else waits for that, one write ends it all. */
function drained(situation: Situation, node: PlannedNode, plan: NodePlan): Step {
  const message = "Node successfully cordoned and drained";
  const said: Report = { type: "Normal", reason: "CordonAndDrain", message, action: { name: "cordon-and-drain", ok: true } };
  const lateMs = situation.now - (deadlineOf(plan) ?? situation.now);
  const reports = [said, ...(lateMs > 0 ? [lateness(lateMs)] : [])];
  const reached: NodePlan = { ...plan, phase: "drained", drainedAt: situation.now, ...(lateMs > 0 && { lateMs }) };
  const next = finish(situation, node, reached);
  return next.kind === "write" ? { ...next, reports: [...reports, ...next.reports] } : write(reached, {}, {}, reports);
}

/** That the last pod was gone only after the instance was to go is said, although the drain came to its end. */
function lateness(ms: number): Report {
  const message = `The node was drained ${Math.ceil(ms / 1000)} s after its instance was to go`;
  return { type: "Warning", reason: "CordonAndDrainError", message };
}

/** From when on an event cannot be met any more. */
function limitOf({ settings, memory }: Situation, { drainSince = 0 }: NodePlan, { id, deadline, hook }: PlannedEvent): number {
  const hookEnd = hook === undefined ? undefined : memory.hookDeadlines.get(id);
  const end = deadline ?? (hookEnd === undefined ? undefined : hookEnd - hookMarginMs) ?? drainSince + giveUpMs;
  // What came late is tried all the same.
  return hookEnd === undefined ? Math.max(end, drainSince + Math.max(settings.graceMs, 0)) : end;
}

/** The drain failed, and the instance will go all the same. As soon as it is proven gone, so are its pods: their volumes may be detached. */
export function awaitInstanceEnd({ now, instanceGone }: Situation, node: PlannedNode, plan: NodePlan): Step {
  if (instanceGone) return write(plan, { failedAt: undefined }, outOfServiceChange(node));
  return wait(now + instanceCheckMs, "the instance is not proven gone yet");
}

/** Their time is over: hooks are abandoned, and it is said why. */
function giveUp(situation: Situation, node: PlannedNode, plan: NodePlan, late: readonly PlannedEvent[], why: string): Step {
  const { now, memory, instanceGone, settings } = situation;
  const held = late.find(({ id, hook }) => hook !== undefined && !memory.hooksDone.has(id));
  if (held !== undefined) return { kind: "complete", event: held, result: "ABANDON", why };
  const untold = untoldOf(situation, late);
  if (untold !== undefined) return { kind: "notify", event: untold };
  const events = plan.events.map((event) =>
    late.includes(event) ? { ...event, end: "failed" as const, why: why.slice(0, maxWhy) } : event,
  );
  const left = events.some(({ end }) => end === undefined);
  const change = instanceGone && settings.outOfServiceTaint ? outOfServiceChange(node) : {};
  return write(
    plan,
    { events, ...(!left && { phase: "ended" as const }), ...(!instanceGone && settings.outOfServiceTaint && { failedAt: now }) },
    change,
    [failedDrain(why, !plan.overdue || instanceGone)],
  );
}

/** Counted once per drain, though it may be said when it is overdue and when it is given up. */
function failedDrain(why: string, counted = true): Report {
  return {
    type: "Warning",
    reason: "CordonAndDrainError",
    message: `There was a problem while trying to cordon and drain the node: ${why}`,
    ...(counted && { action: { name: "cordon-and-drain", ok: false } }),
  };
}

/** Which pods are still there, and what kept them. */
function notDrained({ pods = [], memory, settings, now, orphanedDaemonSets }: Situation): string {
  const { remaining } = planDrain(pods, memory.attempts, settings.drain, undefined, now, orphanedDaemonSets);
  const named = remaining.slice(0, 10).map(({ metadata: { namespace, name, uid } }) => {
    const refusal = memory.attempts.get(uid)?.refusal;
    return `${namespace}/${name}${refusal === undefined ? "" : ` (${refusal})`}`;
  });
  const more = remaining.length > named.length ? ` and ${remaining.length - named.length} more` : "";
  return `${remaining.length} pods are left after the time limit: ${named.join(", ")}${more}`;
}
