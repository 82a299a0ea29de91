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

test("what is older than ten minutes counts no more, and is forgotten", () => {
  const history = new CallHistory();
  history.add("a", [call(1_000, "CreateRoute"), call(400_000, "DescribeInstances")]);
  assert.deepEqual(
    history.activity(700_000).actions.map(({ name, calls }) => [name, calls]),
    [["ec2:DescribeInstances", 1]],
  );
  assert.deepEqual(history.activity(2_000_000).actions, []);
  assert.deepEqual(history.activity(700_000).actions, []);
});

test("a process whose clock is ahead is counted when its calls were, and once", () => {
  const history = new CallHistory();
  const hour = 3_600_000;
  history.add("a", [call(hour + 5_000, "CreateRoute")], hour);
  history.add("a", [call(hour + 5_000, "CreateRoute")], hour + 900);
  assert.equal(history.activity(9_000).actions[0]?.over.at(-1), 1);
});

test("causes are kinds of work, however many objects there are", () => {
  const history = new CallHistory();
  const about = ["service shop/web", "service shop/db", "rules of node security group sg-0a1", "rules of node security group sg-0b2"];
  history.add(
    "a",
    about.map((cause, at) => call(1_000 + at, "CreateRoute", { cause })),
  );
  assert.deepEqual(
    history.activity(5_000).causes.map(({ name, calls }) => [name, calls]),
    [
      ["rules of node security group", 2],
      ["service", 2],
    ],
  );
});
