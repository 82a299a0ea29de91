import { type Backoff, backOffMs } from "./back-off.ts";
import type { Urgency } from "./controller.ts";
import type { QueueMetrics } from "./queue-metrics.ts";
import { type Clock, jittered, type Random } from "./world.ts";

export const defaultBackoff: Backoff = { baseMs: 5, maxMs: 5 * 60_000 };

export interface QueueOptions {
  /** The label `name` of its metrics. */
  readonly name: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly metrics: QueueMetrics;
  readonly backoff?: Backoff;
}

/** A key handed out by `next`; give it back with `finish`. */
export interface Work {
  readonly key: string;
  readonly urgency: Urgency;
  readonly startedAt: number;
}

/** After so many user keys in a row a waiting background key has its turn. */
const userKeysInARow = 4;

/**
 * Keys that want to be worked on. A key waits at most once, is never handed out twice at the same time, and when it is
 * added while in work it is handed out again afterwards. User keys pass background keys, but never starve them.
 *
 *     add ─────────────► waiting ── next ──► running ── finish ──► gone
 *     addAfter ► delayed ──┘ ▲                 │ added meanwhile
 *     retry ─────┘           └─────────────────┘
 *
 * A run makes whatever was planned for the key before it void: what it returns decides anew.
 */
export class WorkQueue {
  readonly name: string;
  readonly #options: QueueOptions;
  readonly #waiting = { user: new Map<string, number>(), background: new Map<string, number>() };
  readonly #running = new Map<string, number>();
  readonly #addedMeanwhile = new Map<string, { readonly urgency: Urgency; readonly since: number }>();
  readonly #delayed = new Map<string, { readonly due: number; readonly urgency: Urgency; readonly cancel: () => void }>();
  /** By key, the one that has failed longest first: insertion order is order of the first failure. */
  readonly #failures = new Map<string, { readonly count: number; readonly since: number }>();
  readonly #takers: ((work: Work | undefined) => void)[] = [];
  readonly #onDrained: (() => void)[] = [];
  #userStreak = 0;
  #closed = false;

  constructor(options: QueueOptions) {
    this.name = options.name;
    this.#options = options;
    options.metrics.watch(this);
  }

  /** Wants the key worked on as soon as there is a worker. */
  add(key: string, urgency: Urgency = "user"): void {
    if (this.#closed) return;
    const since = this.#options.clock.monotonic();
    if (this.#running.has(key)) {
      const before = this.#addedMeanwhile.get(key);
      if (before === undefined) this.#countAdd();
      this.#addedMeanwhile.set(key, { urgency: moreUrgent(before?.urgency, urgency), since: before?.since ?? since });
      return;
    }
    this.#wait(key, urgency, since);
  }

  /** Wants the key worked on `ms` from now. When it is planned already, the earlier time counts. */
  addAfter(key: string, ms: number, urgency: Urgency = "background"): void {
    if (this.#closed) return;
    if (!(ms > 0)) {
      this.add(key, urgency);
      return;
    }
    const due = this.#options.clock.monotonic() + ms;
    const planned = this.#delayed.get(key);
    const urgent = moreUrgent(planned?.urgency, urgency);
    if (planned !== undefined && planned.due <= due) {
      this.#delayed.set(key, { ...planned, urgency: urgent });
      return;
    }
    planned?.cancel();
    const cancel = this.#options.clock.after(ms, () => {
      const due = this.#delayed.get(key);
      this.#delayed.delete(key);
      this.add(key, due?.urgency);
    });
    this.#delayed.set(key, { due, urgency: urgent, cancel });
  }

