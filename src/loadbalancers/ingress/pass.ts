/** One look at a group, carried out and told. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { deleteTargetGroup } from "../../aws/elbv2-actions.ts";
import type { Step } from "../../aws/plan.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import type { FoundApplication } from "../application/find.ts";
import { application } from "../application/kind.ts";
import type { SeenApplication } from "../application/plan.ts";
import { applySurvey, type Ensured } from "../apply.ts";
import { managedGroups } from "../model.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import type { Survey } from "../survey.ts";
import { bindingsOf, deleteBindings, writeBindings } from "../targets/owned-bindings.ts";
import { TargetSets } from "../targets/target-set.ts";
import { noTargets } from "../targets.ts";
import { unknownAnnotations, unservedAnnotations } from "./annotations.ts";
import type { GroupContext } from "./context.ts";
import { type GroupDesire, managedSource } from "./desire.ts";
import { finalizerOf, type Group } from "./groups.ts";
import { bindingLabels } from "./names.ts";
import { ownerOf } from "./owner.ts";
import { removeGroup } from "./removal.ts";
import type { FailureReason } from "./report.ts";
import { surveyGroup } from "./survey.ts";
import { GroupFault, letGo, logStep, staleMs, telling, waitMs } from "./telling.ts";
import { keyOf } from "./view.ts";

export async function reconcileGroup(group: Group, context: GroupContext, ask: Ask): Promise<Outcome> {
  const owner = ownerOf(group.id, context.settings);
  return group.members.length === 0 ? removeGroup(group, owner, context, ask) : ensureGroup(group, owner, context, ask);
}

async function ensureGroup(group: Group, owner: LoadBalancerOwner, context: GroupContext, ask: Ask): Promise<Outcome> {
  const { report, memory } = context;
  const finalizer = finalizerOf(group.id);
  const seenOf = (key: string) => context.ingresses.get(key);
  const members = group.members.flatMap(({ ingress }) => seenOf(keyOf(ingress)) ?? []);
  const failing = <T>(reason: FailureReason, work: () => Promise<T>) => telling(members, reason, context, ask, work);
  for (const member of members) {
    if (!(await failing("FailedAddFinalizer", () => report.setFinalizer(member, finalizer, true, ask.signal))))
      return again(staleMs, "an Ingress has changed meanwhile");
  }
  const { seen, desire } = await failing("FailedBuildModel", () => surveyGroup(group, owner, context, ask));
  for (const member of members) {
    const { annotations } = member.view;
    report.warn(
      member,
      [...unservedAnnotations(annotations), ...unknownAnnotations(annotations)].map(({ message }) => message),
    );
  }
  for (const [key, faults] of desire.faults) {
    const ingress = seenOf(key);
    if (ingress) report.failed(ingress, "FailedBuildModel", faults.join("; "));
  }
  if (seen.problems.length > 0) {
    const message = seen.problems.map((problem) => problem.message).join("; ");
    const healthy = members.filter(({ view }) => !desire.faults.has(keyOf(view)));
    for (const member of healthy) report.failed(member, "FailedBuildModel", message);
    throw new GroupFault(message);
  }
  const { found } = seen;
  // While somebody is not understood nobody knows which scheme they asked for.
  if (found && found.internal !== desire.model.internal && desire.model.keepsUnclaimed === undefined) {
    // AWS changes no scheme, and lets a target group stand behind one load balancer only: the old one has to go first.
    await failing("FailedDeployModel", () =>
      apply(application.planDeletion(found as FoundApplication, owner.noun), context.inventory.cloud, ask),
    );
    application.touch(found.name, context.inventory, owner.key);
    return again(staleMs, "a load balancer of another scheme is made in the place of the one that was deleted");
  }
  const { ensured, postponed } = await failing("FailedDeployModel", () => deploy(group, seen, desire, context, ask));
  for (const [key, model] of desire.understood) memory.set(key, model);
  if (ensured.applied.kind === "done") context.secrets.markSent(owner.key);
  if (ensured.hostname !== undefined) {
    const ports = desire.model.listeners.map(({ port }) => port);
    for (const member of members) {
      await telling([member], "FailedUpdateStatus", context, ask, () => report.publish(member, ensured.hostname!, ports, ask.signal));
    }
  }
  if (ensured.applied.kind === "waiting") return again(waitMs, ensured.applied.why);
  if (postponed > 0) return again(waitMs, "bindings of target groups that nobody asks for are being emptied");
  for (const ingress of group.leaving) await letGo(ingress.namespace, ingress.name, finalizer, context, ask);
  if (seen.steps.length > 0) for (const member of members) if (!desire.faults.has(keyOf(member.view))) report.reconciled(member);
  if (desire.faults.size > 0) throw new GroupFault([...desire.faults].map(([key, faults]) => `${key}: ${faults.join("; ")}`).join("; "));
  return done;
}

interface Deployed {
  readonly ensured: Ensured;
  /** Target groups that cannot go before their bindings have. */
  readonly postponed: number;
}

async function deploy(group: Group, seen: Survey, desire: GroupDesire, context: GroupContext, ask: Ask): Promise<Deployed> {
  const { inventory, host } = context;
  const own = bindingsOf(bindingLabels(group.id), context.bindings);
  const isBound = (step: Step) =>
    step.action === (deleteTargetGroup as unknown as Step["action"]) &&
    own.some(({ spec }) => spec.targetGroupARN === (step.input as { readonly TargetGroupArn?: string }).TargetGroupArn);
  const steps = seen.steps.filter((step) => !isBound(step));
  const postponed = seen.steps.length - steps.length;
  const targetSets = new TargetSets();
  const ensured = await applySurvey(
    { ...seen, steps },
    {
      inventory,
      clock: host.world.clock,
      onStep: logStep(context, group),
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
  await writeBindings(bindingLabels(group.id), desire.bindings, ids, context, ask.signal);
  const kept = new Set([...arns.values(), ...keptArns(desire, seen)]);
  await deleteBindings(
    own.filter(({ spec }) => !kept.has(spec.targetGroupARN)),
    context,
    ask.signal,
  );
  return { ensured, postponed };
}

/** Target groups of Ingresses that nobody understands. */
function keptArns({ model }: GroupDesire, { seen }: Survey): readonly string[] {
  const prefixes = model.keepsUnclaimed?.prefixes ?? [];
  return (seen as SeenApplication).targetGroups
    .filter(({ part = "" }) => prefixes.some((prefix) => part.startsWith(prefix)))
    .map(({ arn }) => arn);
}
