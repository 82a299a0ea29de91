/** The Service controller: every Service of type LoadBalancer has its load balancer, and nothing is left of those that are gone. */
import type { Refusal } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { isAwsError } from "../../aws/errors.ts";
import { planText } from "../../aws/plan.ts";
import { keyOf } from "../../kube/store.ts";
import { again, type Controller, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { applySurvey, type Ensured } from "../apply.ts";
import { claimAccess } from "../groups/node-access.ts";
import type { Found } from "../kind.ts";
import type { Problem } from "../model.ts";
import { kindOf, namesOf } from "../owner.ts";
import { type Targets, targetWarnings } from "../targets.ts";
import { cleanUp, cleanUpOrphan, finishRemoval, leaveToOthers, removeKinds } from "./clean-up.ts";
import { changedMeanwhile, type Job, logStep, type ServiceContext, type ServiceParts, stage, staleMs } from "./context.ts";
import { forgetFailure, keepFailure, tellFailure } from "./failure.ts";
import { followAnyway, followIn, followNodes, followSurveyed } from "./follow.ts";
import { Memory, type Remembered } from "./memory.ts";
import { SyncMetrics } from "./metrics.ts";
import { NodeSync } from "./node-sync.ts";
import { ownerOf, serviceDoor } from "./owner.ts";
import { preview } from "./preview.ts";
import { continueReplacement } from "./replacement.ts";
import { configurationCondition, noHostname, Report, replacedCondition } from "./report.ts";
import { hasFinalizer, type SeenService } from "./seen.ts";
import { driftSource, serviceSource, wakeSource } from "./sources.ts";
import {
  distrust,
  drifts,
  isTrusted,
  madeTargetsOnly,
  type Standing,
  settledFor,
  standingAs,
  standingIn,
  wanted,
  wantedTargetsOnly,
} from "./state.ts";
import { type ServiceSurvey, surveyService } from "./survey.ts";
import { ensureTargets, surveyTargets } from "./targets-only.ts";
import { concernsLoadBalancer, taskOf } from "./task.ts";
import type { WantedKind } from "./type-annotation.ts";
import { waitForReadiness } from "./waiting.ts";

/** Every load balancer is read fully once in this time, whether or not anything changed. */
const driftMs = 60 * 60_000;
/** How soon instances that did not run are looked at again. */
const notRunningMs = 60_000;

/** As old as attributes may be when something else is changed. The hourly look at everything reads them anew. */
const attributesAgeMs = 60 * 60_000;

/** The controller of Services, and what has it follow the Nodes: they belong together. */
export interface ServiceControllers {
  readonly services: Controller;
  readonly nodes: Controller;
}

export function serviceControllers(parts: ServiceParts): ServiceControllers {
  const loop = new ServiceLoop(parts);
  return { services: loop.controller(), nodes: loop.nodes() };
}

/** What its author can mend: it is said, and nothing else is changed. */
class Misconfigured extends Error {
  override readonly name = "Misconfigured";
}

const problemsOf = (targets: Targets, refused: readonly Refusal[]): readonly Problem[] =>
  targetWarnings(targets, refused).map((message) => ({ message }));

class ServiceLoop {
  readonly #parts: ServiceParts;
  readonly #context: ServiceContext;
  readonly #nodeSync: NodeSync;

  constructor(parts: ServiceParts) {
    const { host, inventory, book, settings, nodes, services, kube, recorder } = parts;
    const { clock, random } = host.world;
    this.#parts = parts;
    this.#context = {
      host,
      inventory,
      settings,
      nodes,
      book,
      // Spread over the hour, but not right after everything has been read at the start.
      memory: new Memory(clock, () => clock.monotonic() + (0.1 + 0.9 * random.number()) * driftMs),
      report: new Report({ kube, recorder, clock }),
      metrics: new SyncMetrics(host),
    };
    this.#nodeSync = new NodeSync({
      clock,
      nodes,
      services: () =>
        services
          .list()
          .filter((service) => ["ensure", "targets-only"].includes(taskOf(service).kind))
          .map(keyOf),
      onSynced: (ms) => this.#context.metrics.synced(ms),
    });
    // One that goes, or is another controller's, needs nothing, however long somebody else's finalizer keeps it.
    const isHeard = (service: SeenService) => taskOf(service).kind !== "ensure" || book.knows(service.metadata.uid);
    book.join({ name: serviceDoor, hasSpoken: () => services.hasSynced && services.list().every(isHeard) });
  }

  controller(): Controller {
    const { services, nodes, host, concurrency } = this.#parts;
    return {
      name: "service-lb-controller",
      concurrency,
      backoff: { baseMs: 5_000, maxMs: 300_000 },
      sources: [
        serviceSource(services, (before, after) => this.#concerned(before, after)),
        // Who looks at a Service without knowing the Nodes takes them all out from behind its load balancer.
        wakeSource("nodes", (wake) => this.#nodeSync.onWork(wake), nodes.synced),
        driftSource(host.world.clock, () => this.#driftDue()),
        wakeSource("node rules", (wake) => this.#context.book.onSettled(serviceDoor, wake)),
      ],
      reconcile: (key, signal) => this.#nodeSync.during(key, () => this.#reconcile(key, signal)),
    };
  }

  nodes(): Controller {
    return this.#nodeSync.controller();
  }

  #concerned(before: SeenService | undefined, after: SeenService | undefined): boolean {
    const { memory } = this.#context;
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid && memory.get(before.metadata.uid)) {
      memory.orphan(keyOf(before), before.metadata.uid);
      return true;
    }
    return after !== undefined && concernsLoadBalancer(before, after);
  }

  /** Services whose turn it is to be read fully; their next turn is a whole round later. */
  #driftDue(): string[] {
    const now = this.#parts.host.world.clock.monotonic();
    const due = [...this.#context.memory.all()].filter(({ driftAt, state }) => drifts(state) && driftAt <= now);
    for (const remembered of due) {
      remembered.state = distrust(remembered.state);
      remembered.recheck = true;
      remembered.driftAt += driftMs;
    }
    return due.map(({ owner }) => owner.key);
  }

  /** Nobody has asked for this look. */
  #isDrift({ metadata, fingerprint }: SeenService): boolean {
    const remembered = this.#context.memory.get(metadata.uid);
    return remembered?.recheck === true && standingIn(remembered.state)?.fingerprint === fingerprint;
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const { memory, book } = this.#context;
    const service = this.#parts.services.get(key);
    const ask: Ask = { cause: `service ${key}`, signal, urgency: service && this.#isDrift(service) ? "background" : "user" };
    for (const orphan of this.#parts.dryRun ? [] : memory.orphansOf(key)) {
      const outcome = await cleanUpOrphan(key, orphan, this.#context, ask);
      if (outcome.kind === "again") return outcome;
    }
    if (service === undefined) return done;
    const job: Job = { key, service, owner: ownerOf(service, this.#context), ask };
    if (this.#parts.dryRun) return this.#postPlan(job);
    try {
      const outcome = await this.#converge(job);
      const remembered = memory.get(service.metadata.uid);
      if (remembered) await forgetFailure(service, remembered, this.#context, signal);
      return outcome;
    } catch (error) {
      signal.throwIfAborted();
      if (refusalIn(error)) throw error;
      const remembered = memory.of(job.owner);
      remembered.state = distrust(remembered.state);
      book.unknown(job.owner, namesOf(job.owner));
      tellFailure(service, error, this.#context);
      // What its author can mend has a condition of its own, and of another controller's Service the status is theirs.
      const isOurs = !(error instanceof Misconfigured) && taskOf(service).kind !== "leave-to-others";
      if (isOurs) await keepFailure(service, remembered, error, this.#context, signal);
      throw error;
    }
  }

  async #converge(job: Job): Promise<Outcome> {
    const { service, owner, ask } = job;
    const { memory, report } = this.#context;
    const task = taskOf(service);
    if (task.kind === "clean-up") return cleanUp(job, this.#context);
    // What is remembered without a finalizer lost it by force.
    if (task.kind === "none") return memory.get(service.metadata.uid) ? cleanUp(job, this.#context) : done;
    const remembered = memory.of(owner);
    if (!hasFinalizer(service)) {
      if (!remembered.announcing) report.event(service, "EnsuringLoadBalancer");
      remembered.announcing = true;
      if (!(await report.addFinalizer(service, ask.signal))) return again(staleMs, changedMeanwhile);
    }
    if (task.kind === "leave-to-others") return leaveToOthers(job, this.#context);
    if (task.kind === "targets-only") {
      remembered.state = wantedTargetsOnly(remembered.state);
      return this.#ensureTargets(job, remembered);
    }
    remembered.state = wanted(remembered.state);
    const standing = settledFor(remembered.state, service.fingerprint);
    if (standing === undefined) return this.#ensure(job, task.of, remembered);
    const { targets, refused } = await followNodes(job, remembered, standing, this.#context);
    this.#tellAboutNodes(service, remembered, targets.instances.length > 0);
    await this.#warn(service, remembered, [...standing.warnings, ...problemsOf(targets, refused)], ask.signal);
    return this.#settle(service, remembered, targets.notRunning.length + refused.length > 0);
  }

  async #ensure(job: Job, of: WantedKind, remembered: Remembered): Promise<Outcome> {
    const { service, owner, ask } = job;
    const { report } = this.#context;
    const age = isTrusted(remembered.state) ? attributesAgeMs : 0;
    // For one that was there before we were, and once an hour: there may be remains of what we know nothing of.
    const sweeps = remembered.recheck && hasFinalizer(service);
    const seen = await stage("failed to ensure load balancer", () => surveyService(service, of, this.#context, ask, age));
    const { kind } = seen;
    if (seen.problems.length > 0) {
      const standing = [seen.found, seen.other].filter((lb) => lb !== undefined);
      return this.#refuse(job, seen.problems, standing, (lb) => followSurveyed(lb, seen, this.#context, job));
    }
    // Mended: whatever AWS will say to what is asked for now, the old complaint is none any more.
    const complained = service.conditions.some(({ type, status }) => type === configurationCondition && status === "False");
    if (complained) await report.condition(service, configurationCondition, undefined, ask.signal);
    if (seen.steps.length > 0 && !remembered.announcing) report.event(service, "EnsuringLoadBalancer");
    remembered.announcing ||= seen.steps.length > 0;
    this.#tellAboutNodes(service, remembered, seen.targets.instances.length > 0);
    const { name } = seen.desire.model;
    const unnamed = seen.found !== undefined || name === owner.ownName;
    if (!unnamed && !(await report.writeDownName(service, name, ask.signal))) return again(staleMs, changedMeanwhile);
    const ensured = await this.#apply(seen, remembered, job);
    const other = seen.other && { kind: kindOf(seen.other, owner), name: seen.other.name };
    const claiming = { recheck: remembered.recheck, ...(other && { other }) };
    await claimAccess({ ...owner, kind }, seen.desire.access, ensured.ruleContext, this.#context, claiming, ask);
    remembered.recheck = false;
    const { refused } = ensured.applied;
    const warnings = [...seen.warnings, ...ensured.warnings];
    const waiting = waitForReadiness(remembered, ensured.applied, this.#context);
    await this.#warn(service, remembered, [...warnings, ...waiting.warnings, ...problemsOf(seen.targets, refused)], ask.signal);
    this.#context.inventory.cloud.instances.forget(refused.flatMap(({ ids }) => ids));
    const otherKinds = owner.kinds.filter((each) => each !== kind);
    const moving =
      (await this.#publish(job, seen, ensured)) ??
      (await finishRemoval(job, otherKinds, sweeps || service.hostname === noHostname, this.#context));
    if (waiting.again) {
      remembered.state = distrust(remembered.state);
      return waiting.again;
    }
    const standing: Standing = {
      fingerprint: service.fingerprint,
      kind,
      name,
      options: seen.options,
      seen: ensured.seen,
      access: seen.desire.access,
      ruleContext: ensured.ruleContext,
      warnings,
    };
    remembered.state = standingAs(standing, moving !== undefined);
    return moving ?? this.#settle(service, remembered, seen.targets.notRunning.length + refused.length > 0);
  }

  async #apply(seen: ServiceSurvey, remembered: Remembered, job: Job): Promise<Ensured> {
    const { key, ask } = job;
    try {
      const { inventory, host } = this.#context;
      const parts = { inventory, clock: host.world.clock, onStep: logStep(this.#context, key) };
      return await stage("failed to ensure load balancer", () => applySurvey(seen, parts, ask));
    } catch (error) {
      // What AWS refused may be because of instances that are not as we remember them.
      const refused = error instanceof Error && isAwsError(error.cause, "invalid", "not-found");
      if (refused) this.#context.inventory.cloud.instances.forget(seen.targets.instances.map(({ id }) => id));
      await followAnyway(error, seen, this.#context, job);
      throw error;
    } finally {
      this.#noteMade(seen, remembered);
    }
  }

  /** Whatever AWS answered, it may have been carried out: what was not seen before is no witness any more. */
  #noteMade({ steps }: Pick<ServiceSurvey, "steps">, remembered: Remembered): void {
    if (steps.length === 0) return;
    remembered.madeAt = this.#context.host.world.clock.monotonic();
    // Targets that AWS refuses for ever are tried at each look, and nothing comes into being by it.
    if (steps.some(({ makes }) => makes !== undefined)) delete remembered.unseenSince;
  }

  /** The end of a reconcile that went well, as soon as the nodes let the traffic in. */
  #settle(service: SeenService, remembered: Remembered, notAllRun: boolean): Outcome {
    const { book, report } = this.#context;
    const { uid } = service.metadata;
    const waitsFor = book.waitsFor(uid);
    const trouble = book.trouble(uid);
    if (trouble !== undefined) throw new Error(`failed to ensure load balancer: ${trouble}`);
    if (waitsFor.length > 0) return again(notRunningMs, `waits for the rules of node security groups ${waitsFor.join(", ")}`);
    if (remembered.announcing) report.event(service, "EnsuredLoadBalancer");
    remembered.announcing = false;
    return notAllRun ? again(notRunningMs, "some instances do not run yet, or AWS does not take them") : done;
  }

  /** While a load balancer of another kind is replaced the address changes hands; else it is published at once. */
  async #publish(job: Job, seen: ServiceSurvey, ensured: Ensured): Promise<Outcome | undefined> {
    const { service, ask } = job;
    const { report, inventory, host } = this.#context;
    const replaced = service.conditions.some(({ type }) => type === replacedCondition);
    if (seen.other === undefined && !replaced) {
      await report.publish(service, ensured.hostname, ask.signal);
      return undefined;
    }
    return continueReplacement(service, seen, ensured, {
      inventory,
      report,
      clock: host.world.clock,
      follow: (old) => followSurveyed(old, seen, this.#context, job),
      remove: (kinds) => removeKinds(job, kinds, this.#context),
      ask,
    });
  }

  /** For a Service of type none. What is remembered of its targets would save little: they are all it has. */
  async #ensureTargets(job: Job, remembered: Remembered): Promise<Outcome> {
    const { service, key, ask } = job;
    const { report, inventory } = this.#context;
    const seen = await stage("failed to ensure load balancer", () => surveyTargets(service, this.#context, ask));
    if (seen.problems.length > 0) {
      const follow = (lb: Found) => followIn(lb, undefined, seen.targets, this.#context, job);
      return this.#refuse(job, seen.problems, seen.standing, follow);
    }
    if (seen.steps.length > 0 && !remembered.announcing) report.event(service, "EnsuringLoadBalancer");
    remembered.announcing ||= seen.steps.length > 0;
    this.#tellAboutNodes(service, remembered, seen.targets.instances.length > 0);
    const applied = await stage("failed to ensure load balancer", () => ensureTargets(seen, this.#context, key, ask)).finally(() =>
      this.#noteMade(seen, remembered),
    );
    remembered.state = madeTargetsOnly(remembered.state);
    inventory.cloud.instances.forget(applied.refused.flatMap(({ ids }) => ids));
    const waiting = waitForReadiness(remembered, applied, this.#context);
    const warnings = [...seen.warnings, ...waiting.warnings, ...problemsOf(seen.targets, applied.refused)];
    await this.#warn(service, remembered, warnings, ask.signal);
    await report.publish(service, noHostname, ask.signal);
    if (waiting.again) return waiting.again;
    return this.#settle(service, remembered, seen.targets.notRunning.length + applied.refused.length > 0);
  }

  /** A bad wish changes nothing; but what stands goes on following the nodes. */
  async #refuse(
    { service, owner, ask }: Job,
    problems: readonly Problem[],
    standing: readonly Found[],
    follow: (lb: Found) => Promise<void>,
  ): Promise<never> {
    const { book, report } = this.#context;
    const message = problems.map((problem) => problem.message).join("; ");
    book.unknown(owner, namesOf(owner));
    await report.condition(service, configurationCondition, { status: "False", reason: "InvalidConfiguration", message }, ask.signal);
    for (const lb of standing) await follow(lb);
    throw new Misconfigured(`failed to ensure load balancer: ${message}`);
  }

  async #postPlan({ service, ask }: Job): Promise<Outcome> {
    const tell = (type: "Normal" | "Warning", text: string) =>
      this.#context.report.tell(service, type, "LoadBalancerPlan", text.slice(0, 1024));
    const { steps, problems } = await preview(service, this.#parts.services.list(), this.#context, ask);
    if (problems.length > 0) tell("Warning", problems.map(({ message }) => message).join("; "));
    else if (steps.length > 0) tell("Normal", planText(steps));
    return done;
  }

  #tellAboutNodes(service: SeenService, remembered: Remembered, any: boolean): void {
    if (!any && remembered.hadNodes) this.#context.report.event(service, "UnAvailableLoadBalancer");
    remembered.hadNodes = any;
  }

  /** What is odd but can be lived with: an Event when it is news, and a condition while it is so. */
  async #warn(service: SeenService, remembered: Remembered, warnings: readonly Problem[], signal: AbortSignal): Promise<void> {
    const { report } = this.#context;
    const message = warnings.map((warning) => warning.message).join("; ");
    if (message !== "" && message !== remembered.warned) report.tell(service, "Warning", "LoadBalancerWarning", message);
    remembered.warned = message;
    const condition = message === "" ? undefined : ({ status: "True", reason: "Warning", message } as const);
    await report.condition(service, configurationCondition, condition, signal);
  }
}
