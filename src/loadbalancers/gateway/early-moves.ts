/**
 * Where groups come to be shared, or cease to be, rules go from one group of a Service's port to another of the same. Should its targets not come
 * (AWS registers none for minutes), the rule stays where it is: that serves the same pods. Pure.
 */
import type { Action } from "@aws-sdk/client-elastic-load-balancing-v2";
import { isMade, isStepOf, type Step } from "../../aws/plan.ts";
import { sameConditions } from "../application/conditions.ts";
import { leadsTo, type SeenRule } from "../application/plan-rules.ts";
import { emptyAmong, groupsForwardedTo, type Moves } from "../elbv2/moves.ts";
import { type SeenTargetGroup, standsFor } from "../target-group-plan.ts";
import type { BindingSpec, SeenBinding } from "../targets/binding.ts";
import type { GatewaySurvey } from "./survey.ts";
import { keyOf } from "./view.ts";

export interface EarlyMoves {
  readonly steps: ReadonlySet<Step>;
  /** ARNs of the groups that stay for them. */
  readonly groups: ReadonlySet<string>;
}

export const noEarlyMoves: EarlyMoves = { steps: new Set(), groups: new Set() };

interface SeenFront {
  readonly arn: string;
  readonly port: number;
  readonly actions: readonly Action[];
  readonly rules?: readonly SeenRule[];
}

/** Those that would lead requests from the targets of a Service's port to a group that has none of them yet. */
export function earlyMoves(
  { seen, desire }: Pick<GatewaySurvey, "seen" | "desire">,
  own: readonly SeenBinding[],
  moves: Moves,
): EarlyMoves {
  const isEmpty = emptyAmong(seen.seen, own);
  const { targetGroups = [] } = seen.seen as { readonly targetGroups?: readonly SeenTargetGroup[] };
  /** By ARN, or by the promise of one: a binding that could not be written yet counts, too. */
  const wished = desire.bindings.map(({ namespace, targetGroup, spec }) => {
    const group = desire.model.targetGroups.find(({ name }) => name === targetGroup);
    const present = group && targetGroups.find((each) => standsFor(each, group));
    return [present?.arn ?? `target group ${targetGroup}`, portOf(namespace, spec)] as const;
  });
  const ports = new Map<string, string>([
    ...own.map(({ metadata: { namespace }, spec }) => [spec.targetGroupARN ?? "", portOf(namespace, spec)] as const),
    ...wished,
  ]);
  const filled = new Set(own.filter(({ status }) => (status.targets?.registered ?? 0) > 0).map(({ spec }) => spec.targetGroupARN ?? ""));
  const { listeners = [] } = (seen.seen as { readonly loadBalancer?: { readonly listeners?: readonly SeenFront[] } }).loadBalancer ?? {};
  /** What answers the same requests now. */
  const standingFor = ({ input }: Step): Pick<SeenFront, "actions"> | undefined => {
    const { RuleArn, ListenerArn } = input as { readonly RuleArn?: unknown; readonly ListenerArn?: unknown };
    if (RuleArn === undefined) return listeners.find(({ arn }) => arn === ListenerArn);
    const listener = listeners.find(({ rules = [] }) => rules.some(({ arn }) => arn === RuleArn));
    const rule = listener?.rules?.find(({ arn }) => arn === RuleArn);
    const isAsked = desire.rules.some(
      ({ port, conditions }) => port === listener?.port && sameConditions(conditions, rule?.conditions ?? []),
    );
    return isAsked ? rule : undefined;
  };
  const early = seen.steps.flatMap((step) => {
    if (!moves.some((action) => isStepOf(step, action))) return [];
    const empty = groupsForwardedTo(step).filter((arn) => isMade(arn) || isEmpty(String(arn)));
    const now = leadsTo(standingFor(step) ?? { actions: [] });
    const served = new Set(now.filter((arn) => filled.has(arn)).map((arn) => ports.get(arn)));
    const isEarly = empty.length > 0 && empty.every((arn) => served.has(ports.get(isMade(arn) ? arn.made : String(arn))));
    return isEarly ? [{ step, now }] : [];
  });
  return { steps: new Set(early.map(({ step }) => step)), groups: new Set(early.flatMap(({ now }) => now)) };
}

const portOf = (namespace: string, { serviceRef: { name, port } }: Pick<BindingSpec, "serviceRef">) =>
  `${keyOf({ namespace, name })}:${port}`;
