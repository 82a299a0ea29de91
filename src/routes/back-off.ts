/** When a destination that failed is tried again, and whether its cause is news. */
import { causeOf, type ErrorClass, isAwsError } from "../aws/errors.ts";
import { Attempts } from "../runtime/attempts.ts";
import type { World } from "../runtime/world.ts";

/** Nothing but a change by somebody helps against these: asking every few seconds would only burn the account's budget. */
const lasting: readonly ErrorClass[] = ["limit-exceeded", "invalid", "denied", "unsupported"];

const backoffs = { passing: { baseMs: 5_000, maxMs: 300_000 }, lasting: { baseMs: 60_000, maxMs: 600_000 } };

/** Whether somebody has to change something before another try can succeed. */
export function isLasting(error: unknown): boolean {
  return isAwsError(error, ...lasting);
}

export class BackOff {
  readonly #attempts: Attempts;
  readonly #causes = new Map<string, string>();

  constructor({ clock, random }: Pick<World, "clock" | "random">) {
    this.#attempts = new Attempts(clock, random, backoffs.passing);
  }

  /** Notes a failure; true when its cause is another than last time. */
  failed(destination: string, error: unknown): boolean {
    this.#attempts.failed(destination, "", isLasting(error) ? backoffs.lasting : backoffs.passing);
    const [before, cause] = [this.#causes.get(destination), causeOf(error)];
    this.#causes.set(destination, cause);
    return before !== cause;
  }

  settled(destination: string): void {
    this.#attempts.forget(destination);
    this.#causes.delete(destination);
  }

  /** Whether it is too early to try again. */
  holds(destination: string): boolean {
    return this.#attempts.waitMs(destination) > 0;
  }

  /** Milliseconds until the first of them is due; undefined when nothing waits. */
  dueInMs(): number | undefined {
    return this.#attempts.dueInMs();
  }

  /** Forgets destinations that nobody asks for any more. */
  keepOnly(wanted: ReadonlySet<string>): void {
    this.#attempts.keepOnly(wanted);
    for (const destination of this.#causes.keys()) if (!wanted.has(destination)) this.#causes.delete(destination);
  }
}
