import assert from "node:assert/strict";
import { test } from "node:test";
import { type Attempt, type DrainSettings, type PodView, planDrain } from "./pods.ts";

const now = 1_000_000;
const pod = (name: string, more: Partial<PodView> = {}): PodView => ({
  metadata: { name, namespace: "default", uid: name, resourceVersion: "1" },
  node: "n",
  created: 0,
  daemonSet: undefined,
  mirror: false,
  finished: false,
  localData: false,
  graceSeconds: 30,
  ...more,
});
const settings: DrainSettings = {
  ignoreDaemonSets: true,
  deleteLocalData: true,
  podGraceSeconds: -1,
  ownPod: { name: "handler", namespace: "kube-system" },
  overrideBudgetsMs: 40_000,
  shortenGraceMs: 20_000,
};
const none: ReadonlyMap<string, Attempt> = new Map();
const refused = new Map<string, Attempt>([["web", { how: "evict", accepted: false, refusal: "no", retryAt: now + 5_000 }]]);
const steps = (pods: readonly PodView[], attempts: ReadonlyMap<string, Attempt>, left: number, more: Partial<DrainSettings> = {}) =>
  planDrain(pods, attempts, { ...settings, ...more }, now + left, now).removals.map(({ how, pod: { metadata }, graceSeconds }) => [
    how,
    metadata.name,
    graceSeconds,
  ]);

test("the ladder: evictions first, then past the budgets, then with the time that is left", () => {
  assert.deepEqual(steps([pod("web")], none, 120_000), [["evict", "web", undefined]]);
  assert.deepEqual(steps([pod("web")], refused, 120_000), []);
  assert.deepEqual(steps([pod("web")], refused, 40_000), [["delete", "web", undefined]]);
  assert.deepEqual(steps([pod("web")], refused, 15_000), [["delete", "web", 15]]);
});

test("nothing is deleted unless a user allows it", () => {
  const never = { overrideBudgetsMs: undefined, shortenGraceMs: undefined };
  assert.deepEqual(steps([pod("web")], refused, 1_000, never), []);
  const later = new Map<string, Attempt>([["web", { how: "evict", accepted: false, retryAt: now }]]);
  assert.deepEqual(steps([pod("web")], later, 1_000, never), [["evict", "web", undefined]]);
});

test("a pod that is on its way and ends in time is left to it; one that would not, gets what is left", () => {
  // They began five seconds ago.
  const leaving = (deletionGracePeriodSeconds: number) => {
    const deletionTimestamp = new Date(now - 5_000 + deletionGracePeriodSeconds * 1000).toISOString();
    return pod("web", { metadata: { ...pod("web").metadata, deletionTimestamp, deletionGracePeriodSeconds } });
  };
  assert.deepEqual(steps([leaving(20)], none, 15_000), []);
  assert.deepEqual(steps([leaving(60)], none, 15_000), [["delete", "web", 20]]);
});

test("a grace period that is configured is sent, and 0 is one", () => {
  assert.deepEqual(steps([pod("web")], none, 120_000, { podGraceSeconds: 0 }), [["evict", "web", 0]]);
});

test("its own pod, static pods and those of DaemonSets stay; finished ones and those of lost DaemonSets go", () => {
  const own = pod("handler", { metadata: { ...pod("handler").metadata, namespace: "kube-system" } });
  const pods = [
    own,
    pod("static", { mirror: true }),
    pod("ds", { daemonSet: "agent" }),
    pod("done", { daemonSet: "agent", finished: true }),
  ];
  assert.deepEqual(
    planDrain(pods, none, settings, undefined, now).remaining.map(({ metadata }) => metadata.name),
    ["done"],
  );
  const orphaned = planDrain([pod("ds", { daemonSet: "agent" })], none, settings, undefined, now, new Set(["default/agent"]));
  assert.equal(orphaned.removals.length, 1);
});

test("it is looked again when a refused pod may be tried, and when the ladder's next step comes", () => {
  assert.equal(planDrain([pod("web")], refused, settings, now + 120_000, now).lookAgainAt, now + 5_000);
  const accepted = new Map<string, Attempt>([["web", { how: "evict", accepted: true, retryAt: now + 600_000 }]]);
  assert.equal(planDrain([pod("web")], accepted, settings, now + 120_000, now).lookAgainAt, now + 80_000);
});
