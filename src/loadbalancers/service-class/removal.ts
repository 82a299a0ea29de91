/** The end of a Service's load balancer: everything that was made for it goes, and the Service is let go when nothing is there any more. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { refusesDeletion, unprotection } from "../elbv2/load-balancer-parts.ts";
import { findLoadBalancers } from "../find.ts";
import { freshAges } from "../inventory.ts";
import type { FoundNetwork } from "../network/find.ts";
import { remove } from "../remove.ts";
import type { SeenService } from "../service-state.ts";
import { bindingsOf, deleteBindings } from "../targets/owned-bindings.ts";
import { parseGoBool, parseStringMap } from "../values.ts";
import { annotationPrefix } from "./annotations.ts";
import type { ClassContext } from "./context.ts";
import { bindingLabels, loadBalancerName } from "./names.ts";
import { ownerOf } from "./owner.ts";
import { ServiceFault } from "./reader.ts";
import { classFinalizer } from "./seen.ts";
import type { ClassSettings } from "./settings.ts";
import { during, logStep, stages, staleMs, waitMs } from "./telling.ts";
import { keyOf, type ServiceView } from "./view.ts";

const clearedMs = 30_000;
const refusedMs = 15_000;

export async function removeService(service: SeenService, context: ClassContext, ask: Ask): Promise<Outcome> {
  const { inventory, book, report, settings, memory, handedOver, checkpoints } = context;
  const owner = ownerOf(service.view, settings);
  await during(stages.build, service, context, ask, async () => refuseProtected(service.view));
  const left = bindingsOf(bindingLabels(service.view), context.bindings);
  const removal = await during(stages.cleanUp, service, context, ask, async () => {
    await deleteBindings(left, context, ask.signal);
    const { found } = await findLoadBalancers(owner, inventory, freshAges, ask);
    return deleteUnprotected(found as readonly FoundNetwork[], context, ask, () =>
      remove(owner, { inventory, settings: { disableNodeIngress: true }, book }, ask, {
        kinds: owner.kinds,
        ages: freshAges,
        marksAgeMs: freshAges.presentMs,
        withGroups: true,
        onStep: logStep(context, service),
      }),
    );
  });
  memory.delete(keyOf(service.view));
  handedOver.delete(keyOf(service.view));
  checkpoints.forget(service);
  if (removal === "unprotected") return again(staleMs, "the load balancer may be deleted now");
  const stands = removal.kind === "waiting" && removal.left.loadBalancers.length > 0;
  // Whoever serves the Service from now on publishes another address: only ours is taken back, when nothing is there any more.
  const isStale = !stands && showsOurs(service, settings);
  if (isStale) await during(stages.clearStatus, service, context, ask, () => report.unpublish(service, ask.signal));
  if (removal.kind === "waiting") return again(pauseAfter(removal.refused, removal.left.loadBalancers.length), removal.why);
  if (left.length > 0) return again(waitMs, "its bindings are not gone yet");
  if (isStale) return again(staleMs, "its address was taken back a moment ago");
  const isFree = await during(stages.removeFinalizer, service, context, ask, () =>
    report.setFinalizer(service, classFinalizer, false, ask.signal),
  );
  return isFree ? done : again(staleMs, "the Service has changed in the meantime");
}

/** Deletes something. Protection that nobody asks for any more is taken from the load balancers, and then it is to be tried again. */
export async function deleteUnprotected<T>(
  found: readonly FoundNetwork[],
  { inventory }: Pick<ClassContext, "inventory">,
  ask: Ask,
  work: () => Promise<T>,
): Promise<T | "unprotected"> {
  try {
    return await work();
  } catch (error) {
    if (!refusesDeletion(error)) throw error;
    await apply(found.map(unprotection), inventory.cloud, ask);
    return "unprotected";
  }
}

/** AWS takes a while to clear away the interfaces of a load balancer, and refuses to delete its groups until then. */
function pauseAfter(isRefused: boolean, loadBalancers: number): number {
  if (loadBalancers > 0) return clearedMs;
  return isRefused ? refusedMs : waitMs;
}

const protection = "deletion_protection.enabled";

/** An author who protects a load balancer means it. */
function refuseProtected({ name, annotations }: ServiceView): void {
  const given = parseStringMap(annotations[`${annotationPrefix}aws-load-balancer-attributes`] ?? "")?.[protection];
  if (given === undefined) return;
  const isProtected = parseGoBool(given);
  if (isProtected === undefined) throw new ServiceFault(`failed to parse attribute ${protection}=${given}: it takes true or false`);
  if (isProtected) throw new ServiceFault(`deletion_protection is enabled, cannot delete the service: ${name}`);
}

/** Whether the address in the status is one of our load balancers, past ones included: their names are in it. */
export function showsOurs({ view, published }: SeenService, { cluster }: ClassSettings): boolean {
  const chosen = view.annotations[`${annotationPrefix}aws-load-balancer-name`];
  const generated = ["internal", "internet-facing"].map((scheme) => loadBalancerName(cluster, view, scheme));
  const names = [...generated, ...(chosen ? [chosen.toLowerCase()] : [])];
  return published.some(({ hostname }) => names.some((name) => hostname.startsWith(`${name}-`)));
}
