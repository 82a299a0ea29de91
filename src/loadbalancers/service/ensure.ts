/** A Service that wants a load balancer: it is looked at fully, brought to what is asked for, and remembered as it stands then. */
import { isAwsError } from "../../aws/errors.ts";
import { again, type Outcome } from "../../runtime/controller.ts";
import { applySurvey, type Ensured } from "../apply.ts";
import { claimAccess, expectAccess } from "../groups/node-access.ts";
import { kindOf } from "../owner.ts";
import type { Moment } from "../targets/target-set.ts";
import { finishRemoval, removeKinds } from "./clean-up.ts";
import { changedMeanwhile, type Job, logStep, type ServiceContext, stage, staleMs } from "./context.ts";
import { followAnyway, followSurveyed } from "./follow.ts";
import type { Remembered } from "./memory.ts";
import { continueReplacement } from "./replacement.ts";
import { configurationCondition, noHostname, replacedCondition } from "./report.ts";
import { hasFinalizer } from "./seen.ts";
import { noteMade, problemsOf, refuse, settle, tellAboutNodes, warn } from "./settle.ts";
import { distrust, isTrusted, type Standing, standingAs } from "./state.ts";
import { eligibleTargets, type ServiceSurvey, surveyService } from "./survey.ts";
import type { WantedKind } from "./type-annotation.ts";
import { waitForReadiness } from "./waiting.ts";

/** As old as attributes may be when something else is changed. The hourly look at everything reads them anew. */
const attributesAgeMs = 60 * 60_000;

/** Brings the load balancer to what the Service asks for, and goes on with whatever takes its time. */
export async function ensure(job: Job, of: WantedKind, remembered: Remembered, context: ServiceContext): Promise<Outcome> {
  const { service, owner, ask } = job;
  const { report } = context;
  const age = isTrusted(remembered.state) ? attributesAgeMs : 0;
  // For one that was there before we were, and once an hour: there may be remains of what we know nothing of.
  const sweeps = remembered.recheck && hasFinalizer(service);
  const began = remembered.targetSets.now();
  const seen = await stage("failed to ensure load balancer", () => surveyService(service, of, context, ask, age));
  const { kind } = seen;
  if (seen.problems.length > 0) {
    const standing = [seen.found, seen.other].filter((lb) => lb !== undefined);
    return refuse(job, seen.problems, standing, (lb) => followSurveyed(lb, seen, began, context, job), context);
  }
  // Mended: whatever AWS will say to what is asked for now, the old complaint is none any more.
  const complained = service.conditions.some(({ type, status }) => type === configurationCondition && status === "False");
  if (complained) await report.condition(service, configurationCondition, undefined, ask.signal);
  if (seen.steps.length > 0 && !remembered.announcing) report.event(service, "EnsuringLoadBalancer");
  remembered.announcing ||= seen.steps.length > 0;
  tellAboutNodes(service, remembered, seen.targets.instances.length > 0, context);
  const { name } = seen.desire.model;
  const unnamed = seen.found !== undefined || name === owner.ownName;
  if (!unnamed && !(await report.writeDownName(service, name, ask.signal))) return again(staleMs, changedMeanwhile);
  const ensured = await apply(seen, began, remembered, job, context);
  const other = seen.other && { kind: kindOf(seen.other, owner), name: seen.other.name };
  const claiming = { recheck: remembered.recheck, ...(other && { other }) };
  await claimAccess({ ...owner, kind }, seen.desire.access, ensured.ruleContext, context, claiming, ask);
  remembered.recheck = false;
  const { refused } = ensured.applied;
  const waiting = waitForReadiness(remembered, ensured.applied, context);
  const warnings = [...seen.warnings, ...ensured.warnings, ...waiting.warnings, ...problemsOf(ensured.targets, refused)];
  await warn(service, remembered, warnings, ask.signal, context);
  context.inventory.cloud.instances.forget(refused.flatMap(({ ids }) => ids));
  const otherKinds = owner.kinds.filter((each) => each !== kind);
  const moving =
    (await publish(job, seen, began, ensured, context)) ??
    (await finishRemoval(job, otherKinds, sweeps || service.hostname === noHostname, context));
  if (waiting.again) {
    remembered.state = distrust(remembered.state);
    return waiting.again;
  }
  const standing: Standing = {
    fingerprint: service.fingerprint,
    kind,
    name,
    options: seen.options,
    access: seen.desire.access,
    ruleContext: ensured.ruleContext,
    warnings: seen.warnings,
    groupWarnings: ensured.warnings,
  };
  remembered.state = standingAs(standing, moving !== undefined);
  return moving ?? settle(service, remembered, ensured.targets.notRunning.length + refused.length > 0, context);
}

async function apply(seen: ServiceSurvey, began: Moment, remembered: Remembered, job: Job, context: ServiceContext): Promise<Ensured> {
  const { key, owner, ask } = job;
  const claimant = { ...owner, kind: seen.kind };
  await expectAccess(claimant, seen, context, ask);
  try {
    const { inventory, host } = context;
    const { targetSets } = remembered;
    const wanted = () => eligibleTargets(seen.options, context, ask);
    const parts = { inventory, clock: host.world.clock, targetSets, began, wanted, onStep: logStep(context, key) };
    return await stage("failed to ensure load balancer", () => applySurvey(seen, parts, ask));
  } catch (error) {
    // What AWS refused may be because of instances that are not as we remember them.
    const refused = error instanceof Error && isAwsError(error.cause, "invalid", "not-found");
    if (refused) context.inventory.cloud.instances.forget(seen.targets.instances.map(({ id }) => id));
    context.book.stopped(claimant);
    await followAnyway(error, seen, began, context, job);
    throw error;
  } finally {
    noteMade(seen, remembered, context);
  }
}

/** While a load balancer of another kind is replaced the address changes hands; else it is published at once. */
async function publish(
  job: Job,
  seen: ServiceSurvey,
  began: Moment,
  ensured: Ensured,
  context: ServiceContext,
): Promise<Outcome | undefined> {
  const { service, ask } = job;
  const { report, inventory, host } = context;
  const replaced = service.conditions.some(({ type }) => type === replacedCondition);
  if (seen.other === undefined && !replaced) {
    await report.publish(service, ensured.hostname, ask.signal);
    return undefined;
  }
  return continueReplacement(service, seen, ensured, {
    inventory,
    report,
    clock: host.world.clock,
    follow: (old) => followSurveyed(old, seen, began, context, job),
    remove: (kinds) => removeKinds(job, kinds, context),
    ask,
  });
}
