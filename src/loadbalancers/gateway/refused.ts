/**
 * What AWS refuses of one route: a target group that stands stays as it is and serves on, a route of which something new is refused is
 * left out, and nobody else waits for either.
 */
import { modifyTargetGroup, modifyTargetGroupAttributes } from "../../aws/elbv2-actions.ts";
import type { AwsError } from "../../aws/errors.ts";
import { isMade, isStepOf, type Step } from "../../aws/plan.ts";
import { refusedTo } from "../refusals.ts";
import type { GatewayContext } from "./context.ts";
import type { GatewayDesire } from "./desire.ts";
import type { GatewayWish } from "./draft.ts";
import { note } from "./rules.ts";
import { type RouteView, routeKeyOf } from "./view.ts";

type RefusedContext = Pick<GatewayContext, "refusals" | "refusedChanges">;

const routesOf = ({ attachment }: GatewayWish): readonly RouteView[] => [...attachment.byPort.values()].flat().map(({ route }) => route);

/** Remembers it, so that the next survey does without. False: it is nobody's own, or was to be done without already. */
export function remember(step: Step, error: AwsError, message: string, wish: GatewayWish, context: RefusedContext): boolean {
  const key = refusedTo(step, error);
  const route = routesOf(wish).find((each) => routeKeyOf(each) === key);
  if (key === undefined || route === undefined) return false;
  if (changesStanding(step)) {
    if (context.refusedChanges.of(step.what, step) !== undefined) return false;
    context.refusedChanges.note(step.what, step, message);
    return true;
  }
  if (context.refusals.of(key, route) !== undefined) return false;
  context.refusals.note(key, route, message);
  return true;
}

function changesStanding(step: Step): boolean {
  const { TargetGroupArn: arn } = step.input as { readonly TargetGroupArn?: unknown };
  return (isStepOf(step, modifyTargetGroup) || isStepOf(step, modifyTargetGroupAttributes)) && !isMade(arn);
}

/** Steps that AWS has refused, and would again. */
export const refusedAmong = (steps: readonly Step[], { refusedChanges }: RefusedContext): readonly Step[] =>
  steps.filter((step) => refusedChanges.of(step.what, step) !== undefined);

/** Tells the routes that ask for them. */
export function noteRefused(steps: readonly Step[], wish: GatewayWish, failures: GatewayDesire["failures"], context: RefusedContext): void {
  for (const step of refusedAmong(steps, context)) {
    const message = context.refusedChanges.of(step.what, step) ?? "";
    const route = routesOf(wish).find((each) => routeKeyOf(each) === step.by);
    for (const ruleIndex of route?.rules.keys() ?? []) note(failures, route!, ruleIndex, { reason: "UnsupportedValue", message });
  }
}

/** Whether something of it is to be tried again. */
export const hasRefused = (steps: readonly Step[], wish: GatewayWish, context: RefusedContext): boolean =>
  refusedAmong(steps, context).length > 0 || routesOf(wish).some((route) => context.refusals.has(routeKeyOf(route)));
