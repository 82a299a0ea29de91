/**
 * Services of type `none`: no load balancer, but a target group for each port, whose targets follow the nodes. Whoever
 * asks for it has a load balancer of their own that forwards to them.
 */
import { type Applied, apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import type { Step } from "../../aws/plan.ts";
import type { Outcome } from "../../runtime/controller.ts";
import { findLoadBalancers, type Sighting } from "../find.ts";
import { reconcileAges } from "../inventory.ts";
import type { Found } from "../kind.ts";
import type { Problem, TargetGroup } from "../model.ts";
import { numberedTargetGroupName } from "../names.ts";
import { renounceAccess } from "../remove.ts";
import type { SeenService } from "../service-state.ts";
import { planTargetGroups } from "../target-group-plan.ts";
import { marked, namedTargetGroups, observeGroups, registrableIn } from "../target-groups.ts";
import type { Targets } from "../targets.ts";
import { annotationKey } from "./annotations.ts";
import { type Job, logStep, type ServiceContext, stage } from "./context.ts";
import { tagsFor } from "./desire.ts";
import { followIn } from "./follow.ts";
import type { Remembered } from "./memory.ts";
import { readOptions, type ServiceOptions } from "./options.ts";
import { ownerOf } from "./owner.ts";
import { usablePorts } from "./ports.ts";
import { noHostname } from "./report.ts";
import { noteMade, problemsOf, refuse, settle, tellAboutNodes, warn } from "./settle.ts";
import { madeTargetsOnly } from "./state.ts";
import { eligibleTargets, type SurveyParts } from "./survey.ts";
import { waitForReadiness } from "./waiting.ts";

export interface TargetsSurvey {
  readonly targets: Targets;
  /** A load balancer of ours from before: it is kept, and nothing is made. */
  readonly standing: readonly Found[];
  readonly taken: Sighting["taken"];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  readonly steps: readonly Step[];
  /** Names of all target groups concerned. */
  readonly groups: readonly string[];
}

export async function surveyTargets(service: SeenService, parts: SurveyParts, ask: Ask): Promise<TargetsSurvey> {
  const { inventory } = parts;
  const { view } = service;
  const owner = ownerOf(service, parts);
  const read = readOptions(view.annotations, "network");
  const ports = usablePorts({ ...view, hostname: service.hostname }, "classic");
  const [{ found: standing, taken }, targets, named] = await Promise.all([
    findLoadBalancers(owner, inventory, reconcileAges, ask),
    eligibleTargets(read.options, parts, ask),
    namedTargetGroups(owner, undefined, inventory, reconcileAges.presentMs, ask),
  ]);
  const own = await marked(named, owner, inventory, ask);
  const seen = await observeGroups(own, false, inventory, ask);
  const protocol = protocolOf(read.options);
  const groups = ports.ports.map(({ nodePort }, i): TargetGroup => {
    const name = numberedTargetGroupName(view.uid, i);
    const present = seen.find((group) => group.name === name);
    const check = healthCheckOf(view, read.options);
    return {
      name,
      targetType: "instance",
      protocol: protocol ?? "TCP",
      port: nodePort,
      healthCheck: check,
      attributes: {},
      targets: registrableIn(present, targets),
    };
  });
  const { tags, warnings } = tagsFor(view, read.options, inventory.scope.cluster);
  const problems = [
    ...read.problems,
    ...ports.problems,
    ...(protocol === undefined ? [unknownProtocol(read.options)] : []),
    ...(standing.length > 0 ? [stillStands(standing)] : []),
  ];
  return {
    targets,
    standing,
    taken,
    problems,
    warnings: [...read.warnings, ...ports.warnings, ...warnings],
    steps: problems.length > 0 ? [] : planTargetGroups(groups, inventory.scope.vpc, { askedBy: owner.noun, tags }, seen),
    groups: [...groups, ...seen].map(({ name }) => name),
  };
}

/** For a Service of type none. What is remembered of its targets would save little: they are all it has. */
export async function convergeTargets(job: Job, remembered: Remembered, context: ServiceContext): Promise<Outcome> {
  const { service, owner, key, ask } = job;
  const { report, inventory } = context;
  const seen = await stage("failed to ensure load balancer", () => surveyTargets(service, context, ask));
  if (seen.problems.length > 0) {
    const follow = (lb: Found) => followIn(lb, { began: remembered.targetSets.now() }, async () => seen.targets, context, job);
    return refuse(job, seen.problems, seen.standing, follow, context);
  }
  await stage("failed to ensure load balancer", () => renounceAccess(owner, seen.taken, context, ask));
  if (seen.steps.length > 0 && !remembered.announcing) report.event(service, "EnsuringLoadBalancer");
  remembered.announcing ||= seen.steps.length > 0;
  tellAboutNodes(service, remembered, seen.targets.instances.length > 0, context);
  const applied = await stage("failed to ensure load balancer", () => ensureTargets(seen, context, key, ask)).finally(() =>
    noteMade(seen, remembered, context),
  );
  remembered.state = madeTargetsOnly(remembered.state);
  inventory.cloud.instances.forget(applied.refused.flatMap(({ ids }) => ids));
  const waiting = waitForReadiness(remembered, applied, context);
  const warnings = [...seen.warnings, ...waiting.warnings, ...problemsOf(seen.targets, applied.refused)];
  await warn(service, remembered, warnings, ask.signal, context);
  await report.publish(service, noHostname, ask.signal);
  if (waiting.again) return waiting.again;
  return settle(service, remembered, seen.targets.notRunning.length + applied.refused.length > 0, context);
}

/** Carries out the steps. */
async function ensureTargets({ steps, groups }: TargetsSurvey, context: ServiceContext, key: string, ask: Ask): Promise<Applied> {
  const { inventory } = context;
  return apply(steps, inventory.cloud, { ...ask, onStep: logStep(context, key) }).finally(() => {
    if (steps.length > 0) for (const name of groups) inventory.targetGroups.touch(name, key);
  });
}

const protocols = { "": "TCP", tcp: "TCP", tls: "TLS", http: "HTTP", https: "HTTPS" } as const;

function protocolOf({ backendProtocol = "" }: ServiceOptions): TargetGroup["protocol"] | undefined {
  return Object.hasOwn(protocols, backendProtocol) ? protocols[backendProtocol as keyof typeof protocols] : undefined;
}

/** The nodes themselves are asked, or what the Service has for this. */
function healthCheckOf({ local, healthCheckNodePort }: SeenService["view"], { healthCheck }: ServiceOptions): TargetGroup["healthCheck"] {
  const own = local && healthCheckNodePort !== 0;
  const threshold = local ? 2 : 3;
  return {
    protocol: "HTTP",
    port: String(own ? healthCheckNodePort : 10256),
    path: "/healthz",
    interval: healthCheck.interval ?? (local ? 10 : 30),
    healthyThreshold: healthCheck.healthyThreshold ?? threshold,
    unhealthyThreshold: healthCheck.unhealthyThreshold ?? threshold,
  };
}

function unknownProtocol({ backendProtocol = "" }: ServiceOptions): Problem {
  const annotation = annotationKey("backend-protocol");
  return {
    annotation,
    message: `invalid backend protocol ${annotation}=${backendProtocol} (for type none it takes tcp, tls, http or https)`,
  };
}

function stillStands(standing: readonly Found[]): Problem {
  const annotation = annotationKey("type");
  const names = standing.map(({ kind, name }) => `${kind} load balancer ${name}`).join(", ");
  const message = `cannot update Load Balancer Type annotation "${annotation}" to none after creation: ${names} is kept; delete the Service and create it again`;
  return { annotation, message };
}
