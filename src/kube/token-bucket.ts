import type { Clock } from "../runtime/world.ts";
import { sleep } from "../runtime/world.ts";

/** Lets `burst` through at once and `perSecond` over time. */
export class TokenBucket {
  readonly #clock: Clock;
  readonly #perSecond: number;
  readonly #burst: number;
  #tokens: number;
  #asOf: number;

  constructor(clock: Clock, perSecond: number, burst: number) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#tokens = burst;
    this.#asOf = clock.monotonic();
  }

  /** Takes a token if there is one. */
  tryTake(): boolean {
    this.#refill();
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }

  /** Takes the next token, waiting for it if need be, in the order of asking. */
  async take(signal?: AbortSignal): Promise<void> {
    this.#refill();
    // Going below zero is the queue: each waiter's place is the debt it finds.
    this.#tokens -= 1;
    if (this.#tokens >= 0) return;
    try {
      await sleep(this.#clock, (-this.#tokens / this.#perSecond) * 1000, signal);
    } catch (error) {
      this.#tokens += 1;
      throw error;
    }
  }

  #refill(): void {
    const now = this.#clock.monotonic();
    this.#tokens = Math.min(this.#burst, this.#tokens + ((now - this.#asOf) / 1000) * this.#perSecond);
    this.#asOf = now;
  }
}
