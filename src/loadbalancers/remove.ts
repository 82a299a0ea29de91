/**
 * Takes away everything that was made for an owner, found by names, tags and rules and not by what is remembered, until
 * AWS says that nothing is left. What cannot go yet is waited for by coming again.
 */
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import { apply } from "../aws/apply.ts";
import type { Ask } from "../aws/ask.ts";
import type { Step } from "../aws/plan.ts";
import type { SecurityGroup } from "../aws/security-groups.ts";
import type { ClusterId } from "../identity/cluster-id.ts";
import { isOwned } from "../identity/ownership.ts";
import { findLoadBalancers, isOwn, type Sighting } from "./find.ts";
import { planGroupDeletion } from "./groups/managed.ts";
import type { NodeAccessParts } from "./groups/node-access.ts";
import { type Marks, mentions } from "./groups/node-rules.ts";
import { isMarkedGroup } from "./groups/own.ts";
import { type Inventory, presentAges, reconcileAges } from "./inventory.ts";
import type { Found, LoadBalancerKind } from "./kind.ts";
import type { Ages } from "./listing.ts";
import type { Tags } from "./model.ts";
import { kindOf, type LoadBalancerOwner, namesOf } from "./owner.ts";
import { targetGroupDeletion } from "./target-group-plan.ts";
import { marked } from "./target-groups.ts";

/** Everything of an owner that is still there. */
export interface Leftovers {
  readonly loadBalancers: readonly Found[];
  readonly targetGroups: readonly TargetGroup[];
  readonly ownGroups: readonly SecurityGroup[];
  /** What its load balancers were or may have been. */
  readonly names: readonly { readonly kind: LoadBalancerKind; readonly loadBalancer: string }[];
  /** Node groups whose rules still speak of it. */
  readonly nodeGroups: readonly SecurityGroup[];
  /** Of our name, but without our tags: left alone. */
  readonly notOurs: readonly string[];
}

export type Removal =
  /** By what was read after the last thing that we deleted. */
  | { readonly kind: "gone"; readonly notOurs: readonly string[] }
  /** Something is left, or it is not yet known that nothing is. */
  | {
      readonly kind: "waiting";
      readonly why: string;
      /** Whether AWS refused to delete something, for as long as something else uses it. */
      readonly refused: boolean;
      readonly deleted: boolean;
      readonly left: Leftovers;
    };

export interface RemovalOptions {
  readonly kinds: readonly LoadBalancerKind[];
  /** How old what is known of the account may be. */
  readonly ages: Ages;
  /** How old the marks of security groups may be that are tried. */
  readonly marksAgeMs: number;
  /** Whether security groups are tried too: AWS refuses for as long as it has not cleared away their load balancer. */
  readonly withGroups: boolean;
  /** Told before the first thing goes. */
  readonly onBegin?: () => void;
  readonly onStep?: (step: Step) => void;
}

/**
 * One pass of the removal: what can go goes. Whether it is gone is seen by the next pass: by then others have gone too,
 * and one list answers all of them.
 */
export async function remove(owner: LoadBalancerOwner, parts: NodeAccessParts, ask: Ask, options: RemovalOptions): Promise<Removal> {
  const { kinds, ages, withGroups, onBegin, onStep } = options;
  let left = await leftovers(owner, parts, kinds, ages, ask);
  // What is left alone because its mark is missing stays for ever: its mark must be missing at this very moment.
  if (describe(left).length === 0 && left.notOurs.length > 0) left = await leftovers(owner, parts, kinds, presentAges, ask);
  const rest = describe(left);
  if (rest.length === 0) return endOf(left, owner, parts, ask, options);
  onBegin?.();
  let deleted = false;
  const triesGroups = withGroups && left.loadBalancers.length === 0 && left.nodeGroups.length === 0;
  const tried = {
    ...left,
    ownGroups: triesGroups ? await stillMarked(left.ownGroups, owner, parts.inventory, options.marksAgeMs, ask) : [],
  };
  const applying = apply(planRemoval(tried, owner), parts.inventory.cloud, {
    ...ask,
    onStep: (step) => {
      deleted = true;
      onStep?.(step);
    },
  });
  const touchTried = () => touch(tried, owner, parts.inventory);
  const applied = await applying.catch((error: unknown) => {
    touchTried();
    throw error;
  });
  letGo(left, owner, kinds, parts);
  const refused = applied.kind === "waiting";
  // What AWS refused to delete is as it was.
  if (deleted || !refused) touchTried();
  return { kind: "waiting", why: refused ? applied.why : `not yet gone: ${rest.join(", ")}`, refused, deleted, left };
}

