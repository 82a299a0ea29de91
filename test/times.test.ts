import assert from "node:assert/strict";
import { test } from "node:test";
import { longestFirst, sharesOf } from "./times.ts";

test("those that took longest begin first, after those that nobody has timed", () => {
  assert.deepEqual(longestFirst(["a", "b", "new", "c"], { a: 1, b: 30, c: 2 }), ["new", "b", "c", "a"]);
});

test("files are dealt out into shares that take about as long, each file into one of them", () => {
  const times = { a: 100, b: 90, c: 20, d: 10 };
  assert.deepEqual(sharesOf(["a", "b", "c", "d", "new"], 2, times), [
    ["a", "c", "d"],
    ["b", "new"],
  ]);
  assert.deepEqual(sharesOf(["a", "b"], 4, {}), [["a"], ["b"]]);
});
