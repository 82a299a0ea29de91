import assert from "node:assert/strict";
import { test } from "node:test";
import { drainWarning } from "./drain-check.ts";

test("a group that drains longer than pods have to end is told of, with both numbers; others are not", () => {
  assert.match(drainWarning("shop-web", 300, 30) ?? "", /shop-web .* 300 seconds .* at most 30 /);
  assert.deepEqual([drainWarning("shop-web", 30, 30), drainWarning("shop-web", 0, 30)], [undefined, undefined]);
});
