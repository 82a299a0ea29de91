/** The end of a group: everything that was made for it goes, and its Ingresses are let go when nothing is there any more. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import type { FoundApplication } from "../application/find.ts";
import { refusesDeletion, unprotection } from "../elbv2/load-balancer-parts.ts";
import { findLoadBalancers, isOwn } from "../find.ts";
import { freshAges } from "../inventory.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { remove } from "../remove.ts";
import { bindingsOf, deleteBindings } from "../targets/owned-bindings.ts";
import { parseStringMap } from "../values.ts";
import { annotationKey } from "./annotations.ts";
import { recordNothing } from "./attribute-records.ts";
import { removeCertificates, surveyCertificates } from "./certificate-pass.ts";
import type { GroupContext } from "./context.ts";
import { removeFrontend } from "./frontend-pass.ts";
import type { Group } from "./groups.ts";
import { bindingLabels } from "./names.ts";
import { unshield } from "./shield.ts";
import { GroupFault, letAllGo, logStep, stale, telling, waitMs, warnLeaving } from "./telling.ts";

const clearedMs = 30_000;
const refusedMs = 15_000;

/** Nobody is left: everything goes, and whoever has left is let go when nothing is there any more. */
export async function removeGroup(group: Group, owner: LoadBalancerOwner, context: GroupContext, ask: Ask): Promise<Outcome> {
  const { inventory, book, report } = context;
  if (group.leaving.length === 0) return done;
  const members = group.leaving.flatMap(({ namespace, name }) => context.ingresses.get(`${namespace}/${name}`) ?? []);
  const protectedOne = group.leaving.find(isProtected);
  if (protectedOne) {
    const message = `deletion_protection is enabled, cannot delete the ingress: ${protectedOne.name}`;
    for (const member of members) report.failed(member, "FailedBuildModel", message);
    throw new GroupFault(message);
  }
  // Of one that goes to another controller nothing of ours is left on it.
  const isCleared = await context.checkpoints.clear(group, context.ingresses, ask.signal);
  if (!(await recordNothing(group, context, ask.signal)) || !isCleared) return stale;
  const left = bindingsOf(bindingLabels(group.id), context.bindings);
  const parts = { inventory, settings: { disableNodeIngress: true }, book };
  const removal = await telling(members, "FailedDeployModel", context, ask, async () => {
    if (!(await removeFrontend(owner, context, ask)))
      return { kind: "waiting", why: "the load balancer in front goes first", refused: false, left: undefined } as const;
    // What protects one that was given to somebody else is theirs too.
    const standing = async () => {
      const found = (await findLoadBalancers(owner, inventory, freshAges, ask)).found as readonly FoundApplication[];
      const own = await Promise.all(found.map((lb) => isOwn(lb, owner, inventory, ask)));
      return found.filter((_, i) => own[i]);
    };
    const leaving = group.leaving.map((ingress) => ({ ingress }));
    await unshield(leaving, standing, group, context, ask);
    try {
      return await remove(owner, parts, ask, {
        kinds: owner.kinds,
        ages: freshAges,
        marksAgeMs: freshAges.presentMs,
        withGroups: true,
        onStep: logStep(context, group),
      });
    } catch (error) {
      if (!refusesDeletion(error)) throw error;
      await apply((await standing()).map(unprotection), inventory.cloud, ask);
      return { kind: "waiting", why: "the load balancer may be deleted now", refused: false, left: undefined } as const;
    }
  });
  // Last: with its target group gone there is nothing to deregister.
  await telling(members, "FailedDeployModel", context, ask, () => deleteBindings(left, context, ask.signal));
  context.handedOver.delete(owner.key);
  context.checkpoints.forget(owner.key);
  await context.secrets.follow(owner.key, new Set(), ask.signal);
  if (removal.kind === "waiting") return again(pauseAfter(removal.refused, removal.left?.loadBalancers.length ?? 0), removal.why);
  if (left.length > 0) return again(waitMs, "its bindings are not gone yet");
  const removed = await telling(members, "FailedDeployModel", context, ask, async () =>
    removeCertificates(group, await surveyCertificates(group, context, ask), { for: [] }, context, ask, logStep(context, group)),
  );
  warnLeaving(group, removed.complaint, context);
  if (!removed.isCleared) return again(refusedMs, "its certificate is still in use");
  return (await letAllGo(group, context, ask)) ?? done;
}

/** AWS takes a while to clear away the interfaces of a load balancer, and refuses to delete its groups until then. */
function pauseAfter(isRefused: boolean, loadBalancers: number): number {
  if (loadBalancers > 0) return clearedMs;
  return isRefused ? refusedMs : waitMs;
}

/** An author who protects a load balancer means it. */
function isProtected({ annotations, isDeleted }: Group["leaving"][number]): boolean {
  const given = parseStringMap(annotations[annotationKey("load-balancer-attributes")] ?? "");
  return isDeleted && given?.["deletion_protection.enabled"] === "true";
}
