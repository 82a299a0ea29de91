/** How a Service's load balancer goes: with the Service, with its type, with its finalizer taken by force, or to another controller. */

import type { Ask } from "../../aws/ask.ts";
import { sameFailure } from "../../aws/errors.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { freshAges, reconcileAges } from "../inventory.ts";
import type { LoadBalancerKind } from "../kind.ts";
import type { Ages } from "../listing.ts";
import { describe, leftovers, remove } from "../remove.ts";
import type { SeenService } from "../service-state.ts";
import { changedMeanwhile, type Job, logStep, type ServiceContext, stage, staleMs } from "./context.ts";
import type { Remembered } from "./memory.ts";
import { hasOwnHostname } from "./owner.ts";
import { removedCondition } from "./report.ts";
import { hasFinalizer, otherServer } from "./seen.ts";
import { leave } from "./state.ts";
import { patienceMs, pauseMs, tellWaiting, waitForRemoval } from "./waiting.ts";

/** AWS needs at least this long to clear away a load balancer: only then does it let go of the security groups. */
const groupsAfterMs = 15_000;
/** How soon a removal under way reads everything again, whether or not we have written to it. */
const lookAgainMs = 60_000;

/** For so long AWS may not show what was made; then "nothing is there" counts only when it was seen twice, so far apart. */
const unshownMs = 60_000;
const twiceMs = 10_000;

/** Everything goes; then, and only then, the finalizer. */
export async function cleanUp(job: Job, context: ServiceContext): Promise<Outcome> {
  const { service, owner, key, ask } = job;
  const { report, memory } = context;
  expectNothing(job, context);
  const remembered = memory.of(owner);
  const isNews = hasFinalizer(service) || remembered.removal !== undefined;
  const outcome = await removePass(job, owner.kinds, context);
  if (outcome !== undefined) return outcome;
  remembered.untold ||= isNews;
  if (!(await report.removeFinalizer(service, ask.signal))) {
    remembered.untold = false;
    return again(staleMs, changedMeanwhile);
  }
  if (remembered.untold) report.event(service, "DeletedLoadBalancer");
  remembered.untold = false;
  const { deletionTimestamp, finalizers } = service.metadata;
  if (deletionTimestamp === undefined && otherServer(service) === undefined) await report.publish(service, undefined, ask.signal);
  if (deletionTimestamp === undefined || finalizers.length > 1) await report.clear(service, ask.signal);
  memory.forget(key, service.metadata.uid);
  return done;
}

/** One pass over what is left of these kinds, of a Service that stays; undefined when nothing is. */
export async function removeKinds(job: Job, kinds: readonly LoadBalancerKind[], context: ServiceContext): Promise<Outcome | undefined> {
  const { service, ask } = job;
  const told = context.memory.of(job.owner).removal?.toldAt !== undefined;
  const outcome = await removePass(job, kinds, context);
  if (outcome !== undefined) return outcome;
  if (told) await context.report.withdrawCondition(service, removedCondition, ask.signal);
  else await context.report.condition(service, removedCondition, undefined, ask.signal);
  return undefined;
}

async function removePass(
  { service, owner, key, ask }: Job,
  kinds: readonly LoadBalancerKind[],
  context: ServiceContext,
): Promise<Outcome | undefined> {
  const { report, memory } = context;
  const remembered = memory.of(owner);
  const removal = await stage("failed to delete load balancer", () =>
    remove(owner, context, ask, {
      kinds,
      ...beginning(service, remembered, context),
      onStep: logStep(context, key),
    }),
  );
  if (removal.kind === "waiting") return waitForRemoval(service, remembered, removal, context, ask.signal);
  const doubtMs = doubtsForMs(remembered, context);
  if (doubtMs > 0) return again(doubtMs, unshown);
  if (removal.notOurs.length > 0) {
    const message = `left alone, because it no longer carries this cluster's tags: ${removal.notOurs.join(", ")}`;
    report.tell(service, "Warning", "LoadBalancerWarning", message);
  }
  delete remembered.removal;
  delete remembered.unseenSince;
  return undefined;
}

/**
 * Brings to its end what was broken off when the Service wanted a load balancer again, and of another kind; undefined
 * when nothing is left. Where nothing is remembered of it the remains are looked for only if asked to.
 */
export async function finishRemoval(
  job: Job,
  kinds: readonly LoadBalancerKind[],
  looks: boolean,
  context: ServiceContext,
): Promise<Outcome | undefined> {
  const { owner } = job;
  if (context.memory.of(owner).removal === undefined) {
    if (!looks || describe(await leftovers(owner, context, kinds, reconcileAges, job.ask)).length === 0) return undefined;
  }
  return removeKinds(job, kinds, context);
}

