import assert from "node:assert/strict";
import { test } from "node:test";
import { readMessage } from "./messages.ts";

const now = Date.UTC(2026, 0, 5, 18, 0, 30);
const sent = Date.UTC(2026, 0, 5, 18, 0, 0);
const token = "0aaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";
const envelope = (type: string, detail: object, more: object = {}) =>
  JSON.stringify({ id: "1", "detail-type": type, source: "aws.ec2", time: "2026-01-05T18:00:00Z", detail, ...more });
const read = (body: string) => readMessage(body, now);
const events = (body: string) => {
  const message = read(body);
  assert.equal(message.kind, "events", JSON.stringify(message));
  return message.kind === "events" ? message.events : [];
};
const action = {
  EC2InstanceId: "i-0aaa",
  AutoScalingGroupName: "g",
  LifecycleHookName: "h",
  LifecycleActionToken: token,
  LifecycleTransition: "autoscaling:EC2_INSTANCE_TERMINATING",
};

test("a spot warning has two minutes from when it was sent, and an id that every delivery shares", () => {
  const [event] = events(envelope("EC2 Spot Instance Interruption Warning", { "instance-id": "i-0aaa", "instance-action": "stop" }));
  assert.deepEqual(event, {
    id: "spot-itn-event-31",
    kind: "spot",
    monitor: "SQS_MONITOR",
    instanceId: "i-0aaa",
    description: "Spot Interruption notice for instance i-0aaa was sent at 2026-01-05 18:00:00 +0000 UTC \n",
    startTime: sent,
    deadline: sent + 120_000,
  });
});

test("the smallest message of each kind is read", () => {
  const rebalance = events(envelope("EC2 Instance Rebalance Recommendation", { "instance-id": "i-0aaa" }));
  assert.deepEqual([rebalance[0]?.kind, rebalance[0]?.deadline], ["rebalance", undefined]);
  const state = events(envelope("EC2 Instance State-change Notification", { "instance-id": "i-0aaa", state: "Stopping" }));
  assert.equal(state[0]?.kind, "state-change");
  const health = { service: "EC2", eventTypeCategory: "scheduledChange", affectedEntities: [{ entityValue: "i-0aaa" }] };
  assert.equal(events(envelope("AWS Health Event", health, { source: "aws.health" }))[0]?.kind, "maintenance");
  const hook = events(envelope("EC2 Instance-terminate Lifecycle Action", action, { source: "aws.autoscaling" }));
  assert.deepEqual(hook[0]?.hook, { group: "g", hook: "h", instanceId: "i-0aaa", token });
});

test("a lifecycle action is read from EventBridge, from Auto Scaling itself, and through SNS", () => {
  const direct = JSON.stringify({ RequestId: "6", Time: "2026-01-05T18:00:00.872Z", ...action });
  const bodies = [
    envelope("EC2 Instance-terminate Lifecycle Action", action, { source: "aws.autoscaling" }),
    direct,
    JSON.stringify({ Type: "Notification", Message: direct }),
    JSON.stringify({ Message: envelope("EC2 Instance-terminate Lifecycle Action", action, { source: "aws.autoscaling" }) }),
  ];
  for (const body of bodies) assert.deepEqual(events(body)[0]?.hook, { group: "g", hook: "h", instanceId: "i-0aaa", token }, body);
  assert.equal(events(direct)[0]?.id, "asg-lifecycle-term-36");
});

test("a launch waits for its Node", () => {
  const launch = { ...action, LifecycleTransition: "autoscaling:EC2_INSTANCE_LAUNCHING" };
  const message = read(envelope("EC2 Instance-launch Lifecycle Action", launch, { source: "aws.autoscaling" }));
  assert.equal(message.kind, "launch");
});

test("AWS Health names many instances, each an interruption of its own at its time", () => {
  const detail = {
    service: "EC2",
    eventTypeCode: "AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED",
    eventTypeCategory: "scheduledChange",
    startTime: "Fri, 05 Jun 2026 15:10:09 GMT",
    affectedEntities: [{ entityValue: "i-0aaa" }, { entityValue: "i-0bbb" }],
  };
  const found = events(envelope("AWS Health Event", detail, { source: "aws.health" }));
  assert.deepEqual(
    found.map(({ instanceId, deadline, restarts }) => [instanceId, deadline, restarts]),
    ["i-0aaa", "i-0bbb"].map((id) => [id, Date.UTC(2026, 5, 5, 15, 10, 9), true]),
  );
  assert.equal(new Set(found.map(({ id }) => id)).size, 2);
});

test("capacity that is taken back: an instance of a reservation, whose resources are a text, and a whole block", () => {
  const detail = { "instance-id": "i-0aaa", "instance-termination-time": "2026-01-05T18:02:00Z" };
  const body = envelope("EC2 Capacity Reservation Instance Interruption Warning", detail, { resources: "arn:aws:ec2:::instance/i-0aaa" });
  assert.deepEqual([events(body)[0]?.kind, events(body)[0]?.deadline], ["reservation", sent + 120_000]);
  const block = { "capacity-reservation-id": "cr-1", "end-date": "2026-01-05T18:40:00Z" };
  for (const type of ["Capacity Block Reservation Expiration Warning", "Capacity Block Expiration Warning"]) {
    const message = read(envelope(type, block));
    assert.deepEqual(message.kind === "capacity-block" && [message.reservationId, message.deadline], ["cr-1", sent + 10 * 60_000]);
  }
});

test("what is no interruption can be deleted", () => {
  const bodies = [
    JSON.stringify({ Event: "autoscaling:TEST_NOTIFICATION" }),
    envelope("EC2 Instance-terminate Lifecycle Action", { Event: "autoscaling:TEST_NOTIFICATION" }, { source: "aws.autoscaling" }),
    envelope("EC2 Instance State-change Notification", { "instance-id": "i-0aaa", state: "running" }),
    envelope("EC2 Instance State-change Notification", { "instance-id": "i-0aaa", state: "stop" }),
    envelope("Some other news", {}),
    envelope("x", { LifecycleTransition: "autoscaling:OTHER" }, { source: "aws.autoscaling" }),
    envelope("AWS Health Event", { service: "RDS", eventTypeCategory: "scheduledChange" }, { source: "aws.health" }),
    envelope("AWS Health Event", { service: "EC2", eventTypeCategory: "scheduledChange" }, { source: "aws.health" }),
  ];
  for (const body of bodies) assert.equal(read(body).kind, "nothing", body);
});

test("what cannot be read is said to be, and never throws", () => {
  const bodies = [
    "not JSON",
    "[]",
    "{}",
    '{"Message":"x"}',
    envelope("EC2 Spot Instance Interruption Warning", {}),
    JSON.stringify({ "detail-type": "x", source: "aws.ec2" }),
    envelope("x", {}, { source: "aws.s3" }),
    envelope("x", {}, { source: "aws.health" }),
    envelope("EC2 Instance-terminate Lifecycle Action", { ...action, EC2InstanceId: 7 }, { source: "aws.autoscaling" }),
    envelope("Capacity Block Expiration Warning", { "capacity-reservation-id": "cr-1" }),
  ];
  for (const body of bodies) assert.equal(read(body).kind, "unreadable", body);
});

test("keys in other letter case work, and an envelope without a time counts from now", () => {
  const body = JSON.stringify({
    ID: "1",
    "Detail-Type": "EC2 Spot Instance Interruption Warning",
    Source: "aws.ec2",
    Detail: { "Instance-Id": "i-0aaa" },
  });
  assert.deepEqual([events(body)[0]?.instanceId, events(body)[0]?.startTime], ["i-0aaa", now]);
});
