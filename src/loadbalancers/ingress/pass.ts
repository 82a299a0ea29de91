/** One look at a group, carried out and told. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { modifyCapacityReservation } from "../../aws/elbv2-actions.ts";
import { type AwsError, isAwsError } from "../../aws/errors.ts";
import { isStepOf, type Step } from "../../aws/plan.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { isGuardStep } from "../application/guards.ts";
import { application } from "../application/kind.ts";
import { isKept, type SeenApplication } from "../application/plan.ts";
import { applySurvey, type Ensured } from "../apply.ts";
import { type GroupOnLoadBalancer, managedGroups } from "../model.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { refusedTo } from "../refusals.ts";
import { bindingsOf, deleteBindings, deletesBoundGroup, writeBindings } from "../targets/owned-bindings.ts";
import { TargetSets } from "../targets/target-set.ts";
import { noTargets } from "../targets.ts";
import { annotationKey } from "./annotations.ts";
import { recordAfter, recordBefore } from "./attribute-records.ts";
import { removeCertificates, requestCertificates } from "./certificate-pass.ts";
import { checkpointOf } from "./checkpoint.ts";
import type { GroupContext } from "./context.ts";
import { type GroupDesire, managedSource } from "./desire.ts";
import { type Behind, ensureFrontend } from "./frontend-pass.ts";
import { finalizerOf, type Group } from "./groups.ts";
import { mentionedGuards } from "./guards.ts";
import { leaveUnbuilt } from "./leaving.ts";
import { bindingLabels } from "./names.ts";
import { ownerOf } from "./owner.ts";
import { recordPlan } from "./plan-annotation.ts";
import { isSameWish } from "./refusals.ts";
import { removeGroup } from "./removal.ts";
import { addressOf, finishReplacement, noteHandOver, retire } from "./replacement.ts";
import type { FailureReason } from "./report.ts";
import type { SeenIngress } from "./seen.ts";
import { type GroupSurvey, surveyGroup } from "./survey.ts";
import { GroupFault, letAllGo, logStep, stale, staleMs, telling, waitMs, warnLeaving } from "./telling.ts";
import { keyOf } from "./view.ts";
import { warningsOn } from "./warnings.ts";

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
    if (!(await failing("FailedAddFinalizer", () => report.setFinalizer(member, finalizer, true, ask.signal)))) return stale;
  }
  const certificates = await failing("FailedDeployModel", () => requestCertificates(group, context, ask, logStep(context, group)));
  const survey = await failing("FailedBuildModel", () => surveyGroup(group, owner, context, certificates, ask));
  const { seen, desire, replaced } = survey;
  for (const member of members) report.warn(member, warningsOn(member, survey, context.settings));
  const { faults, waits } = withoutWaits(survey);
  // Whoever leaves what stands does not wait with those who stay.
  const isIdle = group.leaving.length === 0 || seen.problems.length > 0;
  if (faults.size === 0 && waits && desire.understood.size === 0 && isIdle) {
    await leaveUnbuilt(group, survey, context, ask);
    return waits;
  }
  if (faults.size > 0 || seen.problems.length > 0) context.metrics.failed("FailedBuildModel");
  for (const [key, texts] of faults) {
    const ingress = seenOf(key);
    if (ingress) report.failed(ingress, context.refusals.has(key) ? "FailedDeployModel" : "FailedBuildModel", texts.join("; "));
  }
  if (seen.problems.length > 0) {
    const message = seen.problems.map((problem) => problem.message).join("; ");
    const healthy = members.filter(({ view }) => !desire.faults.has(keyOf(view)));
    for (const member of healthy) report.failed(member, "FailedBuildModel", message);
    await leaveUnbuilt(group, survey, context, ask);
    throw new GroupFault(message);
  }
  if (replaced.inTheWay.length > 0) {
    await failing("FailedDeployModel", () => retire(replaced.inTheWay, owner, context, ask));
    return again(staleMs, "a load balancer of the other scheme replaces the one that was deleted");
  }
  await recordPlan(group, members, survey, context, ask);
  if (!survey.isGlance) context.checkpoints.lookedAt(owner.key);
  const isCleared = seen.steps.length === 0 || (await context.checkpoints.clear(group, context.ingresses, ask.signal));
  if (!isCleared || !(await recordBefore(group, survey, context, ask.signal))) return stale;
  const remember = () => {
    for (const [key, model] of desire.understood) memory.set(key, model);
  };
  const deployed = await failing("FailedDeployModel", () => deploy(group, survey, context, ask)).catch((error: unknown) => {
    // What got no answer, and what was done before it, is what they have now.
    if (isAwsError(error, "transient", "throttled")) remember();
    throw error;
  });
  // What AWS refuses of one Ingress keeps the others waiting no longer than this.
  if (deployed === "refused") return ensureGroup(group, owner, context, ask);
  const { ensured, postponed, needsActive } = deployed;
  remember();
  if (ensured.applied.kind === "done") {
    await recordSecrets(members, desire, context, ask);
    await recordAfter(group, survey, context, ask.signal);
  }
  const hostname = await failing("FailedDeployModel", () => addressOf(ensured, survey, owner, context, ask));
  const front = await ensureFrontend(group, owner, survey, behindOf(survey, ensured, hostname), context, ask).catch((error: unknown) => {
    ask.signal.throwIfAborted();
    return { error };
  });
  if (hostname !== undefined) {
    const ports = portsOf(survey);
    const inFront = "error" in front ? survey.front?.hostname : front.hostname;
    for (const member of members) {
      await telling([member], "FailedUpdateStatus", context, ask, () => report.publish(member, hostname, ports, inFront, ask.signal));
    }
  }
  noteHandOver(ensured, hostname, replaced, owner, context);
  if (ensured.applied.kind === "waiting") return again(waitMs, ensured.applied.why);
  if (postponed > 0) return again(waitMs, "bindings of target groups that are no longer wanted are being emptied");
  // Whoever is not understood may still be served with one.
  const keptFor = [...desire.faults.keys()];
  const removed = await failing("FailedDeployModel", () =>
    removeCertificates(group, certificates, keptFor, context, ask, logStep(context, group)),
  );
  warnLeaving(group, removed.complaint, context);
  // Whoever leaves waits for its certificate to go; that somebody else uses one holds up nothing else.
  const left = removed.isCleared
    ? await letAllGo(group, context, ask)
    : again(certificateMs, "a certificate that nothing asks for is still in use");
  if (seen.steps.length > 0) for (const member of members) if (!desire.faults.has(keyOf(member.view))) report.reconciled(member);
  if ("error" in front) {
    await telling(membersInFront(group, context), "FailedDeployModel", context, ask, () => Promise.reject(front.error));
    return done;
  }
  const guarded = await applyGuards(group, survey, ensured.applied.made, context, ask);
  const moved = await finishReplacement(replaced, owner, context, ask);
  if (faults.size > 0) throw new GroupFault([...faults].map(([key, texts]) => `${key}: ${texts.join("; ")}`).join("; "));
  const unsettled = left ?? front.outcome ?? guarded ?? moved ?? waits;
  if (unsettled) return unsettled;
  // Of one that was made just now nobody knows its state.
  if (needsActive) return again(seen.found ? activeMs : staleMs, "capacity is reserved when the load balancer is active");
  if (survey.isGlance) return again(context.checkpoints.trustedMs(owner.key), "its listeners and rules are looked at within the hour");
  await context.checkpoints.record(
    group,
    checkpointOf(desire, seen.seen as SeenApplication, ensured.applied.made),
    context.ingresses,
    ask.signal,
  );
  return done;
}

/** How soon AWS is asked again whether a certificate is issued: that takes minutes. */
const certificateMs = 20_000;

