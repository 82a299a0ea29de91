/** Fixed seeds of the world of Services with a class, each played twice. A long run is `node test/simulation/main.ts classes --runs 2000`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulateClasses } from "./classes-simulate.ts";

for (let seed = 1; seed <= 6; seed++) {
  test(`seed ${seed}: every Service has what it asks for and nothing else, nobody's pods are lost, and played twice it is the same history`, async () => {
    const first = await simulateClasses(seed);
    assert.deepEqual(first.violations, [], first.story());
    assert.equal((await simulateClasses(seed)).hash, first.hash);
  });
}
