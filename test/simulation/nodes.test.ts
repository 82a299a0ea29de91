/** Fixed seeds of the nodes' world, each played twice. A long run is `node test/simulation/main.ts nodes --runs 2000`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulateNodes } from "./nodes-simulate.ts";

for (let seed = 1; seed <= 12; seed++) {
  test(`seed ${seed}: no Node is deleted whose instance lives, every Node tells the truth, and played twice it is the same history`, async () => {
    const first = await simulateNodes(seed);
    assert.deepEqual(first.violations, [], first.story());
    assert.equal((await simulateNodes(seed)).hash, first.hash);
  });
}