  /** Plans the key again after its back-off; returns how long that is and how often it has failed in a row. */
  retry(key: string, urgency: Urgency = "background"): { readonly afterMs: number; readonly failures: number } {
    const before = this.#failures.get(key);
    const failures = (before?.count ?? 0) + 1;
    this.#failures.set(key, { count: failures, since: before?.since ?? this.#options.clock.monotonic() });
    const full = backOffMs(this.#options.backoff ?? defaultBackoff, failures);
    // Between 80 % and all of it, so that keys that failed together do not come back together, nor later than the maximum.
    const afterMs = jittered(this.#options.random, full * 0.8, 0.25);
    // Failures alone: alerts stand on this number, and a key may come back by itself for ever with nothing wrong.
    if (!this.#closed) this.#options.metrics.retries.inc({ name: this.name });
    this.addAfter(key, afterMs, urgency);
    return { afterMs, failures };
  }

  /** The key did well: its next failure starts the back-off anew. */
  forget(key: string): void {
    this.#failures.delete(key);
  }

  /** The next key to work on, as soon as there is one; undefined once the queue is closed. */
  next(): Promise<Work | undefined> {
    if (this.#closed) return Promise.resolve(undefined);
    const work = this.#take();
    if (work !== undefined) return Promise.resolve(work);
    return new Promise((resolve) => this.#takers.push(resolve));
  }

  /** The work is over; if its key was added meanwhile it waits again. */
  finish(work: Work): void {
    this.#running.delete(work.key);
    const { clock, metrics } = this.#options;
    metrics.workDuration.observe({ name: this.name }, (clock.monotonic() - work.startedAt) / 1000);
    const again = this.#addedMeanwhile.get(work.key);
    this.#addedMeanwhile.delete(work.key);
    if (again !== undefined && !this.#closed) this.#wait(work.key, again.urgency, again.since, true);
    if (this.#running.size === 0) for (const tell of this.#onDrained.splice(0)) tell();
  }

  /** Hands out nothing more and forgets what waits. Resolves when what is in work is finished. */
  close(): Promise<void> {
    this.#closed = true;
    for (const { cancel } of this.#delayed.values()) cancel();
    this.#delayed.clear();
    this.#waiting.user.clear();
    this.#waiting.background.clear();
    this.#addedMeanwhile.clear();
    for (const taker of this.#takers.splice(0)) taker(undefined);
    if (this.#running.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#onDrained.push(resolve));
  }

  depth(): number {
    return this.#waiting.user.size + this.#waiting.background.size + this.#addedMeanwhile.size;
  }

  /** How many keys failed when they last ran. */
  failing(): number {
    return this.#failures.size;
  }

  /** How long the key that has failed longest has done so without a success. */
  failingForMs(): number {
    for (const { since } of this.#failures.values()) return this.#options.clock.monotonic() - since;
    return 0;
  }

  /** The key that has been in work longest. */
  oldestRunning(): { readonly key: string; readonly ms: number } | undefined {
    const now = this.#options.clock.monotonic();
    // Insertion order is order of start.
    for (const [key, startedAt] of this.#running) return { key, ms: now - startedAt };
    return undefined;
  }

  runningForMs(): readonly number[] {
    const now = this.#options.clock.monotonic();
    return Array.from(this.#running.values(), (startedAt) => now - startedAt);
  }

  #wait(key: string, urgency: Urgency, since: number, counted = false): void {
    const { user, background } = this.#waiting;
    if (user.has(key)) return;
    const waitedSince = background.get(key);
    if (waitedSince !== undefined && urgency === "background") return;
    background.delete(key);
    if (waitedSince === undefined && !counted) this.#countAdd();
    this.#waiting[urgency].set(key, waitedSince ?? since);
    this.#handOver();
  }

  #handOver(): void {
    const taker = this.#takers.shift();
    if (taker !== undefined) taker(this.#take());
  }

  #take(): Work | undefined {
    const { user, background } = this.#waiting;
    const backgroundsTurn = user.size === 0 || (background.size > 0 && this.#userStreak >= userKeysInARow);
    this.#userStreak = backgroundsTurn ? 0 : this.#userStreak + 1;
    const urgency: Urgency = backgroundsTurn ? "background" : "user";
    const lane = this.#waiting[urgency];
    for (const [key, since] of lane) {
      lane.delete(key);
      this.#delayed.get(key)?.cancel();
      this.#delayed.delete(key);
      const startedAt = this.#options.clock.monotonic();
      this.#options.metrics.queueDuration.observe({ name: this.name }, (startedAt - since) / 1000);
      this.#running.set(key, startedAt);
      return { key, urgency, startedAt };
    }
    return undefined;
  }

  #countAdd(): void {
    this.#options.metrics.adds.inc({ name: this.name });
  }
}

function moreUrgent(a: Urgency | undefined, b: Urgency): Urgency {
  return a === "user" ? "user" : b;
}
