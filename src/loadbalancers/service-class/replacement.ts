/**
 * Another scheme is another load balancer. The new one is made beside the old one, with target groups of its own, because AWS
 * lets a target group stand behind one load balancer only. When it serves whatever the old one does its address is published;
 * the old one goes when clients have had time to follow.
 */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import { formatCidr, parseCidr } from "../../runtime/ip.ts";
import type { Ensured } from "../apply.ts";
import { canTakeOver } from "../elbv2/replacement.ts";
import { isOwn } from "../find.ts";
import type { LoadBalancerKind } from "../kind.ts";
import type { NetworkLoadBalancer } from "../model.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { FoundNetwork } from "../network/find.ts";
import type { SeenService } from "../service-state.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import type { ClassContext } from "./context.ts";
import { ownerOf } from "./owner.ts";
import { deleteUnprotected, showsOurs } from "./removal.ts";
import type { ClassSurvey } from "./survey.ts";
import { logStep, staleMs } from "./telling.ts";
import { keyOf } from "./view.ts";

/** Names are looked up anew every minute, and those who keep them for others need a few. */
const handOverMs = 5 * 60_000;
/** How soon a new one is looked at again that cannot take over yet. */
const lookMs = 15_000;
/** One that replaces somebody else's is published after this long, healthy or not: its author has asked for it. */
const healthLimitMs = 5 * 60_000;

/** Load balancers of a Service that another one replaces, and the target groups behind them. */
export interface Replaced {
  readonly loadBalancers: readonly FoundNetwork[];
  readonly targetGroups: readonly SeenTargetGroup[];
  /** Those that the new one cannot stand beside: they go first. */
  readonly inTheWay: readonly FoundNetwork[];
}

/** Those of another scheme than is wanted. */
export const ofOtherScheme = (found: readonly FoundNetwork[], internal: boolean) => found.filter((lb) => lb.internal !== internal);

/** The kind without target groups that stand behind a load balancer which is replaced; those are handed to `onGroups`. */
export function besides(loadBalancers: readonly FoundNetwork[], onGroups: (groups: readonly SeenTargetGroup[]) => void): LoadBalancerKind {
  const arns = new Set(loadBalancers.map(({ arn }) => arn));
  return {
    ...boundNetwork,
    async observe(found, options, inventory, ask) {
      const own = found as FoundNetwork | undefined;
      const seen = await boundNetwork.observe(own, options, inventory, ask);
      const isTheirs = ({ users = [] }: SeenTargetGroup) => users.some((arn) => arns.has(arn));
      const isUsed = ({ users = [] }: SeenTargetGroup) => own !== undefined && users.includes(own.arn);
      onGroups(seen.targetGroups.filter(isTheirs));
      const rest = seen.targetGroups.filter((group) => !isTheirs(group));
      // Of two for the same port the one that is in use stands for it, and the one that was left behind goes.
      return { ...seen, targetGroups: rest.toSorted((a, b) => Number(isUsed(b)) - Number(isUsed(a))) };
    },
  } as LoadBalancerKind;
}

/** ARNs of target groups that somebody else made. */
export const givenGroups = ({ listeners }: NetworkLoadBalancer) =>
  listeners.flatMap(({ forward }) => forward.to.flatMap(({ arn }) => arn ?? []));

/** Whether an old one holds an address or a prefix that is chosen for the new one: no two have the same. */
export function holdsAddressOf({ subnets }: NetworkLoadBalancer, { zones }: FoundNetwork): boolean {
  return subnets.some(({ ipv6Address, sourceNatIpv6Prefix: prefix }) =>
    zones.some((zone) => sameBlock(ipv6Address, zone.ipv6Address) || sameBlock(prefix, zone.sourceNatPrefix)),
  );
}

/** The same address or block, however it is written. */
function sameBlock(wanted: string | undefined, held: string | undefined): boolean {
  const [a, b] = [wanted, held].map((text = "") => parseCidr(text.includes("/") ? text : `${text}/128`));
  return a !== undefined && b !== undefined && formatCidr(a) === formatCidr(b);
}

