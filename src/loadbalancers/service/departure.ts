/** How a Service's load balancer goes: with the Service, with its type, with its finalizer taken by force, or to another controller. */
import type { Ask } from "../../aws/ask.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { reconcileAges } from "../observe.ts";
import type { Kind } from "./annotations.ts";
import { hasOwnHostname } from "./find.ts";
import type { Remembered } from "./memory.ts";
import { describe, leftovers, type Removal, remove } from "./removal.ts";
import type { SeenService } from "./seen.ts";
import { otherServer } from "./task.ts";
import { changedMeanwhile, type Job, logStep, messageOf, seekerOf, stage, staleMs, type Workplace, waitMs } from "./workplace.ts";

export const bothKinds: readonly Kind[] = ["classic", "network"];
/** A removal that has not ended after this long is spoken of, and again after each such time. */
const patienceMs = 2 * 60_000;
/** How soon AWS is asked whether what was deleted is gone. Those deleted in the same time are asked about together. */
const confirmMs = 1_000;
/** Each a multiple of the one before it, so that those who have waited longer meet the others. */
const pausesMs = [1, 2, 4, 8, 16, 32].map((times) => times * waitMs);
/** AWS needs at least this long to clear away a load balancer: only then does it let go of the security groups. */
const groupsAfterMs = 15_000;

/** For so long AWS may not show what was made; then "nothing is there" counts only when it was seen twice, so far apart. */
const unshownMs = 60_000;
const twiceMs = 10_000;

type Waiting = Extract<Removal, { kind: "waiting" }>;

/** Everything goes; then, and only then, the finalizer. */
export async function depart(job: Job, place: Workplace): Promise<Outcome> {
  const { service, key, ask } = job;
  const { report, memory } = place;
  expectNothing(job, place);
  const outcome = await removeKinds(job, bothKinds, place);
  if (outcome !== undefined) return outcome;
  if (!(await report.removeFinalizer(service, ask.signal))) return again(staleMs, changedMeanwhile);
  report.event(service, "DeletedLoadBalancer");
  if (service.metadata.deletionTimestamp === undefined) {
    if (otherServer(service) === undefined) await report.publish(service, undefined, ask.signal);
    await report.clear(service, ask.signal);
  }
  memory.forget(key, service.metadata.uid);
  return done;
}

/** One pass over what is left of these kinds; undefined when nothing is. */
export async function removeKinds({ service, key, ask }: Job, kinds: readonly Kind[], place: Workplace): Promise<Outcome | undefined> {
  const { report, memory } = place;
  const remembered = memory.of(seekerOf(service));
  const removal = await stage("failed to delete load balancer", () =>
    remove(seekerOf(service), key, place, ask, {
      kinds,
      ...beginning(service, remembered, place),
      onStep: logStep(place, key),
    }),
  );
  if (removal.kind === "waiting") return waitForRemoval(service, remembered, removal, place);
  const doubtMs = doubtsForMs(remembered, place);
  if (doubtMs > 0) return again(doubtMs, unshown);
  if (removal.notOurs.length > 0) {
    const message = `left alone, because it does not carry this cluster's tags any more: ${removal.notOurs.join(", ")}`;
    report.tell(service, "Warning", "LoadBalancerWarning", message);
  }
  delete remembered.leavingSince;
  delete remembered.unseenSince;
  return undefined;
}

/**
 * Brings to its end what was broken off when the Service wanted a load balancer again, and of another kind; undefined
 * when nothing is left. Where nothing is remembered of it the remains are looked for only if asked to.
 */
export async function finishRemoval(job: Job, kind: Kind, looks: boolean, place: Workplace): Promise<Outcome | undefined> {
  const seeker = seekerOf(job.service);
  if (place.memory.of(seeker).leavingSince === undefined) {
    if (!looks || describe(await leftovers(seeker, place, [kind], reconcileAges, job.ask)).length === 0) return undefined;
  }
  return removeKinds(job, [kind], place);
}

