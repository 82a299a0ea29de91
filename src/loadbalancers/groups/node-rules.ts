/**
 * The rules of one node security group, as the union of what every load balancer asks for. Pure.
 *
 *     the rule is …             wanted by its owner   wanted by another     wanted by nobody
 *     there, known as ours      stays                 gets the other's name is revoked
 *     there, not ours           counts as there       counts as there       is none of our business
 *     missing                   is authorised         is authorised
 */
import { authorizeSecurityGroupIngress, updateRuleDescriptions } from "../../aws/ec2-actions.ts";
import { type Step, step } from "../../aws/plan.ts";
import type { Rule } from "../model.ts";
import { nodeRuleDescription } from "../names.ts";
import { permission, revocation, ruleKey, ruleText, type SeenRule, seenRuleKey } from "./managed.ts";

/** One thing the nodes must let in: from addresses, or everything from a load balancer's group. */
export type NodeRule = Rule | { readonly protocol: "all"; readonly sourceGroup: string; readonly description?: string };

/** What one load balancer asks of the nodes, and by what its rules are known. */
export interface Claim {
  /** Groups of the nodes behind it. */
  readonly nodeGroups: readonly string[];
  readonly rules: readonly NodeRule[];
  readonly marks: Marks;
  /** Those of its marks that are of names it had before: a rule that it still needs gets its present one. */
  readonly former: readonly string[];
}

/** By these, and by nothing else, a rule is known as an owner's. */
export interface Marks {
  readonly descriptions: readonly string[];
  /** Groups of ours that rules name as their source. */
  readonly sources: readonly string[];
}

export interface NodeGroup {
  readonly id: string;
  readonly name: string;
  readonly rules: readonly SeenRule[];
}

export interface Owners {
  /** Every load balancer known to be wanted, by its owner. */
  readonly claims: ReadonlyMap<string, Claim>;
  /** What load balancers will need that are being changed: it is not granted yet, but neither is it taken away. */
  readonly upcoming: readonly Claim[];
  /** Those that are going: nothing of theirs is wanted any more. */
  readonly leaving: readonly Marks[];
  /** What load balancers use whose claims are not known: rules for it stay. */
  readonly held: Held;
  /** Whether everybody has said what they need. Until then nothing is taken away. */
  readonly complete: boolean;
}

/** With the name of the load balancer that uses it. */
export interface Held {
  readonly ports: ReadonlyMap<number, string>;
  /** Groups that traffic comes from. */
  readonly sources: ReadonlyMap<string, string>;
}

export interface NodeRulePlan {
  /** What each owner lacks; several may lack the same. Granted first: nobody is cut off before the new way is open. */
  readonly missing: ReadonlyMap<string, readonly NodeRule[]>;
  /** New descriptions, and what nobody needs any more. */
  readonly rest: readonly Step[];
  /** Those who have claims and by whose marks the rules are known that this rest is about. */
  readonly restOf: ReadonlySet<string>;
}

export function planNodeRules(group: NodeGroup, owners: Owners): NodeRulePlan {
  const here = [...owners.claims].filter(([, { nodeGroups }]) => nodeGroups.includes(group.id));
  const wanted = wantedRules([
    ...here.map(([, claim]) => claim),
    ...owners.upcoming.filter(({ nodeGroups }) => nodeGroups.includes(group.id)),
  ]);
  const unwanted = owners.complete ? group.rules.filter((rule) => isKnown(rule, owners) && !isWanted(rule, wanted, owners)) : [];
  const renamed = owners.complete ? group.rules.flatMap((rule) => rename(rule, group, owners)) : [];
  const staying = group.rules.filter((rule) => !unwanted.includes(rule));
  const removed = [...unwanted, ...(owners.complete ? surplusMtu(staying, wanted) : [])];
  const missing = here.map(([owner, { rules }]) => [owner, missingIn(group, rules)] as const);
  const touched = [...removed, ...renamed.map(({ rule }) => rule)];
  const isConcerned = ({ marks }: Claim) => touched.some((rule) => isMarked(rule, marks));
  return {
    missing: new Map(missing.filter(([, rules]) => rules.length > 0)),
    rest: [
      ...(renamed.length > 0 ? [renaming(group, renamed)] : []),
      ...(removed.length > 0 ? [revocation(group.name, group.id, removed, "no load balancer needs them")] : []),
    ],
    restOf: new Set([...owners.claims].flatMap(([owner, claim]) => (isConcerned(claim) ? [owner] : []))),
  };
}

