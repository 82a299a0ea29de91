import type { Random } from "../runtime/world.ts";

/** Chance that can be started over. */
export interface SeededRandom extends Random {
  /** Starts over from another seed. */
  reseed(seed: number): void;
}

/**
 * Numbers that only look random: xoshiro128**, seeded through splitmix32 so that neighbouring seeds share nothing.
 * For simulation; of no use where an adversary must not guess.
 */
export function seededRandom(seed: number): SeededRandom {
  let [a, b, c, d] = stateFrom(seed);

  const next = (): number => {
    const scaled = rotated(Math.imul(b, 5), 7);
    const result = Math.imul(scaled, 9) >>> 0;
    const shifted = b << 9;
    c ^= a;
    d ^= b;
    b ^= c;
    a ^= d;
    c ^= shifted;
    d = rotated(d, 11);
    return result;
  };

  return {
    reseed(other) {
      [a, b, c, d] = stateFrom(other);
    },
    // 53 bits: the full precision of a double.
    number: () => ((next() >>> 5) * 2 ** 26 + (next() >>> 6)) / 2 ** 53,
    bytes(length) {
      const bytes = new Uint8Array(length);
      for (let i = 0; i < length; i++) bytes[i] = next() >>> 24;
      return bytes;
    },
  };
}

function stateFrom(seed: number): [number, number, number, number] {
  let mixed = seed >>> 0;
  const split = () => {
    mixed = (mixed + 0x9e3779b9) >>> 0;
    let z = mixed;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return (z ^ (z >>> 15)) >>> 0;
  };
  return [split(), split(), split(), split()];
}

function rotated(value: number, by: number): number {
  return (value << by) | (value >>> (32 - by));
}
