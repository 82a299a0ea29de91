import assert from "node:assert/strict";
import { test } from "node:test";
import { AwsError, type ErrorClass } from "../aws/errors.ts";
import { hasUnmetConditions, type Probe, readConditions, unmetConditions, verdictOf } from "./conditions.ts";

const failed = (code: string, kind: ErrorClass = "unknown") =>
  new AwsError({ class: kind, code, service: "ec2", action: "X", region: "us-east-1", message: "no" });

test("what each answer says of a permission", () => {
  const rows: readonly (readonly [Probe, unknown, string])[] = [
    ["DescribeAddressesAttribute", undefined, "allowed"],
    ["DescribeAddressesAttribute", failed("DryRunOperation"), "allowed"],
    ["DescribeAddressesAttribute", failed("UnauthorizedOperation", "denied"), "denied"],
    ["DescribeAddressesAttribute", failed("AccessDenied", "denied"), "denied"],
    ["DescribeAddressesAttribute", failed("AccessDeniedException", "denied"), "denied"],
    ["DescribeAddressesAttribute", failed("UnsupportedOperation", "unsupported"), "unknown"],
    ["DescribeInstanceTopology", failed("UnsupportedOperation", "unsupported"), "unsupported"],
    ["DescribeInstanceTopology", failed("InvalidAction", "unsupported"), "unsupported"],
    ["DescribeInstanceTopology", failed("RequestLimitExceeded", "throttled"), "unknown"],
    ["DescribeInstanceTopology", failed("AuthFailure", "credentials"), "unknown"],
    ["DescribeInstanceTopology", failed("ECONNRESET", "transient"), "unknown"],
    ["DescribeInstanceTopology", new Error("no answer within 600000 ms"), "unknown"],
  ];
  for (const [probe, error, verdict] of rows) assert.equal(verdictOf(probe, error), verdict, `${probe} ${String(error)}`);
});

test("what is unknown stays as it was; what is known replaces it", () => {
  const before = unmetConditions({ DescribeAddressesAttribute: "denied", DescribeInstanceTopology: "denied" }, []);
  assert.equal(before.length, 2);
  const verdicts = { DescribeAddressesAttribute: "unknown", DescribeInstanceTopology: "allowed" } as const;
  assert.deepEqual(unmetConditions(verdicts, before), [before[0]]);
  assert.deepEqual(unmetConditions(verdicts, []), []);
});

test("the platform sees unmet conditions only in an entry that is not ok", () => {
  const entry = (ok: boolean) => JSON.stringify([{ name: "N", message: "m", ok }]);
  const rows: readonly (readonly [string | undefined, boolean])[] = [
    [undefined, false],
    ["null", false],
    ["[]", false],
    [entry(true), false],
    [entry(false), true],
  ];
  for (const [text, unmet] of rows) assert.equal(hasUnmetConditions(text), unmet, String(text));
});

test("a key with something else in it is as if it were not there", () => {
  for (const text of [undefined, "", "{", "{}", "[1]", '[{"name":"N"}]']) assert.equal(readConditions(text), undefined, String(text));
});
