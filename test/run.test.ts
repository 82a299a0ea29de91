import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

test("a suite that nobody knows is refused, not passed for want of tests", () => {
  const { status, stderr } = spawnSync(process.execPath, [fileURLToPath(new URL("./run.ts", import.meta.url)), "integratoin"], {
    encoding: "utf8",
  });
  assert.equal(status, 2);
  assert.match(stderr, /^integratoin is none of check, all, /);
});
