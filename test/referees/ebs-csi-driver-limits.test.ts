/** The table of limits is the one that the reference's own makes. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { limitsFile } from "../../deploy/build/volume-limits.ts";

test("src/volumes/limits-table.ts is what `npm run limits` makes", async () => {
  const present = await readFile(new URL("../../src/volumes/limits-table.ts", import.meta.url), "utf8");
  assert.equal(present, await limitsFile(), "run `npm run limits`");
});
