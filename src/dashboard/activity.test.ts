import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallRecord } from "../aws/ledger.ts";
import { CallHistory } from "./activity.ts";

function call(at: number, action: string, rest: Partial<CallRecord> = {}): CallRecord {
  return {
    at,
    service: "ec2",
    action,
    region: "eu-west-1",
    outcome: "ok",
    attempts: 1,
    durationMs: 5,
    waitedMs: 0,
    cause: "node lifecycle",
    ...rest,
  };
}

test("calls are counted once, however often they are told, by action and by cause", () => {
  const history = new CallHistory();
  const first = [call(1_000, "DescribeInstances"), call(2_000, "CreateRoute", { outcome: "throttled", cause: "service shop/web" })];
  history.add("a", first);
  history.add("a", [...first, call(11_000, "DescribeInstances", { outcome: "denied" })]);
  history.add("b", [call(1_500, "DescribeInstances")]);
  const { actions, causes } = history.activity(12_000);
  assert.deepEqual(
    actions.map(({ name, calls, throttled, failed, over }) => [name, calls, throttled, failed, over.slice(-2)]),
    [
      ["ec2:DescribeInstances", 3, 0, 1, [2, 1]],
      ["ec2:CreateRoute", 1, 1, 0, [1, 0]],
    ],
  );
  assert.deepEqual(
    causes.map(({ name, calls }) => [name, calls]),
    [
      ["node lifecycle", 3],
      ["service", 1],
    ],
  );
});
