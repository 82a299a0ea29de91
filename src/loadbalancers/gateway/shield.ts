/** Protections by Shield of load balancers that go: AWS keeps a protection when what it protects is deleted. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { observeGuards, planGuards } from "../application/guards.ts";
import type { FoundBalancer } from "../elbv2/replacement.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import { recordedAddOns } from "./add-ons.ts";
import type { GatewayContext } from "./context.ts";
import type { SeenGateway } from "./report.ts";
import { logStep } from "./telling.ts";

/** Ends those that were made here; what was never enabled is not asked about. */
export async function endProtections(
  gateway: SeenGateway,
  loadBalancers: readonly FoundBalancer[],
  context: GatewayContext,
  ask: Ask,
): Promise<void> {
  const { inventory, flavour, settings } = context;
  if (!recordedAddOns(gateway.view, flavour).has("shield") || !settings.guards.includes("shield")) return;
  const { protections } = inventory.cloud;
  for (const { name, arn } of loadBalancers) {
    protections.forget(arn);
    const seen = await observeGuards(arn, ["shield"], protections, ask);
    const unprotected = { name, guards: { shield: false } } as ApplicationLoadBalancer;
    await apply(planGuards(unprotected, arn, seen), inventory.cloud, { ...ask, onStep: logStep(context, gateway) });
  }
}
