import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGoBool, parseInteger, parseKeyValues, parseList } from "./values.ts";

test("key=value lists forgive what users write", () => {
  assert.deepEqual(parseKeyValues("K=V K1=V2,Key1========, =====, =Val, , 234,"), { K: "V K1", Key1: "", "234": "" });
  assert.deepEqual(parseKeyValues("a=1,a=2"), { a: "2" });
  assert.deepEqual(Object.entries(parseKeyValues("__proto__=x,constructor=y")), [
    ["__proto__", "x"],
    ["constructor", "y"],
  ]);
  assert.deepEqual(parseKeyValues("  "), {});
});

test("lists drop blanks and keep inner spaces", () => {
  assert.deepEqual(parseList("\t, ,,"), []);
  assert.deepEqual(parseList(" my subnet , b"), ["my subnet", "b"]);
});

test("booleans are Go's, nothing else", () => {
  assert.deepEqual(["1", "True", "0", "F", "yes", "", "tRUE"].map(parseGoBool), [
    true,
    true,
    false,
    false,
    undefined,
    undefined,
    undefined,
  ]);
});

test("integers are whole numbers", () => {
  assert.deepEqual(["7", "-1", "+3", "3.3", "", " 7", "0x10"].map(parseInteger), [7, -1, 3, undefined, undefined, undefined, undefined]);
});
