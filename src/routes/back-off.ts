/** When a destination that failed is tried again, and whether its cause is news. */
import { causeOf, type ErrorClass, isAwsError } from "../aws/errors.ts";

/** Nothing but a change by somebody helps against these: asking every few seconds would only burn the account's budget. */
const lasting: readonly ErrorClass[] = ["limit-exceeded", "invalid", "denied", "unsupported"];

const limits = { passing: { firstMs: 5_000, mostMs: 300_000 }, lasting: { firstMs: 60_000, mostMs: 600_000 } };

interface Trouble {
  readonly failures: number;
  readonly nextAt: number;
  readonly cause: string;
}

/** Whether somebody has to change something before another try can succeed. */
export function isLasting(error: unknown): boolean {
  return isAwsError(error, ...lasting);
}

export class BackOff {
  readonly #troubles = new Map<string, Trouble>();

  /** Notes a failure; true when its cause is another than last time. */
  failed(destination: string, error: unknown, now: number): boolean {
    const before = this.#troubles.get(destination);
    const failures = (before?.failures ?? 0) + 1;
    const { firstMs, mostMs } = isLasting(error) ? limits.lasting : limits.passing;
    const cause = causeOf(error);
    this.#troubles.set(destination, { failures, cause, nextAt: now + Math.min(mostMs, firstMs * 2 ** (failures - 1)) });
    return before?.cause !== cause;
  }

  settled(destination: string): void {
    this.#troubles.delete(destination);
  }

  /** Whether it is too early to try again. */
  holds(destination: string, now: number): boolean {
    return (this.#troubles.get(destination)?.nextAt ?? 0) > now;
  }

  /** Milliseconds until the first of them is due; undefined when nothing waits. */
  dueIn(now: number): number | undefined {
    const times = [...this.#troubles.values()].map(({ nextAt }) => nextAt);
    return times.length === 0 ? undefined : Math.max(0, Math.min(...times) - now);
  }

  /** Forgets destinations that nobody asks for any more. */
  keepOnly(wanted: ReadonlySet<string>): void {
    for (const destination of this.#troubles.keys()) if (!wanted.has(destination)) this.#troubles.delete(destination);
  }
}
