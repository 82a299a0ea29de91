/** Protections by Shield of load balancers that go. */
import type { Ask } from "../../aws/ask.ts";
import { endProtections } from "../application/guards.ts";
import type { FoundBalancer } from "../elbv2/found.ts";
import { recordedAddOns } from "./add-ons.ts";
import type { GatewayContext } from "./context.ts";
import type { SeenGateway } from "./report.ts";
import { logStep } from "./telling.ts";

/** Ends those that were made here; what was never enabled is not asked about. */
export async function unshield(
  gateway: SeenGateway,
  loadBalancers: readonly FoundBalancer[],
  context: GatewayContext,
  ask: Ask,
): Promise<void> {
  const { inventory, flavour, settings } = context;
  if (!recordedAddOns(gateway.view, flavour).has("shield") || !settings.guards.includes("shield")) return;
  await endProtections(loadBalancers, inventory.cloud, ask, logStep(context, gateway));
}
