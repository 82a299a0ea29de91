/** What the work on a group has in common: telling of failures, the log, and letting an Ingress go. */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { Setbacks } from "../setbacks.ts";
import { annotationKey } from "./annotations.ts";
import type { GroupContext } from "./context.ts";
import { finalizerOf, type Group, type GroupId, keyIn, stackOf } from "./groups.ts";
import { frontendName, loadBalancerName } from "./names.ts";
import type { FailureReason } from "./report.ts";
import type { SeenIngress } from "./seen.ts";
import { type IngressView, keyOf } from "./view.ts";

/** How soon something that AWS needs time for is looked at again. */
export const waitMs = 5_000;
/** How soon an Ingress is looked at again that was not as it was seen. */
export const staleMs = 1_000;
export const stale = again(staleMs, "an Ingress has changed in the meantime");

/** Something that its author has to mend; it is looked at again, because what it lacks may come. */
export class GroupFault extends Error {
  override readonly name = "GroupFault";
}

/** A failure is told where users look. */
export async function telling<T>(
  members: readonly SeenIngress[],
  reason: FailureReason,
  { report, metrics }: Pick<GroupContext, "report" | "metrics">,
  { signal }: Ask,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await metrics.during(reason, work);
  } catch (error) {
    signal.throwIfAborted();
    for (const member of members) report.failed(member, reason, messageOf(error));
    throw error;
  }
}

/** Says in the log what was done. */
export const logStep =
  ({ host }: Pick<GroupContext, "host">, group: Group) =>
  ({ what, why }: Step) =>
    host.log.info(what, { why, group: stackOf(group.id) });

/**
 * After everything that its finalizer guards is gone. Of one that is in another group now, that group keeps what is known. False:
 * it was not as it was seen, and has to be let go again.
 */
async function letGo(leaving: IngressView, group: GroupId, context: GroupContext, ask: Ask): Promise<boolean> {
  const { memory, secrets, refusals, report } = context;
  const key = keyOf(leaving);
  if (memory.get(key)?.stack === stackOf(group)) memory.delete(key);
  refusals.forget(keyIn(group, key));
  secrets.forget(keyIn(group, key));
  const ingress = context.ingresses.get(key);
  if (ingress === undefined) return true;
  if (!leaving.isDeleted) await telling([ingress], "FailedUpdateStatus", context, ask, () => unpublish(ingress, group, context, ask));
  return telling([ingress], "FailedRemoveFinalizer", context, ask, () =>
    report.setFinalizer(ingress, finalizerOf(group), false, ask.signal),
  );
}

/** One that nobody serves any more, or somebody else, no longer points to a load balancer that it has left. */
async function unpublish(ingress: SeenIngress, group: GroupId, { settings, report }: GroupContext, { signal }: Ask): Promise<void> {
  const usual = ["internal", "internet-facing"].map((scheme) => loadBalancerName(settings.cluster, group, scheme));
  const chosen = ingress.view.annotations[annotationKey("load-balancer-name")];
  const names = [...usual, ...(chosen ? [chosen] : [])].flatMap((name) => [name, frontendName(name)]);
  const isOurs = ({ hostname }: { readonly hostname: string }) =>
    names.some((name) => hostname.replace(/^internal-/, "").startsWith(`${name}-`));
  const { published } = ingress;
  if (published.length > 0 && published.every(isOurs)) await report.unpublish(ingress, signal);
}

/** What keeps those that are leaving, said once. */
export function warnLeaving({ leaving }: Group, complaint: string | undefined, { ingresses, report }: GroupContext): void {
  if (complaint === undefined) return;
  for (const ingress of leaving.flatMap((view) => ingresses.get(keyOf(view)) ?? [])) report.warn(ingress, [complaint]);
}

/** Lets all go that are leaving; an outcome, where one has to be let go again. */
export async function letAllGo({ id, leaving }: Group, context: GroupContext, ask: Ask): Promise<Outcome | undefined> {
  const setbacks = new Setbacks();
  let isStale = false;
  for (const ingress of leaving) if ((await setbacks.attempt(() => letGo(ingress, id, context, ask))) === false) isStale = true;
  setbacks.throwFirst();
  return isStale ? stale : undefined;
}
