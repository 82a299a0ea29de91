import assert from "node:assert/strict";
import { test } from "node:test";
import { adoptedPlan, bootTime } from "./adopt.ts";
import type { PlannedNode } from "./situation.ts";

const action = { "aws-node-termination-handler/action": "UncordonAfterReboot" };
const event = { "aws-node-termination-handler/event-id": "instance-event-1" };
const time = { "aws-node-termination-handler/action-time": "1000" };

function node(labels: Readonly<Record<string, string>>, more: Partial<PlannedNode> = {}): PlannedNode {
  return { unschedulable: true, taints: [], labels, instanceId: "i-1", bootId: "boot-2", plan: undefined, ...more };
}

test("the labels of the reference are a plan that waits for a restart, which has happened if the machine was started after them", () => {
  const waiting = adoptedPlan(node({ ...action, ...event, ...time }), 999_000, "node/a");
  assert.deepEqual(
    [waiting?.phase, waiting?.bootId, waiting?.cordonedByUs, waiting?.events.map(({ id, end }) => [id, end])],
    ["ended", "boot-2", true, [["instance-event-1", "done"]]],
  );
  assert.equal(adoptedPlan(node({ ...action, ...event, ...time }), 1_001_000, "node/a")?.bootId, "before boot-2");
});

test("nothing is taken over without all of the labels, of another action, of a time that is none, or where the start is not known", () => {
  for (const labels of [{ ...event, ...time }, { ...action, ...time }, { ...action, ...event }, {}]) {
    assert.equal(adoptedPlan(node(labels), 2_000_000, "node/a"), undefined);
  }
  const other = { ...event, ...time, "aws-node-termination-handler/action": "Other" };
  assert.equal(adoptedPlan(node(other), 2_000_000, "node/a"), undefined);
  const soon = { ...action, ...event, "aws-node-termination-handler/action-time": "soon" };
  assert.equal(adoptedPlan(node(soon), 2_000_000, "node/a"), undefined);
  assert.equal(adoptedPlan(node({ ...action, ...event, ...time }), undefined, "node/a"), undefined);
});

test("a plan that knows of it, or has something to do, is left as it is; one that has ended goes on counting", () => {
  const labels = { ...action, ...event, ...time };
  const known = adoptedPlan(node(labels), 1, "node/a")!;
  assert.equal(adoptedPlan(node(labels, { plan: known }), 1, "node/a"), undefined);
  const other = { ...known, revision: 7, events: known.events.map((each) => ({ ...each, id: "older" })) };
  assert.deepEqual(
    adoptedPlan(node(labels, { plan: other }), 1, "node/a")?.events.map(({ id }) => id),
    ["older", "instance-event-1"],
  );
  assert.equal(adoptedPlan(node(labels, { plan: other }), 1, "node/a")?.revision, 7);
  const { end: _, ...active } = other.events[0]!;
  assert.equal(adoptedPlan(node(labels, { plan: { ...other, events: [active] } }), 1, "node/a"), undefined);
});

test("the start of a machine is read from the first number of its uptime", () => {
  assert.equal(bootTime("350735.47 234388.90\n", 400_000_000), 400_000_000 - 350_735_000);
  for (const text of ["", "x 1"]) assert.equal(bootTime(text, 1), undefined);
});