/** The same, where nobody meets the quota. */
export function stepsOf(group: NodeGroup, { missing, rest }: Pick<NodeRulePlan, "missing" | "rest">): Step[] {
  const rules = distinct([...missing.values()].flat());
  return [...(rules.length > 0 ? [grant(group, rules)] : []), ...rest];
}

/** Each rule once, whoever lacks it. */
export function distinct(rules: readonly NodeRule[]): NodeRule[] {
  return [...wantedRules([{ rules }]).values()];
}

/** Whether a group has, or may have, rules of somebody with these marks. */
export function mentions(group: { readonly sources: readonly string[]; readonly descriptions: readonly string[] }, marks: Marks): boolean {
  return (
    group.sources.some((source) => marks.sources.includes(source)) ||
    group.descriptions.some((description) => marks.descriptions.includes(description))
  );
}

/** Client rules of any network load balancer, whoever's it is. */
const anyClient = nodeRuleDescription.client("");

export function keyOfRule(rule: NodeRule): string {
  return "sourceGroup" in rule ? `from ${rule.sourceGroup}` : ruleKey(rule);
}

function wantedRules(claims: readonly Pick<Claim, "rules">[]): ReadonlyMap<string, NodeRule> {
  const wanted = new Map<string, NodeRule>();
  for (const { rules } of claims) for (const rule of rules) if (!wanted.has(keyOfRule(rule))) wanted.set(keyOfRule(rule), rule);
  return wanted;
}

function missingIn(group: NodeGroup, rules: readonly NodeRule[]): readonly NodeRule[] {
  const isMissing = (rule: NodeRule) => !group.rules.some((present) => satisfies(present, rule));
  const missing = rules.filter(isMissing);
  const present = group.rules.filter((each) => rules.some((rule) => satisfies(each, rule)));
  // Where clients come in, the message that a packet is too big must come in too. Its rule is shared by all and named by none.
  return [...missing, ...[...clientCidrs([...missing, ...present])].map(mtuRule).filter(isMissing)];
}

/** A rule that lets the same in, under any description; of a group as source any rule counts, as it always did. */
function satisfies(present: SeenRule, wanted: NodeRule): boolean {
  return "sourceGroup" in wanted ? present.sourceGroup === wanted.sourceGroup : seenRuleKey(present) === ruleKey(wanted);
}

function isMarked({ description, sourceGroup }: SeenRule, { descriptions, sources }: Marks): boolean {
  return (description !== undefined && descriptions.includes(description)) || (sourceGroup !== undefined && sources.includes(sourceGroup));
}

function isKnown(rule: SeenRule, { claims, leaving }: Owners): boolean {
  return [...claims.values()].some(({ marks }) => isMarked(rule, marks)) || leaving.some((marks) => isMarked(rule, marks));
}

function isWanted(rule: SeenRule, wanted: ReadonlyMap<string, NodeRule>, { held }: Owners): boolean {
  const isClaimed = wanted.has(rule.sourceGroup === undefined ? seenRuleKey(rule) : `from ${rule.sourceGroup}`);
  return isClaimed || holderOf(rule, held) !== undefined;
}

function holderOf({ sourceGroup, fromPort }: SeenRule, { ports, sources }: Held): string | undefined {
  if (sourceGroup !== undefined) return sources.get(sourceGroup);
  return fromPort === undefined ? undefined : ports.get(fromPort);
}

