/** The Service controller: every Service of type LoadBalancer has its load balancer, and nothing is left of those that are gone. */
import { apply } from "../../aws/apply.ts";
import type { Ask } from "../../aws/ask.ts";
import { isAwsError } from "../../aws/errors.ts";
import { planText, type Step } from "../../aws/plan.ts";
import type { Nodes } from "../../identity/node-view.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import { keyOf } from "../../kube/store.ts";
import { again, type Controller, done, type Outcome } from "../../runtime/controller.ts";
import { refusalIn } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import type { Log } from "../../runtime/log.ts";
import { ClaimBook, type Owner } from "../claim-book.ts";
import { loadBalancerName } from "../names.ts";
import { type Inventory, reconcileAges } from "../observe.ts";
import { rulesController } from "../rules-controller.ts";
import { type Kind, kindOf, type Problem } from "./annotations.ts";
import { claimAccess, type Ensured, ensure, nodeGroups } from "./ensure.ts";
import type { Found, Seeker } from "./find.ts";
import { Memory, type Remembered } from "./memory.ts";
import { SyncMetrics } from "./metrics.ts";
import { describe, leftovers, planRemoval, type Removal, remove } from "./removal.ts";
import { continueReplacement } from "./replacement.ts";
import { configurationCondition, Report, replacedCondition } from "./report.ts";
import { concernsLoadBalancer, hasFinalizer, needsCleanup, type SeenService, type Services, wantsLoadBalancer } from "./seen.ts";
import { driftSource, nodeSource, serviceSource, wakeSource } from "./sources.ts";
import { eligibleTargets, planTargetsOnly, registeredIn, registrable, type Survey, type SurveyParts, survey } from "./survey.ts";
import { targetsBehind, withTargets } from "./targets-behind.ts";
import type { LoadBalancerSettings } from "./view.ts";

export interface ServiceParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  readonly services: Services;
  readonly nodes: Nodes;
  readonly inventory: Inventory;
  readonly settings: LoadBalancerSettings;
  /** Services reconciled at the same time. */
  readonly concurrency: number;
  /** Nothing is done; what would be is said in Events. */
  readonly dryRun: boolean;
}

/** Every load balancer is read fully once in this time, whether or not anything changed. */
const driftMs = 60 * 60_000;
/** How soon something that AWS needs time for is looked at again. */
const waitMs = 5_000;
/** How soon instances that did not run are looked at again. */
const notRunningMs = 60_000;
/** A removal that has not ended after this long is spoken of, and again after each such time. */
const patienceMs = 2 * 60_000;
const bothKinds: readonly Kind[] = ["classic", "network"];

/** The controller of Services and the writer of node security groups, which belong together. */
export function serviceControllers(parts: ServiceParts): { readonly services: Controller; readonly rules: Controller } {
  const loop = new ServiceLoop(parts);
  return { services: loop.controller(), rules: loop.rules() };
}

/** What its author can mend: it is said, and nothing else is changed. */
class Misconfigured extends Error {
  override readonly name = "Misconfigured";
}

