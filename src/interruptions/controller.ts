/** Brings interrupted Nodes through their plans: observes, lets the state machine decide, carries the step out, until it says to wait. */
import type { EventRecorder } from "../identity/event-reasons.ts";
import type { Nodes } from "../identity/node-view.ts";
import { daemonSets } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { watchSource } from "../kube/watch-source.ts";
import { again, type Controller, done, type Outcome, type Source } from "../runtime/controller.ts";
import { refusalIn } from "../runtime/gate.ts";
import type { Host } from "../runtime/host.ts";
import type { ActionMetrics } from "./action-metrics.ts";
import { awaitsRestart } from "./adopt.ts";
import { DeadlineBudget } from "./deadline-budget.ts";
import type { Annotations } from "./event-annotations.ts";
import type { HolderWatch } from "./holders.ts";
import { type Hooks, holdMs } from "./hooks.ts";
import type { Inbox } from "./inbox.ts";
import { nextStep } from "./next-step.ts";
import { type NodeState, NodeStates } from "./node-states.ts";
import { activeEvents, awaitsInstanceEnd, type NodePlan, type PlannedEvent } from "./plan.ts";
import type { DrainedPods } from "./pod-source.ts";
import type { PodView } from "./pods.ts";
import { PodRemover } from "./remove-pods.ts";
import { reporter } from "./report.ts";
import type { InterruptionSettings } from "./settings.ts";
import { simulatedSource } from "./simulated.ts";
import type { Situation, Step } from "./situation.ts";
import { WorkingMemory } from "./working-memory.ts";

/** What the controller stands on. */
export interface InterruptionParts {
  readonly host: Host;
  /** Its writes pass the gate. */
  readonly kube: KubeClient;
  /** Undefined: no Events are wanted. */
  readonly recorder: EventRecorder | undefined;
  /** Annotations of Events about a Node. */
  readonly annotationsOf?: (node: NodeState) => Annotations;
  readonly nodes: Nodes;
  readonly pods: DrainedPods;
  readonly inbox: Inbox;
  /** Fills the inbox. */
  readonly monitor: Source;
  /** Who this process is in plans. */
  readonly me: string;
  readonly holders: HolderWatch;
  readonly settings: InterruptionSettings;
  readonly metrics: ActionMetrics;
  /** Where AWS is spoken to: queue mode. */
  readonly hooks?: Hooks;
  /** Whether EC2 says that an instance is gone. */
  readonly isGone?: (instanceId: string, signal: AbortSignal) => Promise<boolean>;
  /** Told of an event's end, with the names of the pods that were on the Node when its drain began. */
  readonly notify?: (node: NodeState, event: PlannedEvent, signal: AbortSignal, pods: readonly string[]) => Promise<void>;
  /** When the machine was started that this process runs on. */
  readonly bootedAt?: number;
  /** Calls that remove pods, at once. */
  readonly callsAtOnce: number;
}

/** Nodes worked on at once: most of the time of each is waiting. */
const nodesAtOnce = 2_000;
/** No Node takes more steps than this in a row. */
const maxSteps = 60;

/** The controller. Its keys are names of Nodes. */
export function interruptionController(parts: InterruptionParts): Controller {
  const work = new InterruptionWork(parts);
  return {
    name: "interruptions",
    sources: [
      // Heartbeats of kubelets are no news; a plan, a restart and a deletion are.
      watchSource(parts.nodes, (before, after) => {
        const node = after ?? before!;
        const news = after === undefined || before?.interruptionPlan !== after.interruptionPlan || before?.bootId !== after.bootId;
        const taken = parts.bootedAt !== undefined && awaitsRestart(node.metadata);
        const concerned = taken || node.interruptionPlan !== undefined || parts.inbox.eventsOf(node.metadata.name).length > 0;
        return news && concerned ? [node.metadata.name] : [];
      }),
      { name: "notices", start: async (enqueue) => parts.inbox.onNews(enqueue) },
      parts.monitor,
      simulatedSource(parts.nodes, parts.inbox, parts.host),
      parts.pods.source,
    ],
    concurrency: nodesAtOnce,
    backoff: { baseMs: 250, maxMs: 15_000 },
    reconcile: (node, signal) => work.reconcile(node, signal),
  };
}

/** Whether a pod was made after the drain of its Node began; its time is exact to a second. */
function isLate({ created }: PodView, { plan }: NodeState): boolean {
  return created + 1_000 > (plan?.drainSince ?? 0);
}

