import { type Clock, jittered, type Random } from "../runtime/world.ts";

export interface Pauses {
  readonly firstMs: number;
  readonly longestMs: number;
}

interface Attempt {
  readonly count: number;
  readonly notBefore: number;
  readonly circumstances: string;
}

/** When what failed is tried again: ever later, but at once when the circumstances have changed. */
export class Attempts {
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #pauses: Pauses;
  readonly #attempts = new Map<string, Attempt>();

  constructor(clock: Clock, random: Random, pauses: Pauses) {
    this.#clock = clock;
    this.#random = random;
    this.#pauses = pauses;
  }

  /** How long to wait before the next try; 0 when it may be made now. */
  waitMs(key: string, circumstances: string): number {
    const last = this.#attempts.get(key);
    if (last === undefined || last.circumstances !== circumstances) return 0;
    return Math.max(0, last.notBefore - this.#clock.monotonic());
  }

  /** Notes a failure and tells the pause before the next try. */
  failed(key: string, circumstances: string): number {
    const { firstMs, longestMs } = this.#pauses;
    const last = this.#attempts.get(key);
    const count = last?.circumstances === circumstances ? last.count + 1 : 1;
    const pauseMs = Math.round(jittered(this.#random, Math.min(longestMs, firstMs * 2 ** (count - 1)), 0.2));
    this.#attempts.set(key, { count, notBefore: this.#clock.monotonic() + pauseMs, circumstances });
    return pauseMs;
  }

  /** How often it has failed in a row. */
  count(key: string): number {
    return this.#attempts.get(key)?.count ?? 0;
  }

  forget(key: string): void {
    this.#attempts.delete(key);
  }
}
