import type { Clock } from "../../../runtime/world.ts";
import { matches } from "../wildcard.ts";
import type { Bucket } from "./settings.ts";

/** Request limits: token buckets, each shared by the actions that match its pattern. */
export class Buckets {
  readonly #clock: Clock;
  readonly #levels = new Map<string, { tokens: number; at: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Takes one token from every bucket that speaks of the action; false when one of them is empty. */
  admit(buckets: Readonly<Record<string, Bucket>>, action: string): boolean {
    const concerned = Object.entries(buckets).filter(([pattern]) => matches(pattern, action));
    const levels = concerned.map(([pattern, bucket]) => this.#filled(pattern, bucket));
    if (levels.some((level) => level.tokens < 1)) return false;
    for (const level of levels) level.tokens -= 1;
    return true;
  }

  #filled(pattern: string, bucket: Bucket): { tokens: number; at: number } {
    const now = this.#clock.monotonic();
    const level = this.#levels.get(pattern) ?? { tokens: bucket.capacity, at: now };
    level.tokens = Math.min(bucket.capacity, level.tokens + ((now - level.at) / 1000) * bucket.refillPerSecond);
    level.at = now;
    this.#levels.set(pattern, level);
    return level;
  }
}
