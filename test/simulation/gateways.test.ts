/** Fixed seeds of the Gateways' world, each played twice. A long run is `node test/simulation/main.ts gateways --runs 2000`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulateGateways } from "./gateways-simulate.ts";

for (let seed = 1; seed <= 6; seed++) {
  test(`seed ${seed}: nobody loses a rule by another's mistake, nothing is left, and played twice it is the same history`, async () => {
    const first = await simulateGateways(seed);
    assert.deepEqual(first.violations, [], first.story());
    assert.equal((await simulateGateways(seed)).hash, first.hash);
  });
}
