import assert from "node:assert/strict";
import { test } from "node:test";
import { shownLine } from "./lines.ts";

const line = { id: 1, at: 2, level: "error", message: "cannot be made" } as const;

test("a line of the log is shown with its reason or its error, and with nothing else of its fields", () => {
  const shown = (fields: Readonly<Record<string, unknown>>) => shownLine({ ...line, fields }).why;
  assert.equal(shown({ why: "the Service wants it", object: { data: "x" } }), "the Service wants it");
  assert.equal(shown({ error: { name: "AwsError", message: "no subnet has room" } }), "no subnet has room");
  assert.equal(shown({ error: "refused" }), "refused");
  assert.equal(shown({ node: "a" }), "");
  assert.equal(shown({ why: "x".repeat(100_000) }).length, 1_000);
  assert.deepEqual(Object.keys(shownLine({ ...line, fields: { object: {} } })), ["id", "at", "level", "message", "why"]);
});
