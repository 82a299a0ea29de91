/**
 * The cloud's time: the world's clock, and what will happen later. Nothing runs on a timer: what is due is settled, in
 * order, before each request is served, so a cloud with nothing to do costs nothing and virtual time can leap.
 */
import type { Clock } from "../../runtime/world.ts";

interface Due {
  readonly at: number;
  readonly happen: () => void;
}

/** The time of one cloud. */
export class Time {
  readonly #clock: Clock;
  /** Soonest last, so that the next one is taken from the end. */
  readonly #due: Due[] = [];
  #settling: number | undefined;
  /**
   * How many times faster than on AWS states change; it holds for what begins from now on. Dates and expiry times are not
   * bent: callers share the world's clock.
   */
  speed = 1;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Milliseconds since the epoch; inside something scheduled, the moment it was due. */
  now(): number {
    return this.#settling ?? this.#clock.now();
  }

  date(): Date {
    return new Date(this.now());
  }

  /** Lets something happen when AWS would have taken `ms` over it. What is due at one moment happens in the order it was asked for. */
  after(ms: number, happen: () => void): void {
    this.at(this.now() + ms / this.speed, happen);
  }

  /** Lets AWS forget what it shows for a while after its end. Unlimited speed leaves it its full time: else nobody could see it. */
  forgetAfter(ms: number, forget: () => void): void {
    this.at(this.now() + (Number.isFinite(this.speed) ? ms / this.speed : ms), forget);
  }

  /** Lets something happen at a moment of the world's own clock, however fast the cloud's time runs. */
  at(at: number, happen: () => void): void {
    let low = 0;
    let high = this.#due.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#due[middle]!.at > at) low = middle + 1;
      else high = middle;
    }
    this.#due.splice(low, 0, { at, happen });
  }

  /** Lets everything happen that is due by now, each at its own moment, including what that brings about. */
  settle(): void {
    const now = this.#clock.now();
    for (let next = this.#due.at(-1); next !== undefined && next.at <= now; next = this.#due.at(-1)) {
      this.#due.pop();
      this.#settling = next.at;
      try {
        next.happen();
      } finally {
        this.#settling = undefined;
      }
    }
  }

  /** When the next scheduled thing is due, for those who would rather wait than ask again. */
  next(): number | undefined {
    return this.#due.at(-1)?.at;
  }
}
