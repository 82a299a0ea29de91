/**
 * A listener that serves is led to another target group only when that has targets: until then the steps that bring new groups are
 * taken, and no other.
 */
import { modifyListener } from "../../aws/elbv2-actions.ts";
import { isMade, isStepOf, type Step } from "../../aws/plan.ts";
import type { Clock } from "../../runtime/world.ts";
import type { Survey } from "../survey.ts";
import type { SeenTargetGroup } from "../target-group-plan.ts";
import type { SeenBinding } from "../targets/binding.ts";

/** How long a listener that serves waits for the targets of a new group; they may never come. */
const maxMoveMs = 120_000;

/** The actions that lead traffic elsewhere, and wait. */
export type Moves = readonly Pick<Step["action"], "service" | "name">[];

/** Whether listeners of an owner wait. Since when each does is kept in `moving`, on the monotonic clock. */
export function listenersWait(
  key: string,
  { seen, steps }: Pick<Survey, "seen" | "steps">,
  own: readonly SeenBinding[],
  moving: Map<string, number>,
  clock: Clock,
  moves: Moves = [modifyListener],
): boolean {
  const now = clock.monotonic();
  const groups = steps.filter((step) => moves.some((action) => isStepOf(step, action))).flatMap(groupsForwardedTo);
  const isEmpty = emptyAmong(seen, own);
  const waits = groups.some((arn) => isMade(arn) || isEmpty(String(arn)));
  if (!waits) moving.delete(key);
  else if (!moving.has(key)) moving.set(key, now);
  return waits && now - (moving.get(key) ?? now) < maxMoveMs;
}

/** Whether a group that stands has none of the targets that it is to have. */
export function emptyAmong(seen: Survey["seen"], own: readonly SeenBinding[]): (arn: string) => boolean {
  const standing = (seen as { readonly targetGroups?: readonly SeenTargetGroup[] }).targetGroups ?? [];
  return (arn) => {
    const targets = own.find(({ spec }) => spec.targetGroupARN === arn)?.status.targets;
    // Whoever makes a group of load balancers fills it, too.
    return (
      standing.some((group) => group.arn === arn && group.targetType !== "alb") &&
      (targets === undefined || (targets.wanted > 0 && targets.registered === 0))
    );
  };
}

/** What changes nothing about where traffic goes. */
export const isPreparation = (step: Step) => step.effect === "create" && !/Listener|Rule/.test(step.action.name);

interface ForwardInput {
  /** Of a listener. */
  readonly DefaultActions?: readonly ForwardAction[];
  /** Of a rule. */
  readonly Actions?: readonly ForwardAction[];
}

interface ForwardAction {
  readonly TargetGroupArn?: unknown;
  readonly ForwardConfig?: { readonly TargetGroups?: readonly { readonly TargetGroupArn?: unknown }[] };
}

/** ARNs, or the promise of them. */
export function groupsForwardedTo({ input }: Step): readonly unknown[] {
  const { DefaultActions, Actions } = input as ForwardInput;
  const actions = DefaultActions ?? Actions ?? [];
  return actions.flatMap(({ TargetGroupArn, ForwardConfig }) => [
    ...(TargetGroupArn === undefined ? [] : [TargetGroupArn]),
    ...(ForwardConfig?.TargetGroups ?? []).map((each) => each.TargetGroupArn),
  ]);
}
