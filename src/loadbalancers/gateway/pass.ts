/** One look at a Gateway, carried out and told. */
import type { Ask } from "../../aws/ask.ts";
import { awsErrorIn, isAwsError } from "../../aws/errors.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { isActive } from "../elbv2/load-balancer-parts.ts";
import { triedAgainMs } from "../refusals.ts";
import { stackResources, stackText } from "../stack-json.ts";
import { addOnChanges } from "./add-ons.ts";
import { checkpointOf } from "./checkpoint.ts";
import type { GatewayContext } from "./context.ts";
import { arnOf, type Deployed, deploy } from "./deploy.ts";
import { GatewayFault, Untold } from "./fault.ts";
import { flavourOf } from "./flavours.ts";
import { leaveGateway } from "./leaving.ts";
import { configure, type Loaded, loadGateway, logInsOf, objectSources } from "./load.ts";
import { managedSource, wantedAddOns } from "./load-balancer.ts";
import { removeGateway } from "./removal.ts";
import { addressOf, finishReplacement, noteHandOver, retireReplaced } from "./replacement.ts";
import type { SeenGateway } from "./report.ts";
import { recordSecrets } from "./sent-secrets.ts";
import type { Balancer } from "./status.ts";
import { type GatewaySurvey, surveyGateway } from "./survey.ts";
import { tellGateway, tellGone, tellRejected, tellRoutes, tellSets, unlessTold } from "./tell.ts";
import { during, staleMs } from "./telling.ts";
import { keyOf, type ObjectName } from "./view.ts";

export async function reconcileGateway(key: string, context: GatewayContext, ask: Ask): Promise<Outcome> {
  const { objects, flavour } = context;
  const gateway = objects.gateways.get(key);
  // A route may have been told of it, and lead to one by now that nobody here looks at.
  const forget = async (name: ObjectName) => unlessTold(await tellGone(name, context, ask)) ?? done;
  if (gateway === undefined) return forget(nameOf(key));
  const isGuarded = gateway.view.finalizers.includes(flavour.controllerName);
  if (gateway.view.isDeleted) return isGuarded ? removeGateway(gateway, context, ask) : forget(gateway.view);
  const of = objects.classes.get(gateway.view.className);
  // A class that is gone may come back: what stands is kept until the Gateway itself goes, or goes to another class.
  if (of === undefined) return done;
  const wanted = flavourOf(of.view.controllerName);
  if (wanted?.name !== flavour.name) {
    if (!isGuarded) return forget(gateway.view);
    // One of the other kind cannot be made beside it: both would have the same security group.
    return wanted ? removeGateway(gateway, context, ask) : leaveGateway(gateway, of.view, context, ask);
  }
  context.leaving.delete(key);
  const loaded = await load(gateway, of, context, ask);
  if ("outcome" in loaded) return loaded.outcome;
  if (gateway.view.annotations[dryRunAnnotation] === "true" && !isGuarded) return showPlan(gateway, loaded, context, ask);
  if (!(await context.report.recordPlan(gateway, "", ask.signal))) return stale;
  try {
    return await ensureGateway(gateway, loaded, context, ask);
  } catch (error) {
    if (error instanceof Untold) return stale;
    throw error;
  }
}

/** The failure, or that not all were told of it. */
const failure = (error: unknown, ...told: readonly boolean[]) => (told.every((each) => each) ? error : new Untold(error));

const stale = again(staleMs, "the Gateway has changed in the meantime");

const nameOf = (key: string): ObjectName => {
  const [namespace = "", name = ""] = key.split("/");
  return { namespace, name };
};

/** On a Gateway that nothing was made for: what it asks for is written on it, and nothing is made. */
const dryRunAnnotation = "gateway.k8s.aws/dry-run";
/** Stands for the group that load balancers share where it does not stand yet. */
const sharedGroup = "<shared security group>";

