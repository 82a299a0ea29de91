/** Waiting for EC2: by asking again, at growing intervals. A wait holds nothing but its timer. */
import { type Clock, sleep } from "../runtime/world.ts";

export interface Schedule {
  readonly firstMs: number;
  readonly factor: number;
  readonly maxMs: number;
  /** No check begins later than this after the start. */
  readonly overallMs: number;
}

/** EC2's describe calls lag behind its writes. What they showed before this time has passed may be from before the write. */
export const lagMs = 5_000;

/**
 * A request that nobody waits for any more may still be carried out for this long, and be shown after that. What a process asked
 * for before it lost the answer, or the one before it asked for last, is known only then.
 */
export const inFlightMs = 30_000 + lagMs;

/** The first result that is not undefined; undefined when time runs out. The first check is made at once. */
export async function poll<T>(
  clock: Clock,
  schedule: Schedule,
  signal: AbortSignal,
  check: () => Promise<T | undefined>,
): Promise<T | undefined> {
  const until = clock.monotonic() + schedule.overallMs;
  for (let delay = schedule.firstMs; ; delay = Math.min(delay * schedule.factor, schedule.maxMs)) {
    const result = await check();
    if (result !== undefined) return result;
    if (clock.monotonic() + delay > until) return undefined;
    await sleep(clock, delay, signal);
  }
}

/** How long something has been so without a break. */
export class Span {
  readonly #clock: Clock;
  #since: number | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Notes whether it is so now, and tells for how long it has been; undefined when it is not. */
  note(holds: boolean): number | undefined {
    if (!holds) this.#since = undefined;
    else this.#since ??= this.#clock.monotonic();
    return this.#since === undefined ? undefined : this.#clock.monotonic() - this.#since;
  }
}