/** Those that carry our mark by what was read this recently: a removal that waits reads the groups now and then only. */
async function stillMarked(
  groups: readonly SecurityGroup[],
  owner: LoadBalancerOwner,
  { groups: all, scope }: Inventory,
  maxAgeMs: number,
  ask: Ask,
): Promise<readonly SecurityGroup[]> {
  if (groups.length === 0) return groups;
  const now = await all.all(maxAgeMs, ask, owner.key);
  return now.filter(({ id, tags }) => groups.some((group) => group.id === id) && isOwnGroup(tags, owner, scope.cluster));
}

/** Nothing is seen any more: it is over, unless rules that were asked for are still on their way into a node group. */
async function endOf(
  left: Leftovers,
  owner: LoadBalancerOwner,
  parts: NodeAccessParts,
  ask: Ask,
  { kinds, onBegin }: RemovalOptions,
): Promise<Removal> {
  const { book, inventory } = parts;
  const { uid } = owner;
  letGo(left, owner, kinds, parts);
  const groups = book.waitsFor(uid, kinds);
  if (groups.length === 0) {
    for (const kind of kinds) book.forget({ uid, kind });
    return { kind: "gone", notOurs: left.notOurs };
  }
  onBegin?.();
  const nodeGroups = (await inventory.groups.listed(reconcileAges.absentMs, ask)).filter(({ id }) => groups.includes(id));
  const why = `the rules of node security groups ${groups.join(", ")} are being updated`;
  return { kind: "waiting", why, refused: false, deleted: false, left: { ...left, nodeGroups } };
}

/** The steps that are possible now, in the order AWS allows: a group that rules still name cannot go. */
export function planRemoval({ loadBalancers, targetGroups, ownGroups, nodeGroups }: Leftovers, owner: LoadBalancerOwner): Step[] {
  const why = `the ${owner.noun} no longer wants it`;
  return [
    ...loadBalancers.flatMap((lb) => kindOf(lb, owner).planDeletion(lb, owner.noun)),
    ...targetGroups.map(({ TargetGroupArn: arn = "", TargetGroupName: name = "" }) => targetGroupDeletion({ arn, name })),
    ...(nodeGroups.length > 0 ? [] : ownGroups.map((group) => planGroupDeletion(group, why))),
  ];
}

/** What is still there of an owner, of these kinds. */
export async function leftovers(
  owner: LoadBalancerOwner,
  parts: Pick<NodeAccessParts, "inventory" | "settings">,
  kinds: readonly LoadBalancerKind[],
  ages: Ages,
  ask: Ask,
): Promise<Leftovers> {
  const { inventory } = parts;
  const { found, taken } = await findLoadBalancers(owner, inventory, ages, ask);
  const of = (kind: LoadBalancerKind) => found.filter((lb) => lb.kind === kind.name);
  const standing = found.filter((lb) => kinds.includes(kindOf(lb, owner)));
  const maybeOwn: TargetGroup[] = [];
  for (const kind of kinds) maybeOwn.push(...(await kind.targetGroups(owner, of(kind), inventory, ages.absentMs, ask)));
  // Tags that are asked for at the same moment are read in one call.
  const [verdicts, targetGroups] = await Promise.all([
    Promise.all(standing.map((lb) => isOwn(lb, owner, inventory, ask))),
    marked(maybeOwn, owner, inventory, ask),
  ]);
  const loadBalancers = standing.filter((_, i) => verdicts[i]);
  const { notOurs, ...groups } = await leftoverGroups(owner, { found, taken }, parts, kinds, ages.absentMs, ask);
  return {
    loadBalancers,
    targetGroups,
    ...groups,
    notOurs: [...standing.filter((_, i) => !verdicts[i]), ...notOurs].map(({ name }) => name),
  };
}

