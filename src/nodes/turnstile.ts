import { type Clock, sleep } from "../runtime/world.ts";

/** Long enough for a burst of events to be taken as one. */
const firstMs = 10;
/** While many come, they are let through in groups this far apart: a call for a hundred costs what a call for one does. */
const betweenMs = 500;

/** Lets those who come close together through together, so that what they ask of AWS is asked at once. Who comes alone hardly waits. */
export class Turnstile {
  readonly #clock: Clock;
  #opening: Promise<void> | undefined;
  #openedAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Resolves when the group of this moment goes through. */
  enter(): Promise<void> {
    this.#opening ??= this.#open();
    return this.#opening;
  }

  async #open(): Promise<void> {
    const sinceMs = this.#clock.monotonic() - this.#openedAt;
    await sleep(this.#clock, Math.max(firstMs, betweenMs - sinceMs));
    this.#openedAt = this.#clock.monotonic();
    this.#opening = undefined;
  }
}
