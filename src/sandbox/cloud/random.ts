import type { Random } from "../../runtime/world.ts";

/** Chance from a seed: the same seed gives the same ids, faults and delays, whatever else the process does. */
export function seededRandom(seed: number): Random {
  // sfc32, warmed up so that neighbouring seeds part ways at once.
  let a = 0x9e3779b9 ^ seed;
  let b = 0x243f6a88 ^ Math.imul(seed, 0x85ebca6b);
  let c = 0xb7e15162 ^ Math.imul(seed, 0xc2b2ae35);
  let counter = 1;
  const next = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round++) next();
  return {
    number: () => next() / 0x1_0000_0000,
    bytes(length) {
      const bytes = new Uint8Array(length);
      for (let index = 0; index < length; index++) bytes[index] = next() >>> 24;
      return bytes;
    },
  };
}
