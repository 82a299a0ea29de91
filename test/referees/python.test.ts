import assert from "node:assert/strict";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { realWorld } from "../../src/runtime/world.ts";
import { obtainPython, PythonUnavailable } from "./python.ts";

test("without python3 one message says what is missing and how to get it, and nothing is left behind", async (t) => {
  const folder = await mkdtemp(join(tmpdir(), "fairlead-python-"));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const world = { ...realWorld(), environment: { PATH: folder, FAIRLEAD_CACHE: folder } };
  await assert.rejects(obtainPython({ world, say: () => {} }), (error: Error) => {
    assert.ok(error instanceof PythonUnavailable);
    assert.match(error.message, /python3 is not on PATH/);
    assert.match(error.message, /python3-venv/);
    return true;
  });
  assert.deepEqual(await readdir(folder), []);
});
