/** One look at a TargetGroupBinding: its targets are brought to what its Service has, and it says so. */
import { type Applied, apply } from "../../aws/apply.ts";
import { isAwsError } from "../../aws/errors.ts";
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { contains, parseAddress, parseCidr } from "../../runtime/ip.ts";
import type { SeenBinding } from "./binding.ts";
import type { BindingContext, BindingJob } from "./binding-context.ts";
import { departures, groupNameOf, holdMs, planBinding } from "./binding-plan.ts";
import { checkpointOf, identityOf } from "./checkpoint.ts";
import { deregisterAll } from "./clean-up.ts";
import { type Endpoint, resolveEndpoints } from "./endpoints.ts";
import { awaitsHealth, gatedPods, gateOf, pollMs, tellPod } from "./gates.ts";
import { isDraining, matchTargets, type SeenTarget } from "./group-targets.ts";
import { recorded } from "./multi-cluster.ts";
import {
  type BindingProblem,
  defaultsFor,
  factsOf,
  groupProblems,
  isComplete,
  type OtherBinding,
  sharingProblem,
  specProblems,
} from "./validate.ts";

/** How soon something is looked at again that its author, or somebody in AWS, has to put right. */
const problemMs = 60_000;
/** How soon targets are looked at again that AWS refused, or that found no room. */
const refusedMs = 60_000;
/** Targets nobody waits for are looked at less often, and not for ever. */
const settleMs = { first: 30_000, give: 10 * 60_000 };
/** Right after a start nothing is read that seems to be as it was: whatever has changed goes first. */
const driftAfterStartMs = { min: 30 * 60_000, spread: 15 * 60_000 };

export async function converge(job: BindingJob, context: BindingContext): Promise<Outcome> {
  const { binding, remembered, ask } = job;
  const { spec } = binding;
  const problems = [...specProblems(spec), ...[sharingProblem(spec, othersOf(binding, context))].flatMap((each) => each ?? [])];
  if (problems.length > 0) return refuse(job, problems, context);
  if (!isComplete(spec)) return complete(job, context);
  if (spec.targetGroupProtocol === "QUIC" || spec.targetGroupProtocol === "TCP_QUIC")
    return refuse(
      job,
      [{ reason: "UnsupportedTargetType", message: `targets of protocol ${spec.targetGroupProtocol} are not supported` }],
      context,
    );
  if (spec.iamRoleArnToAssume) {
    const message = "spec.iamRoleArnToAssume is not supported yet: nothing is registered";
    return refuse(job, [{ reason: "InvalidSpec", message }], context);
  }
  const resolved = resolve(binding, context);
  if (resolved.kind === "not-found") return backendGone(job, resolved.why, context);
  if (resolved.kind === "invalid") return refuse(job, [{ reason: "InvalidSpec", message: resolved.why }], context);
  const { endpoints } = resolved;
  const gate = gateOf(binding.metadata.name);
  const checkpoint = checkpointOf(endpoints, spec);
  const stored = remembered.checkpoint ?? binding.checkpoint;
  if (stored === checkpoint && !remembered.force && remembered.waitsSince === undefined && !awaitsHealth(gate, endpoints)) {
    const { min, spread } = driftAfterStartMs;
    const { clock, random } = context.host.world;
    tellOddities(job, resolved.problems, context);
    remembered.driftAt ??= clock.monotonic() + min + spread * random.number();
    return done;
  }
  if (!(await context.report.addFinalizer(binding, ask.signal))) return done;
  return bring(job, endpoints, resolved.problems, checkpoint, context);
}

function resolve(binding: SeenBinding, { services, slices, pods, nodes, settings }: BindingContext) {
  const { namespace } = binding.metadata;
  const service = `${namespace}/${binding.spec.serviceRef.name}`;
  return resolveEndpoints(namespace, binding.spec, {
    service: services.get(service),
    slices: slices.by("service", service),
    nodes: nodes.list(),
    pod: (key) => pods.get(key),
    node: (name) => nodes.get(name),
    failOpen: settings.failOpen,
  });
}

