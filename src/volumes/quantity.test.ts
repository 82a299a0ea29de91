import assert from "node:assert/strict";
import { test } from "node:test";
import { bytesOfQuantity, quantityOfBytes } from "./quantity.ts";

const gib = 2n ** 30n;

for (const [text, bytes] of [
  ["10Gi", 10n * gib],
  ["1.5Gi", (3n * gib) / 2n],
  ["500M", 500_000_000n],
  ["1e3", 1000n],
  ["1E", 10n ** 18n],
  ["1Ei", 2n ** 60n],
  ["100", 100n],
  ["0.1", 1n],
  ["100m", 1n],
  ["much", undefined],
  ["", undefined],
  ["-1Gi", undefined],
  ["1Xi", undefined],
] as const) {
  test(`${JSON.stringify(text)} is ${bytes} bytes`, () => assert.equal(bytesOfQuantity(text), bytes));
}

for (const [bytes, text] of [
  [10n * gib, "10Gi"],
  [(3n * gib) / 2n, "1536Mi"],
  [1000n, "1000"],
  [0n, "0"],
  [2n ** 70n, "1024Ei"],
] as const) {
  test(`${bytes} bytes are ${text}`, () => assert.equal(quantityOfBytes(bytes), text));
}
