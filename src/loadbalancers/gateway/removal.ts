/**
 * The end of a Gateway's load balancer: everything that carries its marks goes, and the Gateway is let go when nothing is there any
 * more. Neither its class nor its routes have to be understood for that.
 */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import type { FoundBalancer } from "../elbv2/found.ts";
import { refusesDeletion, unprotection } from "../elbv2/load-balancer-parts.ts";
import { findLoadBalancers } from "../find.ts";
import { freshAges } from "../inventory.ts";
import { remove } from "../remove.ts";
import { bindingsOf, deleteBindings } from "../targets/owned-bindings.ts";
import { isProtected } from "./add-ons.ts";
import type { LoadBalancerSettings } from "./config.ts";
import type { GatewayContext } from "./context.ts";
import { GatewayFault } from "./fault.ts";
import { mergeLoadBalancers } from "./merge.ts";
import { bindingLabels } from "./names.ts";
import { ownerOf } from "./owner.ts";
import type { SeenGateway } from "./report.ts";
import type { Objects } from "./seen.ts";
import { unshield } from "./shield.ts";
import { tellGone, tellOrphans, unlessTold } from "./tell.ts";
import { during, logStep, staleMs, waitMs } from "./telling.ts";
import { keyOf } from "./view.ts";

const clearedMs = 30_000;
const refusedMs = 15_000;

export async function removeGateway(gateway: SeenGateway, context: GatewayContext, ask: Ask): Promise<Outcome> {
  const { inventory, book, report, settings, flavour } = context;
  const { view } = gateway;
  const owner = ownerOf(view, flavour, settings);
  await during("FailedBuildModel", gateway, context, ask, () => refuseProtected(gateway, context, ask));
  const left = bindingsOf(bindingLabels(flavour, view), context.bindings);
  const removal = await during("FailedDeployModel", gateway, context, ask, async () => {
    await deleteBindings(left, context, ask.signal);
    await unshield(gateway, (await findLoadBalancers(owner, inventory, freshAges, ask)).found as readonly FoundBalancer[], context, ask);
    try {
      return await remove(owner, { inventory, settings: { disableNodeIngress: true }, book }, ask, {
        kinds: owner.kinds,
        ages: freshAges,
        marksAgeMs: freshAges.presentMs,
        withGroups: true,
        onStep: logStep(context, gateway),
      });
    } catch (error) {
      if (!refusesDeletion(error)) throw error;
      const { found } = await findLoadBalancers(owner, inventory, freshAges, ask);
      await apply((found as readonly FoundBalancer[]).map(unprotection), inventory.cloud, ask);
      return "unprotected" as const;
    }
  });
  await forget(gateway, context, ask);
  if (removal === "unprotected") return again(staleMs, "the load balancer may be deleted now");
  if (removal.kind === "waiting") return again(pauseAfter(removal.refused, removal.left.loadBalancers.length), removal.why);
  if (left.length > 0) return again(waitMs, "its bindings are not gone yet");
  // Of one that only goes to another class the ListenerSets are told by whoever serves that.
  const unsaid = unlessTold(await tellGone(view, context, ask), !view.isDeleted || (await tellOrphans(view, context, ask)));
  if (unsaid) return unsaid;
  const isFree = await during("FailedRemoveFinalizer", gateway, context, ask, () =>
    report.setFinalizer(gateway, flavour.controllerName, false, ask.signal),
  );
  if (!isFree) return again(staleMs, "the Gateway has changed in the meantime");
  context.leaving.delete(keyOf(view));
  return done;
}

async function forget(gateway: SeenGateway, context: GatewayContext, ask: Ask): Promise<void> {
  const key = keyOf(gateway.view);
  for (const kept of [context.memory, context.formerRules, context.handedOver, context.moving, context.polls, context.due])
    kept.delete(key);
  context.checkpoints.forget(gateway);
  context.report.forget(gateway);
  context.refusals.forget(gateway.view);
  await context.secrets.follow(key, new Set(), ask.signal);
}

/** AWS takes a while to clear away the interfaces of a load balancer, and refuses to delete its groups until then. */
function pauseAfter(isRefused: boolean, loadBalancers: number): number {
  if (loadBalancers > 0) return clearedMs;
  return isRefused ? refusedMs : waitMs;
}

/**
 * An author who protects a load balancer means it. What a configuration says that is gone nobody knows; but a Gateway that has only
 * gone to another controller's class can come back, so what AWS protects of it stays.
 */
async function refuseProtected({ view }: SeenGateway, context: GatewayContext, ask: Ask): Promise<void> {
  if (view.isDeleted ? isProtected(lastConfiguration(view, context.objects)) : await isProtectedByAws(view, context, ask))
    throw new GatewayFault(`Unable to delete gateway ${keyOf(view)} because deletion protection is enabled.`);
}

async function isProtectedByAws(view: SeenGateway["view"], { inventory, flavour, settings }: GatewayContext, ask: Ask): Promise<boolean> {
  const { found } = await findLoadBalancers(ownerOf(view, flavour, settings), inventory, freshAges, ask);
  const read = (found as readonly FoundBalancer[]).map(({ arn }) => inventory.cloud.loadBalancers.attributes(arn, ask));
  return (await Promise.all(read)).some((attributes) => attributes["deletion_protection.enabled"] === "true");
}

function lastConfiguration(
  { namespace, className, parametersRef }: SeenGateway["view"],
  { classes, loadBalancers }: Objects,
): LoadBalancerSettings {
  const ofClass = classes.get(className)?.view.parametersRef;
  const read = (ref: { readonly name: string } | undefined, home: string) =>
    ref && loadBalancers.get(keyOf({ namespace: home, name: ref.name }))?.view.spec;
  return mergeLoadBalancers(read(ofClass, ofClass?.namespace ?? ""), read(parametersRef, namespace));
}
