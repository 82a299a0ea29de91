/** Whether a failed call is tried again, and after how long. */
import { backOffMs } from "../runtime/back-off.ts";
import type { Random } from "../runtime/world.ts";
import type { AwsError, ErrorClass } from "./errors.ts";

export interface Tried {
  readonly attempts: number;
  /** Carrying it out twice is the same as once. */
  readonly repeatable: boolean;
  /** Classes that have been corrected once in this call already. */
  readonly corrected: ReadonlySet<ErrorClass>;
}

const maxAttempts: Readonly<Partial<Record<ErrorClass, number>>> = { throttled: 10, transient: 4 };
const backoff = { baseMs: 250, maxMs: 20_000 };

/**
 * Milliseconds to wait before the next attempt, or undefined when there should be none. A write whose answer was lost is
 * not repeated unless that is harmless: its caller looks at what is there first.
 */
export function retryDelay(failure: AwsError, tried: Tried, random: Random): number | undefined {
  if (failure.class === "clock-skew" || failure.class === "expired-credentials") return tried.corrected.has(failure.class) ? undefined : 0;
  if (tried.attempts >= (maxAttempts[failure.class] ?? 1)) return undefined;
  if (failure.mayHaveHappened && !tried.repeatable) return undefined;
  return random.number() * backOffMs(backoff, tried.attempts + 1);
}
