import type { Random } from "../../src/runtime/world.ts";

/** Decisions drawn from a seeded source. */
export interface Chance {
  /** True this often, 0 to 1. */
  happens(probability: number): boolean;
  /** A number from low to high. */
  between(low: number, high: number): number;
  /** One of them; undefined of none. */
  pick<T>(items: readonly T[]): T | undefined;
}

export function chanceOf(random: Random): Chance {
  return {
    happens: (probability) => random.number() < probability,
    between: (low, high) => low + (high - low) * random.number(),
    pick: (items) => items[Math.floor(random.number() * items.length)],
  };
}
