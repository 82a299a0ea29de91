/** Answers of the API server about who may do what, remembered without the tokens that were asked about. */
import { createHash } from "node:crypto";
import type { Clock } from "../runtime/world.ts";
import { Lru } from "./lru.ts";

/** So many questions are remembered. */
export const rememberedQuestions = 4096;

/** What is remembered must not hold a token that could be used. */
export function hashed(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

/** Answers by question, each for as long as it may be believed. Failures are not remembered. */
export class ReviewAnswers<T> {
  readonly #clock: Clock;
  readonly #ttlMs: (answer: T) => number;
  readonly #known = new Lru<{ readonly answer: T; readonly untilMs: number }>(rememberedQuestions);

  constructor(clock: Clock, ttlMs: (answer: T) => number) {
    this.#clock = clock;
    this.#ttlMs = ttlMs;
  }

  async get(question: string, ask: () => Promise<T>): Promise<T> {
    const known = this.#known.get(question);
    if (known !== undefined && this.#clock.monotonic() < known.untilMs) return known.answer;
    const answer = await ask();
    this.#known.set(question, { answer, untilMs: this.#clock.monotonic() + this.#ttlMs(answer) });
    return answer;
  }
}
