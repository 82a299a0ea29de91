/** One look at a TargetGroupBinding: its targets are brought to what its Service has, and it says so. */
import { again, done, type Outcome } from "../../runtime/controller.ts";
import { hasBindingFinalizer, type SeenBinding } from "./binding.ts";
import { changeTargets } from "./binding-change.ts";
import { complete, noSuchGroup, problemsOf, refuse, verify } from "./binding-checks.ts";
import { type BindingContext, type BindingJob, groupCloud, stale } from "./binding-context.ts";
import { isDue, letIn } from "./binding-networking.ts";
import { holdMs, splitSurplus } from "./binding-plan.ts";
import { statusAfter } from "./binding-status.ts";
import { checkpointOf, identityOf } from "./checkpoint.ts";
import { deregisterAll, openGates } from "./clean-up.ts";
import { checkDrain } from "./drain-check.ts";
import { type Endpoint, resolveEndpoints, type Unfit } from "./endpoints.ts";
import { awaitsHealth, type GatedPod, gateAnswer, gatedPods, gateOf, pollMs, tellPod } from "./gates.ts";
import { matchTargets, type SeenTarget } from "./group-targets.ts";
import { recorded } from "./multi-cluster.ts";
import { isComplete } from "./validate.ts";

/** How soon targets are looked at again that AWS refused, or that found no room. */
const retryMs = 60_000;
/** Targets nobody waits for are looked at when most are healthy, less often afterwards, and not for ever. */
const settleMs = { first: 120_000, give: 10 * 60_000 };
/** Right after a start nothing is read that seems to be as it was: whatever has changed goes first. */
const driftAfterStartMs = { min: 30 * 60_000, spread: 15 * 60_000 };

export async function converge(job: BindingJob, context: BindingContext): Promise<Outcome> {
  const { binding, remembered, ask } = job;
  const { spec } = binding;
  const problems = problemsOf(binding, context);
  if (problems.length > 0) return refuse(job, problems, context);
  if (!isComplete(spec)) return complete(job, context);
  const resolved = resolve(binding, context);
  if (resolved.kind === "not-found") return backendGone(job, resolved.why, context);
  if (resolved.kind === "invalid") return refuse(job, [{ reason: "InvalidSpec", message: resolved.why }], context);
  const { endpoints } = resolved;
  const gate = gateOf(binding.metadata.name);
  await tellUnfit(job, resolved.unfit, context);
  const checkpoint = checkpointOf(endpoints, spec);
  const stored = remembered.checkpoint ?? binding.checkpoint;
  if (stored === checkpoint && !remembered.force && remembered.waitsSince === undefined && !awaitsHealth(gate, endpoints)) {
    const { min, spread } = driftAfterStartMs;
    const { clock, random } = context.host.world;
    tellOddities(job, resolved.problems, context);
    remembered.driftAt ??= clock.monotonic() + min + spread * random.number();
    return done;
  }
  if (!(await context.report.addFinalizer(binding, ask.signal))) return stale;
  return syncTargets(job, endpoints, resolved.problems, checkpoint, context);
}

function resolve(binding: SeenBinding, { services, slices, pods, nodes, settings }: BindingContext) {
  const { namespace } = binding.metadata;
  const service = `${namespace}/${binding.spec.serviceRef.name}`;
  const found = slices.by("service", service);
  return resolveEndpoints(namespace, binding.spec, {
    service: services.get(service)?.view,
    // A Service without a slice has no endpoints; one without Endpoints, where those are followed, is not complete.
    slices: settings.readsEndpoints && found.length === 0 ? undefined : found.flatMap(({ parts }) => parts),
    nodes: nodes.list(),
    pod: (key) => pods.get(key),
    node: (name) => nodes.get(name),
    failOpen: settings.failOpen,
  });
}

