/** One look at a Service, carried out and told. */
import type { Ask } from "../../aws/ask.ts";
import { modifyCapacityReservation } from "../../aws/elbv2-actions.ts";
import { isStepOf, type Step } from "../../aws/plan.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import type { SeenNetwork } from "../network/plan.ts";
import { claimOf } from "../service-claim.ts";
import type { SeenService } from "../service-state.ts";
import { checkpointOf } from "./checkpoint.ts";
import type { ClassContext } from "./context.ts";
import { type Deployed, deploy } from "./deploy.ts";
import { ServiceFault } from "./reader.ts";
import { removeService } from "./removal.ts";
import { addressOf, awaitsAddress, finishReplacement, noteHandOver, retire } from "./replacement.ts";
import { classFinalizer, isGuarded } from "./seen.ts";
import { attributesAsked, type ClassSurvey, surveyService } from "./survey.ts";
import { during, stages, staleMs, waitMs } from "./telling.ts";
import { keyOf } from "./view.ts";

export async function reconcileService(key: string, context: ClassContext, ask: Ask): Promise<Outcome> {
  const { services, settings, report } = context;
  const service = services.get(key);
  if (service === undefined) return done;
  const claim = claimOf(service.view, {
    loadBalancerClass: settings.loadBalancerClass,
    loadBalancersOnly: settings.gates.loadBalancersOnly,
  });
  if (claim.kind === "ours") return ensureService(service, context, ask);
  report.warn(service, claim.kind === "unclear" ? [claim.message] : []);
  return isGuarded(service) ? removeService(service, context, ask) : done;
}

async function ensureService(service: SeenService, context: ClassContext, ask: Ask): Promise<Outcome> {
  const { report, memory, settings, checkpoints } = context;
  const key = keyOf(service.view);
  const survey = await build(service, context, ask);
  const { seen, desire, replaced } = survey;
  const guarded = await during(stages.addFinalizer, service, context, ask, () =>
    report.setFinalizer(service, classFinalizer, true, ask.signal),
  );
  if (!guarded) return again(staleMs, "the Service has changed in the meantime");
  if (seen.steps.length + replaced.inTheWay.length > 0) {
    const isCleared = await during(stages.deploy, service, context, ask, () => checkpoints.clear(service, ask.signal));
    if (!isCleared) return again(staleMs, "the Service has changed in the meantime");
  }
  if (replaced.inTheWay.length > 0) {
    await during(stages.deploy, service, context, ask, () => retire(service, replaced.inTheWay, context, ask));
    return again(staleMs, "a load balancer of the other scheme replaces the one that was deleted");
  }
  // AWS reserves capacity for what is active only: that comes later, and nothing waits for it.
  const isNew = seen.found === undefined || seen.found.state === "provisioning";
  const postponesCapacity = isNew && seen.steps.some(isReservation);
  const steps = postponesCapacity ? seen.steps.filter((step) => !isReservation(step)) : seen.steps;
  const deployed = await during(stages.deploy, service, context, ask, () =>
    deploy(service, { ...survey, seen: { ...seen, steps } }, context, ask),
  );
  const { told, waits } = await tell(service, survey, deployed, context, ask);
  const { applied } = deployed.ensured;
  if (applied.kind === "waiting") {
    return again(seen.steps.some(isReservation) ? settings.stabilizationMs : waitMs, applied.why);
  }
  if (deployed.waitsFor !== undefined) return again(waitMs, deployed.waitsFor);
  memory.set(key, { attributesAsked: attributesAsked(service.view), usesBackendGroup: desire.usesBackendGroup, isRead: !survey.isGlance });
  if (!survey.isGlance) context.due.delete(key);
  if (told || steps.length > 0) report.reconciled(service);
  const moved = waits ?? (await during(stages.deploy, service, context, ask, () => finishReplacement(service, survey, context, ask)));
  if (moved !== undefined) return moved;
  if (postponesCapacity) return again(settings.stabilizationMs, "capacity is reserved when the load balancer is active");
  if (survey.isGlance) return done;
  const checkpoint = checkpointOf(desire, seen.seen as SeenNetwork, applied.made);
  await during(stages.status, service, context, ask, () => checkpoints.record(service, checkpoint, ask.signal));
  return done;
}

const isReservation = (step: Step) => isStepOf(step, modifyCapacityReservation);

async function build(service: SeenService, context: ClassContext, ask: Ask): Promise<ClassSurvey> {
  const { inventory, settings, report, memory, backendGroup, services } = context;
  const key = keyOf(service.view);
  const known = memory.get(key);
  const readsAttributes = context.due.has(key) || (known !== undefined && known.attributesAsked !== attributesAsked(service.view));
  // What was read once since the start, or has to be now, is always read.
  const isTrusted = !known?.isRead && !context.due.has(key);
  const parts = {
    inventory,
    settings,
    backendGroup: (by: Ask) => backendGroup.id(by),
    service: (namespace: string, name: string) => services.get(`${namespace}/${name}`)?.view,
  };
  return during(stages.build, service, context, ask, async () => {
    const published = service.published.map(({ hostname }) => hostname);
    const depth = { readsAttributes, published, ...(isTrusted && { checkpoint: service.checkpoint }) };
    const survey = await surveyService(service.view, parts, depth, ask);
    report.warn(
      service,
      survey.desire.warnings.map(({ message }) => message),
    );
    const { problems } = survey.seen;
    if (problems.length > 0) throw new ServiceFault(problems.map(({ message }) => message).join("; "));
    return survey;
  });
}

interface Told {
  /** Whether there was anything to tell. */
  readonly told: boolean;
  /** Set while the address of another one stays published. */
  readonly waits?: Outcome | undefined;
}

async function tell(service: SeenService, survey: ClassSurvey, deployed: Deployed, context: ClassContext, ask: Ask): Promise<Told> {
  const { ensured, wroteBindings } = deployed;
  const hostname = await during(stages.deploy, service, context, ask, () => addressOf(service, { ensured, survey }, context, ask));
  if (hostname === undefined) return { told: wroteBindings };
  const published = await during(stages.status, service, context, ask, () => context.report.publish(service, hostname, ask.signal));
  noteHandOver(service, { ensured, survey }, hostname, context);
  return { told: published || wroteBindings, waits: awaitsAddress(ensured, hostname) };
}
