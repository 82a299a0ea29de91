import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeView } from "../../identity/node-view.ts";
import { concernsTargets, hasLabels, isEligible, targetOf } from "./nodes.ts";

const label = "node.kubernetes.io/exclude-from-external-load-balancers";
const node = (labels: Readonly<Record<string, string>> = {}, taints: readonly string[] = [], more = {}) =>
  nodeView({
    metadata: { name: "n", uid: "u", resourceVersion: "1", labels, ...more },
    spec: { providerID: "aws:///us-east-1a/i-0123456789abcdef0", taints: taints.map((key) => ({ key, effect: "NoSchedule" })) },
  });

test("the label excludes a node unless it says no", () => {
  assert.deepEqual(
    [undefined, "false", "0", "", "true", "foo"].map((value) => isEligible(node(value === undefined ? {} : { [label]: value }))),
    [true, true, true, false, false, false],
  );
});

test("a node that the autoscaler or somebody else is about to remove takes no traffic; one that is not ready or cordoned does", () => {
  assert.ok(!isEligible(node({}, ["ToBeDeletedByClusterAutoscaler"])));
  assert.ok(!isEligible(node({}, [], { deletionTimestamp: "2026-01-01T00:00:00Z" })));
  assert.ok(isEligible(node({}, ["node.kubernetes.io/not-ready", "node.cloudprovider.kubernetes.io/uninitialized"])));
});

test("a node is chosen by all labels; an empty value asks for the key alone", () => {
  assert.ok(hasLabels(node({ a: "1", b: "2" }), { a: "1", b: "" }));
  assert.ok(!hasLabels(node({ a: "1" }), { a: "1", b: "" }));
  assert.ok(!hasLabels(node({ a: "2" }), { a: "1" }));
});

test("targets follow eligibility, provider IDs and labels, and nothing else", () => {
  assert.equal(targetOf(node()), "i-0123456789abcdef0");
  assert.ok(concernsTargets(undefined, node()));
  assert.ok(concernsTargets(node(), node({ [label]: "" })));
  assert.ok(concernsTargets(node(), node({ pool: "a" })));
  assert.ok(!concernsTargets(node(), node({}, ["example.com/other"])));
});
