/** One load balancer in the place of another of the same owner: what the doors that do it have in common. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { isOwn } from "../find.ts";
import { type Inventory, reconcileAges } from "../inventory.ts";
import type { BackendHealth, LoadBalancerKind, Seen } from "../kind.ts";
import { kindOf, type LoadBalancerOwner } from "../owner.ts";
import type { Survey } from "../survey.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import { isBehind } from "../target-groups.ts";
import type { FoundBalancer } from "./found.ts";
import { healthOf } from "./health.ts";
import { isActive, refusesDeletion, unprotection } from "./load-balancer-parts.ts";

/** Since when the address of a new load balancer is published in the place of an old one's, on the monotonic clock. */
export interface HandOver {
  readonly to: string;
  readonly since: number;
}

/** What only one load balancer at a time can have. */
export interface Exclusive {
  readonly name: string;
  /** ARNs of target groups that somebody else made: each stands behind one load balancer only. */
  readonly given: readonly string[];
}

/** Those that a new one cannot stand beside: they have to go first. */
export async function inTheWayOf<LoadBalancer extends { readonly name: string; readonly arn: string }>(
  { name, given }: Exclusive,
  loadBalancers: readonly LoadBalancer[],
  { targetGroups }: Inventory,
  ask: Ask,
  by: string,
): Promise<readonly LoadBalancer[]> {
  if (loadBalancers.length === 0) return [];
  const all = given.length === 0 ? [] : await targetGroups.all(reconcileAges.presentMs, ask, by);
  const shared = all.filter(({ TargetGroupArn: arn = "" }) => given.includes(arn));
  return loadBalancers.filter((lb) => lb.name === name || shared.some((group) => isBehind(group, lb.arn)));
}

/** Load balancers of an owner that another one replaces, and the target groups behind them. */
export interface Replaced {
  readonly loadBalancers: readonly FoundBalancer[];
  readonly targetGroups: readonly SeenTargetGroup[];
  /** Those that the new one cannot stand beside: they go first. */
  readonly inTheWay: readonly FoundBalancer[];
}

interface SeenGrouped extends Seen {
  readonly targetGroups: readonly SeenTargetGroup[];
}

/** A kind without target groups that stand behind a load balancer which is replaced; those are handed to `onGroups`. */
export function besides(
  kind: LoadBalancerKind,
  loadBalancers: readonly FoundBalancer[],
  onGroups: (groups: readonly SeenTargetGroup[]) => void,
): LoadBalancerKind {
  const arns = new Set(loadBalancers.map(({ arn }) => arn));
  return {
    ...kind,
    async observe(found, options, inventory, ask) {
      const own = (found as FoundBalancer | undefined)?.arn;
      const seen = (await kind.observe(found, options, inventory, ask)) as SeenGrouped;
      const isTheirs = ({ users = [] }: SeenTargetGroup) => users.some((arn) => arns.has(arn));
      const isUsed = ({ users = [] }: SeenTargetGroup) => own !== undefined && users.includes(own);
      onGroups(seen.targetGroups.filter(isTheirs));
      const rest = seen.targetGroups.filter((group) => !isTheirs(group));
      // Of two for the same port the one that is in use stands for it, and the one that was left behind goes.
      return { ...seen, targetGroups: rest.toSorted((a, b) => Number(isUsed(b)) - Number(isUsed(a))) } as Seen;
    },
  };
}

/** Whether clients may be sent to the new one: it is active, and serves whatever the old one does, or all that it has where there is none. */
export async function canTakeOver(
  { found, seen, steps }: Pick<Survey, "found" | "seen" | "steps">,
  replaced: Replaced,
  inventory: Inventory,
  ask: Ask,
): Promise<boolean> {
  if (!isActive(found?.state)) return false;
  const partOf = ({ part = "" }: SeenTargetGroup) => part;
  const { targetGroups } = seen as SeenGrouped;
  // A group that no rule leads to, because AWS refuses the rule for example, never has a healthy target: it does not count. Which groups rules
  // lead to was seen before this pass: where it has changed some, all groups count.
  const isLedTo = ({ users = [] }: SeenTargetGroup) => users.includes((found as FoundBalancer).arn);
  const hasMoved = steps.some(({ action }) => /Listener|Rule/.test(action.name));
  const [now, before] = await Promise.all([
    healthOf(hasMoved ? targetGroups : targetGroups.filter(isLedTo), partOf, inventory, ask),
    healthOf(replaced.targetGroups, partOf, inventory, ask),
  ]);
  const isServed = ({ targets }: BackendHealth) => targets.some(({ healthy }) => healthy);
  if (replaced.loadBalancers.length === 0) return now.length > 0 && now.every(isServed);
  return before.filter(isServed).every(({ where }) => now.every((backend) => backend.where !== where || isServed(backend)));
}

/**
 * Deletes load balancers that others have replaced, or cannot stand beside. What protects them was meant for what is served. `before` is what
 * else has to go with each of them.
 */
export async function retire(
  loadBalancers: readonly FoundBalancer[],
  owner: LoadBalancerOwner,
  inventory: Inventory,
  ask: Ask,
  onStep: (step: Step) => void,
  before: (lb: FoundBalancer) => Promise<void> = async () => {},
): Promise<void> {
  for (const lb of loadBalancers) {
    const kind = kindOf(lb, owner);
    const deletion = kind.planDeletion(lb, owner.noun);
    const carryOut = (steps: readonly Step[]) => apply(steps, inventory.cloud, { ...ask, onStep });
    try {
      // Its marks were read a while ago, and it may have been given to somebody else since.
      if (!(await isOwn(lb, owner, inventory, ask))) continue;
      await before(lb);
      await carryOut(deletion);
    } catch (error) {
      if (!refusesDeletion(error)) throw error;
      await carryOut([unprotection(lb), ...deletion]);
    } finally {
      inventory.touchTags(lb.arn);
      kind.touch(lb.name, inventory, owner.key);
    }
  }
}