/** The Service is gone, and what was made for it may not be: its finalizer was taken by force. */
export async function departOrphan(key: string, remembered: Remembered, place: Workplace, ask: Ask): Promise<Outcome> {
  const { report, memory } = place;
  const { seeker } = remembered;
  const { namespace, name, uid } = seeker;
  const service = { metadata: { namespace, name, uid, resourceVersion: "", finalizers: [] } };
  try {
    const options = { kinds: bothKinds, ...beginning(service, remembered, place), onStep: logStep(place, key) };
    const removal = await remove(seeker, key, place, ask, options);
    if (removal.kind === "waiting") return again(pauseMs(remembered, removal, place), removal.why);
    const doubtMs = doubtsForMs(remembered, place);
    if (doubtMs > 0) return again(doubtMs, unshown);
    if (remembered.leavingSince !== undefined) report.event(service, "DeletedLoadBalancer");
    memory.forget(key, uid);
    return done;
  } catch (error) {
    ask.signal.throwIfAborted();
    if (!refusalIn(error)) report.tell(service, "Warning", "DeleteLoadBalancerFailed", `Error deleting load balancer: ${messageOf(error)}`);
    throw error;
  }
}

/**
 * Another controller's Service: whatever we made for it before has to go. Its status is theirs, unless it names what we
 * made; that is withdrawn first, because afterwards a name that both of us know does not tell whose it was.
 */
export async function leaveToOthers(job: Job, place: Workplace): Promise<Outcome> {
  const { service, ask } = job;
  const left = await leftovers(seekerOf(service), place, bothKinds, reconcileAges, ask);
  const isOurs = hasOwnHostname(service) || left.loadBalancers.some(({ hostname }) => hostname === service.hostname);
  if (isOurs && !(await place.report.withdraw(service, ask.signal))) return again(staleMs, changedMeanwhile);
  if (describe(left).length === 0) {
    for (const kind of bothKinds) place.book.forget({ uid: service.metadata.uid, kind });
    return done;
  }
  expectNothing(job, place);
  return (await removeKinds(job, bothKinds, place)) ?? done;
}

/** Whatever is remembered to stand is going: a Service that wants it again is looked at as if it were new. */
function expectNothing({ service }: Job, { memory }: Workplace): void {
  memory.of(seekerOf(service)).full = true;
}

/** What is different about the first pass, and about those that come soon after it. */
function beginning(service: Pick<SeenService, "metadata">, remembered: Remembered, { report, host }: Workplace) {
  const now = host.world.clock.monotonic();
  const { leavingSince } = remembered;
  return {
    withGroups: leavingSince === undefined || now - leavingSince >= groupsAfterMs,
    onBegin: () => {
      delete remembered.unseenSince;
      if (leavingSince !== undefined) return;
      report.event(service, "DeletingLoadBalancer");
      remembered.leavingSince = now;
    },
  };
}

const unshown = "AWS may not show yet what was made a moment ago";

/** How long it takes until "nothing is there", which AWS has just said, may be believed. */
function doubtsForMs(remembered: Remembered, { host }: Workplace): number {
  const now = host.world.clock.monotonic();
  remembered.unseenSince ??= now;
  return now - remembered.madeAt >= unshownMs ? 0 : Math.max(0, remembered.unseenSince + twiceMs - now);
}

/**
 * What was deleted is soon seen to be gone. What takes its time is looked at less and less often, at moments that are
 * the same for all who wait: what one of them reads then answers the others.
 */
function pauseMs({ leavingSince }: Remembered, { deleted }: Waiting, { host }: Workplace): number {
  const now = host.world.clock.monotonic();
  const waited = now - (leavingSince ?? now);
  if (deleted) return Math.max(confirmMs, waited / 60);
  const pause = pausesMs.findLast((each) => waited >= 4 * each) ?? waitMs;
  return Math.ceil((now + pause / 2) / pause) * pause - now;
}

function waitForRemoval(service: SeenService, remembered: Remembered, removal: Waiting, place: Workplace): Outcome {
  const { host, book, report } = place;
  const trouble = book.trouble(service.metadata.uid);
  // Not a matter of waiting: it is said, and tried again with growing pauses until it succeeds.
  if (trouble !== undefined) throw new Error(`failed to delete load balancer: ${trouble}`);
  const now = host.world.clock.monotonic();
  const since = remembered.leavingToldAt ?? remembered.leavingSince ?? now;
  if (now - since >= patienceMs) {
    remembered.leavingToldAt = now;
    const text = `Error syncing load balancer: failed to delete load balancer: ${removal.why}; it is tried until it succeeds`;
    report.tell(service, "Warning", "SyncLoadBalancerFailed", text);
  }
  return again(pauseMs(remembered, removal, place), removal.why);
}