async function bring(
  job: BindingJob,
  endpoints: readonly Endpoint[],
  oddities: readonly string[],
  checkpoint: string,
  context: BindingContext,
): Promise<Outcome> {
  const { binding, remembered, ask } = job;
  const { spec } = binding;
  const { groups, report, records, host, kube, cloud } = context;
  const { clock } = host.world;
  const arn = spec.targetGroupARN!;
  if (remembered.force) groups.forget(arn);
  const seen = await groups.list(arn, cloud.loadBalancers, ask);
  if (seen === undefined) return refuse(job, [noSuchGroup(arn)], context);
  const all = matchTargets(endpoints, seen);
  const record = spec.multiClusterTargetGroup ? await records.read(binding, ask.signal) : undefined;
  const match = spec.multiClusterTargetGroup ? { ...all, surplus: recorded(all.surplus, record) } : all;
  const { missing, leftOut } = withinLimit(match.missing, seen.length, context.settings.maxTargets);
  const waited = clock.monotonic() - (remembered.waitsSince ?? clock.monotonic());
  const { held, leaving } = departures({ ...match, missing }, (target) => isServing(target, context), waited < holdMs);
  const isChange = missing.length + leaving.length > 0;
  if (isChange) {
    const wrong = await verify(job, context);
    if (wrong.length > 0) return refuse(job, wrong, context);
    // Whatever happens from here on, the next look must not believe that all is as it was.
    if ((remembered.checkpoint ?? binding.checkpoint) !== "" && !(await setCheckpoint(job, "", context))) return done;
  }
  if (spec.multiClusterTargetGroup) await records.write(binding, [...endpoints.map(identityOf), ...held.map(identityOf)], ask.signal);
  const { refused } = isChange ? await change(job, missing, leaving, held, context) : { refused: [] };
  const refusedIds = new Set(refused.flatMap(({ ids }) => ids));
  const registered = missing.filter(({ id }) => !refusedIds.has(id));
  const gate = gateOf(binding.metadata.name);
  const gated = gatedPods(gate, [...match.matched, ...registered.map((endpoint) => [endpoint, undefined] as const)]);
  for (const each of gated) await tellPod(kube, gate, each, report.now(), ask.signal);

  const starting = registered.length > 0 || match.matched.some(([, { state }]) => state === "initial" || state === "");
  const pending = gated.some(({ verdict }) => verdict.status !== "True");
  const waiting = pending || held.length > 0 || starting;
  if (!waiting) delete remembered.waitsSince;
  else if (isChange || remembered.waitsSince === undefined) remembered.waitsSince = clock.monotonic();
  const open = held.length + refused.length + leftOut.length;
  const odd = [
    ...oddities,
    ...refused.map(({ ids, error }) => `AWS refuses ${ids.slice(0, 10).join(", ")} as targets: ${error.code}: ${error.detail}`),
    ...(leftOut.length > 0
      ? [`${leftOut.length} endpoints are left out: --max-targets-per-target-group=${context.settings.maxTargets}`]
      : []),
  ];
  tellOddities(job, odd, context);
  tellNetworking(job, context);
  const isNews = isChange || binding.status.observedGeneration !== binding.metadata.generation;
  if (open === 0 && (remembered.checkpoint ?? binding.checkpoint) !== checkpoint) await setCheckpoint(job, checkpoint, context);
  await report.status(
    binding,
    statusAfter(endpoints.length, match.matched, registered.length, held.length, seen, leaving.length, odd),
    ask.signal,
  );
  if (isNews && open === 0) report.event(binding, "Normal", "SuccessfullyReconciled", "Successfully reconciled");
  remembered.force = false;
  remembered.driftAt = clock.monotonic() + context.settings.syncPeriodMs;
  return outcome(job, { pending: pending || held.length > 0, waiting, open: refused.length + leftOut.length > 0 }, context);
}

function outcome(
  { binding, remembered }: BindingJob,
  { pending, waiting, open }: { readonly pending: boolean; readonly waiting: boolean; readonly open: boolean },
  { host, settings }: BindingContext,
): Outcome {
  const waited = host.world.clock.monotonic() - (remembered.waitsSince ?? host.world.clock.monotonic());
  if (pending) return again(settings.pollMs ?? pollMs(binding.spec.targetGroupProtocol, waited), "targets are not healthy yet");
  if (open) return again(refusedMs, "AWS does not take all targets");
  if (waiting && waited < settleMs.give) return again(Math.max(settleMs.first, waited / 2), "targets are not healthy yet");
  delete remembered.waitsSince;
  return done;
}

