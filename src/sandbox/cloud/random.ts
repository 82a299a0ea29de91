import type { Random } from "../../runtime/world.ts";

/** Chance that can be started over. */
export interface SeededRandom extends Random {
  /** Starts over from another seed. */
  reseed(seed: number): void;
}

/** Chance from a seed: the same seed gives the same ids, faults and delays, whatever else the process does. */
export function seededRandom(seed: number): SeededRandom {
  let [a, b, c, counter] = [0, 0, 0, 0];
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  const reseed = (value: number): void => {
    // sfc32, warmed up so that neighbouring seeds part ways at once.
    [a, b, c, counter] = [0x9e3779b9 ^ value, 0x243f6a88 ^ Math.imul(value, 0x85ebca6b), 0xb7e15162 ^ Math.imul(value, 0xc2b2ae35), 1];
    for (let round = 0; round < 12; round++) next();
  };
  reseed(seed);
  return {
    reseed,
    number: () => next() / 0x1_0000_0000,
    bytes(length) {
      const bytes = new Uint8Array(length);
      for (let index = 0; index < length; index++) bytes[index] = next() >>> 24;
      return bytes;
    },
  };
}