/** How soon a load balancer is looked at again that is being provisioned: that takes minutes, and it serves without. */
const activeMs = 30_000;

/** Those whose certificates are on their way are not at fault. */
function withoutWaits({ desire, certificates: { answers } }: GroupSurvey) {
  const why = [...answers.values()].flatMap(({ waits }) => waits ?? [])[0];
  return {
    faults: new Map([...desire.faults].filter(([key, [text]]) => text !== answers.get(key)?.waits)),
    waits: why === undefined ? undefined : again(certificateMs, why),
  };
}

/** Those that say something about the load balancer in front. */
function membersInFront({ members }: Group, { ingresses }: GroupContext): readonly SeenIngress[] {
  const key = annotationKey("enable-frontend-nlb");
  return members.flatMap(({ ingress }) => (ingress.annotations[key] === undefined ? [] : (ingresses.get(keyOf(ingress)) ?? [])));
}

/** What one in front leads to: the load balancer whose address is published, with the security groups that are on the group's own. */
function behindOf({ seen, desire, replaced }: GroupSurvey, { applied }: Ensured, hostname: string | undefined): Behind {
  const own = (seen.seen as SeenApplication).loadBalancer?.arn ?? applied.made.get(`load balancer ${desire.model.name}`) ?? "";
  const old = replaced.loadBalancers.find((lb) => lb.hostname === hostname);
  const { securityGroups } = desire.model;
  const managed = seen.seen.managedGroup?.id;
  const idOf = (entry: GroupOnLoadBalancer) =>
    entry.kind === "given" ? entry.id : (managed ?? applied.made.get(`security group ${entry.group.name}`) ?? "");
  return {
    arn: old?.arn ?? own,
    securityGroups: securityGroups.kind === "wanted" ? securityGroups.groups.map(idOf) : (seen.found?.securityGroups ?? []),
  };
}