class InterruptionWork {
  readonly #parts: InterruptionParts;
  readonly #states: NodeStates;
  readonly #memories = new Map<string, WorkingMemory>();
  readonly #remover: PodRemover;
  readonly #report: ReturnType<typeof reporter>;
  readonly #orphans = new Map<string, Promise<boolean>>();

  constructor(parts: InterruptionParts) {
    this.#parts = parts;
    this.#states = new NodeStates(parts.kube, parts.nodes);
    this.#remover = new PodRemover(parts.kube, new DeadlineBudget(parts.callsAtOnce));
    this.#report = reporter(parts);
  }

  async reconcile(name: string, signal: AbortSignal): Promise<Outcome> {
    for (let taken = 0; taken < maxSteps; taken++) {
      const state = this.#states.get(name);
      const memory = this.#memoryOf(name);
      const step = nextStep(await this.#situation(name, state, memory, signal));
      if (step.kind === "wait") {
        this.#settle(name, state?.plan);
        // While there is something to wait for it may be the end of a holder's patience.
        if (step.until === undefined) this.#parts.holders.forget(name);
        const { clock } = this.#parts.host.world;
        return step.until === undefined ? done : again(Math.max(1, step.until - clock.now()), step.why);
      }
      await this.#take(name, state, memory, step, signal);
    }
    return again(100, "there is more to do");
  }

  async #situation(name: string, state: NodeState | undefined, memory: WorkingMemory, signal: AbortSignal): Promise<Situation> {
    const { host, me, settings, inbox, holders, pods, isGone } = this.#parts;
    const plan = state?.plan;
    const active = plan === undefined ? [] : activeEvents(plan);
    const mine = plan?.holder === me;
    const draining = mine && plan.phase === "draining" && active.length > 0;
    const now = host.world.clock.now();
    const watches = plan !== undefined && awaitsInstanceEnd(plan, now);
    const isBack = plan !== undefined && (plan.bootId !== state?.bootId || inbox.overOf(name).size > 0);
    const worked = active.length > 0 || watches || isBack;
    if (mine) await this.#learnHooks(active, memory, signal);
    const seen = draining ? pods.on(name) : undefined;
    memory.podNames ??= seen?.map(({ metadata }) => metadata.name);
    return {
      now: host.world.clock.now(),
      me,
      settings,
      node: state,
      arrived: inbox.eventsOf(name),
      over: inbox.overOf(name),
      holderAlive: plan !== undefined && !mine && worked ? await holders.isAlive({ node: name, ...plan }, signal) : false,
      pods: seen,
      orphanedDaemonSets: await this.#orphaned(seen ?? [], signal),
      bootedAt: this.#parts.bootedAt,
      instanceGone: mine && (draining || watches) && isGone !== undefined && (await isGone(state!.instanceId, signal)),
      memory,
    };
  }

