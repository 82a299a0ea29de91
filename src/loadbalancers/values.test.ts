import assert from "node:assert/strict";
import { test } from "node:test";
import { parseGoBool, parseInteger, parseKeyValues, parseList, parseStringMap } from "./values.ts";

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

test("maps are read as the AWS Load Balancer Controller reads them", () => {
  const rows: readonly (readonly [string, Record<string, string> | undefined])[] = [
    ["a=b, c=d\\,e, f=", { a: "b", c: "d,e", f: "" }],
    ["a=b,", { a: "b," }],
    ["h=v\\,w=z", { h: "v,w=z" }],
    ["k=v=w", { k: "v=w" }],
    ["a\\=b=c", { a: "b=c" }],
    ["a==x", { a: "=x" }],
    ["a=1\\,2,b=3", { a: "1,2", b: "3" }],
    ["a=1,a=2", { a: "2" }],
    ["", {}],
    ["a=b,,c=d", undefined],
    ["a=b, ,", undefined],
    ["a=b,c", undefined],
    ["a=1,b,c=2", undefined],
    ["a,b=c", undefined],
    [" = v", undefined],
    [" ", undefined],
  ];
  for (const [text, expected] of rows) assert.deepEqual(parseStringMap(text), expected, JSON.stringify(text));
});
