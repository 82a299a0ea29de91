/** Answers kept for a while. Whoever asks says how old an answer may be; whoever writes says what it made stale. */
import type { Urgency } from "../runtime/controller.ts";
import type { Clock } from "../runtime/world.ts";

export interface CacheOptions<Value> {
  readonly clock: Clock;
  /** The most entries kept; the oldest go first. */
  readonly most: number;
  /** Which answers mean "there is no such thing", and how old such an answer may be where the asker allows more. */
  readonly absent?: { readonly is: (value: Value) => boolean; readonly ageMs: number };
}

interface Entry<Value> {
  readonly value: Value;
  /** When the question was put, which is when the answer was true. */
  readonly askedAt: number;
}

interface Load<Value> {
  readonly promise: Promise<Value>;
  readonly askedAt: number;
  readonly urgency: Urgency;
}

export class Cache<Value> {
  readonly #options: CacheOptions<Value>;
  readonly #entries = new Map<string, Entry<Value>>();
  readonly #loads = new Map<string, Load<Value>>();
  #lastInvalidation = Number.NEGATIVE_INFINITY;

  constructor(options: CacheOptions<Value>) {
    this.#options = options;
  }

  /**
   * The value as it was at most `maxAgeMs` ago. Loads it otherwise; those who ask meanwhile share that load. But a user does
   * not share one of the background, which may wait long for its turn.
   */
  get(key: string, maxAgeMs: number, load: () => Promise<Value>, urgency: Urgency = "background"): Promise<Value> {
    const now = this.#options.clock.monotonic();
    const entry = this.#entries.get(key);
    if (entry !== undefined) {
      const { absent } = this.#options;
      const limit = absent?.is(entry.value) ? Math.min(maxAgeMs, absent.ageMs) : maxAgeMs;
      if (now - entry.askedAt < limit) return Promise.resolve(entry.value);
    }
    const running = this.#loads.get(key);
    const isAsUrgent = urgency === "background" || running?.urgency === "user";
    if (running !== undefined && isAsUrgent && now - running.askedAt <= maxAgeMs) return running.promise;
    return this.#load(key, now, urgency, load);
  }

  /** What was written: the entry goes, and the answer to a question put before the write is not kept. */
  invalidate(key: string): void {
    this.#entries.delete(key);
    this.#loads.delete(key);
    this.#lastInvalidation = this.#options.clock.monotonic();
  }

  /** Keeps what was learned on another way, unless something was written since the question was put. */
  offer(key: string, value: Value, askedAt: number): void {
    if (askedAt > this.#lastInvalidation) this.#put(key, value, askedAt);
  }

  #load(key: string, askedAt: number, urgency: Urgency, load: () => Promise<Value>): Promise<Value> {
    const promise = load();
    const running: Load<Value> = { promise, askedAt, urgency };
    this.#loads.set(key, running);
    promise.then(
      (value) => {
        if (this.#loads.get(key) !== running) return;
        this.#loads.delete(key);
        this.#put(key, value, askedAt);
      },
      () => {
        if (this.#loads.get(key) === running) this.#loads.delete(key);
      },
    );
    return promise;
  }

  #put(key: string, value: Value, askedAt: number): void {
    const known = this.#entries.get(key);
    if (known !== undefined && known.askedAt > askedAt) return;
    this.#entries.delete(key);
    this.#entries.set(key, { value, askedAt });
    if (this.#entries.size > this.#options.most) this.#entries.delete(this.#entries.keys().next().value!);
  }
}
