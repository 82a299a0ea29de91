/** Fixed seeds of the interruptions' world, each played twice. A long run is `node test/simulation/main.ts interruptions --runs 2000`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulateInterruptions } from "./interruptions-simulate.ts";

for (let seed = 1; seed <= 6; seed++) {
  test(`seed ${seed}: every notice has its end, no Node is touched that none named, and played twice it is the same history`, async () => {
    const first = await simulateInterruptions(seed);
    assert.deepEqual(first.violations, [], first.story());
    assert.equal((await simulateInterruptions(seed)).hash, first.hash);
  });
}
