import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameStatus } from "./same-status.ts";

const condition = (type: string, status = "True") => ({ type, status, reason: type, message: "" });
const listener = (name: string, ...conditions: readonly object[]) => ({ name, attachedRoutes: 1, conditions });

test("a status whose lists are in another order says the same, and nothing else does", () => {
  const stored = [listener("http", condition("Accepted"), condition("Programmed")), listener("https", condition("Accepted"))];
  const { attachedRoutes, ...rest } = listener("http", condition("Programmed"), condition("Accepted"));
  assert.ok(isSameStatus(stored, [stored[1], { attachedRoutes, ...rest }]));
  assert.ok(isSameStatus(undefined, undefined));
  assert.ok(isSameStatus(3, 3));
  assert.ok(!isSameStatus(undefined, stored));
  assert.ok(!isSameStatus(stored, stored.slice(1)));
  assert.ok(!isSameStatus(stored, [stored[0], listener("https", condition("Accepted", "False"))]));
  assert.ok(!isSameStatus(stored, [...stored, stored[0]]));
});
