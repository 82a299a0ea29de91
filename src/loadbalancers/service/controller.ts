/** The Service controller: every Service of type LoadBalancer has its load balancer, and nothing is left of those that are gone. */
import type { Ask } from "../../aws/ask.ts";
import { planText } from "../../aws/plan.ts";
import { keyOf } from "../../kube/store.ts";
import { again, type Controller, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import { namesOf } from "../owner.ts";
import type { SeenService } from "../service-state.ts";
import { cleanUp, cleanUpOrphan, leaveToOthers } from "./clean-up.ts";
import { changedMeanwhile, type Job, type ServiceContext, type ServiceParts, staleMs } from "./context.ts";
import { ensure } from "./ensure.ts";
import { forgetFailure, keepFailure, tellFailure } from "./failure.ts";
import { followNodes, syncTargets } from "./follow.ts";
import { Memory, type Remembered } from "./memory.ts";
import { SyncMetrics } from "./metrics.ts";
import { NodeSync } from "./node-sync.ts";
import { ownerOf, serviceDoor } from "./owner.ts";
import { preview } from "./preview.ts";
import { Report, Superseded } from "./report.ts";
import { concernsLoadBalancer, hasFinalizer, taskOf } from "./seen.ts";
import { Misconfigured, problemsOf, settle, tellAboutNodes, warn } from "./settle.ts";
import { driftSource, serviceSource, wakeSource } from "./sources.ts";
import { distrust, drifts, isTrusted, newState, type Standing, settledFor, standingIn, wanted, wantedTargetsOnly } from "./state.ts";
import { convergeTargets } from "./targets-only.ts";

/** Every load balancer is read fully once in this time, whether or not anything changed. */
const driftMs = 60 * 60_000;
const backoff = { baseMs: 5_000, maxMs: 300_000 };

/** What belongs together: load balancers of Services, the targets behind them, and the Nodes that targets follow. */
export interface ServiceControllers {
  readonly services: Controller;
  readonly targets: Controller;
  readonly nodes: Controller;
}

export function serviceControllers(parts: ServiceParts): ServiceControllers {
  const loop = new ServiceLoop(parts);
  return { services: loop.controller(), targets: loop.targets(), nodes: loop.nodes() };
}

class ServiceLoop {
  readonly #parts: ServiceParts;
  readonly #context: ServiceContext;
  readonly #nodeSync: NodeSync;
  #wakeService: (key: string) => void = () => {};
  #wakeTargets: (key: string) => void = () => {};

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
      report: new Report({ kube, recorder, clock, latest: (service) => services.get(keyOf(service)) }),
      metrics: new SyncMetrics(host),
    };
    this.#nodeSync = new NodeSync({
      clock,
      nodes,
      services: () => services.list().filter(followsNodes).map(keyOf),
      onSynced: (ms) => this.#context.metrics.synced(ms),
    });
    // One that goes, or is another controller's, needs nothing, however long somebody else's finalizer keeps it. One of
    // type none may have a load balancer from before: only its first look tells.
    const isHeard = (service: SeenService) => !followsNodes(service) || book.knows(service.metadata.uid);
    book.join({ name: serviceDoor, hasSpoken: () => services.hasSynced && services.list().every(isHeard) });
  }

  controller(): Controller {
    const { services, nodes, host, concurrency } = this.#parts;
    return {
      name: "service-lb-controller",
      concurrency,
      backoff,
      sources: [
        serviceSource(services, (before, after) => this.#concerned(before, after)),
        // Who looks at a Service without knowing the Nodes takes them all out from behind its load balancer.
        wakeSource("nodes", (wake) => (this.#wakeService = wake), nodes.synced),
        driftSource(host.world.clock, () => this.#driftDue()),
        wakeSource("node rules", (wake) => this.#context.book.onSettled(serviceDoor, wake)),
      ],
      reconcile: (key, signal) => this.#nodeSync.during(key, () => this.#reconcile(key, signal)),
    };
  }

  /** A queue of their own, so that no node waits for a listener, of this Service or of another. */
  targets(): Controller {
    const { nodes, concurrency } = this.#parts;
    return {
      name: "service-targets",
      concurrency,
      backoff,
      sources: [
        wakeSource("nodes", (wake) => this.#nodeSync.onWork(wake), nodes.synced),
        wakeSource("services", (wake) => (this.#wakeTargets = wake)),
      ],
      reconcile: (key, signal) => this.#reconcileTargets(key, signal),
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
    const { memory } = this.#context;
    const service = this.#parts.services.get(key);
    const ask: Ask = { cause: `service ${key}`, signal, urgency: service && this.#isDrift(service) ? "background" : "user" };
    for (const orphan of this.#parts.dryRun ? [] : memory.orphansOf(key)) {
      orphan.looks += 1;
      const outcome = await cleanUpOrphan(key, orphan, this.#context, ask);
      if (outcome.kind === "again") return outcome;
    }
    if (service === undefined) return done;
    const job: Job = { key, service, owner: ownerOf(service, this.#context), ask };
    if (this.#parts.dryRun) return this.#postPlan(job);
    return this.#telling(job, async () => {
      const outcome = await this.#converge(job);
      const remembered = memory.get(service.metadata.uid);
      if (remembered) await forgetFailure(service, remembered, this.#context, signal);
      // Those that came while it was being changed are behind it, and their groups may not be in what was just claimed.
      if (remembered?.unclaimed && settledFor(remembered.state, service.fingerprint)) this.#wakeTargets(key);
      return outcome;
    });
  }

  /** The targets of a load balancer that stands as it is asked for. Whatever else there is to do is for a look at the Service. */
  async #reconcileTargets(key: string, signal: AbortSignal): Promise<Outcome> {
    const { memory, host } = this.#context;
    const service = this.#parts.services.get(key);
    const remembered = service && memory.get(service.metadata.uid);
    const state = remembered && taskOf(service).kind === "ensure" && !this.#parts.dryRun ? remembered.state : newState;
    const standing = isTrusted(state) ? standingIn(state) : undefined;
    if (!service || !remembered || !standing) {
      this.#wakeService(key);
      return done;
    }
    const job: Job = { key, service, owner: ownerOf(service, this.#context), ask: { cause: `targets of service ${key}`, signal } };
    if (standing.fingerprint === service.fingerprint)
      return this.#nodeSync.during(key, () => this.#telling(job, () => this.#follow(job, remembered, standing)));
    // Being changed just now: its targets need not wait for that, and are looked at once more after it.
    this.#wakeService(key);
    await syncTargets(job, remembered, standing, this.#context).catch((error: unknown) => {
      signal.throwIfAborted();
      host.log.info("the targets are left to the reconcile of the Service that is in progress", { service: key, error });
    });
    return done;
  }

  async #follow(job: Job, remembered: Remembered, standing: Standing): Promise<Outcome> {
    const { service, ask } = job;
    const synced = await followNodes(job, remembered, standing, this.#context);
    if (synced === undefined) {
      this.#wakeService(job.key);
      return done;
    }
    const { targets, refused } = synced;
    const { warnings, groupWarnings } = standingIn(remembered.state) ?? standing;
    tellAboutNodes(service, remembered, targets.instances.length > 0, this.#context);
    await warn(service, remembered, [...warnings, ...groupWarnings, ...problemsOf(targets, refused)], ask.signal, this.#context);
    return settle(service, remembered, targets.notRunning.length + refused.length > 0, this.#context);
  }

  /** A failure is told where users look, and everything is read anew afterwards. */
  async #telling({ service, owner, ask: { signal } }: Job, work: () => Promise<Outcome>): Promise<Outcome> {
    const { memory, book } = this.#context;
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      if (refusalIn(error)) throw error;
      const remembered = memory.of(owner);
      remembered.state = distrust(remembered.state);
      if (error instanceof Superseded) return again(staleMs, changedMeanwhile);
      book.unknown(owner, namesOf(owner));
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
    if (task.kind === "none" && memory.get(service.metadata.uid) === undefined) return done;
    const remembered = memory.of(owner);
    const isSettled = task.kind === "ensure" && settledFor(remembered.state, service.fingerprint) !== undefined;
    if (!isSettled) remembered.looks += 1;
    // What is remembered without a finalizer lost it by force.
    if (task.kind === "clean-up" || task.kind === "none") return cleanUp(job, this.#context);
    if (!hasFinalizer(service)) {
      if (!remembered.announcing) report.event(service, "EnsuringLoadBalancer");
      remembered.announcing = true;
      if (!(await report.addFinalizer(service, ask.signal))) return again(staleMs, changedMeanwhile);
    }
    if (task.kind === "leave-to-others") return leaveToOthers(job, this.#context);
    if (task.kind === "targets-only") {
      remembered.state = wantedTargetsOnly(remembered.state);
      return convergeTargets(job, remembered, this.#context);
    }
    remembered.state = wanted(remembered.state);
    if (!isSettled) return ensure(job, task.of, remembered, this.#context);
    this.#wakeTargets(job.key);
    return done;
  }

  async #postPlan({ service, ask }: Job): Promise<Outcome> {
    const tell = (type: "Normal" | "Warning", text: string) =>
      this.#context.report.tell(service, type, "LoadBalancerPlan", text.slice(0, 1024));
    const { steps, problems } = await preview(service, this.#parts.services.list(), this.#context, ask);
    if (problems.length > 0) tell("Warning", problems.map(({ message }) => message).join("; "));
    else if (steps.length > 0) tell("Normal", planText(steps));
    return done;
  }
}

/** Whether it has, or wants, something whose targets follow the Nodes. */
function followsNodes(service: SeenService): boolean {
  return ["ensure", "targets-only"].includes(taskOf(service).kind);
}
