/** Many claims at once, with EC2's documented request limits: writes at the pace that AWS allows, and few reads for many volumes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { claimsAtOnce, writes } from "../bed/claims-at-once.ts";

const claims = 400;

test(`${claims} claims are made, attached, detached and deleted with next to no throttled call, and describes grow with pages`, async () => {
  const { done, throttled, describes, seconds, limitSeconds, left } = await claimsAtOnce(claims, 60);
  for (const action of writes) assert.equal(done[action], claims, action);
  assert.ok(throttled <= claims * writes.length * 0.01, `${throttled} writes were throttled`);
  assert.ok(describes.DescribeVolumes! <= claims, `${describes.DescribeVolumes} DescribeVolumes`);
  // The slowest of the four kinds of writes needs what its limit takes, and the stages overlap.
  assert.ok(seconds <= 2 * limitSeconds + 60, `${seconds} s`);
  assert.equal(left, 0);
});
