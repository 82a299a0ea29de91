/** How a Service's load balancer goes: with the Service, with its type, with its finalizer taken by force, or to another controller. */
import type { Ask } from "../../aws/ask.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { reconcileAges } from "../observe.ts";
import type { Kind } from "./annotations.ts";
import { isOwnHostname } from "./find.ts";
import type { Remembered } from "./memory.ts";
import { describe, leftovers, remove } from "./removal.ts";
import { configurationCondition, replacedCondition } from "./report.ts";
import { type Job, logStep, messageOf, ownerOf, seekerOf, stage, type Workplace, waitMs } from "./workplace.ts";

export const bothKinds: readonly Kind[] = ["classic", "network"];
/** A removal that has not ended after this long is spoken of, and again after each such time. */
const patienceMs = 2 * 60_000;

/** Everything goes; then, and only then, the finalizer. */
export async function depart(job: Job, place: Workplace): Promise<Outcome> {
  const { service, key, ask } = job;
  const { report, memory } = place;
  const outcome = await removeKinds(job, bothKinds, place);
  if (outcome !== undefined) return outcome;
  await report.removeFinalizer(service, ask.signal);
  report.event(service, "DeletedLoadBalancer");
  if (service.metadata.deletionTimestamp === undefined) {
    await report.publish(service, undefined, ask.signal);
    for (const type of [configurationCondition, replacedCondition]) await report.condition(service, type, undefined, ask.signal);
  }
  memory.forget(key, service.metadata.uid);
  return done;
}

/** One pass over what is left of these kinds; undefined when nothing is. */
export async function removeKinds({ service, key, ask }: Job, kinds: readonly Kind[], place: Workplace): Promise<Outcome | undefined> {
  const { report, memory, host } = place;
  const remembered = memory.of(seekerOf(service));
  const removal = await stage("failed to delete load balancer", () =>
    remove(seekerOf(service), key, place, ask, {
      kinds,
      onBegin: () => {
        if (remembered.leavingSince === undefined) report.event(service, "DeletingLoadBalancer");
        remembered.leavingSince ??= host.world.clock.monotonic();
      },
      onStep: logStep(place, key),
    }),
  );
  if (removal.kind === "waiting") return waitForRemoval({ service, key, ask }, remembered, removal.why, place);
  if (removal.notOurs.length > 0) {
    const message = `left alone, because it does not carry this cluster's tags any more: ${removal.notOurs.join(", ")}`;
    report.tell(service, "Warning", "LoadBalancerWarning", message);
  }
  delete remembered.leavingSince;
  return undefined;
}

/** The Service is gone, and what was made for it may not be: its finalizer was taken by force. */
export async function departOrphan(key: string, { seeker }: Remembered, place: Workplace, ask: Ask): Promise<Outcome> {
  const { report, memory } = place;
  const { namespace, name, uid } = seeker;
  const service = { metadata: { namespace, name, uid, resourceVersion: "", finalizers: [] } };
  try {
    const onBegin = () => report.event(service, "DeletingLoadBalancer");
    const removal = await remove(seeker, key, place, ask, { kinds: bothKinds, onBegin, onStep: logStep(place, key) });
    if (removal.kind === "waiting") return again(waitMs, removal.why);
    if (removal.changed) report.event(service, "DeletedLoadBalancer");
    memory.forget(key, uid);
    return done;
  } catch (error) {
    ask.signal.throwIfAborted();
    if (!refusalIn(error)) report.tell(service, "Warning", "DeleteLoadBalancerFailed", `Error deleting load balancer: ${messageOf(error)}`);
    throw error;
  }
}

/** Another controller's Service: whatever we made for it before has to go, and its status is theirs. */
export async function leaveToOthers(job: Job, place: Workplace): Promise<Outcome> {
  const { service, ask } = job;
  const seeker = seekerOf(service);
  const left = await leftovers(seeker, place, bothKinds, reconcileAges, ask);
  if (left.loadBalancers.length === 0 && isOwnHostname(seeker)) await place.report.publish(service, undefined, ask.signal);
  if (describe(left).length === 0) return done;
  return (await removeKinds(job, bothKinds, place)) ?? again(waitMs, "its address has to go too");
}

function waitForRemoval({ service }: Job, remembered: Remembered, why: string, { host, book, report }: Workplace): Outcome {
  const trouble = book.trouble(book.waitsFor(ownerOf(service, remembered)));
  // Not a matter of waiting: it is said, and tried again with growing pauses until it succeeds.
  if (trouble !== undefined) throw new Error(`failed to delete load balancer: ${trouble}`);
  const now = host.world.clock.monotonic();
  const since = remembered.leavingToldAt ?? remembered.leavingSince ?? now;
  if (now - since >= patienceMs) {
    remembered.leavingToldAt = now;
    const text = `Error syncing load balancer: failed to delete load balancer: ${why}; it is tried until it succeeds`;
    report.tell(service, "Warning", "SyncLoadBalancerFailed", text);
  }
  return again(waitMs, why);
}
