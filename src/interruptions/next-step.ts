/**
 * The state machine: from what is known of a Node at one moment to the one next step. Pure.
 *
 * A step that ends an event comes in this order, each safe to repeat: complete its hook, write its end into the plan,
 * acknowledge its message. Whoever crashes between two of them leaves a plan from which the next one follows.
 */
import type { EventReason } from "../identity/event-reasons.ts";
import { eventKinds, type InterruptionEvent } from "./event.ts";
import { cordonChange, type NodeChange, type NodeFacts, outOfServiceChange, uncordonChange } from "./node-change.ts";
import { activeEvents, deadlineOf, type NodePlan, type PlannedEvent, plannedEvent } from "./plan.ts";
import { type Attempt, type PodRemoval, type PodView, planDrain } from "./pods.ts";
import type { InterruptionSettings } from "./settings.ts";

/** A Node and its plan. */
export interface PlannedNode extends NodeFacts {
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
  readonly holderAlive: boolean;
  /** Undefined while they are not known. */
  readonly pods: readonly PodView[] | undefined;
  readonly orphanedDaemonSets: ReadonlySet<string>;
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

/** Events that say nothing of their end are given up after this long. */
const giveUpMs = 3_600_000;
/** Hooks are let go so long before they run out by themselves. */
const hookMarginMs = 5_000;
/** How often it is looked whether another holder is still there. */
const holderCheckMs = 2_000;
const podCheckMs = 250;
const drainCheckMs = 5_000;

/** The one next step for a Node. */
export function nextStep(situation: Situation): Step {
  const { node, arrived, settings } = situation;
  const ignored = arrived.filter(({ kind }) => settings.policies[kind] === "ignore");
  if (ignored.length > 0) return acknowledge(ignored, "ignored");
  if (node === undefined) return nodeGone(situation);
  const { plan } = node;
  const fresh = arrived.filter(({ id }) => !plan?.events.some((event) => event.id === id));
  if (fresh.length > 0) return takeUp(situation, node, fresh);
  if (plan === undefined) return wait(undefined, "nothing is known of any interruption");
  const ended = arrived.filter(({ id }) => plan.events.find((event) => event.id === id)?.end !== undefined);
  if (ended.length > 0) return acknowledge(ended, "ended");
  const taken = backAgain(situation, node, plan);
  const active = activeEvents(plan);
  if (active.length === 0 && taken === undefined) return wait(undefined, "every interruption has ended");
  if (plan.holder !== situation.me) {
    if (situation.holderAlive) return wait(situation.now + holderCheckMs, `${plan.holder} works on it`);
    return write(plan, { holder: situation.me }, {});
  }
  if (taken !== undefined) return taken;
  return heartbeat(situation, plan) ?? phases[plan.phase](situation, node, plan);
}

const phases: Readonly<Record<NodePlan["phase"], (situation: Situation, node: PlannedNode, plan: NodePlan) => Step>> = {
  cordoned,
  draining,
  drained: finish,
  ended: finish,
};

/** There is nothing to drain: whoever waits for it is let go. */
function nodeGone({ arrived, memory }: Situation): Step {
  if (arrived.length === 0) return wait(undefined, "the Node is gone");
  const held = arrived.find(({ hook, id }) => hook !== undefined && !memory.hooksDone.has(id));
  if (held !== undefined) return { kind: "complete", event: held, result: "CONTINUE", why: "the Node is gone" };
  return acknowledge(arrived, "gone");
}

/** New events enter the plan with the write that cordons the Node. Anybody may add them; who works on them stays. */
function takeUp({ now, me, settings, holderAlive }: Situation, node: PlannedNode, fresh: readonly InterruptionEvent[]): Step {
  const events = fresh.map((event) => plannedEvent(event, settings.policies[event.kind] === "cordon" ? "cordon" : "drain"));
  const before = node.plan;
  const active = before === undefined ? [] : activeEvents(before);
  const held = before !== undefined && active.length > 0 && (before.holder === me || holderAlive);
  // An event of an earlier boot says nothing of this one.
  const plan: NodePlan = {
    revision: before?.revision ?? 0,
    phase: before?.phase === "draining" ? "draining" : "cordoned",
    holder: held ? before.holder : me,
    events: [...(before?.events ?? []), ...events],
    cordonedByUs: (before?.cordonedByUs ?? false) || !node.unschedulable,
    bootId: node.bootId,
    since: active.length > 0 ? (before?.since ?? now) : now,
    ...(before?.drainSince !== undefined && before.phase === "draining" && { drainSince: before.drainSince }),
  };
  const due = plan.phase === "cordoned" && (drainDue(plan, settings) ?? Number.POSITIVE_INFINITY) <= now;
  const begun: Partial<NodePlan> = due ? { phase: "draining", drainSince: now } : {};
  const reports = events.flatMap((event): readonly Report[] => [
    { type: "Normal", reason: eventKinds[event.kind].reason, message: event.description, eventId: event.id },
    {
      type: "Normal",
      reason: "PreDrain",
      message: "Pre-drain task successfully executed",
      action: { name: "pre-drain", ok: true },
      eventId: event.id,
    },
  ]);
  return write(plan, begun, cordonChange(node, events, settings, now), reports);
}

/** When the first of the active events is to be drained for; undefined when none of them drains. */
function drainDue(plan: NodePlan, settings: InterruptionSettings): number | undefined {
  const times = activeEvents(plan).flatMap(({ policy, kind, startTime, deadline }) => {
    if (policy !== "drain") return [];
    const begins = kind === "maintenance" && settings.scheduleMaintenance ? (deadline ?? startTime) : startTime;
    return begins - settings.graceMs;
  });
  if (times.length === 0) return undefined;
  const first = Math.min(...times);
  if (settings.loadBalancerWaitMs <= 0) return first;
  // Load balancers get their time, but never more than a third of what there is.
  const deadline = deadlineOf(plan) ?? Number.POSITIVE_INFINITY;
  return Math.max(first, plan.since + Math.min(settings.loadBalancerWaitMs, Math.max(0, (deadline - plan.since) / 3)));
}

/** Events that AWS took back, or that the machine has come back from. When no other is left the Node serves again. */
function backAgain({ over }: Situation, node: PlannedNode, plan: NodePlan): Step | undefined {
  const restarted = plan.bootId !== "" && node.bootId !== "" && plan.bootId !== node.bootId;
  const isOver = (event: PlannedEvent) => over.has(event.id) || (restarted && event.restarts === true);
  const changed = plan.events.filter((event) => event.end !== "over" && isOver(event));
  if (changed.length === 0) return undefined;
  const events = plan.events.map((event) => (changed.includes(event) ? { ...event, end: "over" as const } : event));
  const left = events.filter(({ end }) => end === undefined);
  const holding = events.some(({ end }) => end !== "over");
  const phase = left.length === 0 ? "ended" : plan.phase;
  if (holding || !plan.cordonedByUs) return write(plan, { events, phase }, {});
  const message = "Node successfully uncordoned";
  return write(plan, { events, phase: "ended", cordonedByUs: false }, uncordonChange(node), [
    { type: "Normal", reason: "Uncordon", message, action: { name: "uncordon", ok: true }, eventId: changed[0]!.id },
  ]);
}

/** A hook that is worked for is told so, at its interval and up to its limit. */
function heartbeat({ now, settings, memory }: Situation, plan: NodePlan): Step | undefined {
  const { heartbeat: wanted } = settings;
  if (wanted === undefined) return undefined;
  const due = activeEvents(plan).find(({ id, hook, startTime }) => {
    if (hook === undefined || memory.hooksDone.has(id) || now - startTime > wanted.untilMs) return false;
    return now - (memory.heartbeats.get(id) ?? plan.since) >= wanted.intervalMs;
  });
  return due && { kind: "heartbeat", event: due };
}

/** When the next heartbeat is due. */
function nextHeartbeat({ now, settings, memory }: Situation, plan: NodePlan): number {
  const { heartbeat: wanted } = settings;
  if (wanted === undefined) return Number.POSITIVE_INFINITY;
  const times = activeEvents(plan)
    .filter(({ id, hook, startTime }) => hook !== undefined && !memory.hooksDone.has(id) && now - startTime <= wanted.untilMs)
    .map(({ id }) => (memory.heartbeats.get(id) ?? plan.since) + wanted.intervalMs);
  return Math.min(Number.POSITIVE_INFINITY, ...times);
}

function cordoned(situation: Situation, node: PlannedNode, plan: NodePlan): Step {
  const { now, settings } = situation;
  const due = drainDue(plan, settings);
  if (due === undefined) return finish(situation, node, plan);
  if (due <= now) return write(plan, { phase: "draining", drainSince: now }, {});
  const waiting = activeEvents(plan).filter(({ policy }) => policy === "cordon");
  if (waiting.length > 0) return finish(situation, node, plan, waiting);
  return wait(Math.min(due, nextHeartbeat(situation, plan)), "the drain is not due yet");
}

function draining(situation: Situation, node: PlannedNode, plan: NodePlan): Step {
  const { now, settings, pods, memory } = situation;
  const since = plan.drainSince ?? now;
  if (situation.instanceGone) return giveUp(situation, node, plan, activeEvents(plan), "the instance is gone");
  const late = activeEvents(plan).filter((event) => limitOf(situation, plan, event) <= now);
  if (late.length > 0) return giveUp(situation, node, plan, late, notDrained(situation));
  if (pods === undefined) return wait(now + podCheckMs, "the pods of the Node are not known yet");
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
  const reached: NodePlan = { ...plan, phase: "drained", drainedAt: situation.now };
  const next = finish(situation, node, reached);
  return next.kind === "write" ? { ...next, reports: [said, ...next.reports] } : write(reached, {}, {}, [said]);
}

/** From when on an event cannot be met any more. */
function limitOf({ settings, memory }: Situation, { drainSince = 0 }: NodePlan, { id, deadline, hook }: PlannedEvent): number {
  const hookEnd = hook === undefined ? undefined : memory.hookDeadlines.get(id);
  const end = deadline ?? (hookEnd === undefined ? undefined : hookEnd - hookMarginMs) ?? drainSince + giveUpMs;
  // What came late is tried all the same.
  return hookEnd === undefined ? Math.max(end, drainSince + Math.max(settings.graceMs, 0)) : end;
}

/** Their time is over: hooks are abandoned, and it is said why. */
function giveUp(situation: Situation, node: PlannedNode, plan: NodePlan, late: readonly PlannedEvent[], why: string): Step {
  const { memory, instanceGone, settings } = situation;
  const held = late.find(({ id, hook }) => hook !== undefined && !memory.hooksDone.has(id));
  if (held !== undefined) return { kind: "complete", event: held, result: "ABANDON", why };
  const events = plan.events.map((event) => (late.includes(event) ? { ...event, end: "failed" as const } : event));
  const left = events.some(({ end }) => end === undefined);
  const change = instanceGone && settings.outOfServiceTaint ? outOfServiceChange(node) : {};
  return write(
    plan,
    { events, ...(!left && { phase: "ended" as const }) },
    change,
    plan.overdue && !instanceGone ? [] : [failedDrain(why)],
  );
}

function failedDrain(why: string): Report {
  return {
    type: "Warning",
    reason: "CordonAndDrainError",
    message: `There was a problem while trying to cordon and drain the node: ${why}`,
    action: { name: "cordon-and-drain", ok: false },
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

/** Everything was done for these events: hooks are let go, the webhook is told, and their end is written. */
function finish(situation: Situation, node: PlannedNode, plan: NodePlan, events = activeEvents(plan)): Step {
  const { now, settings, memory } = situation;
  const drained = plan.phase === "drained";
  const held = events.filter(({ id, hook }) => hook !== undefined && !memory.hooksDone.has(id));
  if (held.length > 0) {
    const at = (plan.drainedAt ?? plan.since) + settings.completionDelayMs;
    if (at > now) return wait(Math.min(at, nextHeartbeat(situation, plan)), "the completion of the hook is delayed");
    return { kind: "complete", event: held[0]!, result: "CONTINUE", why: drained ? "the Node is drained" : "the Node is cordoned" };
  }
  const untold = settings.webhook ? events.find(({ id }) => !memory.notified.has(id)) : undefined;
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

function report(reason: EventReason, message: string, action: NonNullable<Report["action"]>, eventId: string): Report {
  return { type: "Normal", reason, message, action, eventId };
}

function write(plan: NodePlan, next: Partial<NodePlan>, change: NodeChange, reports: readonly Report[] = []): Step {
  return { kind: "write", plan: { ...plan, ...next, revision: plan.revision + 1 }, change, reports };
}

function acknowledge(events: readonly { readonly id: string }[], reached: "ended" | "ignored" | "gone"): Step {
  return { kind: "acknowledge", eventIds: events.map(({ id }) => id), reached };
}

function wait(until: number | undefined, why: string): Step {
  return { kind: "wait", until, why };
}
