/** Protections by Shield of load balancers that go. */
import type { Ask } from "../../aws/ask.ts";
import { endProtections } from "../application/guards.ts";
import type { FoundBalancer } from "../elbv2/found.ts";
import { annotationKey } from "./annotations.ts";
import type { GroupContext } from "./context.ts";
import type { Group, Member } from "./groups.ts";
import { mentionedGuards } from "./guards.ts";
import { logStep } from "./telling.ts";

/** Ends those that these Ingresses asked for; where nobody says anything of Shield, nothing is asked. */
export async function unshield(
  members: readonly Member[],
  loadBalancers: () => Promise<readonly FoundBalancer[]>,
  group: Group,
  context: GroupContext,
  ask: Ask,
): Promise<void> {
  if (!mentionedGuards(members, annotationKey, context.settings).includes("shield")) return;
  await endProtections(await loadBalancers(), context.inventory.cloud, ask, logStep(context, group));
}
