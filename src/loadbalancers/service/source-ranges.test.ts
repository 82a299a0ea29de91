import assert from "node:assert/strict";
import { test } from "node:test";
import { sourceRanges } from "./source-ranges.ts";

test("without a word everybody may come in", () => {
  assert.deepEqual(sourceRanges(undefined, undefined).cidrs, ["0.0.0.0/0"]);
  assert.deepEqual(sourceRanges([], "  ").cidrs, ["0.0.0.0/0"]);
});

test("the spec wins over the annotation; repeats collapse; host bits are cleared", () => {
  assert.deepEqual(sourceRanges([" 10.0.0.1/24", "10.0.0.0/24 "], "192.168.0.0/16"), { cidrs: ["10.0.0.0/24"], problems: [] });
  assert.deepEqual(sourceRanges(undefined, "10.0.0.0/8, 2001:DB8::/32").cidrs, ["10.0.0.0/8", "2001:db8::/32"]);
});

test("what is no range is refused with an example of what is", () => {
  for (const bad of ["10.0.0.0/33", "foo.bar", "10.0.0.1", "10.0.0.0/8,"]) {
    assert.match(sourceRanges(undefined, bad).problems[0]?.message ?? "", /is not valid\. Expecting a comma-separated list/, bad);
  }
  assert.match(
    sourceRanges(["foo"], undefined).problems[0]?.message ?? "",
    /^service\.Spec\.LoadBalancerSourceRanges: \[foo\] is not valid/,
  );
});
