import assert from "node:assert/strict";
import { test } from "node:test";
import { simulatedEvent, simulationRequest } from "./simulated.ts";

test("a request becomes an event of its kind that is marked, with the time that such a notice gives", () => {
  const event = simulatedEvent(simulationRequest({ kind: "spot", id: "1", at: 1_000 }));
  assert.deepEqual([event?.id, event?.kind, event?.deadline, event?.simulated], ["simulated-spot-1", "spot", 121_000, true]);
  assert.equal(simulatedEvent(simulationRequest({ kind: "rebalance", id: "1", at: 1_000 }))?.deadline, undefined);
});

test("what cannot be read is no event", () => {
  for (const text of [
    "",
    "x",
    "null",
    "{}",
    '{"kind":"spot"}',
    '{"kind":"nonsense","id":"1","at":1}',
    '{"kind":"toString","id":"1","at":1}',
  ]) {
    assert.equal(simulatedEvent(text), undefined, text);
  }
});
