/** Brings a Gateway's load balancer and its bindings to what it asks for. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { deleteTargetGroup, modifyCapacityReservation, modifyListener, modifyRule } from "../../aws/elbv2-actions.ts";
import type { AwsError } from "../../aws/errors.ts";
import { isStepOf, type Step } from "../../aws/plan.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { guardsUnknown, isGuardStep } from "../application/guards.ts";
import type { SeenApplication } from "../application/plan.ts";
import { registerBalancers } from "../elbv2/balancer-targets.ts";
import { type BoundDeployed, deployBound } from "../elbv2/bound-deploy.ts";
import { isActive } from "../elbv2/load-balancer-parts.ts";
import { isPreparation, listenersWait, type Moves } from "../elbv2/moves.ts";
import { Setbacks } from "../setbacks.ts";
import { bindingsOf } from "../targets/owned-bindings.ts";
import type { GatewayContext } from "./context.ts";
import { earlyMoves, noEarlyMoves } from "./early-moves.ts";
import { managedSource } from "./load-balancer.ts";
import { bindingLabels, parts } from "./names.ts";
import { remember } from "./refused.ts";
import type { SeenGateway } from "./report.ts";
import type { GatewaySurvey } from "./survey.ts";
import { logStep, waitMs } from "./telling.ts";
import { keyOf } from "./view.ts";

export interface Deployed extends BoundDeployed {
  /** What is left to do. */
  readonly waits?: Outcome;
  /** What the API server has refused of single bindings. */
  readonly setbacks: Setbacks;
}

/** How soon a load balancer is looked at again that is being provisioned: that takes minutes, and it serves without. */
const activeMs = 30_000;

/** `refused`: AWS does not take what one of those asks for who share the Gateway. That is remembered: the next survey does without. */
export async function deploy(
  gateway: SeenGateway,
  survey: GatewaySurvey,
  context: GatewayContext,
  ask: Ask,
): Promise<Deployed | "refused"> {
  let refused: { readonly step: Step; readonly error: AwsError } | undefined;
  try {
    return await deployAll(gateway, survey, context, ask, (step, error) => {
      refused = { step, error };
    });
  } catch (error) {
    const message = messageOf(error);
    if (refused === undefined || !remember({ ...refused, message }, gateway.view, survey.desire, context.refusals)) throw error;
    context.host.log.info(`AWS refuses to ${refused.step.what}`, { gateway: keyOf(gateway.view), err: message });
    return "refused";
  }
}

async function deployAll(
  gateway: SeenGateway,
  { seen, desire, replaced }: GatewaySurvey,
  context: GatewayContext,
  ask: Ask,
  onRefused: (step: Step, error: AwsError) => void,
): Promise<Deployed> {
  const { inventory, host, newGroups, kube, bindings, flavour } = context;
  const labels = bindingLabels(flavour, gateway.view);
  const onStep = logStep(context, gateway);
  const own = bindingsOf(labels, bindings);
  const moves = movesOf(seen, desire);
  const isWaiting = listenersWait(keyOf(gateway.view), seen, own, context.moving, host.world.clock, moves);
  const early = moves && !isWaiting ? earlyMoves({ seen, desire }, own, moves) : noEarlyMoves;
  // AWS reserves capacity for what is active only: that comes later, and nothing waits for it.
  const isEarly = (step: Step) => isStepOf(step, modifyCapacityReservation) && !isActive(seen.found?.state);
  const isLeft = (step: Step) => early.steps.has(step) || deletesOneOf(early.groups, step);
  const isNow = (step: Step) => !isGuardStep(step) && !isEarly(step) && !isLeft(step) && (!isWaiting || isPreparation(step));
  const steps = seen.steps.filter(isNow);
  const setbacks = new Setbacks();
  const bound = await deployBound(
    {
      labels,
      survey: { ...seen, steps },
      bindings: desire.bindings,
      managedSource,
      kept: [...replaced.targetGroups.map(({ arn }) => arn), ...desire.keptGroups, ...early.groups],
      keepsAll: isWaiting,
    },
    {
      inventory,
      kube,
      bindings,
      clock: host.world.clock,
      newGroups,
      onStep,
      onRefused,
      onBindingError: (_, error) => setbacks.note(error),
    },
    ask,
  );
  const deployed = { ...bound, setbacks };
  const { applied } = deployed.ensured;
  if (!isWaiting && applied.kind === "done") context.formerRules.set(keyOf(gateway.view), desire.rules);
  if (desire.refused.size === 0) context.refusals.forget(gateway.view);
  if (applied.kind === "waiting") return { ...deployed, waits: again(waitMs, applied.why) };
  const unregistered = await registerTargets(desire, deployed, context, ask, onStep);
  const unguarded = isWaiting ? undefined : await applyGuards(gateway, { seen, desire }, applied.made, context, ask);
  const waits = isWaiting
    ? again(waitMs, "the targets of new target groups are being registered")
    : deployed.postponed > 0
      ? again(waitMs, "bindings of target groups that are no longer wanted are being emptied")
      : (unregistered ?? unguarded);
  if (waits) return { ...deployed, waits };
  if (early.steps.size > 0) return { ...deployed, waits: again(activeMs, "target groups have no targets yet: rules stay as they are") };
  return seen.steps.some(isEarly)
    ? { ...deployed, waits: again(activeMs, "capacity is reserved when the load balancer is active") }
    : deployed;
}

