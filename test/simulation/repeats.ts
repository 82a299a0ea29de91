/** How often the same is done: whoever is woken by what it does itself, or forgets what came of it, does so without end. */

export class Repeats {
  readonly #max: number;
  readonly #windowMs: number;
  readonly #times = new Map<string, readonly number[]>();

  /** So often within a while is no loop: users change things every few seconds, and answers get lost. */
  constructor(max: number, windowMs: number) {
    this.#max = max;
    this.#windowMs = windowMs;
  }

  /** What is wrong, if anything. */
  note(what: string, now: number): string | undefined {
    const times = [...(this.#times.get(what) ?? []).filter((time) => now - time < this.#windowMs), now];
    this.#times.set(what, times);
    return times.length > this.#max ? `${times.length} times within ${this.#windowMs / 1000} s` : undefined;
  }
}
