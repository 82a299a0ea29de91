import assert from "node:assert/strict";
import { test } from "node:test";
import { bindingState, type SeenBinding } from "./binding.ts";
import { gateInjection } from "./gate-injection.ts";

const meta = (name: string) => ({ name, namespace: "shop", uid: name, resourceVersion: "1" });
const binding = (name: string, spec: object = {}, metadata: object = {}): SeenBinding =>
  bindingState({ metadata: { ...meta(name), ...metadata }, spec: { targetType: "ip", serviceRef: { name: "web", port: 80 }, ...spec } });
const service = (name: string) => {
  const selectors: Record<string, Record<string, string>> = { web: { app: "web" }, everything: {}, both: { app: "web", tier: "front" } };
  const selector = selectors[name];
  return selector && { selector };
};
const pod = (labels: object | undefined, ...gates: readonly string[]) => ({
  metadata: { labels },
  spec: { readinessGates: gates.map((conditionType) => ({ conditionType })) },
});
const gates = (bindings: readonly SeenBinding[], of: object) =>
  gateInjection(of, { bindings, service }).map((each) =>
    "value" in each
      ? (each.value as { conditionType: string }[]).map(({ conditionType }) => conditionType.replace(/^target-health\./, ""))
      : [],
  );

test("a pod gets the gate of each binding whose Service selects it", () => {
  const bindings = [binding("a"), binding("b", { serviceRef: { name: "both", port: 80 } }), binding("c")];
  assert.deepEqual(gates(bindings, pod({ app: "web" })), [["elbv2.k8s.aws/a", "elbv2.k8s.aws/c"]]);
  assert.deepEqual(gates(bindings, pod({ app: "web", tier: "front" })), [["elbv2.k8s.aws/a", "elbv2.k8s.aws/b", "elbv2.k8s.aws/c"]]);
  assert.deepEqual(gates(bindings, pod({ app: "other" })), []);
  assert.deepEqual(gates(bindings, pod(undefined)), []);
});

test("no gate comes from instances, a Service without selector, one that is missing, or a binding that is being deleted", () => {
  const bindings = [
    binding("a", { targetType: "instance" }),
    binding("b", { serviceRef: { name: "everything", port: 80 } }),
    binding("c", { serviceRef: { name: "nobody", port: 80 } }),
    binding("d", {}, { deletionTimestamp: "2026-01-01T00:00:00Z" }),
    binding("e", { targetType: undefined }),
  ];
  assert.deepEqual(gates(bindings, pod({ app: "web" })), []);
});

test("gates that are there stay, none is doubled, and those of the first generation go only where one of ours comes", () => {
  const old = "target-health.alb.ingress.k8s.aws/web_80";
  const own = "target-health.elbv2.k8s.aws/a";
  assert.deepEqual(gates([binding("a")], pod({ app: "web" }, own, "example.org/ready")), []);
  assert.deepEqual(gates([binding("a")], pod({ app: "web" }, "example.org/ready", old)), [["example.org/ready", "elbv2.k8s.aws/a"]]);
  assert.deepEqual(gates([binding("a")], pod({ app: "web" }, own, old)), [["elbv2.k8s.aws/a"]]);
  assert.deepEqual(gates([binding("a")], pod({ app: "other" }, old)), []);
  assert.deepEqual(gates([binding("a")], { metadata: { labels: { app: "web" } }, spec: {} }), [["elbv2.k8s.aws/a"]]);
});
