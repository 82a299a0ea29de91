import assert from "node:assert/strict";
import { test } from "node:test";
import { layoutSteps } from "../../../src/sandbox/layout/calls.ts";
import type { LayoutCall } from "../../../src/sandbox/layout/player.ts";
import { recordLayout } from "./layout-calls.ts";

test("the calls that the sandbox plays back are those by which OpenTofu makes and removes the layout", async (t) => {
  const recorded = await recordLayout(t);
  for (const step of ["base", "node"] as const) {
    for (const direction of ["make", "remove"] as const)
      assert.deepEqual(inOneOrder(layoutSteps[step][direction]), inOneOrder(recorded[step][direction]), `${step} ${direction}`);
  }
});

/** OpenTofu takes what does not depend on each other in any order. */
const inOneOrder = (calls: readonly LayoutCall[]) => calls.map((call) => JSON.stringify(call)).toSorted();
