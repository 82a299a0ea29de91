/** What an account has of owners whose things are known by their tags alone. Tags are read twenty to a call, and kept for a while. */
import type { LoadBalancer, TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Ask } from "../../aws/ask.ts";
import { type Inventory, reconcileAges } from "../inventory.ts";
import type { ObserveOptions } from "../kind.ts";
import type { Attributes, Tags } from "../model.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import { seeTargetGroup } from "../target-groups.ts";

/** Something with its tags. */
export interface Marked<T> {
  readonly item: T;
  readonly tags: Tags;
  /** Which part of its owner it is. */
  readonly part: string | undefined;
}

/** An owner's load balancers of a type. */
export async function markedLoadBalancers(
  type: string,
  owner: LoadBalancerOwner,
  inventory: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<LoadBalancer[]> {
  const all = await inventory.loadBalancers.all(maxAgeMs, ask, owner.key);
  const candidates = all.filter(({ Type, VpcId }) => Type === type && VpcId === inventory.scope.vpc);
  const marked = await onlyMarked(candidates, ({ LoadBalancerArn = "" }) => LoadBalancerArn, owner, inventory, ask);
  return marked.map(({ item }) => item);
}

/** An owner's target groups. */
export async function markedTargetGroups(
  owner: LoadBalancerOwner,
  inventory: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<Marked<TargetGroup>[]> {
  const all = await inventory.targetGroups.all(maxAgeMs, ask, owner.key);
  const candidates = all.filter(({ VpcId }) => VpcId === inventory.scope.vpc);
  return onlyMarked(candidates, ({ TargetGroupArn = "" }) => TargetGroupArn, owner, inventory, ask);
}

/** The same with what plans compare. Their targets are another writer's; attributes are read if asked to, else they are presumed. */
export async function observeMarkedGroups(
  { owner, targetGroupAttributes }: Pick<ObserveOptions, "owner" | "targetGroupAttributes">,
  presumed: (group: Pick<SeenTargetGroup, "targetType">) => Attributes,
  inventory: Inventory,
  ask: Ask,
): Promise<SeenTargetGroup[]> {
  const marked = await markedTargetGroups(owner, inventory, reconcileAges.presentMs, ask);
  return Promise.all(
    marked.map(async ({ item, tags, part }) => {
      const read = targetGroupAttributes && inventory.cloud.loadBalancers.targetGroupAttributes(item.TargetGroupArn ?? "", ask);
      const attributes = (await read) || presumed({ targetType: item.TargetType ?? "" });
      return { ...seeTargetGroup(item, [], attributes), users: item.LoadBalancerArns ?? [], tags, ...(part !== undefined && { part }) };
    }),
  );
}

async function onlyMarked<T>(
  candidates: readonly T[],
  arnOf: (item: T) => string,
  owner: LoadBalancerOwner,
  inventory: Inventory,
  ask: Ask,
): Promise<Marked<T>[]> {
  const tags = await Promise.all(candidates.map((item) => inventory.tags(arnOf(item), ask)));
  return candidates.flatMap((item, i) => {
    const its = tags[i];
    return its !== undefined && owner.hasMarks(its) ? [{ item, tags: its, part: owner.marks?.partOf(its) }] : [];
  });
}
