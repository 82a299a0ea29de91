/**
 * The rules of one listener: the steps from those that are seen to those that are wanted. A rule that only moves keeps its
 * ARN, and all moves are one call; whatever is new stands before what is not wanted goes. Pure.
 *
 *     seen         wanted       steps
 *     1A 2B 3C     1X 2A 3B     move A to 2, B to 3, C to 50000; create X at 1; delete C
 *     1A 2B        1A 2Y        change B into Y
 *     1A 2B        1X 2A' 3B    move A to 2 and B to 3; change A into A', which answers the same requests; create X at 1
 *     1A 2B        1A           delete B
 */
import type { Action, RuleCondition, RuleTransform } from "@aws-sdk/client-elastic-load-balancing-v2";
import { createRule, deleteRule, modifyRule, setRulePriorities } from "../../aws/elbv2-actions.ts";
import { type Made, type Step, step } from "../../aws/plan.ts";
import { type ArnOf, sameActions, sentActions } from "../elbv2/actions.ts";
import { type ForeignTags, planTags } from "../elbv2/tags.ts";
import { tagList } from "../groups/managed.ts";
import type { Tags } from "../model.ts";
import type { ListenerRule } from "../routing.ts";
import { conditionsText, sameConditions, sameTransforms, sentConditions, sentTransforms } from "./conditions.ts";

/** One that is not a listener's default. */
export interface SeenRule {
  readonly arn: string;
  readonly priority: number;
  readonly actions: readonly Action[];
  readonly conditions: readonly RuleCondition[];
  readonly transforms: readonly RuleTransform[];
  readonly tags: Tags;
}

/** What the steps of one listener's rules go by. */
export interface RulesContext {
  /** `HTTPS:443 of load balancer k8s-…` */
  readonly listener: string;
  readonly listenerArn: string | Made;
  readonly arnOf: ArnOf;
  /** Those of the load balancer, for rules without tags of their own. */
  readonly tags: Tags;
  readonly isForeignTag: ForeignTags;
}

/** The last priority that AWS takes. */
const lastPriority = 50_000;

/** What AWS grants a load balancer unless it was asked for more. */
const defaultQuota = 100;

const tooManyGroups = "TooManyUniqueTargetGroupsPerLoadBalancer";

export function planRules(wanted: readonly ListenerRule[], seen: readonly SeenRule[], context: RulesContext): Step[] {
  const { kept, moved, rewired, reused, added, removed } = matchRules(wanted, seen, context.arnOf);
  const creations = added.map((rule) => creation(rule, context));
  const deletions = removed.map((rule) => ruleDeletion(rule, context));
  const changes = (pairs: readonly Pair[]) => pairs.map(([rule, present]) => change(rule, present, context));
  // New rules come first, so that nobody is left without an answer, unless AWS may not take so many at once.
  const isCrowded = seen.length + added.length > defaultQuota;
  return [
    ...(moved.length > 0 ? [move(moved, removed, context)] : []),
    ...changes(rewired),
    // Should AWS refuse a new rule, what its author asked for before still stands: no other has been made of it yet.
    ...(isCrowded ? [...deletions, ...creations, ...changes(reused)] : [...creations, ...changes(reused), ...deletions]),
    ...[...new Set([...kept, ...moved, ...rewired, ...reused])].flatMap(([rule, present]) =>
      rule.untagged ? [] : planTags(ruleName(rule, context), present.arn, rule.tags ?? context.tags, present.tags, context.isForeignTag),
    ),
  ];
}

type Pair = readonly [wanted: ListenerRule, present: SeenRule];

interface Matches {
  /** As they are. */
  readonly kept: readonly Pair[];
  /** In another place than they should be. */
  readonly moved: readonly Pair[];
  /** Right but for what they do. */
  readonly rewired: readonly Pair[];
  /** Another rule in their place. */
  readonly reused: readonly Pair[];
  readonly added: readonly ListenerRule[];
  readonly removed: readonly SeenRule[];
}

