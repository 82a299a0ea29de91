/** Work of which there may be thousands at once, and which nobody waits for: a few at a time, so that it does not stand in the way of others. */
import type { Clock } from "../runtime/world.ts";

const atOnce = 25;
const pauseMs = 500;

export class Paced {
  readonly #clock: Clock;
  #waiting: (() => void)[] = [];
  #room = atOnce;
  #isPausing = false;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Does it now, or when those before it are done. */
  add(work: () => void): void {
    this.#waiting.push(work);
    this.#next();
  }

  #next(): void {
    const now = this.#waiting.splice(0, this.#room);
    this.#room -= now.length;
    for (const work of now) work();
    if (this.#isPausing || this.#room === atOnce) return;
    this.#isPausing = true;
    this.#clock.after(pauseMs, () => {
      this.#isPausing = false;
      this.#room = atOnce;
      this.#next();
    });
  }
}