async function showPlan(gateway: SeenGateway, loaded: Loaded, context: GatewayContext, ask: Ask): Promise<Outcome> {
  const { backendGroup, settings } = context;
  const known = async (by: Ask) => (await backendGroup.known(by)) ?? (settings.sharesBackendGroup ? sharedGroup : undefined);
  const { desire, unasked } = await build(gateway, loaded, context, ask, known);
  await during("FailedBuildModel", gateway, context, ask, async () => throwFirst(unasked));
  const plan = stackText(keyOf(gateway.view), stackResources({ ...desire, managedSource }));
  if (!(await context.report.recordPlan(gateway, plan, ask.signal))) return stale;
  return unlessTold(await tellRoutes(loaded, desire.failures, context, ask)) ?? done;
}

/** Where it cannot be told what the Gateway is configured with, that is said, and whatever mends it wakes the Gateway. */
async function load(
  gateway: SeenGateway,
  of: Parameters<typeof configure>[1],
  context: GatewayContext,
  ask: Ask,
): Promise<Loaded | { readonly outcome: Outcome }> {
  try {
    return loadGateway(gateway, configure(gateway, of, context.objects), context.flavour, context.objects);
  } catch (error) {
    if (!(error instanceof GatewayFault)) throw error;
    return { outcome: unlessTold(await tellRejected(gateway, "InvalidParameters", error.message, context, ask)) ?? done };
  }
}

async function ensureGateway(gateway: SeenGateway, loaded: Loaded, context: GatewayContext, ask: Ask): Promise<Outcome> {
  const { report, settings, checkpoints, flavour } = context;
  const survey = await build(gateway, loaded, context, ask);
  const { seen, desire, replaced, isGlance } = survey;
  const guarded = await during("FailedAddFinalizer", gateway, context, ask, () =>
    report.setFinalizer(gateway, flavour.controllerName, true, ask.signal),
  );
  if (!guarded) return stale;
  const addOns = addOnChanges(loaded.wish.addOns, wantedAddOns({ ...loaded.wish, settings }));
  if (!(await report.annotate(gateway, addOns.before, ask.signal))) return stale;
  const deploying = <T>(work: () => Promise<T>) => deployOrTell(gateway, loaded, desire, context, ask, work);
  if (seen.steps.length + replaced.inTheWay.length > 0 && !(await deploying(() => checkpoints.clear(gateway, ask.signal)))) return stale;
  if (replaced.inTheWay.length > 0) {
    await deploying(() => retireReplaced(gateway, replaced.inTheWay, context, ask));
    return again(staleMs, "a load balancer of the other scheme replaces the one that was deleted");
  }
  const deployed = await deploying(() => deploy(gateway, survey, context, ask));
  // What AWS refuses of one route keeps the others waiting no longer than this.
  if (deployed === "refused") return ensureGateway(gateway, loaded, context, ask);
  const { told, waits } = await tell(gateway, loaded, survey, deployed, context, ask);
  await during("FailedDeployModel", gateway, context, ask, async () => deployed.setbacks.throwFirst());
  if (deployed.waits ?? waits) return (deployed.waits ?? waits)!;
  if (!(await recordSecrets(gateway, logInsOf(loaded.wish, objectSources(context.objects)), context, ask.signal))) return stale;
  const key = keyOf(gateway.view);
  context.memory.set(key, { usesBackendGroup: desire.usesBackendGroup, isRead: !isGlance });
  if (!isGlance) context.due.delete(key);
  if (told || deployed.wroteBindings || seen.steps.length > 0) report.reconciled(gateway);
  const moved = await deploying(() => finishReplacement(gateway, survey, context, ask));
  if (moved) return moved;
  // One that is replaced is guarded as it was for as long as it stands.
  if (!(await report.annotate(gateway, addOns.after, ask.signal))) return stale;
  await during("FailedBuildModel", gateway, context, ask, async () => throwFirst(survey.unasked));
  if (desire.refused.size > 0) return again(triedAgainMs, "what AWS has refused is tried again");
  if (isGlance) return done;
  await checkpoints.record(gateway, checkpointOf(desire, seen, deployed.ensured.applied.made), ask.signal);
  return done;
}

