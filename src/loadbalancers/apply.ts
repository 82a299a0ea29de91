/** Brings what stands for an owner to what it asks for: carries out the steps of a survey, and says what stands then. */
import { type Applied, apply } from "../aws/apply.ts";
import type { Ask } from "../aws/ask.ts";
import { authorizeSecurityGroupIngress } from "../aws/ec2-actions.ts";
import { type AwsError, isAwsError } from "../aws/errors.ts";
import type { Step } from "../aws/plan.ts";
import type { Clock } from "../runtime/world.ts";
import type { NodeRuleContext } from "./groups/claims.ts";
import { missingRules, ruleKey, seenRuleKey } from "./groups/managed.ts";
import { nodeRuleContext } from "./groups/node-access.ts";
import { noRoomText } from "./groups/rule-quota.ts";
import type { Inventory } from "./inventory.ts";
import { managedGroups, type Problem } from "./model.ts";
import type { Survey } from "./survey.ts";
import type { NewTargetGroups } from "./targets/new-groups.ts";
import type { Moment, TargetSets } from "./targets/target-set.ts";
import type { Targets } from "./targets.ts";

export interface ApplyParts {
  readonly inventory: Inventory;
  readonly clock: Clock;
  /** Those of the owner, and the moment at which its survey began. */
  readonly targetSets: TargetSets;
  readonly began: Moment;
  /** The targets that it is to have. */
  wanted(): Promise<Targets>;
  readonly onStep: (step: Step) => void;
  /** Where target groups are noted that are made: for whoever fills them. */
  readonly newGroups?: NewTargetGroups;
  /** Told of the step that AWS refused, before the error is thrown. */
  readonly onRefused?: (step: Step, error: AwsError) => void;
}

export interface Ensured {
  readonly applied: Applied;
  /** The host name of the load balancer; undefined while AWS gives none, or says that it has failed. */
  readonly hostname: string | undefined;
  /** The targets that it was brought to. */
  readonly targets: Targets;
  /** What the rules of its nodes follow from. */
  readonly ruleContext: NodeRuleContext;
  readonly warnings: readonly Problem[];
}

export async function applySurvey(survey: Survey, parts: ApplyParts, ask: Ask): Promise<Ensured> {
  const { inventory, clock } = parts;
  const { kind } = survey;
  let hostname = standingHostname(survey);
  let done: Done | undefined;
  try {
    done = await applyInPhases(survey, parts, ask, (output) => {
      hostname ??= kind.hostnameIn(output);
    });
  } catch (error) {
    throw withRoom(error, survey);
  } finally {
    touch(survey, inventory);
    noteAttributes(survey, inventory, clock.monotonic(), done?.applied.kind === "done");
  }
  const { applied, targets } = done;
  const { ruleContext, warnings } = await nodeRuleContext({ ...survey, targets }, applied.made, inventory, ask);
  return { applied, hostname, targets, ruleContext, warnings };
}

interface Done {
  readonly applied: Applied;
  readonly targets: Targets;
}

/**
 * What takes targets comes first, then the targets, by the hand of their own writer, then the rest: nothing forwards to
 * what has no targets yet.
 */
async function applyInPhases(survey: Survey, parts: ApplyParts, ask: Ask, onOutput: (output: unknown) => void): Promise<Done> {
  const { owner, kind, desire, steps, seen } = survey;
  const { inventory, targetSets, began, wanted, onStep, onRefused, newGroups } = parts;
  const set = targetSets.of(kind, desire.model.name);
  const run = (some: readonly Step[], made?: Applied["made"]) =>
    apply(some, inventory.cloud, {
      ...ask,
      ...(made && { made }),
      ...(onRefused && { onRefused }),
      onStep: (step, output) => {
        onStep(step);
        newGroups?.note(step, output);
        onOutput(output);
      },
    });
  const last = steps.findLastIndex(({ part }) => part === "targets");
  const first = await run(steps.slice(0, last + 1).filter(({ part }) => part !== "targets"));
  if (first.kind === "waiting") return { applied: first, targets: survey.targets };
  const look = { seen: kind.afterParts(desire.model, seen, first.made), began };
  const synced = last < 0 ? undefined : await set.sync({ owner, inventory, ask, look, wanted, onStep });
  const rest = await run(steps.slice(last + 1), first.made);
  if (last < 0) set.adopt({ ...look, seen: kind.afterParts(desire.model, seen, rest.made) });
  const refused = [...first.refused, ...(synced?.refused ?? []), ...rest.refused];
  return { applied: { ...rest, refused }, targets: synced?.targets ?? survey.targets };
}

/** A failed load balancer has no address worth publishing. */
function standingHostname({ found }: Survey): string | undefined {
  return found === undefined || found.hostname === "" || found.state === "failed" ? undefined : found.hostname;
}

/** What AWS says of a group that is full, with how many rules are asked for. */
function withRoom(error: unknown, { desire, seen: { managedGroup } }: Survey): unknown {
  if (!isAwsError(error, "limit-exceeded") || error.action !== authorizeSecurityGroupIngress.name) return error;
  const [group] = managedGroups(desire.model);
  if (group === undefined) return error;
  const kept = managedGroup?.rules.filter((rule) => group.rules.some((wanted) => ruleKey(wanted) === seenRuleKey(rule))) ?? [];
  const text = noRoomText(`security group ${group.name}`, kept, missingRules(group, managedGroup));
  return new Error(`${text}: ${error.message}`, { cause: error });
}

/** What was written is not as the lists have it. */
function touch({ owner, kind, steps, desire: { model }, seen }: Survey, inventory: Inventory): void {
  if (steps.length === 0) return;
  kind.touch(model.name, inventory, owner.key);
  for (const { name } of managedGroups(model)) inventory.touchGroup({ name }, owner.key);
  if (seen.managedGroup) inventory.touchGroup(seen.managedGroup, owner.key);
  kind.touchParts(model, seen, inventory, owner.key);
}

/** After the steps: the attributes they have written are known if all went well, and none are if not. */
function noteAttributes(survey: Survey, inventory: Inventory, now: number, allDone: boolean): void {
  const { owner, kind, attributesKey, desire, seen, steps, found } = survey;
  const { model } = desire;
  if (allDone) kind.rememberAttributes({ model, seen, steps, isNew: found === undefined }, attributesKey, inventory, now);
  else for (const each of owner.kinds) each.forgetAttributes(model.name, attributesKey, inventory);
}
