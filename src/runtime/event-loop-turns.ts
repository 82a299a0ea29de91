import { type Clock, sleep } from "./world.ts";

/** Longer than this in one go and a lease renewal or a probe would notice. */
const maxStretchMs = 10;

/**
 * Gives timers and sockets a turn between the pieces of long work. Thousands of pieces that never wait would else be
 * one run of microtasks, and the lease would not be renewed meanwhile.
 */
export class EventLoopTurns {
  readonly #clock: Clock;
  readonly #maxPieces: number;
  #since: number;
  #pieces = 0;
  #yielding: Promise<void> | undefined;

  /** A stretch ends after 10 ms, or after so many pieces. */
  constructor(clock: Clock, maxPieces = Number.POSITIVE_INFINITY) {
    this.#clock = clock;
    this.#maxPieces = maxPieces;
    this.#since = clock.monotonic();
  }

  /** To be awaited before each piece; resolves when it may begin. Workers that share the stretch share the turn. */
  async next(): Promise<void> {
    while (this.#pieces >= this.#maxPieces || this.#clock.monotonic() - this.#since >= maxStretchMs) await this.#yield();
    this.#pieces++;
  }

  #yield(): Promise<void> {
    this.#yielding ??= sleep(this.#clock, 0).then(() => {
      this.#since = this.#clock.monotonic();
      this.#pieces = 0;
      this.#yielding = undefined;
    });
    return this.#yielding;
  }
}

/** Runs pieces of work that arrive from a socket; to be awaited after each. Only the work counts, not the wait for the next piece. */
export function yieldingBetween(clock: Clock): (work: () => void) => Promise<void> | undefined {
  let workedMs = 0;
  return (work) => {
    const startedAt = clock.monotonic();
    work();
    workedMs += clock.monotonic() - startedAt;
    if (workedMs < maxStretchMs) return undefined;
    workedMs = 0;
    return sleep(clock, 0);
  };
}
