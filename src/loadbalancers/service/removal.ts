/**
 * Takes away everything that was made for a Service, found by names, tags and rules and not by what is remembered, until
 * AWS says that nothing is left. What cannot go yet is waited for by coming again.
 */
import type { TargetGroup } from "@aws-sdk/client-elastic-load-balancing-v2";
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import type { SecurityGroup } from "../../aws/security-groups.ts";
import { isOwned } from "../../identity/ownership.ts";
import { planClassicDeletion } from "../classic/plan.ts";
import type { ClaimBook } from "../groups/claim-book.ts";
import { marksOf } from "../groups/claims.ts";
import { planGroupDeletion } from "../groups/managed.ts";
import { type Marks, mentions } from "../groups/node-rules.ts";
import { type Inventory, presentAges, reconcileAges } from "../inventory.ts";
import type { Ages } from "../listing.ts";
import { classicSecurityGroupName, networkSecurityGroupName } from "../names.ts";
import { planNetworkDeletion } from "../network/plan.ts";
import { marked, namedTargetGroups } from "../target-groups.ts";
import type { Kind } from "./annotations.ts";
import { type Found, findLoadBalancers, isServices, namesOf, type Seeker } from "./find.ts";
import type { LoadBalancerSettings } from "./view.ts";

export interface RemovalParts {
  readonly inventory: Inventory;
  readonly settings: LoadBalancerSettings;
  readonly book: ClaimBook;
}

