/** Fixed seeds of the bindings' world, each played twice. A long run is `node test/simulation/main.ts bindings --runs 2000`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulateBindings } from "./bindings-simulate.ts";

for (let seed = 1; seed <= 4; seed++) {
  test(`seed ${seed}: every endpoint is a target in time, none that serves goes early, and played twice it is the same history`, async () => {
    const first = await simulateBindings(seed);
    assert.deepEqual(first.violations, [], first.story());
    assert.equal((await simulateBindings(seed)).hash, first.hash);
  });
}
