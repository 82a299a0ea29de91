import { type Backoff, backOffMs } from "./back-off.ts";
import { type Clock, jittered, type Random } from "./world.ts";

interface Attempt {
  readonly count: number;
  readonly notBefore: number;
  readonly circumstances: string;
}

/** When what failed is tried again, by key: ever later, but at once when the circumstances have changed. */
export class Attempts {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #backoff: Backoff;
  readonly #attempts = new Map<string, Attempt>();

  constructor(clock: Clock, random: Random, backoff: Backoff) {
    this.#clock = clock;
    this.#random = random;
    this.#backoff = backoff;
  }

  /** How long to wait before the next try; 0 when it may be made now. */
  waitMs(key: string, circumstances = ""): number {
    const last = this.#attempts.get(key);
    if (last === undefined || last.circumstances !== circumstances) return 0;
    return Math.max(0, last.notBefore - this.#clock.monotonic());
  }

  /** Notes a failure and tells the pause before the next try. */
  failed(key: string, circumstances = "", backoff = this.#backoff): number {
    const last = this.#attempts.get(key);
    const count = last?.circumstances === circumstances ? last.count + 1 : 1;
    const pauseMs = Math.round(jittered(this.#random, backOffMs(backoff, count), 0.2));
    this.#attempts.set(key, { count, notBefore: this.#clock.monotonic() + pauseMs, circumstances });
    return pauseMs;
  }

  /** How often it has failed in a row. */
  count(key: string): number {
    return this.#attempts.get(key)?.count ?? 0;
  }

  /** Milliseconds until the first of them is due; undefined when nothing waits. */
  dueInMs(): number | undefined {
    const times = [...this.#attempts.values()].map(({ notBefore }) => notBefore);
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - this.#clock.monotonic());
  }

  forget(key: string): void {
    this.#attempts.delete(key);
  }

  /** Forgets all others. */
  keepOnly(keys: ReadonlySet<string>): void {
    for (const key of this.#attempts.keys()) if (!keys.has(key)) this.#attempts.delete(key);
  }
}
