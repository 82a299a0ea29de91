import assert from "node:assert/strict";
import { test } from "node:test";
import { explainInterruption } from "./explain.ts";
import { type NodePlan, writePlan } from "./plan.ts";

const now = Date.UTC(2026, 0, 5, 18, 0, 0);
const plan: NodePlan = {
  revision: 3,
  phase: "draining",
  holder: "handler-a_1234",
  events: [
    { id: "s", kind: "spot", policy: "drain", description: "Spot", startTime: now, deadline: now + 90_000 },
    {
      id: "t",
      kind: "termination",
      policy: "drain",
      description: "ASG",
      startTime: now,
      hook: { group: "workers", hook: "drain", instanceId: "i-1" },
      simulated: true,
    },
    { id: "r", kind: "rebalance", policy: "cordon", description: "Rebalance", startTime: now, end: "done" },
  ],
  cordonedByUs: true,
  bootId: "b",
  since: now - 20_000,
  drainSince: now - 12_000,
};

test("a Node that is drained: how far, by whom, until when, and each event", () => {
  assert.deepEqual(explainInterruption(writePlan(plan), now), [
    "is drained, for 12 s; handler-a works on it",
    "rebalance: done: Rebalance",
    "simulated termination: to drain, held by hook drain of group workers: ASG",
    "spot: to drain, the instance goes in 90 s: Spot",
  ]);
});

test("who works on it, in words, and what takes too long", () => {
  const line = (more: Partial<NodePlan>) => explainInterruption(writePlan({ ...plan, ...more }), now)[0];
  assert.match(line({ holder: "node/ip-10-0-0-1" }) ?? "", /the handler on the node itself works on it$/);
  assert.match(line({ holder: "lease/kube-system/fairlead-cluster" }) ?? "", /whoever leads by Lease kube-system\/fairlead-cluster works/);
  assert.match(line({ overdue: true }) ?? "", /; it takes longer than its grace period$/);
  assert.match(line({ phase: "cordoned" }) ?? "", /^cordoned, the drain is not due yet; /);
});

test("what has ended, what is over, what cannot be read, and nothing", () => {
  const ended = (end: "done" | "over") => writePlan({ ...plan, phase: "ended", events: plan.events.map((event) => ({ ...event, end })) });
  assert.equal(explainInterruption(ended("done"), now)[0], "all of it has ended");
  assert.equal(explainInterruption(ended("over"), now)[0], "over: the node serves again");
  assert.deepEqual(explainInterruption("nonsense", now), ["its plan cannot be read; the next notice begins a new one"]);
  assert.deepEqual(explainInterruption(undefined, now), []);
});
