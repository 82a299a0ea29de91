/** Runs controllers: starts what wakes them, hands keys to workers, retries what fails, and knows how far they are. */

import type { Gauge } from "prom-client";
import type { Backoff } from "./back-off.ts";
import type { Controller, Outcome, Source } from "./controller.ts";
import { EventLoopTurns } from "./event-loop-turns.ts";
import { refusalIn, type WriteGate } from "./gate.ts";
import type { Host } from "./host.ts";
import type { Log } from "./log.ts";
import { messageOf } from "./message-of.ts";
import { gauge } from "./metrics.ts";
import { type Work, WorkQueue } from "./queue.ts";
import { QueueMetrics } from "./queue-metrics.ts";
import { sleep } from "./world.ts";

export interface ControllersOptions {
  /** The label `manager` of `running_managed_controllers`. */
  readonly manager: string;
  /** The gate its writes pass: when it is lost, work in hand is cut at once. */
  readonly gate: WriteGate;
  readonly backoff?: Backoff;
}

/** Names that dashboards of the reference know, where they differ from the controller's own. */
export interface MetricNames {
  /** The label `name` of `running_managed_controllers`; null keeps the controller out of it. */
  readonly managed?: string | null;
  /** The label `name` of `workqueue_*`. */
  readonly queue?: string;
  /** The label `manager` of `running_managed_controllers`, where it is not the process's. */
  readonly manager?: string;
}

/** How far a controller is. */
export interface Progress {
  readonly name: string;
  /** Sources that have not yet told everything that existed at the start. */
  readonly waitingFor: readonly string[];
  readonly depth: number;
  /** Keys whose last run failed. */
  readonly failing: number;
  readonly oldestRunning: { readonly key: string; readonly ms: number } | undefined;
  /** Since a key was last brought to its wanted state; undefined when none has been. */
  readonly lastSuccessMsAgo: number | undefined;
}

export interface RunningController {
  readonly name: string;
  /** Resolves when every source has told what existed; rejects with `ControllerFailed` when one cannot start. */
  readonly synced: Promise<void>;
  progress(): Progress;
  /** Starts no new work; resolves when work in hand is finished, or `graceMs` later, when it has been cut. */
  stop(graceMs: number): Promise<void>;
}

/** A controller could not be started. Names the controller, and the source if it was one. */
export class ControllerFailed extends Error {
  override readonly name = "ControllerFailed";
}

/** How long work that was cut may take to notice. */
const cutGraceMs = 1_000;

/** The controllers of one process. */
export class Controllers {
  readonly #host: Host;
  readonly #options: ControllersOptions;
  readonly #queueMetrics: QueueMetrics;
  readonly #managed: Gauge<"name" | "manager">;
  readonly #lastSuccess: Gauge<"name">;
  readonly #running: RunningController[] = [];

  constructor(host: Host, options: ControllersOptions) {
    this.#host = host;
    this.#options = options;
    this.#queueMetrics = new QueueMetrics(host.metrics);
    this.#managed = gauge(host.metrics, {
      name: "running_managed_controllers",
      help: "Indicates where instances of a controller are currently running",
      labels: ["name", "manager"],
    });
    this.#lastSuccess = gauge(host.metrics, {
      name: "fairlead_controller_last_success_timestamp_seconds",
      help: "When the controller last reconciled a key successfully, in seconds since the epoch.",
      labels: ["name"],
    });
  }

  /** How far each of them is. */
  progress(): readonly Progress[] {
    return this.#running.map((running) => running.progress());
  }

  /** Starts one controller; `gate` overrides the common one (controllers under the migration lock). */
  start(controller: Controller, names: MetricNames = {}, gate: WriteGate = this.#options.gate): RunningController {
    if (!(Number.isInteger(controller.concurrency) && controller.concurrency > 0)) {
      throw new ControllerFailed(`controller ${controller.name}: concurrency must be a positive number, but got ${controller.concurrency}`);
    }
    const { managed = controller.name, manager = this.#options.manager } = names;
    const mark = (value: 0 | 1) => {
      if (managed !== null) this.#managed.set({ name: managed, manager }, value);
    };
    const { clock, random } = this.#host.world;
    const backoff = controller.backoff ?? this.#options.backoff;
    mark(1);
    const running = new Running(this.#host, controller, {
      gate,
      queue: new WorkQueue({
        name: names.queue ?? controller.name,
        clock,
        random,
        metrics: this.#queueMetrics,
        ...(backoff && { backoff }),
      }),
      onSuccess: () => this.#lastSuccess.set({ name: controller.name }, clock.now() / 1000),
      onStop: () => mark(0),
    });
    this.#running.push(running);
    return running;
  }

  /** Everything started so far, in order. */
  all(): readonly RunningController[] {
    return this.#running;
  }

  /** Stops them all side by side. */
  async stop(graceMs: number): Promise<void> {
    await Promise.all(this.#running.map((running) => running.stop(graceMs)));
  }
}

interface RunningOptions {
  readonly gate: WriteGate;
  readonly queue: WorkQueue;
  onSuccess(): void;
  onStop(): void;
}

