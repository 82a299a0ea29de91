import { createHash } from "node:crypto";
import type { Clock } from "../../src/runtime/world.ts";

/** Everything that happened in one simulated world, in order, as a story a person can read. */
export class History {
  readonly #clock: Clock;
  readonly #lines: string[] = [];
  readonly #violations: string[] = [];
  readonly #hash = createHash("sha256");

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  tell(who: string, what: string): void {
    const seconds = (this.#clock.monotonic() / 1000).toFixed(3).padStart(8);
    const line = `${seconds}  ${who.padEnd(10)} ${what}`;
    this.#lines.push(line);
    this.#hash.update(`${line}\n`);
  }

  /** A rule was broken. The history is a failure, whatever follows. */
  broken(rule: string, how: string): void {
    this.tell("BROKEN", `${rule}: ${how}`);
    this.#violations.push(`${rule}: ${how}`);
  }

  get violations(): readonly string[] {
    return this.#violations;
  }

  story(): string {
    return this.#lines.join("\n");
  }

  /** The same for two histories only if they are the same, to the millisecond and the letter. */
  hash(): string {
    return this.#hash.copy().digest("hex");
  }
}
