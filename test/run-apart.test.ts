import assert from "node:assert/strict";
import { test } from "node:test";
import { longestFirst } from "./run-apart.ts";

test("those that took longest begin first, after those that nobody has timed", () => {
  assert.deepEqual(longestFirst(["a", "b", "new", "c"], { a: 1, b: 30, c: 2 }), ["new", "b", "c", "a"]);
});
