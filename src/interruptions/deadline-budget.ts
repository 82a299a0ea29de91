/** So many calls at once, the earliest deadline first. */
export class DeadlineBudget {
  #free: number;
  /** By deadline, the earliest last. */
  readonly #waiting: { readonly deadline: number; readonly start: () => void }[] = [];

  constructor(most: number) {
    this.#free = most;
  }

  /** Runs the work when its turn has come. */
  async run<T>(deadline: number, work: () => Promise<T>): Promise<T> {
    await this.#turn(deadline);
    try {
      return await work();
    } finally {
      this.#free++;
      this.#next();
    }
  }

  #turn(deadline: number): Promise<void> {
    return new Promise((start) => {
      // Of equal deadlines the first comes first.
      let at = this.#waiting.length;
      while (at > 0 && this.#waiting[at - 1]!.deadline <= deadline) at--;
      this.#waiting.splice(at, 0, { deadline, start });
      this.#next();
    });
  }

  #next(): void {
    if (this.#free === 0) return;
    const next = this.#waiting.pop();
    if (next === undefined) return;
    this.#free--;
    next.start();
  }
}
