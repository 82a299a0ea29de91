import assert from "node:assert/strict";
import { test } from "node:test";
import { quotaInSight } from "./quota.ts";

test("a table about to be full is noticed before it is; one that holds more has a larger quota", () => {
  assert.equal(quotaInSight(10, 44), undefined);
  assert.equal(quotaInSight(44, 45), 50);
  assert.equal(quotaInSight(50, 60), 50);
  assert.equal(quotaInSight(51, 100), undefined);
  assert.equal(quotaInSight(400, 450), 500);
  assert.equal(quotaInSight(1001, 1200), undefined);
});
