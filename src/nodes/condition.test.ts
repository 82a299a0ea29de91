import assert from "node:assert/strict";
import { test } from "node:test";
import { conditionChange } from "./condition.ts";

test("a secret in a message does not get into a condition, and what is there already is not written again", () => {
  const wanted = { status: "False", reason: "Failed", message: "refused: SessionToken=PLANTED" } as const;
  const change = conditionChange(undefined, wanted, 0) as { readonly message: string };
  assert.equal(change.message, "refused: SessionToken=[redacted]");
  const existing = { type: "x", ...wanted, message: change.message };
  assert.equal(conditionChange(existing, wanted, 0), undefined);
});