class Running implements RunningController {
  readonly name: string;
  readonly synced: Promise<void>;
  readonly #host: Host;
  readonly #controller: Controller;
  readonly #options: RunningOptions;
  readonly #log: Log;
  readonly #waitingFor: Set<string>;
  /** Ends the sources: nothing new comes in. */
  readonly #sources = new AbortController();
  /** Cuts work in hand. */
  readonly #work = new AbortController();
  readonly #startedAt: number;
  readonly #turns: EventLoopTurns;
  #lastSuccessAt: number | undefined;
  #stopping: Promise<void> | undefined;

  constructor(host: Host, controller: Controller, options: RunningOptions) {
    this.name = controller.name;
    this.#host = host;
    this.#controller = controller;
    this.#options = options;
    this.#log = host.log.with({ controller: controller.name });
    this.#waitingFor = new Set(controller.sources.map((source) => source.name));
    this.#startedAt = host.world.clock.monotonic();
    this.#turns = new EventLoopTurns(host.world.clock);
    options.gate.lost.addEventListener("abort", () => void this.stop(0), { once: true, signal: this.#work.signal });
    if (options.gate.lost.aborted) void this.stop(0);
    this.synced = this.#start();
    // Whoever does not wait for it still finds the failure in the log; it must not end the process by itself.
    this.synced.catch(() => {});
  }

  progress(): Progress {
    const { queue } = this.#options;
    return {
      name: this.name,
      waitingFor: [...this.#waitingFor],
      depth: queue.depth(),
      failing: queue.failing(),
      oldestRunning: queue.oldestRunning(),
      lastSuccessMsAgo: this.#lastSuccessAt === undefined ? undefined : this.#now() - this.#lastSuccessAt,
    };
  }

  stop(graceMs: number): Promise<void> {
    if (graceMs <= 0) this.#cut();
    this.#stopping ??= this.#stop(graceMs);
    return this.#stopping;
  }

  async #stop(graceMs: number): Promise<void> {
    this.#sources.abort(new Error(`controller ${this.name} is stopping`));
    const drained = this.#options.queue.close();
    this.#options.onStop();
    const { clock } = this.#host.world;
    // The timers end with the wait, else they would keep the process alive.
    const over = new AbortController();
    const late = (ms: number) =>
      sleep(clock, ms, over.signal).then(
        () => "late",
        () => "over",
      );
    if ((await Promise.race([drained, late(graceMs)])) === "late") {
      const oldest = this.#options.queue.oldestRunning();
      this.#log.warn("work in progress did not finish in time and is aborted", { key: oldest?.key, graceMs });
      this.#cut();
      await Promise.race([drained, late(cutGraceMs)]);
    }
    over.abort();
    this.#cut();
  }

  #cut(): void {
    this.#work.abort(new Error(`controller ${this.name} was stopped`));
  }

  async #start(): Promise<void> {
    const { sources, concurrency } = this.#controller;
    try {
      await Promise.all(sources.map((source) => this.#startSource(source)));
    } catch (error) {
      if (this.#sources.signal.aborted) return;
      this.#log.error("controller cannot start", { error });
      throw error;
    }
    if (this.#sources.signal.aborted) return;
    this.#log.v(2)?.info("controller is in sync", { workers: concurrency, afterMs: this.#now() - this.#startedAt });
    for (let i = 0; i < concurrency; i++) void this.#worker();
  }

  async #startSource(source: Source): Promise<void> {
    try {
      await source.start((key, urgency) => this.#options.queue.add(key, urgency), this.#sources.signal);
      this.#waitingFor.delete(source.name);
    } catch (cause) {
      throw new ControllerFailed(`controller ${this.name}: source ${source.name} cannot start: ${messageOf(cause)}`, { cause });
    }
  }

  async #worker(): Promise<void> {
    const { queue } = this.#options;
    for (let work = await queue.next(); work !== undefined; work = await queue.next()) {
      await this.#turns.next();
      try {
        // A signal of its own for each: a thousand listeners on one would search it from end to end as they come and go.
        this.#settle(work, await this.#controller.reconcile(work.key, AbortSignal.any([this.#work.signal])));
      } catch (error) {
        this.#fail(work, error);
      } finally {
        queue.finish(work);
      }
    }
  }

  #settle(work: Work, outcome: Outcome): void {
    const { queue } = this.#options;
    queue.forget(work.key);
    this.#lastSuccessAt = this.#now();
    this.#options.onSuccess();
    if (outcome.kind === "again") {
      // Never at once: a key that always wants to come again must not shut out everything else.
      queue.addAfter(work.key, Math.max(1, outcome.afterMs || 0), work.urgency);
      this.#log.v(4)?.info("will reconcile again", { key: work.key, afterMs: outcome.afterMs, why: outcome.why });
    }
  }

  #fail(work: Work, error: unknown): void {
    const { key } = work;
    const { queue } = this.#options;
    const refusal = refusalIn(error);
    if (refusal?.reason === "dry-run") {
      // What it would have written is known to whoever holds the gate; there is nothing to try again.
      queue.forget(key);
    } else if (refusal?.reason === "not-leading") {
      this.#log.info("stopping: this process is no longer the leader", { key });
      void this.stop(0);
    } else if (this.#work.signal.aborted) {
      this.#log.v(2)?.info("work was aborted", { key });
    } else {
      const { afterMs, failures } = queue.retry(key);
      this.#log.error("reconcile failed", { key, error, failures, retryInMs: Math.round(afterMs) });
    }
  }

  #now(): number {
    return this.#host.world.clock.monotonic();
  }
}
