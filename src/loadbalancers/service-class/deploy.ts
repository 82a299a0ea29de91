/** Brings a Service's load balancer and its bindings to what it asks for. */
import type { Ask } from "../../aws/ask.ts";
import { modifyListener } from "../../aws/elbv2-actions.ts";
import { isMade, isStepOf, type Step } from "../../aws/plan.ts";
import { applySurvey, type Ensured } from "../apply.ts";
import { managedGroups } from "../model.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { SeenNetwork } from "../network/plan.ts";
import type { SeenService } from "../service-state.ts";
import type { Survey } from "../survey.ts";
import type { SeenBinding } from "../targets/binding.ts";
import { bindingsOf, deleteBindings, deletesBoundGroup, writeBindings } from "../targets/owned-bindings.ts";
import { TargetSets } from "../targets/target-set.ts";
import { noTargets } from "../targets.ts";
import type { ClassContext } from "./context.ts";
import { bindingLabels } from "./names.ts";
import { managedSource } from "./security-groups.ts";
import type { ClassSurvey } from "./survey.ts";
import { logStep } from "./telling.ts";
import { keyOf } from "./view.ts";

export interface Deployed {
  readonly ensured: Ensured;
  readonly wroteBindings: boolean;
  /** Why it is not over yet. */
  readonly waitsFor?: string;
}

/** How long a listener that serves waits for the targets of a new group; they may never come. */
const maxMoveMs = 120_000;

export async function deploy(
  service: SeenService,
  { seen, desire, replaced }: ClassSurvey,
  context: ClassContext,
  ask: Ask,
): Promise<Deployed> {
  const { inventory, host, newGroups } = context;
  const labels = bindingLabels(service.view);
  const own = bindingsOf(labels, context.bindings);
  const move = moveOf(service, seen, own, context);
  const bound = seen.steps.filter((step) => deletesBoundGroup(step, own));
  const steps = (move.waits ? seen.steps.filter(isPreparation) : seen.steps).filter((step) => !bound.includes(step));
  const targetSets = new TargetSets();
  const ensured = await applySurvey(
    { ...seen, steps },
    {
      inventory,
      clock: host.world.clock,
      onStep: logStep(context, service),
      newGroups,
      targetSets,
      began: targetSets.now(),
      wanted: async () => noTargets,
    },
    ask,
  );
  const { targetGroups } = boundNetwork.afterParts(desire.model, seen.seen as SeenNetwork, ensured.applied.made);
  const arns = new Map(desire.model.targetGroups.map(({ name }, i) => [name, targetGroups[i]?.arn || undefined]));
  const [managed] = managedGroups(desire.model);
  const groupId = seen.seen.managedGroup?.id ?? ensured.applied.made.get(`security group ${managed?.name}`) ?? "";
  const ids = { arnOf: (name: string) => arns.get(name), groupId: (id: string) => (id === managedSource ? groupId : id) };
  const wroteBindings = await writeBindings(labels, desire.bindings, ids, context, ask.signal);
  if (move.waits) return { ensured, wroteBindings, waitsFor: "the targets of new target groups are being registered" };
  const kept = new Set([...arns.values(), ...replaced.targetGroups.map(({ arn }) => arn)]);
  const surplus = own.filter(({ spec }) => !kept.has(spec.targetGroupARN));
  await deleteBindings(surplus, context, ask.signal);
  const waitsFor = bound.length > 0 ? "bindings of target groups that are no longer wanted are being emptied" : undefined;
  return { ensured, wroteBindings, ...(waitsFor !== undefined && { waitsFor }) };
}

/**
 * A listener that serves is led to another group only when that has targets: until then the steps that bring new groups are
 * taken, and no other.
 */
function moveOf({ view }: SeenService, seen: Survey, own: readonly SeenBinding[], { moving, host }: ClassContext): Move {
  const key = keyOf(view);
  const now = host.world.clock.monotonic();
  const groups = seen.steps.filter((step) => isStepOf(step, modifyListener)).flatMap(groupsForwardedTo);
  const standing = (seen.seen as SeenNetwork).targetGroups.map(({ arn }) => arn);
  const isEmpty = (arn: string) => {
    const targets = own.find(({ spec }) => spec.targetGroupARN === arn)?.status.targets;
    return standing.includes(arn) && (targets === undefined || (targets.wanted > 0 && targets.registered === 0));
  };
  const waits = groups.some((arn) => isMade(arn) || isEmpty(String(arn)));
  if (!waits) moving.delete(key);
  else if (!moving.has(key)) moving.set(key, now);
  return { waits: waits && now - (moving.get(key) ?? now) < maxMoveMs };
}

interface Move {
  readonly waits: boolean;
}

/** What changes nothing about where traffic goes. */
const isPreparation = (step: Step) => step.effect === "create" && !/Listener/.test(step.action.name);

interface ForwardInput {
  readonly DefaultActions?: readonly {
    readonly TargetGroupArn?: unknown;
    readonly ForwardConfig?: { readonly TargetGroups?: readonly { readonly TargetGroupArn?: unknown }[] };
  }[];
}

function groupsForwardedTo({ input }: Step): readonly unknown[] {
  const actions = (input as ForwardInput).DefaultActions ?? [];
  return actions.flatMap(({ TargetGroupArn, ForwardConfig }) => [
    ...(TargetGroupArn === undefined ? [] : [TargetGroupArn]),
    ...(ForwardConfig?.TargetGroups ?? []).map((each) => each.TargetGroupArn),
  ]);
}
