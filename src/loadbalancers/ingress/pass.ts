/** One look at a group, carried out and told. */
import type { Ask } from "../../aws/ask.ts";
import { isAwsError } from "../../aws/errors.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import type { SeenApplication } from "../application/plan.ts";
import type { Ensured } from "../apply.ts";
import type { GroupOnLoadBalancer } from "../model.ts";
import type { LoadBalancerOwner } from "../owner.ts";
import { Setbacks } from "../setbacks.ts";
import { annotationKey } from "./annotations.ts";
import { recordAfter, recordBefore } from "./attribute-records.ts";
import { removeCertificates, requestCertificates } from "./certificate-pass.ts";
import { checkpointOf } from "./checkpoint.ts";
import type { GroupContext } from "./context.ts";
import { deploy } from "./deploy.ts";
import { carriedOut, type GroupDesire } from "./desire.ts";
import { type Behind, ensureFrontend } from "./frontend-pass.ts";
import { finalizerOf, type Group, keyIn, stackOf } from "./groups.ts";
import { applyGuards } from "./guard-pass.ts";
import { leaveUnbuilt } from "./leaving.ts";
import { ownerOf } from "./owner.ts";
import { recordPlan } from "./plan-annotation.ts";
import { removeGroup } from "./removal.ts";
import { addressOf, finishReplacement, noteHandOver, retire } from "./replacement.ts";
import type { FailureReason } from "./report.ts";
import type { SeenIngress } from "./seen.ts";
import { type GroupSurvey, surveyGroup } from "./survey.ts";
import { GroupFault, letAllGo, logStep, stale, staleMs, telling, waitMs, warnLeaving } from "./telling.ts";
import { keyOf, sameWish } from "./view.ts";
import { warningsOn } from "./warnings.ts";

export async function reconcileGroup(group: Group, context: GroupContext, ask: Ask): Promise<Outcome> {
  const owner = ownerOf(group.id, context.settings);
  return group.members.length === 0 ? removeGroup(group, owner, context, ask) : ensureGroup(group, owner, context, ask);
}