/** The calls. A group that is full loses those that would have waited. */
async function change(
  { binding, key, ask }: BindingJob,
  missing: readonly Endpoint[],
  leaving: readonly SeenTarget[],
  held: readonly SeenTarget[],
  context: BindingContext,
): Promise<Pick<Applied, "refused">> {
  const { groups, cloud, host } = context;
  const arn = binding.spec.targetGroupARN!;
  const group = { arn, name: groupNameOf(arn), service: `${binding.metadata.namespace}/${binding.spec.serviceRef.name}` };
  const zoneOf = await zones(binding, missing, context, ask);
  const onStep = ({ what, why }: { readonly what: string; readonly why: string }) => host.log.info(what, { why, binding: key });
  const run = (gone: readonly SeenTarget[]) => apply(planBinding(group, missing, gone, zoneOf), cloud, { ...ask, onStep });
  try {
    const applied = await run(leaving).catch((error: unknown) => {
      if (!isAwsError(error) || error.code !== "TooManyTargets" || held.length === 0) throw error;
      return run([...leaving, ...held]);
    });
    groups.unsure(arn, [...missing, ...leaving]);
    return applied;
  } catch (error) {
    groups.forget(arn);
    throw error;
  }
}

/** Addresses outside the group's VPC are registered for all zones. */
async function zones(binding: SeenBinding, missing: readonly Endpoint[], { cloud }: BindingContext, ask: BindingJob["ask"]) {
  if (binding.spec.targetType !== "ip" || missing.length === 0) return () => undefined;
  const cidrs = await cloud.vpcs.cidrs(binding.spec.vpcID!, ask);
  if (cidrs === undefined)
    throw new Error(`VPC ${binding.spec.vpcID} of target group ${binding.spec.targetGroupARN} is not known to these credentials`);
  const blocks = cidrs.flatMap((text) => parseCidr(text) ?? []);
  return ({ id }: Endpoint) => {
    const address = parseAddress(id);
    const isInside = address && blocks.some((block) => contains(block, { ...address, prefix: address.family === 4 ? 32 : 128 }));
    return isInside ? undefined : "all";
  };
}

/** A pod whose containers are ready and that is not being deleted takes traffic as long as it gets any. */
function isServing({ id }: SeenTarget, { pods }: BindingContext): boolean {
  return pods.by("ip", id).some(({ metadata, containersReady }) => metadata.deletionTimestamp === undefined && containersReady);
}

/** Draining targets count against the limit, too. */
function withinLimit(missing: readonly Endpoint[], present: number, limit: number) {
  if (limit <= 0) return { missing, leftOut: [] };
  const sorted = missing.toSorted((a, b) => (identityOf(a) < identityOf(b) ? -1 : 1));
  const room = Math.max(0, limit - present);
  return { missing: sorted.slice(0, room), leftOut: sorted.slice(room) };
}

function statusAfter(
  wanted: number,
  matched: readonly (readonly [Endpoint, SeenTarget])[],
  registered: number,
  held: number,
  seen: readonly SeenTarget[],
  leaving: number,
  odd: readonly string[],
) {
  const counts = {
    wanted,
    registered: matched.length + registered + held,
    healthy: matched.filter(([, { state }]) => state === "healthy").length,
    draining: seen.filter(isDraining).length + leaving,
  };
  const ready = {
    status: "True",
    reason: "TargetsRegistered",
    message: `${matched.length + registered} of ${wanted} endpoints are registered`,
  } as const;
  const partly = { status: "False", reason: "TargetsLeftOut", message: odd.join("; ") } as const;
  return { conditions: { Ready: matched.length + registered === wanted ? ready : partly }, targets: counts, observed: true };
}

/** Fields that the binding leaves to its target group are written down in it; its change wakes it again. */
async function complete(job: BindingJob, context: BindingContext): Promise<Outcome> {
  const { binding, ask } = job;
  const { targetGroupARN: arn, targetGroupName: name = "" } = binding.spec;
  const { loadBalancers } = context.cloud;
  const group = await (arn ? loadBalancers.targetGroupAt(arn, ask) : loadBalancers.targetGroup(name, ask));
  if (group === undefined) return refuse(job, [noSuchGroup(arn || name)], context);
  const facts = factsOf(group);
  const problems = groupProblems(binding.spec, facts);
  if (problems.length > 0) return refuse(job, problems, context);
  await context.report.complete(binding, defaultsFor(binding.spec, facts), ask.signal);
  return done;
}