/** Everything of a Service that is still there. */
export interface Leftovers {
  readonly loadBalancers: readonly Found[];
  readonly targetGroups: readonly TargetGroup[];
  readonly ownGroups: readonly SecurityGroup[];
  /** What its load balancers were or may have been. */
  readonly names: readonly { readonly kind: Kind; readonly loadBalancer: string }[];
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
  readonly kinds: readonly Kind[];
  /** How old what is known of the account may be. */
  readonly ages: Ages;
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
export async function remove(seeker: Seeker, key: string, parts: RemovalParts, ask: Ask, options: RemovalOptions): Promise<Removal> {
  const { kinds, ages, withGroups, onBegin, onStep } = options;
  let left = await leftovers(seeker, parts, kinds, ages, ask);
  // What is left alone because its mark is missing stays for ever: its mark must be missing at this very moment.
  if (describe(left).length === 0 && left.notOurs.length > 0) left = await leftovers(seeker, parts, kinds, presentAges, ask);
  const rest = describe(left);
  if (rest.length === 0) return endOf(left, seeker, key, parts, ask, options);
  onBegin?.();
  let deleted = false;
  const tried = withGroups && left.loadBalancers.length === 0 ? left : { ...left, ownGroups: [] };
  const applying = apply(planRemoval(tried), parts.inventory.cloud, {
    ...ask,
    onStep: (step) => {
      deleted = true;
      onStep?.(step);
    },
  });
  const touchTried = () => touch(tried, parts.inventory, key);
  const applied = await applying.catch((error: unknown) => {
    touchTried();
    throw error;
  });
  letGo(left, seeker, key, kinds, parts);
  const refused = applied.kind === "waiting";
  // What AWS refused to delete is as it was.
  if (deleted || !refused) touchTried();
  return { kind: "waiting", why: refused ? applied.why : `not yet gone: ${rest.join(", ")}`, refused, deleted, left };
}

/** Nothing is seen any more: it is over, unless rules that were asked for are still on their way into a node group. */
async function endOf(
  left: Leftovers,
  seeker: Seeker,
  key: string,
  parts: RemovalParts,
  ask: Ask,
  { kinds, onBegin }: RemovalOptions,
): Promise<Removal> {
  const { book, inventory } = parts;
  letGo(left, seeker, key, kinds, parts);
  const groups = book.waitsFor(seeker.uid, kinds);
  if (groups.length === 0) {
    for (const kind of kinds) book.forget({ uid: seeker.uid, kind });
    return { kind: "gone", notOurs: left.notOurs };
  }
  onBegin?.();
  const nodeGroups = (await inventory.groups.listed(reconcileAges.absentMs, ask)).filter(({ id }) => groups.includes(id));
  const why = `the rules of node security groups ${groups.join(", ")} are being brought up to date`;
  return { kind: "waiting", why, refused: false, deleted: false, left: { ...left, nodeGroups } };
}

/** The steps that are possible now, in the order AWS allows: a group that rules still name cannot go. */
export function planRemoval({ loadBalancers, targetGroups, ownGroups, nodeGroups }: Leftovers): Step[] {
  const groups = targetGroups.map(({ TargetGroupArn: arn = "", TargetGroupName: name = "" }) => ({ arn, name }));
  const why = "the Service does not want it any more";
  return [
    ...loadBalancers.flatMap((lb) =>
      lb.kind === "classic"
        ? planClassicDeletion(lb.name, { loadBalancer: lb })
        : planNetworkDeletion(lb.name, { loadBalancer: lb, targetGroups: [] }),
    ),
    ...groups.flatMap((group) => planNetworkDeletion(group.name, { targetGroups: [group] })),
    ...(nodeGroups.length > 0 ? [] : ownGroups.map((group) => planGroupDeletion(group, why))),
  ];
}

/** What is still there of a Service, of these kinds. */
export async function leftovers(
  seeker: Seeker,
  parts: Pick<RemovalParts, "inventory" | "settings">,
  kinds: readonly Kind[],
  ages: Ages,
  ask: Ask,
): Promise<Leftovers> {
  const { inventory, settings } = parts;
  const { found, taken } = await findLoadBalancers(seeker, inventory, ages, ask);
  const standing = found.filter(({ kind }) => kinds.includes(kind));
  const arn = standing.find((lb) => lb.kind === "network")?.arn;
  const maybeOwn = kinds.includes("network") ? await namedTargetGroups(seeker, arn, inventory, ages.absentMs, ask) : [];
  // Tags that are asked for at the same moment are read in one call.
  const [verdicts, targetGroups] = await Promise.all([
    Promise.all(standing.map((lb) => isServices(lb, seeker, inventory, ask))),
    marked(maybeOwn, seeker, inventory, ask),
  ]);
  const loadBalancers = standing.filter((_, i) => verdicts[i]);
  const names = kinds.flatMap((kind) => {
    const all = new Set([...namesOf(seeker), ...standing.filter((lb) => lb.kind === kind).map(({ name }) => name)]);
    for (const other of taken) if (other.kind === kind) all.delete(other.name);
    return [...all].map((loadBalancer) => ({ kind, loadBalancer }));
  });
  const groups = await inventory.groups.all(ages.absentMs, ask, `${seeker.namespace}/${seeker.name}`);
  const groupNames = new Set([
    ...names.flatMap(({ kind, loadBalancer }) => (kind === "classic" ? [classicSecurityGroupName(loadBalancer)] : [])),
    ...(kinds.includes("network") ? [networkSecurityGroupName(settings.clusterName, seeker)] : []),
  ]);
  const named = groups.filter(({ name }) => groupNames.has(name));
  const ownGroups = named.filter(({ tags }) => isOwned(tags, inventory.place.cluster));
  const marks = names.map(({ kind, loadBalancer }) => marksFor(kind, [loadBalancer], ownGroups, settings));
  return {
    loadBalancers,
    targetGroups,
    ownGroups,
    names,
    nodeGroups: groups.filter((group) => marks.some((mark) => mentions(group, mark))),
    notOurs: [...standing.filter((_, i) => !verdicts[i]), ...named.filter((group) => !ownGroups.includes(group))].map(({ name }) => name),
  };
}

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
  kind: Kind,
  names: readonly string[],
  ownGroups: readonly SecurityGroup[],
  { disableNodeIngress }: LoadBalancerSettings,
): Marks {
  const marks = marksOf(
    kind,
    names,
    ownGroups.map(({ id }) => id),
  );
  return disableNodeIngress ? { ...marks, descriptions: [] } : marks;
}

/** Tells the writer of the node groups that nothing of this is wanted any more. */
function letGo(left: Leftovers, { uid }: Seeker, key: string, kinds: readonly Kind[], { book, settings }: RemovalParts): void {
  for (const kind of kinds) {
    const names = left.names.filter((each) => each.kind === kind).map(({ loadBalancer }) => loadBalancer);
    const marks = marksFor(kind, names, left.ownGroups, settings);
    const groups = left.nodeGroups.filter((group) => mentions(group, marks)).map(({ id }) => id);
    book.leave({ key, uid, kind }, marks, groups);
  }
}

function touch({ loadBalancers, targetGroups, ownGroups }: Leftovers, inventory: Inventory, key: string): void {
  for (const { kind, name } of loadBalancers) (kind === "classic" ? inventory.classic : inventory.loadBalancers).touch(name, key);
  for (const { TargetGroupName = "" } of targetGroups) inventory.targetGroups.touch(TargetGroupName, key);
  for (const group of ownGroups) inventory.touchGroup(group, key);
}
