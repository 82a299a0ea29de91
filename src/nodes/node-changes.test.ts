import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeenNode } from "../identity/node-view.ts";
import { conditionChange } from "./condition.ts";
import { shutdownPatch, withoutUninitialized } from "./taints.ts";

const at = Date.UTC(2026, 0, 1);
const problem = { status: "False", reason: "R", message: "m" } as const;
const type = "CloudProviderInitialized";

function node(...taints: { key: string; effect: string; value?: string }[]): SeenNode {
  return { metadata: { resourceVersion: "7" }, taints } as unknown as SeenNode;
}

test("a condition is set, kept as it is, changed without a new transition, and taken away", () => {
  const time = "2026-01-01T00:00:00Z";
  assert.deepEqual(conditionChange(undefined, problem, at), { type, ...problem, lastHeartbeatTime: time, lastTransitionTime: time });
  assert.equal(conditionChange({ type, ...problem }, problem, at), undefined);
  assert.deepEqual(conditionChange({ type, ...problem, message: "old" }, problem, at), { type, ...problem, lastHeartbeatTime: time });
  assert.deepEqual(conditionChange({ type, ...problem }, undefined, at), { type, $patch: "delete" });
  assert.equal(conditionChange(undefined, undefined, at), undefined);
});

test("taints of others stay, whatever is done to ours", () => {
  const theirs = { key: "theirs", value: "v", effect: "NoExecute" };
  const ours = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };
  const fresh = { key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" };
  assert.deepEqual(withoutUninitialized(node(fresh, theirs)), { taints: [theirs] });
  assert.deepEqual(withoutUninitialized(node(fresh)), { taints: null });
  const metadata = { resourceVersion: "7" };
  assert.deepEqual(shutdownPatch(node(theirs), true), { metadata, spec: { taints: [theirs, ours] } });
  assert.deepEqual(shutdownPatch(node(theirs, ours), false), { metadata, spec: { taints: [theirs] } });
  assert.equal(shutdownPatch(node(theirs, ours), true), undefined);
  assert.equal(shutdownPatch(node(theirs), false), undefined);
});
