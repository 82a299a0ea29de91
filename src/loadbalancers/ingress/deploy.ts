/** Carries out what a look at a group has planned, and writes the bindings that fill its target groups. */
import type { Ask } from "../../aws/ask.ts";
import { modifyCapacityReservation } from "../../aws/elbv2-actions.ts";
import type { AwsError } from "../../aws/errors.ts";
import { isStepOf, type Step } from "../../aws/plan.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { isGuardStep } from "../application/guards.ts";
import { application } from "../application/kind.ts";
import { isKept, type SeenApplication } from "../application/plan.ts";
import { applySurvey, type Ensured } from "../apply.ts";
import { managedGroups } from "../model.ts";
import { refusedTo } from "../refusals.ts";
import type { Setbacks } from "../setbacks.ts";
import { bindingsOf, deleteBindings, deletesBoundGroup, type OnBindingError, writeBindings } from "../targets/owned-bindings.ts";
import { TargetSets } from "../targets/target-set.ts";
import { noTargets } from "../targets.ts";
import type { GroupContext } from "./context.ts";
import { managedSource } from "./desire.ts";
import { type Group, keyIn } from "./groups.ts";
import { bindingLabels } from "./names.ts";
import { isSameWish } from "./refusals.ts";
import type { GroupSurvey } from "./survey.ts";
import { logStep } from "./telling.ts";

export interface Deployed {
  readonly ensured: Ensured;
  /** Target groups that cannot go before their bindings have. */
  readonly postponed: number;
  /** Whether something is left that AWS takes for an active load balancer only. */
  readonly needsActive: boolean;
}

/** `refused`: AWS does not take what one member asks for. That is remembered, so that the next survey leaves it out. */
export async function deploy(
  group: Group,
  survey: GroupSurvey,
  setbacks: Setbacks,
  context: GroupContext,
  ask: Ask,
): Promise<Deployed | "refused"> {
  let refused: string | undefined;
  const onRefused = (step: Step, error: AwsError) => {
    refused = refusedTo(step, error);
  };
  try {
    return await deployAll(group, survey, setbacks, context, ask, onRefused);
  } catch (error) {
    const model = refused === undefined ? undefined : survey.desire.understood.get(refused);
    const last = refused === undefined ? undefined : context.memory.get(refused);
    if (refused === undefined || (model === undefined && last === undefined)) throw error;
    const by = keyIn(group.id, refused);
    // It was refused before and should have been left out: without this the pass would repeat itself without end.
    if (model && context.refusals.of(by, model) !== undefined) throw error;
    if (model) context.refusals.note(by, model, messageOf(error));
    // What is remembered of it AWS has not taken either.
    if (model === undefined || (last && isSameWish(last, model))) context.memory.delete(refused);
    return "refused";
  }
}

async function deployAll(
  group: Group,
  { seen, desire, replaced }: GroupSurvey,
  setbacks: Setbacks,
  context: GroupContext,
  ask: Ask,
  onRefused: (step: Step, error: AwsError) => void,
): Promise<Deployed> {
  const { inventory, host, newGroups } = context;
  const own = bindingsOf(bindingLabels(group.id), context.bindings);
  const unguarded = seen.steps.filter((step) => !isGuardStep(step));
  const isEarly = (step: Step) => isStepOf(step, modifyCapacityReservation) && (seen.found?.state ?? "provisioning") === "provisioning";
  const steps = unguarded.filter((step) => !deletesBoundGroup(step, own) && !isEarly(step));
  const postponed = unguarded.filter((step) => deletesBoundGroup(step, own)).length;
  const targetSets = new TargetSets();
  const ensured = await applySurvey(
    { ...seen, steps },
    {
      inventory,
      clock: host.world.clock,
      onStep: logStep(context, group),
      onRefused,
      newGroups,
      targetSets,
      began: targetSets.now(),
      wanted: async () => noTargets,
    },
    ask,
  );
  const { targetGroups } = application.afterParts(desire.model, seen.seen as SeenApplication, ensured.applied.made);
  const arns = new Map(desire.model.targetGroups.map(({ name }, i) => [name, targetGroups[i]?.arn || undefined]));
  const [managed] = managedGroups(desire.model);
  const groupId = seen.seen.managedGroup?.id ?? ensured.applied.made.get(`security group ${managed?.name}`) ?? "";
  const ids = { arnOf: (name: string) => arns.get(name), groupId: (id: string) => (id === managedSource ? groupId : id) };
  const onError: OnBindingError = (targetGroup, error) => {
    setbacks.note(error);
    const by = desire.model.targetGroups.find(({ name }) => name === targetGroup)?.by;
    const ingress = typeof by === "string" ? context.ingresses.get(by) : undefined;
    if (ingress) context.report.failed(ingress, "FailedDeployModel", messageOf(error));
  };
  await writeBindings(bindingLabels(group.id), desire.bindings, ids, context, ask.signal, onError);
  const unclaimed = (seen.seen as SeenApplication).targetGroups.filter((each) => isKept(desire.model, each));
  const kept = new Set([...arns.values(), ...[...unclaimed, ...replaced.targetGroups].map(({ arn }) => arn)]);
  await deleteBindings(
    own.filter(({ spec }) => !kept.has(spec.targetGroupARN)),
    context,
    ask.signal,
    onError,
  );
  return { ensured, postponed, needsActive: unguarded.some(isEarly) };
}
