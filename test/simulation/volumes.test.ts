/** Fixed seeds of the volumes' world, each played twice. A long run is `node test/simulation/main.ts volumes --runs 2000`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { simulateVolumes } from "./volumes-simulate.ts";

for (let seed = 1; seed <= 12; seed++) {
  test(`seed ${seed}: no volume is lost, doubly attached or left behind, and played twice it is the same history`, async () => {
    const first = await simulateVolumes(seed);
    assert.deepEqual(first.violations, [], first.story());
    assert.equal((await simulateVolumes(seed)).hash, first.hash);
  });
}
