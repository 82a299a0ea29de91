import { type Clock, sleep } from "./world.ts";

/** So many go on before everybody else has a turn: a few milliseconds of work. */
const mostInTurn = 25;

/**
 * Lets timers and sockets have their turn among many who go on in the same moment: a thousand of them would else be one
 * long run of microtasks, and the lease would not be renewed meanwhile.
 */
export class Breath {
  readonly #clock: Clock;
  #left = mostInTurn;
  #turn: Promise<void> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** To be awaited before a piece of work: it fits into this turn of the event loop, or into a later one. */
  async take(): Promise<void> {
    while (this.#left === 0) {
      this.#turn ??= sleep(this.#clock, 0).then(() => {
        this.#left = mostInTurn;
        this.#turn = undefined;
      });
      await this.#turn;
    }
    this.#left--;
  }
}
