/**
 * What AWS has refused of somebody who shares a load balancer with others: only AWS knows whether a certificate exists or how often
 * health may be checked. Until the same one asks for something else it is left out; after a while the same is tried again.
 */
import { type AwsError, isAwsError } from "../aws/errors.ts";
import { askerOf, type Step } from "../aws/plan.ts";
import type { Clock } from "../runtime/world.ts";

/** After this time the same is tried again. */
export const triedAgainMs = 10 * 60_000;

interface Refusal {
  readonly wish: string;
  readonly message: string;
  readonly until: number;
}

export class Refusals<Wish> {
  readonly #clock: Clock;
  readonly #textOf: (wish: Wish) => string;
  readonly #refused = new Map<string, Refusal>();

  /** A wish is the same as long as its text is. */
  constructor(clock: Clock, textOf: (wish: Wish) => string) {
    this.#clock = clock;
    this.#textOf = textOf;
  }

  note(key: string, wish: Wish, message: string): void {
    this.#refused.set(key, { wish: this.#textOf(wish), message, until: this.#clock.monotonic() + triedAgainMs });
  }

  /** What AWS said of this very wish. */
  of(key: string, wish: Wish): string | undefined {
    const refusal = this.#refused.get(key);
    if (refusal === undefined) return undefined;
    if (this.#clock.monotonic() >= refusal.until) this.#refused.delete(key);
    // One look asks several times, with and without others whose say changes the wish: that it differs once does not end the refusal.
    else if (refusal.wish === this.#textOf(wish)) return refusal.message;
    return undefined;
  }

  has(key: string): boolean {
    return this.#refused.has(key);
  }

  forget(key: string): void {
    this.#refused.delete(key);
  }
}

/** Whose wish a step was that AWS refused for what it says; undefined where it is everybody's, or says nothing about the wish. */
export function refusedTo(step: Step, error: AwsError): string | undefined {
  return isAwsError(error, "invalid", "not-found", "unsupported", "limit-exceeded") ? askerOf(step, error.code) : undefined;
}
