import assert from "node:assert/strict";
import { test } from "node:test";
import type { Now } from "../process/now.ts";
import { aheadOf, type EventView, eventView, isFollowed, onOurClock, processTroubles, troublesOf, withTries } from "./trouble.ts";

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

const leases = [{ name: "cloud-controller-manager", holder: "a", renewed: 90_000, seen: 90_000, durationMs: 15_000 }];

test("that nobody leads, that a process is silent, and that AWS throttles is said, with what to do", () => {
  const asked = [
    {
      endpoint: "https://a",
      at: 0,
      said: said({ budgets: [{ action: "ec2:DescribeInstances", rate: 1, waiting: 7, throttledMsAgo: 500 }] }),
    },
    { endpoint: "https://b", at: 99_000, since: 70_000, said: undefined, problem: "connect ECONNREFUSED" },
  ];
  const titles = (at: number) => processTroubles(asked, leases, at).map(({ title }) => title);
  assert.deepEqual(titles(100_000), ["A process does not answer", "AWS throttles"]);
  assert.deepEqual(titles(110_000), ["A process does not answer", "Nobody leads", "AWS throttles"]);
  for (const { remedy } of processTroubles(asked, leases, 110_000)) assert.match(remedy, /\w+/);
  const [silent] = processTroubles(asked, leases, 100_000);
  assert.deepEqual([silent?.since, silent?.last], [70_000, 99_000]);
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
  const [found] = processTroubles([{ endpoint: "https://a", at: 0, said: said({ calls }) }], [], 2_000);
  assert.match(found?.message ?? "", /ec2:CreateRoute is not allowed \(UnauthorizedOperation\)/);
  assert.equal(found?.requestId, "r1");
});

test("who may not ask a process is told of the role", () => {
  const [found] = processTroubles([{ endpoint: "https://a", at: 0, said: undefined, problem: "it answers 403: forbidden" }], [], 0);
  assert.match(found?.remedy ?? "", /\/debug\/fairlead/);
});

test("a Lease that is renewed by a clock other than ours is held: what counts is when we saw it renewed", () => {
  const hourBehind = [{ name: "cloud-controller-manager", holder: "a", renewed: 0, seen: 3_600_000, durationMs: 15_000 }];
  assert.deepEqual(processTroubles([], hourBehind, 3_602_000), []);
  assert.equal(processTroubles([], hourBehind, 3_616_000)[0]?.title, "Nobody leads");
});

test("that work has begun again does not end a trouble", () => {
  const failed = event("SyncLoadBalancerFailed", minute);
  const begun = event("EnsuringLoadBalancer", 2 * minute, { warning: false });
  const all = new Map([...remedies, ["EnsuringLoadBalancer", "Nothing."]]);
  assert.equal(troublesOf([failed, begun], all, there, 2 * minute).length, 1);
});

test("a Warning about an object that was deleted is not one about its successor of the same name", () => {
  const failed = event("SyncLoadBalancerFailed", minute, { uid: "old" });
  assert.deepEqual(
    troublesOf([failed], remedies, (_id, uid) => uid === "new", minute),
    [],
  );
});

test("an Event's message is shown without what looks like a secret, and is told of objects that are on no map", () => {
  const metadata = { name: "e", namespace: "shop", uid: "1", resourceVersion: "1", creationTimestamp: "2026-01-01T00:00:00Z" };
  const seen = eventView({
    metadata,
    type: "Warning",
    reason: "FailedBuildModel",
    message: "cannot use Authorization: Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
    involvedObject: { kind: "HTTPRoute", namespace: "shop", name: "web" },
  });
  assert.doesNotMatch(seen.message, /eyJ/);
  assert.equal(seen.about, "httproute/shop/web");
  assert.deepEqual([isFollowed(seen.about), isFollowed("service/shop/web")], [false, true]);
});

test("what was tried for an object is told with it: what changes something or failed, the newest first", () => {
  const base = { region: "r", attempts: 1, durationMs: 1, waitedMs: 0, outcome: "ok", cause: "service shop/web" } as const;
  const calls = [
    { ...base, at: 1, service: "ec2", action: "DescribeSubnets" },
    { ...base, at: 2, service: "ec2", action: "CreateSecurityGroup" },
    { ...base, at: 3, service: "elbv2", action: "CreateLoadBalancer", outcome: "invalid", code: "InvalidSubnet", requestId: "r1" },
    { ...base, at: 4, service: "elbv2", action: "CreateLoadBalancer", cause: "service shop/web-2" },
  ] as const;
  const troubles = troublesOf([event("SyncLoadBalancerFailed", minute)], remedies, there, minute);
  assert.deepEqual(withTries(troubles, calls)[0]?.tried, [
    { at: 3, text: "elbv2:CreateLoadBalancer: InvalidSubnet, request id r1" },
    { at: 2, text: "ec2:CreateSecurityGroup: done" },
  ]);
});

test("what a process with another clock says is shown by ours", () => {
  const hour = 60 * minute;
  const one = said({ at: hour + 5_200, lines: [{ id: 1, at: hour + 4_000, level: "info", message: "m", fields: {} }] });
  const aheadMs = aheadOf(one, 5_000);
  assert.equal(aheadMs, hour);
  assert.equal(onOurClock(one, aheadMs).lines[0]?.at, 4_000);
  assert.equal(aheadOf(said({ at: 4_000 }), 5_500), 0, "an answer takes a while");
});