/** The Service is gone, and what was made for it may not be: its finalizer was taken by force. */
export async function cleanUpOrphan(key: string, remembered: Remembered, context: ServiceContext, ask: Ask): Promise<Outcome> {
  const { report, memory } = context;
  const { owner } = remembered;
  const { uid } = owner;
  const [namespace = "", name = ""] = owner.key.split("/");
  const service = { metadata: { namespace, name, uid, resourceVersion: "", finalizers: [] } };
  try {
    const options = { kinds: owner.kinds, ...beginning(service, remembered, context), onStep: logStep(context, key) };
    const removal = await remove(owner, context, ask, options);
    if (removal.kind === "waiting") {
      tellWaiting(service, remembered, removal, context);
      return again(pauseMs(remembered, removal, context), removal.why);
    }
    const doubtMs = doubtsForMs(remembered, context);
    if (doubtMs > 0) return again(doubtMs, unshown);
    if (remembered.removal !== undefined) report.event(service, "DeletedLoadBalancer");
    memory.forget(key, uid);
    return done;
  } catch (error) {
    ask.signal.throwIfAborted();
    const text = `Error deleting load balancer: ${messageOf(error)}`;
    if (!refusalIn(error)) report.tell(service, "Warning", "DeleteLoadBalancerFailed", text, sameFailure(error));
    throw error;
  }
}

/**
 * Another controller's Service: whatever we made for it before has to go. Its status is theirs, unless it names what we
 * made; that is withdrawn first, because afterwards a name that both of us know does not tell whose it was.
 */
export async function leaveToOthers(job: Job, context: ServiceContext): Promise<Outcome> {
  const { service, owner, ask } = job;
  const left = await leftovers(owner, context, owner.kinds, reconcileAges, ask);
  // One of our name without our marks was adopted: its address is the other's by now.
  const isAdopted = left.notOurs.includes(owner.ownName);
  const isOurs = left.loadBalancers.some(({ hostname }) => hostname === service.hostname) || (hasOwnHostname(owner) && !isAdopted);
  if (isOurs && !(await context.report.withdraw(service, ask.signal))) return again(staleMs, changedMeanwhile);
  if (describe(left).length === 0 && !context.book.knows(service.metadata.uid)) return done;
  expectNothing(job, context);
  return (await removeKinds(job, owner.kinds, context)) ?? done;
}

/** Whatever is remembered to stand is going: a Service that wants it again is looked at as if it were new. */
function expectNothing({ owner }: Job, { memory }: ServiceContext): void {
  const remembered = memory.of(owner);
  remembered.state = leave(remembered.state);
}

/** What is different about the first pass, and about those that come soon after it. */
function beginning(service: Pick<SeenService, "metadata">, remembered: Remembered, { report, host }: ServiceContext) {
  const now = host.world.clock.monotonic();
  const { removal, unseenSince } = remembered;
  const ages = removal === undefined || unseenSince !== undefined ? freshAges : agesSince(now - removal.since);
  // Once it is said that a removal waits, people lend a hand: they may keep a group by taking our mark off it.
  const isSpokenOf = removal !== undefined && now - removal.since >= patienceMs;
  return {
    ages,
    marksAgeMs: isSpokenOf ? freshAges.absentMs : ages.absentMs,
    withGroups: removal === undefined || now - removal.since >= groupsAfterMs,
    onBegin: () => {
      delete remembered.unseenSince;
      if (removal !== undefined) return;
      report.event(service, "DeletingLoadBalancer");
      const sinceText = new Date(host.world.clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
      remembered.removal = { since: now, sinceText };
    },
  };
}

/**
 * While a removal goes on, what was not there when it began is not looked for again: nobody makes it. What was there is
 * read after we have deleted it. After a while everything is read again: people lend a hand where a removal is stuck.
 */
function agesSince(ms: number): Ages {
  return { absentMs: Math.min(ms + freshAges.absentMs, lookAgainMs), presentMs: freshAges.presentMs };
}

const unshown = "AWS may not show yet what was made a moment ago";

/** How long it takes until "nothing is there", which AWS has just said, may be believed. */
function doubtsForMs(remembered: Remembered, { host }: ServiceContext): number {
  const now = host.world.clock.monotonic();
  remembered.unseenSince ??= now;
  return now - remembered.madeAt >= unshownMs ? 0 : Math.max(0, remembered.unseenSince + twiceMs - now);
}
