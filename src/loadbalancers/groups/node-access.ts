/** What a load balancer needs from the nodes behind it, written down for the one writer of their security groups. */
import type { Ask } from "../../aws/ask.ts";
import { type Inventory, reconcileAges } from "../inventory.ts";
import type { NodeAccess, Problem } from "../model.ts";
import type { Survey } from "../survey.ts";
import { nodeGroupsOf, type Targets } from "../targets.ts";
import type { Claimant, ClaimBook, ClaimOptions } from "./claim-book.ts";
import { claimFor, type NodeRuleContext } from "./claims.ts";
import { type Claim, mentions } from "./node-rules.ts";

/** What the cloud config says about the groups of nodes. */
export interface NodeAccessSettings {
  /** The group that all classic load balancers share, if there is one. */
  readonly elbSecurityGroup?: string;
  /** The rules of nodes are somebody else's. */
  readonly disableNodeIngress: boolean;
}

export interface NodeAccessParts {
  readonly inventory: Inventory;
  readonly settings: NodeAccessSettings;
  readonly book: ClaimBook;
}

/** How a claim is made. */
export interface ClaimingOptions extends Omit<ClaimOptions, "groups"> {
  /** Asked right before it is written down: whether nobody else has said meanwhile what the load balancer needs. */
  isCurrent?(): boolean;
}

/** Writes down what the load balancer needs from the nodes; groups that only speak of it from before are looked at too. */
export async function claimAccess(
  owner: Claimant,
  access: NodeAccess,
  context: NodeRuleContext,
  { book, inventory, settings }: NodeAccessParts,
  { recheck, other, isCurrent = () => true }: ClaimingOptions,
  ask: Ask,
): Promise<void> {
  const claim = editableClaim(owner, access, context, settings);
  if (settings.disableNodeIngress) {
    book.claim(owner, { ...claim, nodeGroups: [], rules: [], marks: { descriptions: [], sources: [] } }, { groups: [], recheck: false });
    return;
  }
  const groups = await inventory.groups.listed(reconcileAges.absentMs, ask);
  const mentioning = groups.filter((group) => mentions(group, claim.marks)).map(({ id }) => id);
  if (!isCurrent()) return;
  book.claim(owner, claim, { groups: mentioning, recheck, ...(other !== undefined && { other }) });
}

/**
 * Before a load balancer that stands is changed: what it needs then must not go with somebody else who had it until now.
 * Of groups that are only being made nobody has rules yet.
 */
export async function expectAccess(owner: Claimant, survey: Survey, parts: NodeAccessParts, ask: Ask): Promise<void> {
  const { book, inventory, settings } = parts;
  if (settings.disableNodeIngress || survey.found === undefined || survey.steps.length === 0) return;
  const { ruleContext } = await nodeRuleContext(survey, new Map(), inventory, ask);
  book.expect(owner, editableClaim(owner, survey.desire.access, ruleContext, settings));
}

/** The group that all classic load balancers share is never edited, also where nodes have it. */
function editableClaim({ kind }: Claimant, access: NodeAccess, context: NodeRuleContext, { elbSecurityGroup }: NodeAccessSettings): Claim {
  return claimFor(kind, access, { ...context, nodeGroups: context.nodeGroups.filter((id) => id !== elbSecurityGroup) });
}

/** The groups of the nodes behind a load balancer, and what is unclear about them. */
export async function nodeGroups({ instances }: Targets, inventory: Inventory, ask: Ask) {
  const groups = await inventory.groupsWith(
    instances.flatMap((instance) => instance.groups),
    ask,
  );
  return nodeGroupsOf(instances, groups, inventory.scope.cluster);
}

/** What the rules for a load balancer follow from, when what its plan makes has these ids. */
export async function nodeRuleContext(
  { owner, kind, desire, seen, found, targets, formerNames }: Survey,
  made: ReadonlyMap<string, string>,
  inventory: Inventory,
  ask: Ask,
): Promise<{ readonly ruleContext: NodeRuleContext; readonly warnings: readonly Problem[] }> {
  const { ids, warnings } = await nodeGroups(targets, inventory, ask);
  const sources = await kind.ruleSources(desire.model, seen, found, made, inventory, ask);
  // A group of a former name stays until AWS lets go of it, or until its owner goes; its rules need not.
  const formerGroups = new Set(formerNames.map((name) => kind.managedGroupName(owner, name)));
  const listed = await inventory.groups.listed(reconcileAges.absentMs, ask);
  const former = listed.filter(({ name, tags }) => formerGroups.has(name) && inventory.mine(tags)).map(({ id }) => id);
  const ownGroups = [...new Set([...sources.ownGroups, ...former])];
  return { ruleContext: { nodeGroups: ids, formerNames, ...sources, ownGroups }, warnings: warnings.map((message) => ({ message })) };
}

/** The same before anything is made, with names in the place of ids. */
export async function predictedRuleContext(survey: Survey, inventory: Inventory, ask: Ask): Promise<NodeRuleContext> {
  const promised = survey.steps.flatMap(({ makes }): [string, string][] => (makes ? [[makes.name, `<${makes.name}>`]] : []));
  return (await nodeRuleContext(survey, new Map(promised), inventory, ask)).ruleContext;
}
