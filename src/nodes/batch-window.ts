import { type Clock, sleep } from "../runtime/world.ts";

/** Long enough for a burst of events to be taken as one. */
const firstMs = 10;
/** While many come, they are let through in groups this far apart: a call for a hundred costs what a call for one does. */
const betweenMs = 500;
/** So many at one go: what one call to AWS carries, and no longer than anybody else can wait. */
const maxAtOnce = 200;

/** Gathers callers that come close together, so that what they ask of AWS is asked in one call. One that comes alone hardly waits. */
export class BatchWindow {
  readonly #clock: Clock;
  #waiting: (() => void)[] = [];
  #openedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the group of this moment goes through. */
  join(): Promise<void> {
    const passed = new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (this.#waiting.length === 1) void this.#open();
    return passed;
  }

  async #open(): Promise<void> {
    const sinceMs = this.#clock.monotonic() - this.#openedAt;
    await sleep(this.#clock, Math.max(firstMs, betweenMs - sinceMs));
    const group = this.#waiting;
    this.#waiting = [];
    this.#openedAt = this.#clock.monotonic();
    for (let first = 0; first < group.length; first += maxAtOnce) {
      if (first > 0) await sleep(this.#clock, 0);
      for (const pass of group.slice(first, first + maxAtOnce)) pass();
    }
  }
}
