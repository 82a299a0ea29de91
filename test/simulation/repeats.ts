/** How often the same is done: whoever is woken by what it does itself, or forgets what came of it, does so without end. */

const windowMs = 10_000;

export class Repeats {
  readonly #max: number;
  readonly #times = new Map<string, readonly number[]>();

  /** So often within a while is no loop: users change things every few seconds, and answers get lost. */
  constructor(max: number) {
    this.#max = max;
  }

  /** What is wrong, if anything. */
  note(what: string, now: number): string | undefined {
    const times = [...(this.#times.get(what) ?? []).filter((time) => now - time < windowMs), now];
    this.#times.set(what, times);
    return times.length > this.#max ? `${times.length} times within ${windowMs / 1000} s` : undefined;
  }
}
