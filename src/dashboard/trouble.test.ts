import assert from "node:assert/strict";
import { test } from "node:test";
import type { Now } from "../process/now.ts";
import { type EventView, processTroubles, troublesOf } from "./trouble.ts";

const minute = 60_000;
let number = 0;

function event(reason: string, last: number, rest: Partial<EventView> = {}): EventView {
  const metadata = { name: `e${++number}`, namespace: "shop", uid: `${number}`, resourceVersion: "1" };
  return { metadata, uid: "u", about: "service/shop/web", warning: true, reason, message: "refused", count: 1, since: last, last, ...rest };
}

const there = () => true;
const remedies = new Map([
  ["SyncLoadBalancerFailed", "Read the message."],
  ["EnsuredLoadBalancer", "Nothing."],
]);

test("a Warning is trouble until the same work went well, its object is gone, or nobody has repeated it for long", () => {
  const failed = event("SyncLoadBalancerFailed", 10 * minute, { message: "no subnets (request id: 1a2b3c4d-0000)", count: 3 });
  const [found] = troublesOf([failed], remedies, there, 11 * minute);
  assert.equal(found?.about, "service/shop/web");
  assert.equal(found?.requestId, "1a2b3c4d-0000");
  assert.equal(found?.remedy, "Read the message.");
  assert.deepEqual(troublesOf([failed, event("EnsuredLoadBalancer", 10.5 * minute, { warning: false })], remedies, there, 11 * minute), []);
  assert.deepEqual(
    troublesOf([failed], remedies, () => false, 11 * minute),
    [],
  );
  assert.deepEqual(troublesOf([failed], remedies, there, 31 * minute), []);
  assert.equal(
    troublesOf([failed, event("SyncLoadBalancerFailed", 9 * minute)], remedies, there, 11 * minute).length,
    1,
    "the latest of a reason",
  );
});

test("Warnings of others are theirs", () => {
  assert.deepEqual(troublesOf([event("FailedScheduling", minute)], remedies, there, minute), []);
});

function said(rest: Partial<Now> = {}): Now {
  return {
    component: "cloud-controller-manager",
    identity: "a",
    leads: true,
    at: 0,
    controllers: [],
    budgets: [],
    lines: [],
    calls: [],
    ...rest,
  };
}

const leases = [{ name: "cloud-controller-manager", holder: "a", renewed: 90_000, durationMs: 15_000 }];

test("that nobody leads, that a process is silent, and that AWS throttles is said, with what to do", () => {
  const asked = [
    { endpoint: "https://a", said: said({ budgets: [{ action: "ec2:DescribeInstances", rate: 1, waiting: 7, throttledMsAgo: 500 }] }) },
    { endpoint: "https://b", said: undefined, problem: "connect ECONNREFUSED" },
  ];
  const titles = (at: number) => processTroubles(asked, leases, at).map(({ title }) => title);
  assert.deepEqual(titles(100_000), ["A process does not answer", "AWS throttles"]);
  assert.deepEqual(titles(110_000), ["A process does not answer", "Nobody leads", "AWS throttles"]);
  for (const { remedy } of processTroubles(asked, leases, 110_000)) assert.match(remedy, /\w+/);
});

test("a call that AWS does not allow is named, with the action to allow", () => {
  const denied = {
    service: "ec2",
    action: "CreateRoute",
    region: "r",
    outcome: "denied",
    code: "UnauthorizedOperation",
    requestId: "r1",
  } as const;
  const calls = [{ ...denied, at: 1_000, attempts: 1, durationMs: 1, waitedMs: 0, cause: "routes" }];
  const [found] = processTroubles([{ endpoint: "https://a", said: said({ calls }) }], [], 2_000);
  assert.match(found?.message ?? "", /ec2:CreateRoute is not allowed \(UnauthorizedOperation\)/);
  assert.equal(found?.requestId, "r1");
});

test("who may not ask a process is told of the role", () => {
  const [found] = processTroubles([{ endpoint: "https://a", said: undefined, problem: "it answers 403: forbidden" }], [], 0);
  assert.match(found?.remedy ?? "", /\/debug\/fairlead/);
});
