import assert from "node:assert/strict";
import { test } from "node:test";
import { matchesPattern, readPattern } from "./event-pattern.ts";

const event = {
  source: "aws.ec2",
  "detail-type": "EC2 Instance State-change Notification",
  resources: ["arn:aws:ec2:eu-west-1:1:instance/i-1"],
  detail: { "instance-id": "i-1", state: "stopping" },
};

test("each field of a pattern must have one of its values, also within lists and further down", () => {
  assert.equal(matchesPattern({ source: ["aws.ec2", "aws.health"] }, event), true);
  assert.equal(matchesPattern({ source: ["aws.ec2"], "detail-type": ["another"] }, event), false);
  assert.equal(matchesPattern({ detail: { state: ["stopping", "stopped"] } }, event), true);
  assert.equal(matchesPattern({ detail: { state: ["running"] } }, event), false);
  assert.equal(matchesPattern({ detail: { other: ["x"] } }, event), false);
  assert.equal(matchesPattern({ source: { below: ["x"] } }, event), false);
  assert.equal(matchesPattern({ resources: ["arn:aws:ec2:eu-west-1:1:instance/i-1"] }, event), true);
});

test("operators that are often used are known", () => {
  const state = (...wanted: readonly unknown[]) => matchesPattern({ detail: { state: wanted } }, event);
  assert.deepEqual([state({ prefix: "stop" }), state({ prefix: "x" })], [true, false]);
  assert.deepEqual([state({ suffix: "ing" }), state({ "equals-ignore-case": "STOPPING" })], [true, true]);
  assert.deepEqual([state({ "anything-but": ["running"] }), state({ "anything-but": "stopping" })], [true, false]);
  assert.equal(matchesPattern({ detail: { other: [{ exists: false }] } }, event), true);
  assert.equal(matchesPattern({ detail: { other: [{ "anything-but": "x" }] } }, event), false);
});

test("of an operator that is not known nothing is claimed, unless another field decides", () => {
  assert.equal(matchesPattern({ detail: { state: [{ wildcard: "st*" }] } }, event), undefined);
  assert.equal(matchesPattern({ detail: { state: [{ wildcard: "st*" }, "stopping"] } }, event), true);
  assert.equal(matchesPattern({ source: ["aws.health"], detail: { state: [{ wildcard: "st*" }] } }, event), false);
});

test("what is no pattern is not read as one", () => {
  assert.deepEqual(readPattern('{"source":["aws.ec2"]}'), { source: ["aws.ec2"] });
  for (const text of ["", "[]", "{}", '{"source":"aws.ec2"}', '{"source":[]}', '{"detail":{}}'])
    assert.equal(readPattern(text), undefined, text);
});