async function syncTargets(
  job: BindingJob,
  endpoints: readonly Endpoint[],
  oddities: readonly string[],
  checkpoint: string,
  context: BindingContext,
): Promise<Outcome> {
  const { binding, remembered, ask } = job;
  const { spec } = binding;
  const { groups, newGroups, report, records, host } = context;
  const { clock } = host.world;
  const arn = spec.targetGroupARN!;
  if (remembered.force) {
    groups.forget(arn);
    newGroups.forget(arn);
  }
  const seen = newGroups.get(arn) ? [] : await groups.list(arn, groupCloud(binding, context).loadBalancers, ask);
  if (seen === undefined) return refuse(job, [noSuchGroup(arn)], context);
  const all = matchTargets(endpoints, seen);
  const record = spec.multiClusterTargetGroup ? await records.read(binding, ask.signal) : undefined;
  const match = spec.multiClusterTargetGroup ? { ...all, surplus: recorded(all.surplus, record) } : all;
  const { missing, leftOut } = withinLimit(match.missing, seen.length, context.settings.maxTargets);
  const now = clock.monotonic();
  const heldSince = (target: SeenTarget) => remembered.heldSince?.get(identityOf(target)) ?? now;
  const mayWait = (target: SeenTarget) => now - heldSince(target) < holdMs && isServing(target, context);
  const { held, leaving } = splitSurplus({ ...match, missing }, mayWait);
  remembered.heldSince = new Map(held.map((target) => [identityOf(target), heldSince(target)]));
  const isChange = missing.length + leaving.length > 0;
  const lets = spec.networking !== undefined;
  if (isChange || remembered.force || isDue(job, clock.monotonic())) await letIn(job, endpoints, context);
  if (isChange) {
    const wrong = await verify(job, context);
    if (wrong.length > 0) return refuse(job, wrong, context);
    // Whatever happens from here on, the next look must not believe that all is as it was.
    if ((remembered.checkpoint ?? binding.checkpoint) !== "" && !(await setCheckpoint(job, "", context))) return stale;
  }
  const staying = [...endpoints, ...held];
  const note = (targets: readonly Pick<SeenTarget, "id" | "port" | "quicServerId">[]) =>
    spec.multiClusterTargetGroup ? records.write(binding, targets.map(identityOf), ask.signal) : undefined;
  // Until it is deregistered a target is in the record: else nobody would know whose it was.
  await note([...staying, ...leaving]);
  const refused = isChange ? await changeTargets(job, { missing, leaving, held }, context) : [];
  if (leaving.length > 0) {
    await note(staying);
    await checkDrain(job, leaving, context);
  }
  const refusedIds = new Set(refused.flatMap(({ ids }) => ids));
  const registered = missing.filter(({ id }) => !refusedIds.has(id));
  const gate = gateOf(binding.metadata.name);
  const gated = gatedPods(gate, [...match.matched, ...registered.map((endpoint) => [endpoint, undefined] as const)]);
  for (const each of gated) await tellGated(each, gate, job, context);

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
  const isNews = isChange || binding.status.observedGeneration !== binding.metadata.generation;
  const status = statusAfter({
    wanted: endpoints.length,
    matched: match.matched,
    registered: registered.length,
    held: held.length,
    seen,
    leaving: leaving.length,
    oddities: odd,
    networking: lets ? (remembered.networking ?? "") : undefined,
  });
  await report.status(binding, status, ask.signal);
  // Last of all: what it vouches for is not looked at again.
  if (open === 0 && (remembered.checkpoint ?? binding.checkpoint) !== checkpoint) await setCheckpoint(job, checkpoint, context);
  if (isNews && open === 0) report.event(binding, "Normal", "SuccessfullyReconciled", "Successfully reconciled");
  remembered.force = false;
  remembered.driftAt = clock.monotonic() + context.settings.syncPeriodMs;
  const retry = refused.length + leftOut.length > 0 || Boolean(remembered.networking);
  return outcome(job, { pending: pending || held.length > 0, waiting, retry }, context);
}