/** Before the first change: the group is what the binding takes it for. */
async function verify({ binding, remembered, ask }: BindingJob, { cloud }: BindingContext): Promise<readonly BindingProblem[]> {
  if (remembered.verified === binding.metadata.generation) return [];
  const arn = binding.spec.targetGroupARN!;
  const group = await cloud.loadBalancers.targetGroupAt(arn, ask);
  const problems = group === undefined ? [noSuchGroup(arn)] : groupProblems(binding.spec, factsOf(group));
  if (problems.length === 0) remembered.verified = binding.metadata.generation;
  return problems;
}

const noSuchGroup = (id: string): BindingProblem => ({
  reason: "TargetGroupNotFound",
  message: `target group ${id} does not exist in this account and region`,
});

/** Says what is wrong where its author looks, and touches nothing. */
async function refuse(
  { binding, remembered, ask }: BindingJob,
  problems: readonly BindingProblem[],
  context: BindingContext,
): Promise<Outcome> {
  const message = problems.map((problem) => problem.message).join("; ");
  const { reason } = problems[0]!;
  if (remembered.told !== message) context.report.event(binding, "Warning", "TargetGroupBindingInvalid", message);
  remembered.told = message;
  await context.report.status(binding, { conditions: { Ready: { status: "False", reason, message } } }, ask.signal);
  return again(problemMs, message);
}

/** Without a backend nothing is to be registered. */
async function backendGone(job: BindingJob, why: string, context: BindingContext): Promise<Outcome> {
  const { binding, remembered, ask } = job;
  const { report } = context;
  if (remembered.told !== why) report.event(binding, "Warning", "BackendNotFound", why);
  remembered.told = why;
  const empty = checkpointOf([], binding.spec);
  // Of one that has never registered anything nothing can be left.
  if (binding.metadata.finalizers.length > 0 && (remembered.checkpoint ?? binding.checkpoint) !== empty) {
    await deregisterAll(job, context);
    await setCheckpoint(job, empty, context);
  }
  const targets = { wanted: 0, registered: 0, healthy: 0, draining: 0 };
  await report.status(
    binding,
    { conditions: { Ready: { status: "False", reason: "BackendNotFound", message: why } }, targets, observed: true },
    ask.signal,
  );
  return done;
}

async function setCheckpoint({ binding, remembered, ask }: BindingJob, checkpoint: string, { report }: BindingContext): Promise<boolean> {
  if (!(await report.checkpoint(binding, checkpoint, ask.signal))) return false;
  remembered.checkpoint = checkpoint;
  return true;
}

const notManaged = "spec.networking is not carried out yet: let the load balancer's traffic in to the targets yourself";

/** What is asked for and not done is said where its author looks. */
function tellNetworking({ binding, remembered }: BindingJob, { report }: BindingContext): void {
  if (binding.spec.networking === undefined || remembered.toldNetworking) return;
  remembered.toldNetworking = true;
  report.event(binding, "Warning", "FailedNetworkReconcile", notManaged);
}

function tellOddities({ binding, remembered }: BindingJob, odd: readonly string[], { report }: BindingContext): void {
  const message = odd.join("; ");
  if (message !== "" && message !== remembered.told) report.event(binding, "Warning", "TargetsLeftOut", message);
  remembered.told = message;
}

/** Other bindings of the same group. */
function othersOf(binding: SeenBinding, { bindings }: BindingContext): readonly OtherBinding[] {
  const { targetGroupARN: arn } = binding.spec;
  if (!arn) return [];
  const age = ({ metadata }: SeenBinding) => `${metadata.creationTimestamp} ${metadata.uid}`;
  return bindings
    .by("group", arn)
    .filter(({ metadata }) => metadata.uid !== binding.metadata.uid)
    .map((other) => ({
      namespace: other.metadata.namespace,
      name: other.metadata.name,
      uid: other.metadata.uid,
      createdBefore: age(other) < age(binding),
      multiCluster: other.spec.multiClusterTargetGroup ?? false,
    }));
}