function matchRules(wanted: readonly ListenerRule[], seen: readonly SeenRule[], arnOf: ArnOf): Matches {
  const open = new Set(seen);
  /** Pairs what fits, and gives back what is left. */
  const match = (rules: readonly ListenerRule[], fits: (rule: ListenerRule, present: SeenRule) => boolean): [Pair[], ListenerRule[]] => {
    const pairs: Pair[] = [];
    const rest: ListenerRule[] = [];
    for (const rule of rules) {
      const present = [...open].find((each) => fits(rule, each));
      if (present === undefined) rest.push(rule);
      else {
        pairs.push([rule, present]);
        open.delete(present);
      }
    }
    return [pairs, rest];
  };
  const isSamePlace = (rule: ListenerRule, present: SeenRule) => rule.priority === present.priority;
  const isSame = (rule: ListenerRule, present: SeenRule) => sameSettings(rule, present, arnOf);
  const isItself = (rule: ListenerRule, present: SeenRule) => rule.keeps === present.arn;
  const [standing] = match(
    wanted.filter(({ keeps }) => keeps !== undefined),
    isItself,
  );
  const others = wanted.filter(({ keeps }) => keeps === undefined);
  const [settled, unsettled] = match(others, (rule, present) => isSamePlace(rule, present) && isSame(rule, present));
  const [misplaced, different] = match(unsettled, isSame);
  // One that answers the same requests in another way is changed wherever it stands: they are never left without an answer.
  const [rewired, unknown] = match(different, (rule, present) => sameConditions(rule.conditions, present.conditions));
  const [reused, added] = match(unknown, isSamePlace);
  const isMoved = ([rule, present]: Pair) => !isSamePlace(rule, present);
  return {
    kept: [...settled, ...standing.filter((pair) => !isMoved(pair))],
    moved: [...misplaced, ...rewired.filter(isMoved), ...standing.filter(isMoved)],
    rewired,
    reused,
    added,
    removed: [...open],
  };
}

/** Whether a rule that stands does what is wanted, wherever it stands. */
export function sameSettings(rule: Pick<ListenerRule, "conditions" | "transforms" | "actions">, present: SeenRule, arnOf: ArnOf): boolean {
  return (
    sameConditions(rule.conditions, present.conditions) &&
    sameTransforms(rule.transforms, present.transforms) &&
    sameActions(rule.actions, arnOf, present.actions)
  );
}

/** All at once. What is about to go makes room, and answers last while it is still there. */
function move(moved: readonly Pair[], removed: readonly SeenRule[], { listener }: RulesContext): Step {
  const inOrder = removed.toSorted((a, b) => a.priority - b.priority);
  const priorities = [
    ...moved.map(([{ priority }, { arn }]) => ({ RuleArn: arn, Priority: priority })),
    ...inOrder.map(({ arn }, i) => ({ RuleArn: arn, Priority: lastPriority - (inOrder.length - 1 - i) })),
  ];
  const texts = moved.map(([rule, present]) => `${present.priority} to ${rule.priority}`);
  return step(
    setRulePriorities,
    { RulePriorities: priorities },
    { what: `move rules of ${listener}: ${texts.join(", ")}`, why: "their order has changed", waitsOn: ["RuleNotFound", "PriorityInUse"] },
  );
}

function change(rule: ListenerRule, present: SeenRule, context: RulesContext): Step {
  const transforms = sentTransforms(rule.transforms);
  return step(
    modifyRule,
    {
      RuleArn: present.arn,
      Conditions: sentConditions(rule.conditions),
      Actions: sentActions(rule.actions, context.arnOf),
      ...(transforms.length > 0 && { Transforms: transforms }),
      ...(transforms.length === 0 && present.transforms.length > 0 && { ResetTransforms: true }),
    },
    {
      what: `change ${ruleName(rule, context)}: ${conditionsText(rule.conditions)}`,
      why: rule.why,
      waitsOn: ["RuleNotFound"],
      needsRoom: [tooManyGroups],
      by: rule.by,
    },
  );
}

function creation(rule: ListenerRule, context: RulesContext): Step {
  const transforms = sentTransforms(rule.transforms);
  return step(
    createRule,
    {
      ListenerArn: context.listenerArn,
      Priority: rule.priority,
      Conditions: sentConditions(rule.conditions),
      Actions: sentActions(rule.actions, context.arnOf),
      ...(transforms.length > 0 && { Transforms: transforms }),
      ...(!rule.untagged && { Tags: tagList(rule.tags ?? context.tags) }),
    },
    {
      what: `create ${ruleName(rule, context)}: ${conditionsText(rule.conditions)}`,
      why: rule.why,
      // It was made a moment ago and is not seen yet, or its listener is not: look again.
      waitsOn: ["PriorityInUse", "ListenerNotFound"],
      // Those of other listeners count too, and those that are about to go.
      needsRoom: ["TooManyRules", tooManyGroups],
      by: rule.by,
    },
  );
}

/** Target groups that a rule forwards to. */
export function leadsTo({ actions }: Pick<SeenRule, "actions">): readonly string[] {
  return actions.flatMap(({ TargetGroupArn, ForwardConfig }) => [
    ...(TargetGroupArn ? [TargetGroupArn] : []),
    ...(ForwardConfig?.TargetGroups ?? []).flatMap(({ TargetGroupArn: arn }) => arn ?? []),
  ]);
}

export function ruleDeletion({ arn, priority }: SeenRule, { listener }: Pick<RulesContext, "listener">): Step {
  const what = `delete rule ${priority} of ${listener}`;
  return step(deleteRule, { RuleArn: arn }, { what, why: "nothing asks for it", settledBy: ["RuleNotFound"] });
}

const ruleName = ({ priority }: ListenerRule, { listener }: RulesContext) => `rule ${priority} of ${listener}`;
