/** What a listener or a rule does with a request: an optional check of who asks, then exactly one way to answer it. */
import type { Action, ActionTypeEnum, ForwardActionConfig, ProtocolEnum } from "@aws-sdk/client-elastic-load-balancing-v2";
import { invalidConfiguration } from "../balancing/network.ts";
import { ServiceError } from "../errors.ts";
import { authenticateCognito, authenticateOidc, validateJwt } from "./authentication.ts";
import { fixedResponse, redirect } from "./replies.ts";
import { type Elbv2, groupsIn, type LoadBalancer, targetGroupAt } from "./state.ts";
import { TYPES } from "./types.ts";
import { checkGroups } from "./usage.ts";

const MOST_GROUPS = 5;
/** The range of an action's place among others. */
const MAX_ORDER = 50_000;
const MAX_STICKINESS = 604_800;

/** What an action is checked in: its listener, and the actions that it replaces. */
export interface ActionContext {
  readonly elbv2: Elbv2;
  readonly loadBalancer: LoadBalancer;
  readonly protocol: ProtocolEnum;
  readonly before: readonly Action[];
}

const ROUTING: readonly (ActionTypeEnum | undefined)[] = ["forward", "redirect", "fixed-response"];

const CHECKS: Readonly<Partial<Record<ActionTypeEnum, (action: Action, context: ActionContext) => Action>>> = {
  forward: (action, { loadBalancer }) => forward(action, loadBalancer),
  redirect: (action, { protocol }) => redirect(action, protocol),
  "fixed-response": fixedResponse,
  "authenticate-oidc": (action, { before }) => authenticateOidc(action, before),
  "authenticate-cognito": authenticateCognito,
  "jwt-validation": validateJwt,
};

/** The actions as AWS keeps them: in their order, with defaults filled in and their target groups checked. */
export function checkedActions(context: ActionContext, given: readonly Action[]): readonly Action[] {
  const { loadBalancer, protocol } = context;
  if (given.length === 0) throw new ServiceError("ValidationError", "An action must be specified");
  const ordered = inOrder(given);
  const routing = ordered.filter(({ Type }) => ROUTING.includes(Type));
  if (routing.length > 1 || ordered.length > 2) throw new ServiceError("TooManyActions", "Only one action of each kind can be specified");
  for (const { Type: type } of ordered) {
    if (type === undefined || CHECKS[type] === undefined || !TYPES[loadBalancer.type].actions.includes(type)) {
      throw invalidAction(`The action type '${type}' is not valid for load balancers of type ${loadBalancer.type}`);
    }
    if (!ROUTING.includes(type) && protocol !== "HTTPS") {
      throw invalidAction(`Actions of type '${type}' are supported only on HTTPS listeners`);
    }
  }
  if (!ROUTING.includes(ordered.at(-1)?.Type)) {
    throw invalidAction("The last action must be of type 'forward', 'redirect' or 'fixed-response'");
  }
  const checked = ordered.map((action) => CHECKS[action.Type!]!(action, context));
  checkGroups(
    context,
    groupsIn(checked).map((arn) => targetGroupAt(context.elbv2, arn)),
  );
  return checked;
}

/** The actions as answers carry them: AWS never shows a client's secret again. */
export function shownActions(actions: readonly Action[]): Action[] {
  return actions.map((action) => {
    if (action.AuthenticateOidcConfig === undefined) return action;
    const { ClientSecret: _secret, ...shown } = action.AuthenticateOidcConfig;
    return { ...action, AuthenticateOidcConfig: shown };
  });
}

/** Whoever names a user pool must be allowed to look at its client. */
export function needsUserPool(given: readonly Action[] | undefined): readonly string[] {
  return given?.some(({ Type }) => Type === "authenticate-cognito") ? ["cognito-idp:DescribeUserPoolClient"] : [];
}

function inOrder(given: readonly Action[]): readonly Action[] {
  if (given.length === 1) return given;
  const places = given.map(({ Order }) => Order);
  const valid = places.every((place) => place !== undefined && place >= 1 && place <= MAX_ORDER);
  if (!valid || new Set(places).size < given.length) {
    throw new ServiceError("ValidationError", `Each of several actions must have an order of its own between 1 and ${MAX_ORDER}`);
  }
  return given.toSorted((a, b) => a.Order! - b.Order!);
}

/** A forward action is told in both ways, whichever it was given in. */
function forward(action: Action, { type }: LoadBalancer): Action {
  const config = forwardConfig(action, type === "application");
  const groups = config.TargetGroups ?? [];
  return {
    Type: "forward",
    ...(action.Order !== undefined && { Order: action.Order }),
    TargetGroupArn: groups.length === 1 ? groups[0]?.TargetGroupArn : undefined,
    ForwardConfig: config,
  };
}

function forwardConfig({ TargetGroupArn: arn, ForwardConfig: given }: Action, cookies: boolean): ForwardActionConfig {
  const listed = given?.TargetGroups ?? [];
  const groups = listed.length > 0 ? listed : [{ TargetGroupArn: arn }];
  if (groups.some((group) => group.TargetGroupArn === undefined)) {
    throw new ServiceError("ValidationError", "A target group ARN must be specified");
  }
  if (arn !== undefined && (groups.length !== 1 || groups[0]?.TargetGroupArn !== arn)) {
    throw invalidConfiguration("The target group of the action and those of its forward configuration must be the same");
  }
  if (groups.length > MOST_GROUPS) throw invalidConfiguration(`At most ${MOST_GROUPS} target groups can be specified in an action`);
  if (new Set(groups.map((group) => group.TargetGroupArn)).size < groups.length) {
    throw invalidConfiguration("A target group can be specified only once in an action");
  }
  return {
    TargetGroups: groups.map(({ TargetGroupArn, Weight = 1 }) => {
      if (Weight < 0 || Weight > 999) throw new ServiceError("ValidationError", `The weight must be between 0 and 999, not ${Weight}`);
      return { TargetGroupArn, Weight };
    }),
    TargetGroupStickinessConfig: stickiness(given, cookies),
  };
}

function stickiness({ TargetGroupStickinessConfig: given }: ForwardActionConfig = {}, cookies: boolean): object {
  const { Enabled: enabled = false, DurationSeconds: seconds } = given ?? {};
  if (!cookies) return { Enabled: enabled };
  if (seconds !== undefined && (seconds < 1 || seconds > MAX_STICKINESS)) {
    throw new ServiceError("ValidationError", `The stickiness duration must be between 1 and ${MAX_STICKINESS} seconds, not ${seconds}`);
  }
  if (enabled && seconds === undefined) {
    throw new ServiceError("ValidationError", "A duration must be specified when target group stickiness is enabled");
  }
  return { Enabled: enabled, ...(seconds !== undefined && { DurationSeconds: seconds }) };
}

function invalidAction(message: string): ServiceError {
  return new ServiceError("InvalidLoadBalancerAction", message);
}