interface Standing {
  readonly ensured: Ensured;
  readonly survey: ClassSurvey;
}

/** What is published: while another address is, that of the one that serves. */
export async function addressOf(
  service: SeenService,
  { ensured: { applied, hostname }, survey }: Standing,
  { inventory, handedOver, host, settings, report }: ClassContext,
  ask: Ask,
): Promise<string | undefined> {
  const [old] = survey.replaced.loadBalancers;
  const shown = service.published[0]?.hostname ?? "";
  if (hostname === undefined) return old?.hostname;
  if (shown === hostname || handedOver.get(keyOf(service.view))?.to === hostname) return hostname;
  // Nothing is published, or the address of one of its own that is gone.
  if (old === undefined && (shown === "" || showsOurs(service, settings))) return hostname;
  const { found } = survey.seen;
  // What somebody else has published may be gone at any time: that is not waited for without end.
  const isLate = old === undefined && found !== undefined && host.world.clock.now() - found.createdAt >= healthLimitMs;
  if (isLate || (applied.kind === "done" && (await canTakeOver(survey.seen, survey.replaced, inventory, ask)))) return hostname;
  const kept = old?.hostname ?? shown;
  if (found === undefined) report.replaced(service, `${kept} stays published until the targets of ${hostname} are healthy`);
  return kept;
}

/** Notes since when clients know of the new one: for as long as it is not published the old one has all the time. */
export function noteHandOver(
  service: SeenService,
  { ensured: { hostname }, survey }: Standing,
  published: string,
  { handedOver, host, report }: ClassContext,
): void {
  const key = keyOf(service.view);
  const [old] = survey.replaced.loadBalancers;
  if (old === undefined || published !== hostname) {
    handedOver.delete(key);
    return;
  }
  if (handedOver.get(key)?.to === hostname) return;
  handedOver.set(key, { to: hostname, since: host.world.clock.monotonic() });
  if (service.published[0]?.hostname === hostname) return;
  report.replaced(service, `published ${hostname} instead of ${old.hostname}, which is kept for ${handOverMs / 60_000} minutes`);
}

/** Whether another address than its own is still published for a Service: then it is looked at again soon. */
export function awaitsAddress({ hostname }: Ensured, published: string): Outcome | undefined {
  if (published === hostname) return undefined;
  return again(lookMs, `the targets of the new load balancer are not healthy yet; ${published} stays published`);
}

/** The old one goes when clients have had time to follow; undefined when there is none. */
export async function finishReplacement(
  service: SeenService,
  { replaced: { loadBalancers } }: ClassSurvey,
  context: ClassContext,
  ask: Ask,
): Promise<Outcome | undefined> {
  const [old] = loadBalancers;
  if (old === undefined) return undefined;
  const { handedOver, host } = context;
  const now = host.world.clock.monotonic();
  const left = (handedOver.get(keyOf(service.view))?.since ?? now) + handOverMs - now;
  if (left > 0) return again(left, `clients are given time to leave ${old.name}`);
  await retire(service, loadBalancers, context, ask);
  return again(staleMs, `what belonged to ${old.name} goes`);
}

/** Deletes load balancers that others have replaced, or cannot stand beside. What protects them was meant for what is served. */
export async function retire(service: SeenService, loadBalancers: readonly FoundNetwork[], context: ClassContext, ask: Ask): Promise<void> {
  const { inventory, settings } = context;
  const owner = ownerOf(service.view, settings);
  for (const lb of loadBalancers) {
    // Its marks were read a while ago, and it may have been given to somebody else since.
    if (await isOwn(lb, owner, inventory, ask)) {
      await deleteUnprotected([lb], context, ask, () =>
        apply(boundNetwork.planDeletion(lb, "Service"), inventory.cloud, { ...ask, onStep: logStep(context, service) }),
      );
    }
    inventory.touchTags(lb.arn);
    boundNetwork.touch(lb.name, inventory, keyOf(service.view));
  }
}
