import assert from "node:assert/strict";
import { test } from "node:test";
import { statusError } from "./errors.ts";

test("a reason that nobody knows is judged by the status, also one that every object inherits", () => {
  assert.equal(statusError("GET /x", 404, { reason: "constructor" }).reason, "not-found");
  assert.equal(statusError("GET /x", 404, { reason: "Forbidden" }).reason, "forbidden");
});
