/**
 * How fast one API action may be called: a token bucket whose rate follows what AWS allows.
 *
 * AWS throttles per account, so others share the limit and it cannot be known. It is felt for: while calls wait and AWS
 * has no objection the rate rises beyond the ordinary one; a throttle halves it and forbids such trying for a minute.
 * Calls that a user waits for pass those that nobody would miss for a minute.
 */
import type { Urgency } from "../runtime/controller.ts";
import { jittered, type World } from "../runtime/world.ts";

export interface BudgetLimits {
  /** Calls per second at first, and to which the rate returns in quiet times and some time after a throttle. */
  readonly rate: number;
  /** Calls per second to which the rate may rise while calls wait and none is throttled. */
  readonly most: number;
  /** Calls that may be made at once after a quiet time. */
  readonly burst: number;
}

/**
 * EC2 documents 20 a second with a burst of 100 for reads, and for writes 5 with a burst of 50 where it says nothing else:
 * some of it is left to others. Many accounts have been granted more, which shows only when it is asked for.
 */
export const readLimits: BudgetLimits = { rate: 10, most: 20, burst: 50 };
export const writeLimits: BudgetLimits = { rate: 5, most: 20, burst: 40 };

const slowest = 0.2;
/** How long the climb from nothing to the ordinary rate takes, and for how long a throttle forbids more than that. */
const climbMs = 60_000;
/** How long it takes, while calls wait, to add once more the ordinary rate. */
const tryMs = 5_000;
const maxWaiting = 10_000;
/** Every so many calls one of the background lane goes first, so that it is late but never starved. */
const backgroundTurn = 8;

/** More calls wait for this action than could ever be served in time. */
export class BudgetExhausted extends Error {
  override readonly name = "BudgetExhausted";
}

interface Waiter {
  readonly go: () => void;
}

export class Budget {
  readonly #world: World;
  readonly #limits: BudgetLimits;
  readonly #lanes: Readonly<Record<Urgency, Set<Waiter>>> = { user: new Set(), background: new Set() };
  #rate: number;
  #tokens: number;
  #refilledAt: number;
  #halvedAt = Number.NEGATIVE_INFINITY;
  #served = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(world: World, limits: BudgetLimits) {
    this.#world = world;
    this.#limits = limits;
    this.#rate = limits.rate;
    this.#tokens = limits.burst;
    this.#refilledAt = world.clock.monotonic();
  }

  /** Calls per second allowed at this moment. */
  get rate(): number {
    this.#refill();
    return this.#rate;
  }

  get waiting(): number {
    return this.#lanes.user.size + this.#lanes.background.size;
  }

  /** Since AWS last throttled the action; undefined when it never has. */
  get throttledMsAgo(): number | undefined {
    return this.#halvedAt === Number.NEGATIVE_INFINITY ? undefined : this.#world.clock.monotonic() - this.#halvedAt;
  }

  /** Resolves when a call may be made; rejects with the signal's reason, or `BudgetExhausted`. */
  take(urgency: Urgency, signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason);
    this.#refill();
    if (this.waiting === 0 && this.#tokens >= 1) {
      this.#tokens -= 1;
      return Promise.resolve();
    }
    if (this.waiting >= maxWaiting) {
      return Promise.reject(new BudgetExhausted(`${maxWaiting} calls are already waiting for this action`));
    }
    return new Promise((resolve, reject) => {
      const lane = this.#lanes[urgency];
      const onAbort = () => {
        lane.delete(waiter);
        reject(signal.reason);
      };
      const waiter: Waiter = {
        go: () => {
          signal.removeEventListener("abort", onAbort);
          resolve();
        },
      };
      signal.addEventListener("abort", onAbort, { once: true });
      lane.add(waiter);
      this.#schedule();
    });
  }

  /** AWS refused a call that was sent at this (monotonic) time. Calls refused together count once. */
  throttled(sentAt: number): void {
    this.#refill();
    this.#tokens = Math.min(this.#tokens, 0);
    if (sentAt <= this.#halvedAt) return;
    this.#halvedAt = this.#world.clock.monotonic();
    this.#rate = Math.max(slowest, this.#rate / 2);
  }

  #refill(): void {
    const now = this.#world.clock.monotonic();
    const elapsed = now - this.#refilledAt;
    if (elapsed <= 0) return;
    this.#refilledAt = now;
    const { rate, most, burst } = this.#limits;
    this.#tokens = Math.min(burst, this.#tokens + (elapsed / 1000) * this.#rate);
    if (this.#rate < rate) {
      this.#rate = Math.min(rate, this.#rate + (elapsed / climbMs) * rate);
    } else if (this.waiting === 0) {
      if (this.#tokens >= burst) this.#rate = rate;
    } else if (now - this.#halvedAt > climbMs) {
      this.#rate = Math.min(most, this.#rate + (elapsed / tryMs) * rate);
    }
  }

  #schedule(): void {
    if (this.#cancelTimer !== undefined || this.waiting === 0) return;
    const wait = Math.max(0, ((1 - this.#tokens) / this.#rate) * 1000);
    this.#cancelTimer = this.#world.clock.after(jittered(this.#world.random, wait, 0.2), () => {
      this.#cancelTimer = undefined;
      this.#refill();
      while (this.#tokens >= 1 && this.waiting > 0) {
        this.#tokens -= 1;
        this.#next().go();
      }
      this.#schedule();
    });
  }

  #next(): Waiter {
    const { user, background } = this.#lanes;
    const turn = ++this.#served % backgroundTurn === 0;
    const lane = user.size === 0 || (turn && background.size > 0) ? background : user;
    const waiter = lane.values().next().value!;
    lane.delete(waiter);
    return waiter;
  }
}
