import assert from "node:assert/strict";
import test from "node:test";
import { cappedIops, iopsLimitIn } from "./iops.ts";

const wish = { mayIncrease: false, zoneMax: undefined };

test("IOPS are raised to the least of the type only where that is allowed", () => {
  assert.equal(cappedIops({ ...wish, type: "io1", sizeGiB: 4, iops: 4, mayIncrease: true }), 100);
  assert.equal(cappedIops({ ...wish, type: "io1", sizeGiB: 4, iops: 4 }), 4);
});

test("IOPS stay within the ratio of the type to the size", () => {
  assert.equal(cappedIops({ ...wish, type: "io1", sizeGiB: 4, iops: 40_000 }), 200);
  assert.equal(cappedIops({ ...wish, type: "gp3", sizeGiB: 4, iops: 5000 }), 5000, "the ratio is below the least of gp3");
});

test("IOPS stay within the most of the type, or of the zone where that is known", () => {
  assert.equal(cappedIops({ ...wish, type: "io1", sizeGiB: 4000, iops: 40_000_000 }), 64_000);
  assert.equal(cappedIops({ ...wish, type: "io2", sizeGiB: 3333, iops: 333_300_000 }), 256_000);
  assert.equal(cappedIops({ ...wish, type: "gp3", sizeGiB: 33, iops: 16_001, zoneMax: 80_000 }), 16_001);
  assert.equal(cappedIops({ ...wish, type: "GP3", sizeGiB: 100, iops: 90_000, zoneMax: 80_000 }), 50_000);
});

test("types without IOPS of their own, and nothing asked for, are left to EC2", () => {
  assert.equal(cappedIops({ ...wish, type: "gp2", sizeGiB: 4, iops: 9 }), 9);
  assert.equal(cappedIops({ ...wish, type: "gp3", sizeGiB: 4, iops: 0 }), undefined);
  assert.equal(cappedIops({ ...wish, type: "gp2", sizeGiB: 4, iops: 2 ** 40 }), 2 ** 31 - 1, "what EC2 takes has 32 bits");
});

test("the limit of a zone is read from EC2's refusal in all its forms", () => {
  assert.equal(iopsLimitIn("Volume iops of 2147483647 is too high; maximum is 80000."), 80_000);
  assert.equal(iopsLimitIn("io2 volumes configured with greater than 64 TiB or 256K IOPS are not supported."), 256_000);
  assert.equal(iopsLimitIn("The parameter iops is not supported for gp2 volumes."), 0);
  assert.equal(iopsLimitIn("You are not authorized"), undefined);
});
