/**
 * Another scheme is another load balancer. The new one is made beside the old one, with target groups of its own, because AWS
 * lets a target group stand behind one load balancer only. When its targets are as healthy as the old one's its address is
 * published; the old one goes when clients have had time to follow.
 */
import { createHash } from "node:crypto";
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import type { FoundApplication } from "../application/find.ts";
import { application } from "../application/kind.ts";
import type { Ensured } from "../apply.ts";
import { canTakeOver, retire as retireBalancers } from "../elbv2/replacement.ts";
import type { Found, LoadBalancerKind } from "../kind.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import type { Action } from "../routing.ts";
import type { Survey } from "../survey.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import type { GroupContext } from "./context.ts";
import type { GroupDesire } from "./desire.ts";
import type { Group } from "./groups.ts";
import { unshield } from "./shield.ts";
import { staleMs } from "./telling.ts";

/** Names are looked up anew every minute, and those who keep them for others need a few. */
const handOverMs = 5 * 60_000;
/** How soon a new one is looked at again that cannot take over yet. */
const lookMs = 15_000;

/** Load balancers of a group that another one replaces, and the target groups behind them. */
export interface Replaced {
  readonly loadBalancers: readonly FoundApplication[];
  readonly targetGroups: readonly SeenTargetGroup[];
  /** Those that the new one cannot stand beside: they go first. */
  readonly inTheWay: readonly FoundApplication[];
}

/** ARNs of target groups that somebody else made. */
export function givenGroups({ listeners }: ApplicationLoadBalancer): readonly string[] {
  const actions = listeners.flatMap(({ defaultActions, rules }) => [...defaultActions, ...rules.flatMap((rule) => rule.actions)]);
  return actions.flatMap((action) => (action.kind === "forward" ? action.to.flatMap(({ arn }) => arn ?? []) : []));
}

/** The kind without target groups that stand behind a load balancer which is replaced; those are handed over. */
export function besides(loadBalancers: readonly Found[], onGroups: (groups: readonly SeenTargetGroup[]) => void): LoadBalancerKind {
  const arns = new Set(loadBalancers.map((lb) => (lb as FoundApplication).arn));
  if (arns.size === 0) return application;
  return {
    ...application,
    async observe(found, options, inventory, ask) {
      const seen = await application.observe(found as FoundApplication | undefined, options, inventory, ask);
      const isTheirs = ({ users = [] }: SeenTargetGroup) => users.some((arn) => arns.has(arn));
      onGroups(seen.targetGroups.filter(isTheirs));
      return { ...seen, targetGroups: seen.targetGroups.filter((group) => !isTheirs(group)) };
    },
  } as LoadBalancerKind;
}

/** The same desire, with other names for target groups whose own are taken. */
export function withFreeNames(desire: GroupDesire, taken: readonly SeenTargetGroup[]): GroupDesire {
  if (taken.length === 0) return desire;
  const names = new Set(taken.map(({ name }) => name));
  const scheme = desire.model.internal ? "internal" : "internet-facing";
  const nameOf = (name: string) => (names.has(name) ? otherName(name, scheme) : name);
  const renamed = (actions: readonly Action[]): readonly Action[] =>
    actions.map((action) =>
      action.kind === "forward"
        ? { ...action, to: action.to.map((share) => (share.group === undefined ? share : { ...share, group: nameOf(share.group) })) }
        : action,
    );
  return {
    ...desire,
    bindings: desire.bindings.map((wish) => ({ ...wish, name: nameOf(wish.name), targetGroup: nameOf(wish.targetGroup) })),
    model: {
      ...desire.model,
      targetGroups: desire.model.targetGroups.map((group) => ({ ...group, name: nameOf(group.name) })),
      listeners: desire.model.listeners.map((listener) => ({
        ...listener,
        defaultActions: renamed(listener.defaultActions),
        rules: listener.rules.map((rule) => ({ ...rule, actions: renamed(rule.actions) })),
      })),
    },
  };
}

/** Of the same shape; a target group is known by its tags, so that its name is anybody's. */
function otherName(name: string, scheme: string): string {
  const digest = createHash("sha256").update(`${name}${scheme}`).digest("hex").slice(0, 10);
  return `${name.slice(0, name.lastIndexOf("-"))}-${digest}`;
}

/** What is published: of two load balancers the address of the one that serves. */
export async function addressOf(
  { applied, hostname }: Ensured,
  { seen, replaced }: { readonly seen: Survey; readonly replaced: Replaced },
  owner: LoadBalancerOwner,
  { inventory, handedOver }: GroupContext,
  ask: Ask,
): Promise<string | undefined> {
  const [old] = replaced.loadBalancers;
  if (old === undefined) return hostname;
  const isPublished = hostname !== undefined && handedOver.get(owner.key)?.to === hostname;
  const isReady = isPublished || (applied.kind === "done" && (await canTakeOver(seen, replaced, inventory, ask)));
  return isReady ? hostname : old.hostname;
}

/** Notes since when clients know of the new one: for as long as it is not published the old one has all the time. */
export function noteHandOver(
  { hostname }: Ensured,
  published: string | undefined,
  { loadBalancers }: Replaced,
  owner: LoadBalancerOwner,
  { handedOver, host }: GroupContext,
): void {
  if (loadBalancers.length === 0 || hostname === undefined || published !== hostname) handedOver.delete(owner.key);
  else if (handedOver.get(owner.key)?.to !== hostname) handedOver.set(owner.key, { to: hostname, since: host.world.clock.monotonic() });
}

/** The old one goes when clients have had time to follow. */
export async function finishReplacement(
  group: Group,
  { loadBalancers }: Replaced,
  owner: LoadBalancerOwner,
  context: GroupContext,
  ask: Ask,
): Promise<Outcome | undefined> {
  const [old] = loadBalancers;
  if (old === undefined) return undefined;
  const since = context.handedOver.get(owner.key)?.since;
  if (since === undefined) return again(lookMs, `the targets of the new load balancer are not as healthy as those of ${old.name} yet`);
  const left = since + handOverMs - context.host.world.clock.monotonic();
  if (left > 0) return again(Math.min(left, handOverMs), `clients are given time to leave ${old.name}`);
  await retire(group, loadBalancers, owner, context, ask);
  return again(staleMs, `what belonged to ${old.name} goes`);
}

/** Deletes load balancers that others have replaced, with what Shield has of them. */
export function retire(
  group: Group,
  loadBalancers: readonly FoundApplication[],
  owner: LoadBalancerOwner,
  context: GroupContext,
  ask: Ask,
): Promise<void> {
  const onStep = ({ what, why }: Step) => context.host.log.info(what, { why, group: owner.key });
  return retireBalancers(loadBalancers, owner, context.inventory, ask, onStep, (lb) =>
    unshield(group.members, async () => [lb], group, context, ask),
  );
}