const deletesOneOf = (groups: ReadonlySet<string>, step: Step) =>
  isStepOf(step, deleteTargetGroup) && groups.has(String((step.input as { readonly TargetGroupArn?: unknown }).TargetGroupArn));

/**
 * What waits for the targets of new groups: listeners always; rules where groups come to be shared, or cease to be, because then all
 * routes move at once.
 */
function movesOf({ seen }: GatewaySurvey["seen"], { sharedBy }: GatewaySurvey["desire"]): Moves | undefined {
  const { targetGroups = [] } = seen as Partial<Pick<SeenApplication, "targetGroups">>;
  const hasShared = sharedBy.size > 0 || targetGroups.some(({ part = "" }) => parts.isShared(part));
  return hasShared ? [modifyListener, modifyRule] : undefined;
}

/** Load balancers of other Gateways, which no binding registers. */
function registerTargets(
  { balancers }: GatewaySurvey["desire"],
  { arns }: BoundDeployed,
  { inventory }: GatewayContext,
  ask: Ask,
  onStep: (step: Step) => void,
): Promise<Outcome | undefined> {
  const targets = [...balancers].map(([name, { arn, port }]) => ({ group: { name, arn: arns.get(name) ?? "" }, balancer: arn, port }));
  return registerBalancers(targets, inventory.cloud, ask, onStep);
}

/** After everything else: that something guards the load balancer badly is no reason not to serve. */
async function applyGuards(
  gateway: SeenGateway,
  { seen, desire }: Pick<GatewaySurvey, "seen" | "desire">,
  made: ReadonlyMap<string, string>,
  context: GatewayContext,
  ask: Ask,
): Promise<Outcome | undefined> {
  const { inventory } = context;
  const steps = seen.steps.filter(isGuardStep);
  const unknown = guardsUnknown(seen.seen as SeenApplication);
  if (steps.length === 0 && unknown === undefined) return undefined;
  try {
    const applied = await apply(steps, inventory.cloud, { ...ask, made, onStep: logStep(context, gateway) });
    if (unknown) throw unknown;
    return applied.kind === "waiting" ? again(waitMs, applied.why) : undefined;
  } finally {
    inventory.cloud.protections.forget(arnOf(seen, desire, made));
  }
}

/** The ARN of a Gateway's load balancer, once it stands. */
export function arnOf({ found }: GatewaySurvey["seen"], { model }: GatewaySurvey["desire"], made: ReadonlyMap<string, string>): string {
  return (found as { readonly arn?: string } | undefined)?.arn ?? made.get(`load balancer ${model.name}`) ?? "";
}
