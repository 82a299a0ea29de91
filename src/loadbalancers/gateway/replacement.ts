/**
 * Another scheme is another load balancer. The new one is made beside the old one, with target groups of its own. When it serves
 * whatever the old one does its address is published; the old one goes when clients have had time to follow.
 */
import type { Ask } from "../../aws/ask.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import type { Ensured } from "../apply.ts";
import type { FoundBalancer } from "../elbv2/found.ts";
import { canTakeOver, retire } from "../elbv2/replacement.ts";
import type { GatewayContext } from "./context.ts";
import { ownerOf } from "./owner.ts";
import type { SeenGateway } from "./report.ts";
import { unshield } from "./shield.ts";
import type { GatewaySurvey } from "./survey.ts";
import { logStep, staleMs } from "./telling.ts";
import { keyOf } from "./view.ts";

/** Names are looked up anew every minute, and those who keep them for others need a few. */
const handOverMs = 5 * 60_000;
/** How soon a new one is looked at again that cannot take over yet. */
const lookMs = 15_000;

/** What is published: of two load balancers the address of the one that serves. */
export async function addressOf(
  { view }: SeenGateway,
  { applied, hostname }: Ensured,
  { seen, replaced }: GatewaySurvey,
  { inventory, handedOver }: GatewayContext,
  ask: Ask,
): Promise<string | undefined> {
  const [old] = replaced.loadBalancers;
  if (old === undefined) return hostname;
  const isPublished = hostname !== undefined && handedOver.get(keyOf(view))?.to === hostname;
  const isReady = isPublished || (applied.kind === "done" && (await canTakeOver(seen, replaced, inventory, ask)));
  return isReady ? hostname : old.hostname;
}

/** Notes since when clients know of the new one: for as long as it is not published the old one has all the time. */
export function noteHandOver(
  { view }: SeenGateway,
  { hostname }: Ensured,
  { replaced }: GatewaySurvey,
  published: string | undefined,
  { handedOver, host }: GatewayContext,
): void {
  const key = keyOf(view);
  if (replaced.loadBalancers.length === 0 || hostname === undefined || published !== hostname) handedOver.delete(key);
  else if (handedOver.get(key)?.to !== hostname) handedOver.set(key, { to: hostname, since: host.world.clock.monotonic() });
}

/** The old one goes when clients have had time to follow; undefined when there is none. */
export async function finishReplacement(
  gateway: SeenGateway,
  { replaced: { loadBalancers } }: GatewaySurvey,
  context: GatewayContext,
  ask: Ask,
): Promise<Outcome | undefined> {
  const [old] = loadBalancers;
  if (old === undefined) return undefined;
  const since = context.handedOver.get(keyOf(gateway.view))?.since;
  if (since === undefined) return again(lookMs, `the targets of the new load balancer are not as healthy as those of ${old.name} yet`);
  const left = since + handOverMs - context.host.world.clock.monotonic();
  if (left > 0) return again(Math.min(left, handOverMs), `clients are given time to leave ${old.name}`);
  await retireReplaced(gateway, loadBalancers, context, ask);
  return again(staleMs, `what belonged to ${old.name} goes`);
}

export async function retireReplaced(
  gateway: SeenGateway,
  loadBalancers: readonly FoundBalancer[],
  context: GatewayContext,
  ask: Ask,
): Promise<void> {
  const { flavour, settings, inventory } = context;
  const owner = ownerOf(gateway.view, flavour, settings);
  return retire(loadBalancers, owner, inventory, ask, logStep(context, gateway), (lb) => unshield(gateway, [lb], context, ask));
}
