/** Brings a Service's load balancer and its bindings to what it asks for. */
import type { Ask } from "../../aws/ask.ts";
import { applySurvey, type Ensured } from "../apply.ts";
import { isPreparation, listenersWait } from "../elbv2/moves.ts";
import { managedGroups } from "../model.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { SeenNetwork } from "../network/plan.ts";
import type { SeenService } from "../service-state.ts";
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

export async function deploy(
  service: SeenService,
  { seen, desire, replaced }: ClassSurvey,
  context: ClassContext,
  ask: Ask,
): Promise<Deployed> {
  const { inventory, host, newGroups } = context;
  const labels = bindingLabels(service.view);
  const own = bindingsOf(labels, context.bindings);
  const waits = listenersWait(keyOf(service.view), seen, own, context.moving, host.world.clock);
  const bound = seen.steps.filter((step) => deletesBoundGroup(step, own));
  const steps = (waits ? seen.steps.filter(isPreparation) : seen.steps).filter((step) => !bound.includes(step));
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
  if (waits) return { ensured, wroteBindings, waitsFor: "the targets of new target groups are being registered" };
  const kept = new Set([...arns.values(), ...replaced.targetGroups.map(({ arn }) => arn)]);
  const surplus = own.filter(({ spec }) => !kept.has(spec.targetGroupARN));
  await deleteBindings(surplus, context, ask.signal);
  const waitsFor = bound.length > 0 ? "bindings of target groups that are no longer wanted are being emptied" : undefined;
  return { ensured, wroteBindings, ...(waitsFor !== undefined && { waitsFor }) };
}
