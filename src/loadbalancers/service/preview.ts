/** Everything that would be done for a Service, the rules of node security groups included, and nothing of it done. */
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import { keyOf } from "../../kube/store.ts";
import { claimFor } from "../groups/claims.ts";
import { predictedRuleContext } from "../groups/node-access.ts";
import { type Claim, type Marks, mentions, planNodeRules, stepsOf } from "../groups/node-rules.ts";
import { reconcileAges } from "../inventory.ts";
import type { Problem } from "../model.ts";
import { type Leftovers, leftovers, planRemoval } from "../remove.ts";
import type { SeenService } from "../service-state.ts";
import type { Survey } from "../survey.ts";
import { targetWarnings } from "../targets.ts";
import { ownerOf } from "./owner.ts";
import { taskOf } from "./seen.ts";
import { type ServiceSurvey, type SurveyParts, surveyService } from "./survey.ts";
import { surveyTargets } from "./targets-only.ts";

/** What would happen to one Service. */
export interface Preview {
  /** `namespace/name` */
  readonly key: string;
  /** In the order they are carried out. */
  readonly steps: readonly Step[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** Undefined when what is there only has to go, or when the Service is none of ours. */
  readonly survey?: ServiceSurvey;
}

/** Looks at one Service among all of the cluster: what others need is not taken away. */
export async function preview(service: SeenService, all: readonly SeenService[], parts: SurveyParts, ask: Ask): Promise<Preview> {
  const key = keyOf(service);
  const task = taskOf(service);
  if (task.kind === "none") return { key, steps: [], problems: [], warnings: [] };
  if (task.kind === "targets-only") {
    const { steps, problems, warnings } = await surveyTargets(service, parts, ask);
    return { key, steps, problems, warnings };
  }
  if (task.kind !== "ensure") {
    const owner = ownerOf(service, parts);
    const left = await leftovers(owner, parts, owner.kinds, reconcileAges, ask);
    const steps = [...planRemoval({ ...left, nodeGroups: [] }, owner), ...(await rulesGone(service, left, all, parts, ask))];
    return { key, steps, problems: [], warnings: [] };
  }
  const seen = await surveyService(service, task.of, parts, ask);
  const { problems } = seen;
  const warnings = [...seen.warnings, ...targetWarnings(seen.targets, []).map((message) => ({ message }))];
  if (problems.length > 0) return { key, steps: [], problems, warnings, survey: seen };
  const rules = await rulesFor(service, seen, all, parts, ask);
  return { key, steps: [...seen.steps, ...rules], problems, warnings, survey: seen };
}

async function rulesFor(service: SeenService, seen: Survey, all: readonly SeenService[], parts: SurveyParts, ask: Ask): Promise<Step[]> {
  if (parts.settings.disableNodeIngress) return [];
  const claim = await claimOf(seen, parts, ask);
  return rulesIn(claim.nodeGroups, [claim], [], claim.marks, service, all, parts, ask);
}

async function rulesGone(service: SeenService, { names, ownGroups }: Leftovers, all: readonly SeenService[], parts: SurveyParts, ask: Ask) {
  const ids = ownGroups.map(({ id }) => id);
  const marks = names.map(({ kind, loadBalancer }) => kind.ruleMarks([loadBalancer], ids));
  const together = { descriptions: marks.flatMap(({ descriptions }) => descriptions), sources: ids };
  return rulesIn([], [], marks, together, service, all, parts, ask);
}

/** The steps in the node groups concerned. Others are asked what they need only where something would be taken away. */
async function rulesIn(
  nodeGroups: readonly string[],
  claims: readonly Claim[],
  leaving: readonly Marks[],
  marks: Marks,
  service: SeenService,
  all: readonly SeenService[],
  parts: SurveyParts,
  ask: Ask,
): Promise<Step[]> {
  const { inventory } = parts;
  const groups = await inventory.groups.all(reconcileAges.presentMs, ask);
  const concerned = groups.filter((group) => nodeGroups.includes(group.id) || mentions(group, marks));
  const steps: Step[] = [];
  for (const group of concerned) {
    const present = { ...group, rules: await inventory.cloud.securityGroups.rules(group.id, ask) };
    const plan = (others: readonly Claim[]) => {
      const owned = new Map([...claims, ...others].map((claim, i) => [String(i), claim]));
      const held = { ports: new Map(), sources: new Map() };
      return stepsOf(present, planNodeRules(present, { claims: owned, upcoming: [], leaving, held, complete: true }));
    };
    const takesAway = plan([]).some(({ effect }) => effect === "delete");
    steps.push(...plan(takesAway ? await claimsOfOthers(service, all, parts, ask) : []));
  }
  return steps;
}

async function claimsOfOthers(service: SeenService, all: readonly SeenService[], parts: SurveyParts, ask: Ask): Promise<Claim[]> {
  const claims: Claim[] = [];
  for (const other of all) {
    const task = taskOf(other);
    if (keyOf(other) === keyOf(service) || task.kind !== "ensure") continue;
    claims.push(await claimOf(await surveyService(other, task.of, parts, ask), parts, ask));
  }
  return claims;
}

async function claimOf(seen: Survey, { inventory }: SurveyParts, ask: Ask): Promise<Claim> {
  return claimFor(seen.kind, seen.desire.access, await predictedRuleContext(seen, inventory, ask));
}
