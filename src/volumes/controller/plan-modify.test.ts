import assert from "node:assert/strict";
import { test } from "node:test";
import type { Volume } from "../../aws/volumes.ts";
import { tagKeys } from "../names.ts";
import { targetOf, unmetBy } from "./plan-modify.ts";

const volume = { id: "vol-1", sizeGiB: 10, type: "gp3", iops: 3000, throughput: 125, tags: {} } as unknown as Volume;
const anything = { sizeGiB: undefined, type: undefined, iops: undefined, throughput: undefined };

test("each field in which a volume is not as wanted is named; a larger volume is large enough", () => {
  assert.deepEqual(unmetBy(volume, { ...anything, sizeGiB: 20 }), ["size 10 GiB, wanted 20"]);
  assert.deepEqual(unmetBy(volume, { ...anything, type: "io2" }), ["type gp3, wanted io2"]);
  assert.deepEqual(unmetBy(volume, { ...anything, iops: 4000 }), ["IOPS 3000, wanted 4000"]);
  assert.deepEqual(unmetBy(volume, { ...anything, throughput: 250 }), ["throughput 125, wanted 250"]);
  assert.deepEqual(unmetBy(volume, { sizeGiB: 5, type: "GP3", iops: 3000, throughput: 125 }), []);
});

const target = (tags: Readonly<Record<string, string>>) =>
  targetOf({ ...volume, type: "io1", tags }, { sizeGiB: 20 }, async () => undefined);

test("IOPS follow the size by both tags of the volume, and by none of them alone", async () => {
  assert.equal((await target({ [tagKeys.iopsPerGb]: "50", [tagKeys.allowIopsIncrease]: "T" })).iops, 1000);
  assert.equal((await target({ [tagKeys.iopsPerGb]: "50" })).iops, undefined);
  assert.equal((await target({ [tagKeys.allowIopsIncrease]: "true" })).iops, undefined);
  assert.equal((await target({ [tagKeys.iopsPerGb]: "50", [tagKeys.allowIopsIncrease]: "0" })).iops, undefined);
});

test("a tag that cannot be read is named, with what it may be", async () => {
  await assert.rejects(
    target({ [tagKeys.iopsPerGb]: "many" }),
    /tag ebs.csi.aws.com\/IOPSPerGb of volume vol-1 is "many", not a 32-bit integer/,
  );
  await assert.rejects(target({ [tagKeys.allowIopsIncrease]: "yes" }), /is "yes", not true or false/);
});
