import assert from "node:assert/strict";
import { appendFile, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { LogTail } from "./log-tail.ts";

test("every line is given once, when its end has been written, characters of several bytes whole", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "log-tail-"));
  t.after(() => rm(folder, { recursive: true }));
  const path = join(folder, "log");
  const tail = new LogTail(path);
  assert.deepEqual(await tail.lines(), []);
  const [first, second] = [Buffer.from("one\ntwo – "), Buffer.from("done\n")];
  await appendFile(path, first.subarray(0, -2));
  assert.deepEqual(await tail.lines(), ["one"]);
  await appendFile(path, first.subarray(-2));
  assert.deepEqual(await tail.lines(), []);
  await appendFile(path, second);
  assert.deepEqual(await tail.lines(), ["two – done"]);
  assert.deepEqual(await tail.lines(), []);
});
