import assert from "node:assert/strict";
import { test } from "node:test";
import { addOnAnnotation, addOnChanges, isProtected, recordedAddOns } from "./add-ons.ts";
import { type AddOn, flavours } from "./flavours.ts";

const annotated = (values: Partial<Record<AddOn, string>>) => ({
  annotations: Object.fromEntries(Object.entries(values).map(([addOn, value]) => [addOnAnnotation(addOn as AddOn), value])),
});

test("add-ons are recorded in Go's words for yes; what cannot be read is no, and a kind of Gateway has its own", () => {
  const recorded = (values: Partial<Record<AddOn, string>>, flavour: keyof typeof flavours = "alb") => [
    ...recordedAddOns(annotated(values), flavours[flavour]),
  ];
  assert.equal(addOnAnnotation("wafv2"), "gateway.k8s.aws.addon.wafv2");
  assert.deepEqual(recorded({}), []);
  assert.deepEqual(recorded({ wafv2: "true", shield: "T", provisionedcapacity: "1" }), ["wafv2", "shield", "provisionedcapacity"]);
  assert.deepEqual(recorded({ wafv2: "false", shield: "yes", provisionedcapacity: "" }), []);
  assert.deepEqual(recorded({ wafv2: "true", provisionedcapacity: "true" }, "nlb"), ["provisionedcapacity"]);
});

test("what is enabled is recorded before, what is disabled after", () => {
  const changes = (recorded: readonly AddOn[], wanted: readonly AddOn[]) => addOnChanges(new Set(recorded), new Set(wanted));
  assert.deepEqual(changes([], []), { before: {}, after: {} });
  assert.deepEqual(changes(["wafv2"], ["wafv2"]), { before: {}, after: {} });
  assert.deepEqual(changes(["wafv2"], ["shield"]), {
    before: { "gateway.k8s.aws.addon.shield": "true" },
    after: { "gateway.k8s.aws.addon.wafv2": "false" },
  });
});

test("deletion protection: yes, no, and what cannot be read", () => {
  const of = (value: string) => isProtected({ loadBalancerAttributes: [{ key: "deletion_protection.enabled", value }] });
  assert.deepEqual([of("true"), of("false"), of("perhaps"), isProtected({})], [true, false, false, false]);
});
