import assert from "node:assert/strict";
import { test } from "node:test";
import { CheckpointRecord } from "./checkpoints.ts";

const { signal } = new AbortController();
const seen = (checkpoint: string) => ({ metadata: { uid: "u-1" }, checkpoint });

test("a checkpoint that could not be taken away is not taken for gone", async () => {
  const answers = [false, true];
  const written: string[] = [];
  const record = new CheckpointRecord(async (_, checkpoint) => {
    written.push(checkpoint);
    return answers.shift() ?? true;
  });
  assert.equal(await record.clear(seen("old"), signal), false);
  assert.equal(await record.clear(seen("old"), signal), true);
  assert.deepEqual(written, ["", ""]);
});

test("what was written is not written again while the object does not show it yet", async () => {
  const written: string[] = [];
  const record = new CheckpointRecord(async (_, checkpoint) => written.push(checkpoint) > 0);
  await record.clear(seen("old"), signal);
  await record.clear(seen("old"), signal);
  await record.record(seen("old"), "old", signal);
  await record.record(seen(""), "old", signal);
  await record.clear(seen("old"), signal);
  assert.deepEqual(written, ["", "old", ""]);
});
