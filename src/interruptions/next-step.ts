/**
 * The state machine: from what is known of a Node at one moment to the one next step. Pure.
 *
 * A step that ends an event comes in this order, each safe to repeat: complete its hook, write its end into the plan,
 * acknowledge its message. Whoever crashes between two of them leaves a plan from which the next one follows.
 */
import { adoptedPlan } from "./adopt.ts";
import { awaitInstanceEnd, draining } from "./drain-step.ts";
import { eventKinds, type InterruptionEvent } from "./event.ts";
import { finish } from "./finish-step.ts";
import { heartbeat, nextHeartbeat } from "./heartbeat-step.ts";
import { cordonChange, uncordonChange } from "./node-change.ts";
import { activeEvents, awaitsInstanceEnd, deadlineOf, type NodePlan, type PlannedEvent, plannedEvent } from "./plan.ts";
import type { InterruptionSettings } from "./settings.ts";
import { acknowledge, type PlannedNode, type Report, type Situation, type Step, wait, write } from "./situation.ts";

/** How often it is looked whether another holder is still there. */
const holderCheckMs = 2_000;
/** How often a plan is changed that is worked on: more than once in the time after which others take it for abandoned. */
const renewMs = 2 * 60_000;

/** The one next step for a Node. */
export function nextStep(situation: Situation): Step {
  const { node, arrived, settings } = situation;
  const ignored = arrived.filter(({ kind }) => settings.policies[kind] === "ignore");
  if (ignored.length > 0) return acknowledge(ignored, "ignored");
  const gone = arrived.filter(({ instanceId }) => node === undefined || isAnothers(instanceId, node));
  if (gone.length > 0) return nodeGone(situation, gone);
  if (node === undefined) return wait(undefined, "the Node is gone");
  const { plan } = node;
  const adopted = adoptedPlan(node, situation.bootedAt, situation.me);
  if (adopted !== undefined) return write(adopted, {}, {});
  const fresh = arrived.filter(({ id }) => !plan?.events.some((event) => event.id === id));
  if (fresh.length > 0) return takeUp(situation, node, fresh);
  if (plan === undefined) return wait(undefined, "nothing is known of any interruption");
  const ended = arrived.filter(({ id }) => plan.events.find((event) => event.id === id)?.end !== undefined);
  if (ended.length > 0) return acknowledge(ended, "ended");
  const taken = backAgain(situation, node, plan);
  const active = activeEvents(plan);
  const watches = awaitsInstanceEnd(plan, situation.now);
  if (active.length === 0 && taken === undefined && !watches) return wait(undefined, "every interruption has ended");
  if (plan.holder !== situation.me) {
    if (situation.holderAlive !== false || (taken === undefined && isResting(situation, plan)))
      return wait(situation.now + holderCheckMs, `${plan.holder} works on it`);
    return write(plan, { holder: situation.me }, {});
  }
  if (taken !== undefined) return taken;
  return renewed(situation, plan, active.length === 0 ? awaitInstanceEnd(situation, node, plan) : work(situation, node, plan));
}

function work(situation: Situation, node: PlannedNode, plan: NodePlan): Step {
  return heartbeat(situation, plan) ?? phases[plan.phase](situation, node, plan);
}

/** Whether nothing is to be done for a plan yet: then it does not matter who holds it. */
function isResting({ now, settings }: Situation, plan: NodePlan): boolean {
  const active = activeEvents(plan);
  const waits = active.length > 0 && active.every(({ policy, hook }) => policy === "drain" && hook === undefined);
  return waits && plan.phase === "cordoned" && (drainDue(plan, settings) ?? now) > now;
}

/** Who has nothing to do but wait changes the plan from time to time: where there is no Lease, others see by that that it is held. */
function renewed({ now }: Situation, plan: NodePlan, step: Step): Step {
  if (step.kind !== "wait" || plan.phase === "cordoned") return step;
  const { since, drainSince = 0, drainedAt = 0, failedAt = 0, renewedAt } = plan;
  const last = renewedAt ?? Math.max(since, drainSince, drainedAt, failedAt);
  // What lies ahead was written by another clock, or before this one was set back.
  const at = last > now ? now : last + renewMs;
  return at <= now ? write(plan, { renewedAt: now }, {}) : { ...step, until: Math.min(step.until ?? at, at) };
}