/** A rule whose owner has no more use for it, and somebody else has: it gets the other's name, and is never missing. */
function rename(rule: SeenRule, group: NodeGroup, { claims, upcoming, leaving, held }: Owners): { rule: SeenRule; description: string }[] {
  const all = [...claims.values()];
  const here = [...all, ...upcoming].filter(({ nodeGroups }) => nodeGroups.includes(group.id));
  const users = here.filter(({ rules }) => rules.some((wish) => satisfies(rule, wish)));
  const named = (marks: Marks) => rule.description !== undefined && marks.descriptions.includes(rule.description);
  if (users.some(({ marks, former }) => named(marks) && !former.includes(rule.description!))) return [];
  if (!leaving.some(named) && !all.some(({ marks }) => named(marks))) return [];
  const holder = holderOf(rule, held);
  const heldAs = holder && rule.description?.replace(/=.*/, `=${holder}`);
  const description = (users[0] && descriptionFor(rule, users[0])) ?? heldAs;
  // Between two names of one load balancer a rule may have the wanted description already.
  return description === undefined || description === rule.description ? [] : [{ rule, description }];
}

/** What a rule says that is a claim's. One from its own group is written without a word, and yet must not go by another's. */
function descriptionFor(rule: SeenRule, { rules, marks, former }: Claim): string | undefined {
  const wish = rules.find((each) => satisfies(rule, each));
  return wish?.description ?? marks.descriptions.find((mark) => !former.includes(mark));
}

/** Rules for that message, from addresses that clients of nobody, not even of another cluster, come from. */
function surplusMtu(staying: readonly SeenRule[], wanted: ReadonlyMap<string, NodeRule>): readonly SeenRule[] {
  const used = clientCidrs([...staying, ...wanted.values()]);
  return staying.filter(({ description, cidr }) => description === nodeRuleDescription.mtu && cidr !== undefined && !used.has(cidr));
}

function clientCidrs(rules: readonly (NodeRule | SeenRule)[]): ReadonlySet<string> {
  return new Set(rules.flatMap((rule) => ("cidr" in rule && rule.cidr && rule.description?.startsWith(anyClient) ? [rule.cidr] : [])));
}

/** Fragmentation needed, in the words of either family. */
function mtuRule(cidr: string): Rule {
  const description = nodeRuleDescription.mtu;
  return cidr.includes(":")
    ? { protocol: "icmpv6", fromPort: 2, toPort: 0, cidr, description }
    : { protocol: "icmp", fromPort: 3, toPort: 4, cidr, description };
}

/** Lets in what the rules say, all or nothing: when one of them is there already, what we saw was old. */
export function grant({ id, name }: Pick<NodeGroup, "id" | "name">, rules: readonly NodeRule[]): Step {
  const permissions = rules.map((rule) =>
    "sourceGroup" in rule
      ? { IpProtocol: "-1", UserIdGroupPairs: [{ GroupId: rule.sourceGroup, Description: rule.description }] }
      : permission(rule),
  );
  const texts = rules.map((rule) => ("sourceGroup" in rule ? `everything from ${rule.sourceGroup}` : ruleText(rule)));
  return step(
    authorizeSecurityGroupIngress,
    { GroupId: id, IpPermissions: permissions },
    {
      what: `allow ${texts.join(", ")} in node security group ${name}`,
      why: "load balancers send this traffic to the nodes",
      waitsOn: ["InvalidPermission.Duplicate"],
    },
  );
}

function renaming({ id, name }: NodeGroup, renamed: readonly { rule: SeenRule; description: string }[]): Step {
  const descriptions = renamed.map(({ rule, description }) => ({ SecurityGroupRuleId: rule.id, Description: description }));
  return step(
    updateRuleDescriptions,
    { GroupId: id, SecurityGroupRuleDescriptions: descriptions },
    {
      what: `describe ${renamed.map(({ rule, description }) => `${rule.id} as ${description}`).join(", ")} in node security group ${name}`,
      why: "their load balancer is going away, and another one needs them",
      waitsOn: ["InvalidSecurityGroupRuleId.NotFound"],
    },
  );
}