async function build(
  gateway: SeenGateway,
  loaded: Loaded,
  context: GatewayContext,
  ask: Ask,
  backendGroup: (by: Ask) => Promise<string | undefined> = (by) => context.backendGroup.id(by),
): Promise<GatewaySurvey> {
  const { report, memory, due } = context;
  const key = keyOf(gateway.view);
  // What was read once since the start, or has to be now, is always read.
  const isTrusted = !memory.get(key)?.isRead && !due.has(key);
  return during("FailedBuildModel", gateway, context, ask, async () => {
    const looking = { ...context, backendGroup };
    const survey = await surveyGateway(gateway, loaded, looking, isTrusted ? { checkpoint: gateway.checkpoint } : {}, ask);
    report.warn(gateway, survey.desire.warnings);
    const { problems } = survey.seen;
    if (problems.length === 0) return survey;
    const message = problems.map((problem) => problem.message).join("; ");
    const isTold = await tellRejected(gateway, "Invalid", message, context, ask);
    throw failure(new GatewayFault(message), isTold, await tellRoutes(loaded, survey.desire.failures, context, ask));
  });
}

/** Of what fails in AWS the Gateway's Events tell; its status names the Events, so that it does not change with every attempt. */
function deployOrTell<T>(
  gateway: SeenGateway,
  loaded: Loaded,
  { failures }: GatewaySurvey["desire"],
  context: GatewayContext,
  ask: Ask,
  work: () => Promise<T>,
): Promise<T> {
  return during("FailedDeployModel", gateway, context, ask, async () => {
    try {
      return await work();
    } catch (error) {
      ask.signal.throwIfAborted();
      context.backendGroup.noteFailure(error);
      // What passes by itself, or is the API server's, is no fault of the Gateway.
      if (isRefusal(error)) {
        const isTold = await tellRejected(gateway, "Invalid", "Check Gateway Events for more information.", context, ask);
        throw failure(error, isTold, await tellRoutes(loaded, failures, context, ask));
      }
      throw error;
    }
  });
}

/** Whether AWS does not take what the Gateway asks for. */
function isRefusal(error: unknown): boolean {
  const root = awsErrorIn(error);
  return isAwsError(root) && !isAwsError(root, "throttled", "transient", "clock-skew", "credentials", "expired-credentials");
}

/** What could not be asked of AWS has held back what it concerns, and is tried again. */
function throwFirst([first]: GatewaySurvey["unasked"]): void {
  if (first) throw first;
}

/** How soon a load balancer is looked at again that AWS is making: at first often, then every two minutes. */
const pollMs = [10_000, 20_000, 40_000, 80_000];
const maxPollMs = 120_000;

interface Told {
  /** Whether there was anything to tell. */
  readonly told: boolean;
  readonly waits?: Outcome | undefined;
}

async function tell(
  gateway: SeenGateway,
  loaded: Loaded,
  survey: GatewaySurvey,
  deployed: Deployed,
  context: GatewayContext,
  ask: Ask,
): Promise<Told> {
  const { seen, desire } = survey;
  const { applied } = deployed.ensured;
  return during("FailedUpdateStatus", gateway, context, ask, async () => {
    const hostname = await addressOf(gateway, deployed.ensured, survey, context, ask);
    const balancer: Balancer = {
      arn: arnOf(seen, desire, applied.made),
      hostname: hostname ?? "",
      // The state of one that was made just now is not known before the next look.
      isActive: isActive(seen.found?.state) && hostname !== undefined,
    };
    const told = await tellGateway(gateway, loaded, { balancer, portFaults: desire.portFaults }, context, ask);
    const sets = await tellSets(loaded, { isActive: balancer.isActive, portFaults: desire.portFaults }, context, ask);
    const routes = await tellRoutes(loaded, desire.failures, context, ask);
    noteHandOver(gateway, deployed.ensured, survey, hostname, context);
    return {
      told: told === "told",
      waits: unlessTold(told !== "stale", sets, routes) ?? awaitActive(keyOf(gateway.view), balancer, context),
    };
  });
}

function awaitActive(key: string, { isActive: isOver }: Balancer, { polls }: GatewayContext): Outcome | undefined {
  const count = polls.get(key) ?? 0;
  if (isOver) polls.delete(key);
  else polls.set(key, count + 1);
  return isOver ? undefined : again(pollMs[count] ?? maxPollMs, "the load balancer is not active yet");
}