  async #take(
    name: string,
    state: NodeState | undefined,
    memory: WorkingMemory,
    step: Exclude<Step, { kind: "wait" }>,
    signal: AbortSignal,
  ): Promise<void> {
    const { inbox, hooks, notify, host } = this.#parts;
    switch (step.kind) {
      case "write": {
        const written = await this.#states.write(state!, step.plan, step.change, signal).catch((error: unknown) => {
          if (isApiError(error, "forbidden", "invalid")) this.#report.failed(state!, error.said);
          throw error;
        });
        if (written !== "conflict") this.#report(state!, step.plan, step.reports, written === "written" ? undefined : written.refused);
        return;
      }
      case "remove-pods":
        // Nothing is scheduled to a cordoned Node: a pod that came later may be on another Node of its name.
        if (step.removals.some(({ pod }) => isLate(pod, state!)) && !(await this.#states.isStill(state!, signal))) return;
        await this.#remover.remove(step.removals, step.deadline, memory, signal);
        return;
      case "tell-pods":
        this.#report.pods(name, step.pods);
        memory.podsTold = true;
        return;
      case "heartbeat": {
        memory.heartbeats.set(step.event.id, host.world.clock.now());
        const outcome = await this.#tryHeartbeat(step.event, signal);
        if (outcome === "over") memory.hooksDone.add(step.event.id);
        return;
      }
      case "complete": {
        const { hook, id } = step.event;
        if (hook !== undefined && hooks !== undefined) {
          const outcome = await hooks.complete(hook, step.result, signal).catch((error: unknown) => {
            if (!signal.aborted && refusalIn(error) === undefined) this.#report.hookFailed(state, name, { id, hook }, error);
            throw error;
          });
          this.#report.hook(state, name, { id, hook }, step.result, outcome, step.why);
        }
        memory.hooksDone.add(id);
        return;
      }
      case "notify":
        await notify?.(state!, step.event, signal, memory.podNames ?? []);
        memory.notified.add(step.event.id);
        return;
      case "acknowledge":
        inbox.acknowledge(step.eventIds, step.reached);
    }
  }

  /** One that fails is tried again at the next interval: a hook outlasts a missed heartbeat. */
  async #tryHeartbeat({ hook }: PlannedEvent, signal: AbortSignal): Promise<"done" | "over"> {
    const { hooks, host } = this.#parts;
    if (hook === undefined || hooks === undefined) return "over";
    try {
      const outcome = await hooks.heartbeat(hook, signal);
      host.log.info(outcome === "done" ? "Successfully sent lifecycle heartbeat" : "invalid heartbeat target, stopping heartbeat", {
        ...hook,
        token: undefined,
      });
      return outcome;
    } catch (error) {
      signal.throwIfAborted();
      host.log.warn("Failed to send lifecycle heartbeat", { instanceId: hook.instanceId, error });
      return "done";
    }
  }

  /** When the hooks of these events run out. */
  async #learnHooks(events: readonly PlannedEvent[], memory: WorkingMemory, signal: AbortSignal): Promise<void> {
    const { hooks, settings, host } = this.#parts;
    if (hooks === undefined) return;
    for (const { id, hook, startTime } of events) {
      if (hook === undefined || memory.hookDeadlines.has(id)) continue;
      const ms = await hooks.timeout(hook, signal);
      if (ms === undefined) continue;
      memory.hookDeadlines.set(id, startTime + holdMs(ms, settings.heartbeat));
      if (settings.heartbeat !== undefined && settings.heartbeat.intervalMs >= ms) {
        const seconds = { heartbeatInterval: settings.heartbeat.intervalMs / 1000, heartbeatTimeout: ms / 1000 };
        host.log.warn("Heartbeat interval is not shorter than the heartbeat timeout of the hook, which runs out before the first one", {
          ...{ group: hook.group, hook: hook.hook, ...seconds },
        });
      }
    }
  }

  /** DaemonSets of these pods that are gone; each is asked for once. */
  async #orphaned(
    pods: readonly { readonly metadata: { readonly namespace: string }; readonly daemonSet: string | undefined }[],
    signal: AbortSignal,
  ) {
    const orphaned = new Set<string>();
    for (const { metadata, daemonSet } of pods) {
      if (daemonSet === undefined) continue;
      const key = `${metadata.namespace}/${daemonSet}`;
      const asked = this.#orphans.get(key) ?? this.#isOrphaned(metadata.namespace, daemonSet, signal);
      this.#orphans.set(key, asked);
      if (await asked) orphaned.add(key);
    }
    return orphaned;
  }

  async #isOrphaned(namespace: string, name: string, signal: AbortSignal): Promise<boolean> {
    try {
      await this.#parts.kube.get(daemonSets, { namespace, name }, { signal });
      return false;
    } catch (error) {
      if (isApiError(error, "not-found")) return true;
      // Not known: it stays, and is asked for again.
      this.#orphans.delete(`${namespace}/${name}`);
      signal.throwIfAborted();
      this.#parts.host.log.warn("a DaemonSet cannot be read; its pods stay", { daemonSet: `${namespace}/${name}`, error });
      return false;
    }
  }

  #memoryOf(name: string): WorkingMemory {
    const memory = this.#memories.get(name) ?? new WorkingMemory();
    this.#memories.set(name, memory);
    return memory;
  }

  /** What is remembered of a Node's work goes with it. */
  #settle(name: string, plan: NodePlan | undefined): void {
    const { me, pods, inbox, metrics } = this.#parts;
    const active = plan !== undefined && activeEvents(plan).length > 0;
    const phase = active && plan.holder === me ? plan.phase : undefined;
    if (phase !== "draining") pods.release(name);
    metrics.phase(name, phase);
    if (!active && inbox.eventsOf(name).length === 0) {
      this.#memories.delete(name);
      this.#states.forget(name);
    }
    if (this.#memories.size === 0) this.#orphans.clear();
  }
}