/** Of an owner that has no load balancer and wants none: it needs nothing from the nodes, and rules from before have to go. */
export async function renounceAccess(owner: LoadBalancerOwner, taken: Sighting["taken"], parts: NodeAccessParts, ask: Ask): Promise<void> {
  if (parts.book.isLeaving(owner.uid)) return;
  letGo(await leftoverGroups(owner, { found: [], taken }, parts, owner.kinds, reconcileAges.presentMs, ask), owner, owner.kinds, parts);
}

type LeftoverGroups = Pick<Leftovers, "ownGroups" | "names" | "nodeGroups">;

/** The security groups that were made for an owner, and those whose rules speak of its load balancers, of these kinds. */
async function leftoverGroups(
  owner: LoadBalancerOwner,
  { found, taken }: Sighting,
  { inventory, settings }: Pick<NodeAccessParts, "inventory" | "settings">,
  kinds: readonly LoadBalancerKind[],
  maxAgeMs: number,
  ask: Ask,
): Promise<LeftoverGroups & { readonly notOurs: readonly SecurityGroup[] }> {
  const names = kinds.flatMap((kind) => {
    const all = new Set([...namesOf(owner), ...found.filter((lb) => lb.kind === kind.name).map(({ name }) => name)]);
    for (const other of taken) if (other.kind === kind.name) all.delete(other.name);
    return [...all].map((loadBalancer) => ({ kind, loadBalancer }));
  });
  const groups = await inventory.groups.all(maxAgeMs, ask, owner.key);
  const groupNames = new Set(names.map(({ kind, loadBalancer }) => kind.managedGroupName(owner, loadBalancer)));
  const named = groups.filter(({ name, tags }) => groupNames.has(name) || isMarkedGroup(tags, owner));
  const ownGroups = named.filter(({ tags }) => isOwnGroup(tags, owner, inventory.scope.cluster));
  const marks = names.map(({ kind, loadBalancer }) => marksFor(kind, [loadBalancer], ownGroups, settings));
  return {
    ownGroups,
    names,
    nodeGroups: groups.filter((group) => marks.some((mark) => mentions(group, mark))),
    notOurs: named.filter((group) => !ownGroups.includes(group)),
  };
}

const isOwnGroup = (tags: Tags, owner: LoadBalancerOwner, cluster: ClusterId) =>
  owner.marks ? isMarkedGroup(tags, owner) : isOwned(tags, cluster);

/** What is left, in words. */
export function describe({ loadBalancers, targetGroups, ownGroups, nodeGroups }: Leftovers): string[] {
  return [
    ...loadBalancers.map(({ kind, name }) => `${kind} load balancer ${name}`),
    ...targetGroups.map(({ TargetGroupName }) => `target group ${TargetGroupName}`),
    ...ownGroups.map(({ id, name }) => `security group ${name} (${id})`),
    ...nodeGroups.map(({ id, name }) => `rules in node security group ${name} (${id})`),
  ];
}

/** With node rules switched off nothing is looked at but what keeps our own groups from going. */
function marksFor(
  kind: LoadBalancerKind,
  names: readonly string[],
  ownGroups: readonly SecurityGroup[],
  { disableNodeIngress }: NodeAccessParts["settings"],
): Marks {
  const ids = ownGroups.map(({ id }) => id);
  const marks = kind.ruleMarks(names, ids);
  return disableNodeIngress ? { ...marks, descriptions: [] } : marks;
}

/** Tells the writer of the node groups that nothing of this is wanted any more. */
function letGo(
  left: LeftoverGroups,
  { door, key, uid }: LoadBalancerOwner,
  kinds: readonly LoadBalancerKind[],
  parts: NodeAccessParts,
): void {
  for (const kind of kinds) {
    const names = left.names.filter((each) => each.kind === kind).map(({ loadBalancer }) => loadBalancer);
    const marks = marksFor(kind, names, left.ownGroups, parts.settings);
    const groups = left.nodeGroups.filter((group) => mentions(group, marks)).map(({ id }) => id);
    parts.book.leave({ door, key, uid, kind }, marks, groups);
  }
}

function touch({ loadBalancers, targetGroups, ownGroups }: Leftovers, owner: LoadBalancerOwner, inventory: Inventory): void {
  for (const lb of loadBalancers) kindOf(lb, owner).touch(lb.name, inventory, owner.key);
  for (const { TargetGroupName = "" } of targetGroups) inventory.targetGroups.touch(TargetGroupName, owner.key);
  for (const group of ownGroups) inventory.touchGroup(group, owner.key);
}
