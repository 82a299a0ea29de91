import assert from "node:assert/strict";
import { test } from "node:test";
import { entryOf, StepLog } from "./steps.ts";

const step = { level: "info", ts: 1.5, msg: "create load balancer web", why: "the Service asks for one" };

test("a line with a reason is a step; a crash, a Node's line, a warning and plain news are none", () => {
  const log = new StepLog("a");
  const lines = [
    JSON.stringify({ level: "info", msg: "serving securely" }),
    JSON.stringify({ ...step, level: "error" }),
    JSON.stringify({ ...step, msg: "deleting a node", node: "ip-10-0-0-1" }),
    "RangeError: at line 1",
    JSON.stringify(step),
  ];
  for (const each of lines) log.read(entryOf(each));
  assert.deepEqual(log.taken, [{ id: "a.1", at: 1_500, what: step.msg, why: step.why }]);
});

test("only the latest steps are kept, and no two have the same id", () => {
  const log = new StepLog("a");
  for (let count = 0; count < 250; count++) log.read(step);
  assert.equal(log.taken.length, 100);
  assert.equal(new Set(log.taken.map(({ id }) => id)).size, 100);
  assert.equal(log.taken.at(-1)?.id, "a.250");
});