/** Tells pods that will never be registered as they are why they wait. */
async function tellUnfit({ binding, ask }: BindingJob, unfit: Unfit, { kube, report, metrics }: BindingContext): Promise<void> {
  const { namespace, name } = binding.metadata;
  const gate = gateOf(name);
  if (unfit.length > 0) metrics.withoutQuicId(namespace, name, unfit.length);
  for (const { pod, why: message } of unfit.filter((each) => each.pod.gates.includes(gate)))
    await tellPod(kube, gate, { pod, verdict: { status: "False", reason: "QuicServerIdMissing", message } }, report.now(), ask.signal);
}

/** Tells a pod how its target does; how long it has waited is counted when it waits no longer. */
async function tellGated(gated: GatedPod, gate: string, { binding, ask }: BindingJob, context: BindingContext): Promise<void> {
  const { kube, report, metrics, host } = context;
  const before = gateAnswer(gated.pod, gate);
  const told = await tellPod(kube, gate, gated, report.now(), ask.signal);
  if (!told || before === undefined || gated.verdict.status !== "True") return;
  const waitedMs = host.world.clock.now() - Date.parse(before.lastTransitionTime);
  metrics.ready(binding.metadata.namespace, binding.metadata.name, waitedMs / 1000);
}

function outcome(
  { binding, remembered }: BindingJob,
  { pending, waiting, retry }: { readonly pending: boolean; readonly waiting: boolean; readonly retry: boolean },
  { host, settings }: BindingContext,
): Outcome {
  const waited = host.world.clock.monotonic() - (remembered.waitsSince ?? host.world.clock.monotonic());
  if (pending) return again(settings.pollMs ?? pollMs(binding.spec.targetGroupProtocol, waited), "targets are not healthy yet");
  if (retry) return again(retryMs, "AWS refuses some of the targets or rules");
  if (waiting && waited < settleMs.give) return again(Math.max(settleMs.first, waited / 2), "targets are not healthy yet");
  delete remembered.waitsSince;
  return done;
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

/** Without a backend nothing is to be registered. */
async function backendGone(job: BindingJob, why: string, context: BindingContext): Promise<Outcome> {
  const { binding, remembered, ask } = job;
  const { report } = context;
  if (remembered.told !== why) report.event(binding, "Warning", "BackendNotFound", why);
  remembered.told = why;
  const empty = checkpointOf([], binding.spec);
  const stored = remembered.checkpoint ?? binding.checkpoint;
  // Of one that has never registered anything nothing can be left.
  if (hasBindingFinalizer(binding) && stored !== empty) {
    // First: whoever comes after a crash must not take for registered what was registered before.
    if (stored !== "" && !(await setCheckpoint(job, "", context))) return stale;
    await deregisterAll(job, context);
    await setCheckpoint(job, empty, context);
  }
  await openGates(job, { status: "True", reason: "", message: why }, context);
  // Nobody needs to be let in to it, which has to be said: what it may have let in stays until then.
  if (binding.spec.networking !== undefined) await letIn(job, [], context);
  const targets = { wanted: 0, registered: 0, healthy: 0, draining: 0 };
  await report.status(
    binding,
    { conditions: { Ready: { status: "False", reason: "BackendNotFound", message: why } }, targets, observed: true },
    ask.signal,
  );
  return remembered.networking ? again(retryMs, "AWS refuses some of the rules") : done;
}

async function setCheckpoint({ binding, remembered, ask }: BindingJob, checkpoint: string, { report }: BindingContext): Promise<boolean> {
  if (!(await report.checkpoint(binding, checkpoint, ask.signal))) return false;
  remembered.checkpoint = checkpoint;
  return true;
}

function tellOddities({ binding, remembered }: BindingJob, odd: readonly string[], { report }: BindingContext): void {
  const message = odd.join("; ");
  if (message !== "" && message !== remembered.told) report.event(binding, "Warning", "TargetsLeftOut", message);
  remembered.told = message;
}
