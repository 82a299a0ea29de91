/** How often the status of each object is written: whoever writes what nobody has asked for, and is woken by it, does so without end. */

/** So often within a while is a loop: users change things every few seconds, and answers get lost. */
const maxWrites = 20;
const windowMs = 10_000;

export class StatusWrites {
  readonly #times = new Map<string, readonly number[]>();

  /** What is wrong, if anything. */
  note(by: string, now: number): string | undefined {
    if (!by.endsWith("/status")) return undefined;
    const times = [...(this.#times.get(by) ?? []).filter((time) => now - time < windowMs), now];
    this.#times.set(by, times);
    return times.length > maxWrites ? `it was written ${times.length} times within ${windowMs / 1000} s` : undefined;
  }
}
