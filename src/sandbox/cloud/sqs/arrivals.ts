/** Tells those who wait at a queue that something has come into it. */
export class Arrivals {
  readonly #waiting = new Map<string, Set<() => void>>();

  /** Calls back once, at the next arrival. Returns the function that gives up waiting. */
  next(queue: string, arrived: () => void): () => void {
    const waiting = this.#waiting.get(queue) ?? new Set();
    this.#waiting.set(queue, waiting.add(arrived));
    return () => {
      waiting.delete(arrived);
      if (waiting.size === 0 && this.#waiting.get(queue) === waiting) this.#waiting.delete(queue);
    };
  }

  announce(queue: string): void {
    const waiting = this.#waiting.get(queue);
    this.#waiting.delete(queue);
    for (const arrived of waiting ?? []) arrived();
  }

  /** How many wait at all queues. */
  get size(): number {
    return [...this.#waiting.values()].reduce((sum, waiting) => sum + waiting.size, 0);
  }
}