const phases: Readonly<Record<NodePlan["phase"], (situation: Situation, node: PlannedNode, plan: NodePlan) => Step>> = {
  cordoned,
  draining,
  drained: finish,
  ended: finish,
};

/** Whether an event is about another instance than the Node's: a name, like the address it is made of, may have gone to a new machine. */
function isAnothers(instanceId: string, node: PlannedNode): boolean {
  return instanceId !== "" && node.instanceId !== "" && instanceId !== node.instanceId;
}

/** There is nothing to drain for these events: whoever waits for it is let go. */
function nodeGone({ memory }: Situation, events: readonly InterruptionEvent[]): Step {
  const held = events.find(({ hook, id }) => hook !== undefined && !memory.hooksDone.has(id));
  if (held !== undefined) return { kind: "complete", event: held, result: "CONTINUE", why: "the Node is gone" };
  return acknowledge(events, "gone");
}

/** New events enter the plan with the write that cordons the Node. Anybody may add them; who works on them stays. */
function takeUp({ now, me, settings, holderAlive }: Situation, node: PlannedNode, fresh: readonly InterruptionEvent[]): Step {
  const events = fresh.map((event) => plannedEvent(event, settings.policies[event.kind] === "cordon" ? "cordon" : "drain"));
  const before = node.plan;
  const active = before === undefined ? [] : activeEvents(before);
  // Who is told of something new does not wait for somebody who may not be there.
  const held = before !== undefined && active.length > 0 && (before.holder === me || holderAlive === true);
  // An event of an earlier boot says nothing of this one.
  const plan: NodePlan = {
    revision: before?.revision ?? 0,
    phase: before?.phase === "draining" ? "draining" : "cordoned",
    holder: held ? before.holder : me,
    events: [...(before === undefined ? [] : eventsNow(before, node)), ...events],
    cordonedByUs: (before?.cordonedByUs ?? false) || !node.unschedulable,
    bootId: node.bootId,
    since: active.length > 0 ? (before?.since ?? now) : now,
    ...(before?.drainSince !== undefined && before.phase === "draining" && { drainSince: before.drainSince }),
  };
  const due = plan.phase === "cordoned" && (drainDue(plan, settings) ?? Number.POSITIVE_INFINITY) <= now;
  const begun: Partial<NodePlan> = due ? { phase: "draining", drainSince: now } : {};
  const reports = events.flatMap((event): readonly Report[] => [
    { type: "Normal", reason: eventKinds[event.kind].reason, message: told(event), eventId: event.id },
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

function told({ simulated, description }: PlannedEvent): string {
  return simulated ? `Simulated, not from AWS: ${description}` : description;
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

/** Whether the machine has started anew since the plan was made. */
function hasRestarted({ bootId }: NodePlan, node: PlannedNode): boolean {
  return bootId !== "" && node.bootId !== "" && bootId !== node.bootId;
}

/** The events of a plan that is about to be written for the present boot: those that the machine has come back from are over. */
function eventsNow(plan: NodePlan, node: PlannedNode): readonly PlannedEvent[] {
  if (!hasRestarted(plan, node)) return plan.events;
  return plan.events.map((event) => (event.restarts ? { ...event, end: "over" as const } : event));
}

/** Events that AWS took back, or that the machine has come back from. When no other is left the Node serves again. */
function backAgain({ over }: Situation, node: PlannedNode, plan: NodePlan): Step | undefined {
  const restarted = hasRestarted(plan, node);
  const isOver = (event: PlannedEvent) => over.has(event.id) || (restarted && event.restarts === true);
  const changed = plan.events.filter((event) => event.end !== "over" && isOver(event));
  if (changed.length === 0) return undefined;
  const events = plan.events.map((event) => (changed.includes(event) ? { ...event, end: "over" as const } : event));
  const left = events.filter(({ end }) => end === undefined);
  const holding = events.some(({ end }) => end !== "over");
  const phase = left.length === 0 ? "ended" : plan.phase;
  if (holding || !plan.cordonedByUs) return write(plan, { events, phase }, {});
  const message = "Node successfully uncordoned";
  return write(plan, { events, phase: "ended", cordonedByUs: false, failedAt: undefined }, uncordonChange(node), [
    { type: "Normal", reason: "Uncordon", message, action: { name: "uncordon", ok: true }, eventId: changed[0]!.id },
  ]);
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
