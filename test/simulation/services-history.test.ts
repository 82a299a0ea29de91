import assert from "node:assert/strict";
import { test } from "node:test";
import { servicesHistory } from "./services-history.ts";

/** Those of CI; `node test/simulation/services-many.ts 1 2000` plays more. */
const seeds = Array.from({ length: 25 }, (_, i) => i + 1);

for (const seed of seeds) {
  test(`people, nodes, faults and crashes leave order behind: seed ${seed}`, async () => {
    assert.deepEqual(await servicesHistory(seed), []);
  });
}
