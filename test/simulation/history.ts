import { createHash } from "node:crypto";
import type { Clock } from "../../src/runtime/world.ts";

/** The rule that a mutant is to be found by: with its breach a history is over, and nothing after it is told. */
let decisiveRule: string | undefined;

/** From now on a history ends where this rule is broken. */
export function endHistoriesWith(rule: string): void {
  decisiveRule = rule;
}

/** Everything that happened in one simulated world, in order, as a story a person can read. */
export class History {
  /** Resolves when a rule is broken that ends it. */
  readonly over: Promise<void>;
  readonly #end: () => void;
  #isOver = false;
  readonly #clock: Clock;
  readonly #lines: string[] = [];
  readonly #violations: string[] = [];
  readonly #hash = createHash("sha256");

  constructor(clock: Clock) {
    this.#clock = clock;
    ({ promise: this.over, resolve: this.#end } = Promise.withResolvers<void>());
  }

  tell(who: string, what: string): void {
    if (this.#isOver) return;
    const seconds = (this.#clock.monotonic() / 1000).toFixed(3).padStart(8);
    const line = `${seconds}  ${who.padEnd(10)} ${what}`;
    this.#lines.push(line);
    this.#hash.update(`${line}\n`);
  }

  /** A rule was broken. The history is a failure, whatever follows. */
  broken(rule: string, how: string): void {
    if (this.#isOver) return;
    const breach = `${rule}: ${how}`;
    this.tell("BROKEN", breach);
    this.#violations.push(breach);
    if (decisiveRule !== undefined && breach.startsWith(decisiveRule)) this.#close();
  }

  /** A rule was broken in such a way that there is nothing more to see. */
  end(rule: string, how: string): void {
    this.broken(rule, how);
    this.#close();
  }

  #close(): void {
    this.#isOver = true;
    this.#end();
  }

  /** Whether a rule was broken that ends the history. */
  get isOver(): boolean {
    return this.#isOver;
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
