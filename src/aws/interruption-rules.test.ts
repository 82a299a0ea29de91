import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesPattern } from "./event-pattern.ts";
import { heardKinds, patternOf, samplesOf } from "./interruption-rules.ts";

test("the rule of a kind lets that kind through and no other", () => {
  for (const kind of heardKinds) {
    const heard = heardKinds.filter((other) => samplesOf(other).every((sample) => matchesPattern(patternOf(kind), sample)));
    assert.deepEqual(heard, [kind]);
  }
});

test("a rule asks for nothing that EventBridge would not take: lists that are not empty", () => {
  for (const kind of heardKinds) assert.doesNotMatch(JSON.stringify(patternOf(kind)), /\[\]|\{\}/);
});