async function ensureGroup(whole: Group, owner: LoadBalancerOwner, context: GroupContext, ask: Ask): Promise<Outcome> {
  const { report, memory } = context;
  const setbacks = new Setbacks();
  const group = await finalized(whole, setbacks, context, ask);
  if (group === undefined) return stale;
  if (group.members.length === 0) {
    const outcome = await removeGroup(group, owner, context, ask);
    if (outcome === done) setbacks.throwFirst();
    return outcome;
  }
  const seenOf = (key: string) => context.ingresses.get(key);
  const members = group.members.flatMap(({ ingress }) => seenOf(keyOf(ingress)) ?? []);
  const failing = <T>(reason: FailureReason, work: () => Promise<T>) => telling(members, reason, context, ask, work);
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
    if (ingress)
      report.failed(ingress, context.refusals.has(keyIn(group.id, key)) ? "FailedDeployModel" : "FailedBuildModel", texts.join("; "));
  }
  if (seen.problems.length > 0) {
    const message = seen.problems.map((problem) => problem.message).join("; ");
    const healthy = members.filter(({ view }) => !desire.faults.has(keyOf(view)));
    for (const member of healthy) report.failed(member, "FailedBuildModel", message);
    await leaveUnbuilt(group, survey, context, ask);
    if (waits) return waits;
    throw new GroupFault(message);
  }
  if (replaced.inTheWay.length > 0) {
    await failing("FailedDeployModel", () => retire(group, replaced.inTheWay, owner, context, ask));
    return again(staleMs, "a load balancer of the other scheme replaces the one that was deleted");
  }
  await recordPlan(group, members, survey, context, ask);
  if (!survey.isGlance) context.checkpoints.lookedAt(owner.key);
  const isCleared = seen.steps.length === 0 || (await context.checkpoints.clear(group, context.ingresses, ask.signal));
  if (!isCleared || !(await recordBefore(group, survey, context, ask.signal))) return stale;
  const remember = () => {
    for (const [key, model] of desire.understood) {
      memory.set(key, carriedOut(model));
      context.refusals.forget(keyIn(group.id, key));
    }
  };
  const deployed = await failing("FailedDeployModel", () => deploy(group, survey, setbacks, context, ask)).catch((error: unknown) => {
    context.backendGroup.noteFailure(error);
    // What got no answer, and what was done before it, is what they have now.
    if (isAwsError(error, "transient", "throttled")) remember();
    throw error;
  });
  // What AWS refuses of one Ingress keeps the others waiting no longer than this.
  if (deployed === "refused") return ensureGroup(whole, owner, context, ask);
  const { ensured, postponed, needsActive } = deployed;
  remember();
  if (ensured.applied.kind === "done") {
    await recordSecrets(group, members, desire, context, ask);
    await recordAfter(group, survey, context, ask.signal);
  }
  const hostname = await failing("FailedDeployModel", () => addressOf(ensured, survey, owner, context, ask));
  const front = await ensureFrontend(group, owner, survey, behindOf(survey, ensured, hostname), context, ask).catch((error: unknown) => {
    ask.signal.throwIfAborted();
    return { error };
  });
  const untold = new Setbacks();
  if (hostname !== undefined) {
    const ports = portsOf(survey);
    const inFront = "error" in front ? survey.front?.hostname : front.hostname;
    for (const member of members) {
      // One that has been changed meanwhile, or whose class has, may be in another group by now, and have its address.
      const now = context.ingresses.get(keyOf(member.view));
      if (now === undefined || !sameWish(now.view, member.view) || !context.isAddressed(now.view, group.id)) continue;
      const publish = () => report.publish(member, hostname, ports, inFront, ask.signal);
      await untold.attempt(() => telling([member], "FailedUpdateStatus", context, ask, publish));
    }
  }
  // Whoever could not be told of the new one sends clients to the old one.
  if (!untold.areThere) noteHandOver(ensured, hostname, replaced, owner, context);
  if (ensured.applied.kind === "waiting") return again(waitMs, ensured.applied.why);
  const guarded = await applyGuards(group, survey, ensured.applied.made, context, ask);
  if (postponed > 0) return again(waitMs, "bindings of target groups that are no longer wanted are being emptied");
  // Whoever is not understood may still be served with one, and as long as nobody knows what it had its listeners stay.
  const by = desire.model.keepsUnclaimed && (seen.seen as SeenApplication).loadBalancer?.arn;
  const kept = { for: [...desire.faults.keys()], ...(by !== undefined && { by }) };
  const removed = await failing("FailedDeployModel", () =>
    removeCertificates(group, certificates, kept, context, ask, logStep(context, group)),
  );
  warnLeaving(group, removed.complaint, context);
  // Whoever leaves waits for its certificate to go; that somebody else uses one holds up nothing else.
  const left = removed.isCleared
    ? await setbacks.attempt(() => letAllGo(group, context, ask))
    : again(certificateMs, "a certificate that nothing asks for is still in use");
  if (seen.steps.length > 0) for (const member of members) if (!desire.faults.has(keyOf(member.view))) report.reconciled(member);
  if ("error" in front) {
    await telling(membersInFront(group, context), "FailedDeployModel", context, ask, () => Promise.reject(front.error));
    return done;
  }
  if (guarded.error !== undefined) throw guarded.error;
  const moved = await failing("FailedDeployModel", () => finishReplacement(group, replaced, owner, context, ask));
  setbacks.throwFirst();
  untold.throwFirst();
  const unsettled = left ?? front.outcome ?? guarded.outcome ?? moved ?? waits;
  if (unsettled) return unsettled;
  // Of one that was made just now nobody knows its state.
  if (needsActive) return again(seen.found ? activeMs : staleMs, "capacity is reserved when the load balancer is active");
  // Last: pauses after failures grow, and those who wait for AWS are looked at sooner.
  if (faults.size > 0) throw new GroupFault([...faults].map(([key, texts]) => `${key}: ${texts.join("; ")}`).join("; "));
  if (survey.isGlance) return again(context.checkpoints.trustedMs(owner.key), "its listeners and rules are looked at within the hour");
  await context.checkpoints.record(
    group,
    checkpointOf(desire, seen.seen as SeenApplication, ensured.applied.made),
    context.ingresses,
    ask.signal,
  );
  return done;
}

/** The group of those that can be let go later: nothing is made for the others. Undefined: one was not as it was seen. */
async function finalized(group: Group, setbacks: Setbacks, context: GroupContext, ask: Ask): Promise<Group | undefined> {
  const members: Group["members"][number][] = [];
  for (const member of group.members) {
    const key = keyOf(member.ingress);
    const ingress = context.ingresses.get(key);
    if (ingress === undefined) return undefined;
    const add = () => context.report.setFinalizer(ingress, finalizerOf(group.id), true, ask.signal);
    const tell = () => telling([ingress], "FailedAddFinalizer", context, ask, add);
    const isSet = await setbacks.attempt(tell);
    if (isSet === false) return undefined;
    // One that is served has had it: it is not taken out.
    const isServed = context.memory.get(key)?.stack === stackOf(group.id);
    if (isSet || isServed) members.push(member);
  }
  return { ...group, members };
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

/** Those that say something about the load balancer in front; all, where it has to go because nobody does. */
function membersInFront({ members }: Group, { ingresses }: GroupContext): readonly SeenIngress[] {
  const key = annotationKey("enable-frontend-nlb");
  const authors = members.filter(({ ingress }) => ingress.annotations[key] !== undefined);
  return (authors.length > 0 ? authors : members).flatMap(({ ingress }) => ingresses.get(keyOf(ingress)) ?? []);
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

/** What AWS has now is written down, as it never tells; of one that is in another group by now, that group does. */
async function recordSecrets(
  { id }: Group,
  members: readonly SeenIngress[],
  { understood }: GroupDesire,
  { secrets, report, ingresses, isAddressed }: GroupContext,
  { signal }: Ask,
) {
  for (const member of members) {
    const key = keyOf(member.view);
    const now = ingresses.get(key);
    if (!understood.has(key)) continue;
    const sent = secrets.markSent(keyIn(id, key));
    if (now && isAddressed(now.view, id)) await report.recordSecrets(member, sent, signal);
  }
}
