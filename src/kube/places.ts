/** So many are in work at once; the others wait in the order they came. */
export class Places {
  readonly #waiting = new Set<() => void>();
  #free: number;

  constructor(count: number) {
    this.#free = count;
  }

  /** Resolves when there is a place, which `leave` gives back; rejects when the signal aborts before. */
  async enter(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free--;
      return;
    }
    await new Promise<void>((resolve, reject) => {
      const goOn = () => {
        signal?.removeEventListener("abort", giveUp);
        resolve();
      };
      const giveUp = () => {
        this.#waiting.delete(goOn);
        reject(signal?.reason);
      };
      this.#waiting.add(goOn);
      signal?.addEventListener("abort", giveUp, { once: true });
    });
  }

  leave(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free++;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
