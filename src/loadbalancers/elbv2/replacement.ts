/** One load balancer in the place of another of the same owner: what the doors that do it have in common. */
import type { Ask } from "../../aws/ask.ts";
import { type Inventory, reconcileAges } from "../inventory.ts";
import { isBehind } from "../target-groups.ts";

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