class ServiceLoop {
  readonly #parts: ServiceParts;
  readonly #log: Log;
  readonly #book = new ClaimBook();
  readonly #memory: Memory;
  readonly #report: Report;
  readonly #metrics: SyncMetrics;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    this.#log = parts.host.log;
    const { clock, random } = parts.host.world;
    // Spread over the hour, but not right after everything has been read at the start.
    this.#memory = new Memory(() => clock.monotonic() + (0.1 + 0.9 * random.number()) * driftMs);
    this.#report = new Report({ kube: parts.kube, recorder: parts.recorder, clock });
    this.#metrics = new SyncMetrics(parts.host);
  }

  controller(): Controller {
    const { services, nodes, host, concurrency } = this.#parts;
    return {
      name: "service-lb-controller",
      concurrency,
      backoff: { baseMs: 5_000, maxMs: 300_000 },
      sources: [
        serviceSource(services, (before, after) => this.#concerned(before, after)),
        nodeSource(nodes, host.world.clock, () => services.list().filter(wantsLoadBalancer).map(keyOf)),
        driftSource(host.world.clock, () => this.#driftDue()),
        wakeSource("node rules", (wake) => this.#book.onSettled(wake)),
      ],
      reconcile: (key, signal) => this.#reconcile(key, signal),
    };
  }

  rules(): Controller {
    const { host, inventory, services } = this.#parts;
    const complete = () =>
      services.hasSynced &&
      services.list().every((service) => !wantsLoadBalancer(service) || isForeign(service) || this.#book.knows(service.metadata.uid));
    return rulesController({ host, inventory, book: this.#book, complete });
  }

  #concerned(before: SeenService | undefined, after: SeenService | undefined): boolean {
    if (before !== undefined && before.metadata.uid !== after?.metadata.uid && this.#memory.get(before.metadata.uid)) {
      this.#memory.orphan(keyOf(before), before.metadata.uid);
      return true;
    }
    return after !== undefined && concernsLoadBalancer(before, after);
  }

  /** Services whose turn it is to be read fully; their next turn is a whole round later. */
  #driftDue(): string[] {
    const now = this.#parts.host.world.clock.monotonic();
    const due = [...this.#memory.all()].filter(({ driftAt, standing }) => standing !== undefined && driftAt <= now);
    for (const remembered of due) {
      remembered.full = true;
      remembered.driftAt += driftMs;
    }
    return due.map(({ seeker }) => `${seeker.namespace}/${seeker.name}`);
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Outcome> {
    const service = this.#parts.services.get(key);
    const ask: Ask = { cause: `service ${key}`, signal, urgency: "user" };
    for (const orphan of this.#memory.orphansOf(key)) {
      const outcome = await this.#removeOrphan(key, orphan, ask);
      if (outcome.kind === "again") return outcome;
    }
    if (service === undefined) return done;
    if (this.#parts.dryRun) return this.#postPlan(service, ask);
    try {
      return await this.#bring(service, key, ask);
    } catch (error) {
      signal.throwIfAborted();
      if (refusalIn(error)) throw error;
      const remembered = this.#memory.of(seekerOf(service));
      remembered.full = true;
      this.#book.unknown(ownerOf(service, remembered));
      this.#report.tell(service, "Warning", "SyncLoadBalancerFailed", `Error syncing load balancer: ${messageOf(error)}`);
      throw error;
    }
  }

  async #bring(service: SeenService, key: string, ask: Ask): Promise<Outcome> {
    const remembered = this.#memory.get(service.metadata.uid);
    const leaves = needsCleanup(service) || service.metadata.deletionTimestamp !== undefined || !wantsLoadBalancer(service);
    if (leaves) return hasFinalizer(service) || remembered ? this.#delete(service, key, ask) : done;
    if (!hasFinalizer(service)) {
      this.#report.event(service, "EnsuringLoadBalancer");
      this.#memory.of(seekerOf(service)).announcing = true;
      await this.#report.addFinalizer(service, ask.signal);
    }
    const kind = kindOf(service.view.annotations);
    if (kind === "foreign") return this.#leaveToOthers(service, key, ask);
    const { standing, full } = this.#memory.of(seekerOf(service));
    if (standing?.fingerprint === service.fingerprint && !full) return this.#followNodes(service, key, ask);
    return this.#ensure(service, kind, key, ask);
  }

  async #ensure(service: SeenService, kind: Kind, key: string, ask: Ask): Promise<Outcome> {
    const remembered = this.#memory.of(seekerOf(service));
    const recheck = remembered.full;
    const seen = await stage("failed to ensure load balancer", () => survey(service, kind, this.#surveyParts(), ask));
    if (seen.problems.length > 0) return this.#refuse(service, seen, remembered, ask);
    if (seen.steps.length > 0 && !remembered.announcing) this.#report.event(service, "EnsuringLoadBalancer");
    remembered.announcing ||= seen.steps.length > 0;
    this.#tellAboutNodes(service, remembered, seen.targets.instances.length > 0);
    const ensured = await stage("failed to ensure load balancer", () => ensure(seen, this.#ensureParts(key), ask)).catch(
      (error: unknown) => {
        this.#forgetInstances(error, seen);
        throw error;
      },
    );
    const owner: Owner = { key, uid: service.metadata.uid, kind, loadBalancer: seen.desire.model.name };
    await claimAccess(owner, seen.desire.access, ensured.stand, this.#ensureParts(key), recheck, ask);
    await this.#warn(service, remembered, [...seen.warnings, ...ensured.warnings], ask.signal);
    const moving = await this.#publish(service, seen, ensured, key, ask);
    if (ensured.applied.kind === "waiting") {
      remembered.full = true;
      return again(waitMs, ensured.applied.why);
    }
    remembered.full = moving !== undefined;
    remembered.standing = {
      fingerprint: service.fingerprint,
      kind,
      name: seen.desire.model.name,
      options: seen.options,
      seen: ensured.seen,
      access: seen.desire.access,
      stand: ensured.stand,
    };
    return moving ?? this.#settle(service, owner, remembered, seen.targets.notRunning.length > 0);
  }

  /** The end of a reconcile that went well, as soon as the nodes let the traffic in. */
  #settle(service: SeenService, owner: Owner, remembered: Remembered, notAllRun: boolean): Outcome {
    const waitsFor = this.#book.waitsFor(owner);
    const trouble = this.#book.trouble(waitsFor);
    if (trouble !== undefined) throw new Error(`failed to ensure load balancer: ${trouble}`);
    if (waitsFor.length > 0) return again(notRunningMs, `waits for the rules of node security groups ${waitsFor.join(", ")}`);
    if (remembered.announcing) this.#report.event(service, "EnsuredLoadBalancer");
    remembered.announcing = false;
    return notAllRun ? again(notRunningMs, "some instances do not run yet") : done;
  }

  /** While a load balancer of another kind is replaced the address changes hands; else it is published at once. */
  async #publish(service: SeenService, seen: Survey, ensured: Ensured, key: string, ask: Ask): Promise<Outcome | undefined> {
    const replaced = service.conditions.some(({ type }) => type === replacedCondition);
    if (seen.other === undefined && !replaced) {
      await this.#report.publish(service, ensured.hostname, ask.signal);
      return undefined;
    }
    return continueReplacement(service, seen, ensured, {
      inventory: this.#parts.inventory,
      report: this.#report,
      clock: this.#parts.host.world.clock,
      follow: (old) => this.#followIn(old, seen, ask),
      remove: (kind) => this.#remove(service, key, [kind], ask),
      ask,
    });
  }

  /** A bad wish changes nothing; but what stands goes on following the nodes. */
  async #refuse(service: SeenService, seen: Survey, remembered: Remembered, ask: Ask): Promise<never> {
    const message = seen.problems.map((problem) => problem.message).join("; ");
    this.#book.unknown(ownerOf(service, remembered));
    await this.#report.condition(service, configurationCondition, { status: "False", reason: "InvalidConfiguration", message }, ask.signal);
    for (const standing of [seen.found, seen.other]) if (standing) await this.#followIn(standing, seen, ask);
    throw new Misconfigured(`failed to ensure load balancer: ${message}`);
  }

  /** Brings the targets of a load balancer that is otherwise left as it is to the nodes there are. */
  async #followIn(old: Found, { kind, seen: present, targets }: Survey, ask: Ask): Promise<void> {
    const { inventory } = this.#parts;
    const seen = old.kind === kind ? present : await targetsBehind(old, inventory, ask);
    const steps = planTargetsOnly(old.name, seen, registrable(targets, registeredIn(seen)));
    if (steps.length === 0) return;
    await apply(steps, inventory.cloud, { ...ask, onStep: (step) => this.#logStep(step, old.name) }).finally(() => {
      (old.kind === "classic" ? inventory.classic : inventory.loadBalancers).touch(old.name);
    });
  }

  /** Nothing about the Service changed: if its nodes did, only its targets are touched. */
  async #followNodes(service: SeenService, key: string, ask: Ask): Promise<Outcome> {
    const remembered = this.#memory.of(seekerOf(service));
    const standing = remembered.standing!;
    const { inventory } = this.#parts;
    const owner: Owner = { key, uid: service.metadata.uid, kind: standing.kind, loadBalancer: standing.name };
    const targets = await eligibleTargets(standing.options, this.#surveyParts(), ask);
    const wanted = registrable(targets, registeredIn(standing.seen));
    const steps = planTargetsOnly(standing.name, standing.seen, wanted);
    if (steps.length > 0) {
      await this.#metrics.update(async () => {
        try {
          const options = { ...ask, onStep: (step: Step) => this.#logStep(step, key) };
          const applied = await apply(steps, inventory.cloud, options).finally(() => this.#touchTargets(standing));
          if (applied.kind === "waiting") throw new Error(applied.why);
        } catch (error) {
          ask.signal.throwIfAborted();
          if (refusalIn(error)) throw error;
          inventory.cloud.instances.forget(wanted);
          this.#report.tell(service, "Warning", "UpdateLoadBalancerFailed", updateFailed(wanted, error));
          remembered.full = true;
          throw error;
        }
      });
      const { ids } = await nodeGroups(targets, inventory, ask);
      const stand = { ...standing.stand, nodeGroups: ids };
      remembered.standing = { ...standing, seen: withTargets(standing.seen, wanted), stand };
      await claimAccess(owner, standing.access, stand, this.#ensureParts(key), false, ask);
      if (wanted.length > 0) this.#report.event(service, "UpdatedLoadBalancer");
    }
    this.#tellAboutNodes(service, remembered, targets.instances.length > 0);
    return this.#settle(service, owner, remembered, targets.notRunning.length > 0);
  }

  async #delete(service: SeenService, key: string, ask: Ask): Promise<Outcome> {
    const outcome = await this.#remove(service, key, bothKinds, ask);
    if (outcome !== undefined) return outcome;
    await this.#report.removeFinalizer(service, ask.signal);
    this.#report.event(service, "DeletedLoadBalancer");
    if (service.metadata.deletionTimestamp === undefined) {
      await this.#report.publish(service, undefined, ask.signal);
      for (const type of [configurationCondition, replacedCondition]) await this.#report.condition(service, type, undefined, ask.signal);
    }
    this.#memory.forget(key, service.metadata.uid);
    return done;
  }

  /** One pass over what is left; undefined when nothing is. */
  async #remove(service: SeenService, key: string, kinds: readonly Kind[], ask: Ask): Promise<Outcome | undefined> {
    const { clock } = this.#parts.host.world;
    const remembered = this.#memory.of(seekerOf(service));
    const removal = await stage("failed to delete load balancer", () =>
      remove(seekerOf(service), key, this.#removalParts(), ask, {
        kinds,
        onBegin: () => {
          if (remembered.leavingSince === undefined) this.#report.event(service, "DeletingLoadBalancer");
          remembered.leavingSince ??= clock.monotonic();
        },
        onStep: (step) => this.#logStep(step, key),
      }),
    );
    if (removal.kind === "waiting") return this.#waitForRemoval(service, remembered, removal.why);
    this.#tellNotOurs(service, removal);
    delete remembered.leavingSince;
    return undefined;
  }

  #waitForRemoval(service: SeenService, remembered: Remembered, why: string): Outcome {
    const now = this.#parts.host.world.clock.monotonic();
    const since = remembered.leavingToldAt ?? remembered.leavingSince ?? now;
    const trouble = this.#book.trouble(this.#book.waitsFor(ownerOf(service, remembered)));
    if (now - since >= patienceMs) {
      remembered.leavingToldAt = now;
      const text = `Error syncing load balancer: failed to delete load balancer: ${trouble ?? why}; it is tried until it succeeds`;
      this.#report.tell(service, "Warning", "SyncLoadBalancerFailed", text);
    }
    return again(waitMs, why);
  }

  #tellNotOurs(service: SeenService, { notOurs }: Extract<Removal, { kind: "gone" }>): void {
    if (notOurs.length === 0) return;
    const message = `left alone, because it does not carry this cluster's tags any more: ${notOurs.join(", ")}`;
    this.#report.tell(service, "Warning", "LoadBalancerWarning", message);
  }

  /** The Service is gone, and what was made for it may not be: its finalizer was taken by force. */
  async #removeOrphan(key: string, { seeker }: Remembered, ask: Ask): Promise<Outcome> {
    const { namespace, name, uid } = seeker;
    const service = { metadata: { namespace, name, uid, resourceVersion: "", finalizers: [] } };
    if (this.#parts.dryRun) return done;
    try {
      const onBegin = () => this.#report.event(service, "DeletingLoadBalancer");
      const removal = await remove(seeker, key, this.#removalParts(), ask, { kinds: bothKinds, onBegin });
      if (removal.kind === "waiting") return again(waitMs, removal.why);
      if (removal.changed) this.#report.event(service, "DeletedLoadBalancer");
      this.#memory.forget(key, uid);
      return done;
    } catch (error) {
      ask.signal.throwIfAborted();
      if (!refusalIn(error))
        this.#report.tell(service, "Warning", "DeleteLoadBalancerFailed", `Error deleting load balancer: ${messageOf(error)}`);
      throw error;
    }
  }

  /** Another controller's Service: whatever we made for it before has to go, and its status is theirs. */
  async #leaveToOthers(service: SeenService, key: string, ask: Ask): Promise<Outcome> {
    const left = await leftovers(seekerOf(service), this.#removalParts(), bothKinds, reconcileAges, ask);
    if (describe(left).length === 0) return done;
    const outcome = await this.#remove(service, key, bothKinds, ask);
    if (outcome !== undefined) return outcome;
    if (left.loadBalancers.some(({ hostname }) => hostname === service.hostname))
      await this.#report.publish(service, undefined, ask.signal);
    this.#memory.forget(key, service.metadata.uid);
    return done;
  }

  async #postPlan(service: SeenService, ask: Ask): Promise<Outcome> {
    const kind = kindOf(service.view.annotations);
    const tell = (type: "Normal" | "Warning", message: string) =>
      this.#report.tell(service, type, "LoadBalancerPlan", message.slice(0, 1024));
    if (!wantsLoadBalancer(service) || service.metadata.deletionTimestamp !== undefined || kind === "foreign") {
      if (!hasFinalizer(service)) return done;
      const left = await leftovers(seekerOf(service), this.#removalParts(), bothKinds, reconcileAges, ask);
      const steps = planRemoval(left);
      if (steps.length > 0) tell("Normal", planText(steps));
      return done;
    }
    const { steps, problems } = await survey(service, kind, this.#surveyParts(), ask);
    if (problems.length > 0) tell("Warning", problems.map(({ message }) => message).join("; "));
    else if (steps.length > 0) tell("Normal", planText(steps));
    return done;
  }

  #tellAboutNodes(service: SeenService, remembered: Remembered, any: boolean): void {
    if (!any && remembered.hadNodes) this.#report.event(service, "UnAvailableLoadBalancer");
    remembered.hadNodes = any;
  }

  /** What is odd but can be lived with: an Event when it is news, and a condition while it is so. */
  async #warn(service: SeenService, remembered: Remembered, warnings: readonly Problem[], signal: AbortSignal): Promise<void> {
    const message = warnings.map((warning) => warning.message).join("; ");
    if (message !== (remembered.warned ?? "") && message !== "") this.#report.tell(service, "Warning", "LoadBalancerWarning", message);
    remembered.warned = message;
    const condition = message === "" ? undefined : ({ status: "True", reason: "Warning", message } as const);
    await this.#report.condition(service, configurationCondition, condition, signal);
  }

  /** What AWS refused may be because of instances that are not as we remember them. */
  #forgetInstances(error: unknown, { targets }: Survey): void {
    if (isAwsError((error as Error).cause, "invalid", "not-found"))
      this.#parts.inventory.cloud.instances.forget(targets.instances.map(({ id }) => id));
  }

  #touchTargets({ kind, name, seen }: NonNullable<Remembered["standing"]>): void {
    const { inventory } = this.#parts;
    if (kind === "classic") inventory.classic.touch(name);
    else if ("targetGroups" in seen) for (const group of seen.targetGroups) inventory.targetGroups.touch(group.name);
  }

  #logStep({ what, why }: Step, of: string): void {
    this.#log.info(what, { why, service: of });
  }

  #surveyParts(): SurveyParts {
    const { inventory, nodes, settings } = this.#parts;
    return { inventory, nodes, settings };
  }

  #ensureParts(key: string) {
    const { inventory, settings } = this.#parts;
    return { inventory, settings, book: this.#book, onStep: (step: Step) => this.#logStep(step, key) };
  }

  #removalParts() {
    const { inventory, settings } = this.#parts;
    return { inventory, settings, book: this.#book };
  }
}

const isForeign = (service: SeenService) => kindOf(service.view.annotations) === "foreign";

/** What is needed to find a Service's own things. */
function seekerOf({ view, hostname }: SeenService): Seeker {
  const { namespace, name, uid, annotations } = view;
  return { namespace, name, uid, annotations, hostname };
}

function ownerOf(service: SeenService, { standing }: Remembered): Owner {
  const kind = kindOf(service.view.annotations);
  return {
    key: keyOf(service),
    uid: service.metadata.uid,
    kind: standing?.kind ?? (kind === "foreign" ? "network" : kind),
    loadBalancer: standing?.name ?? loadBalancerName(service.metadata.uid),
  };
}

/** What was being done when it failed, in the words users know. */
async function stage<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw refusalIn(cause) ? cause : new Error(`${what}: ${messageOf(cause)}`, { cause });
  }
}

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

const mostNames = 20;

function updateFailed(hosts: readonly string[], error: unknown): string {
  const names = hosts.slice(0, mostNames).join(" ");
  const more = hosts.length > mostNames ? ` <${hosts.length - mostNames} more>` : "";
  return `Error updating load balancer with new hosts [${names}${more}] [node names limited, total number of nodes: ${hosts.length}], error: ${messageOf(error)}`;
}