/** All ports of the group; those too that are kept for somebody who cannot be understood. */
function portsOf({ desire: { model }, seen }: GroupSurvey): readonly number[] {
  const kept = model.keepsUnclaimed ? ((seen.seen as SeenApplication).loadBalancer?.listeners ?? []) : [];
  return [...new Set([...model.listeners, ...kept].map(({ port }) => port))];
}

/** What AWS has now is written down, as it never tells. */
async function recordSecrets(
  members: readonly SeenIngress[],
  { understood }: GroupDesire,
  { secrets, report }: GroupContext,
  { signal }: Ask,
) {
  for (const member of members) {
    const key = keyOf(member.view);
    if (understood.has(key)) await report.recordSecrets(member, secrets.markSent(key), signal);
  }
}

/** After everything else: that something guards the load balancer badly is no reason not to serve. */
async function applyGuards(
  group: Group,
  { seen, desire }: GroupSurvey,
  made: ReadonlyMap<string, string>,
  context: GroupContext,
  ask: Ask,
): Promise<Outcome | undefined> {
  const { inventory, settings } = context;
  const steps = seen.steps.filter(isGuardStep);
  if (steps.length === 0) return undefined;
  const concerned = group.members.filter((member) => mentionedGuards([member], annotationKey, settings).length > 0);
  const authors = concerned.flatMap(({ ingress }) => context.ingresses.get(keyOf(ingress)) ?? []);
  const arn = (seen.seen as SeenApplication).loadBalancer?.arn ?? made.get(`load balancer ${desire.model.name}`) ?? "";
  try {
    const work = () => apply(steps, inventory.cloud, { ...ask, made, onStep: logStep(context, group) });
    const applied = await telling(authors, "FailedDeployModel", context, ask, work);
    return applied.kind === "waiting" ? again(waitMs, applied.why) : undefined;
  } finally {
    inventory.cloud.protections.forget(arn);
  }
}

interface Deployed {
  readonly ensured: Ensured;
  /** Target groups that cannot go before their bindings have. */
  readonly postponed: number;
  /** Whether something is left that AWS takes for an active load balancer only. */
  readonly needsActive: boolean;
}

/** `refused`: AWS does not take what one member asks for. That is remembered, so that the next survey leaves it out. */
async function deploy(group: Group, survey: GroupSurvey, context: GroupContext, ask: Ask): Promise<Deployed | "refused"> {
  let refused: string | undefined;
  const onRefused = (step: Step, error: AwsError) => {
    refused = refusedTo(step, error);
  };
  try {
    return await deployAll(group, survey, context, ask, onRefused);
  } catch (error) {
    const model = refused === undefined ? undefined : survey.desire.understood.get(refused);
    const last = refused === undefined ? undefined : context.memory.get(refused);
    if (refused === undefined || (model === undefined && last === undefined)) throw error;
    if (model) context.refusals.note(refused, model, messageOf(error));
    // What is remembered of it AWS has not taken either.
    if (model === undefined || (last && isSameWish(last, model))) context.memory.delete(refused);
    return "refused";
  }
}

async function deployAll(
  group: Group,
  { seen, desire, replaced }: GroupSurvey,
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
  await writeBindings(bindingLabels(group.id), desire.bindings, ids, context, ask.signal);
  const unclaimed = (seen.seen as SeenApplication).targetGroups.filter((each) => isKept(desire.model, each));
  const kept = new Set([...arns.values(), ...[...unclaimed, ...replaced.targetGroups].map(({ arn }) => arn)]);
  await deleteBindings(
    own.filter(({ spec }) => !kept.has(spec.targetGroupARN)),
    context,
    ask.signal,
  );
  return { ensured, postponed, needsActive: unguarded.some(isEarly) };
}
