import assert from "node:assert/strict";
import { test } from "node:test";
import { claimOf } from "../service-claim.ts";
import { service, type Wish } from "./class.fixture.ts";

const settings = { loadBalancerClass: "service.k8s.aws/nlb", loadBalancersOnly: false };
const kind = (wish: Wish, more: Partial<typeof settings> = {}) => claimOf(service(wish), { ...settings, ...more }).kind;
const unclassed = { loadBalancerClass: undefined as never };
const typed = (type: string, targets?: string) => ({ ...unclassed, annotations: { type, ...(targets && { "nlb-target-type": targets }) } });

test("a class decides, whatever the type annotation says", () => {
  assert.equal(kind({}), "ours");
  assert.equal(kind({ annotations: { type: "nlb" } }), "ours");
  assert.equal(kind({ loadBalancerClass: "other", annotations: { type: "external", "nlb-target-type": "ip" } }), "not-ours");
  assert.equal(kind({ loadBalancerClass: "mine" }, { loadBalancerClass: "mine" }), "ours");
});

test("without a class the type annotation does; nobody else's Service is touched", () => {
  assert.equal(kind(unclassed), "not-ours");
  assert.equal(kind(typed("nlb")), "not-ours");
  assert.equal(kind(typed("nlb-ip")), "ours");
  assert.equal(kind(typed("external", "ip")), "ours");
  assert.equal(kind(typed("external", "instance")), "ours");
  assert.equal(kind(typed("external")), "unclear");
  assert.match(
    (claimOf(service(typed("external", "pods")), settings) as { message: string }).message,
    /must be ip or instance, and is "pods"/,
  );
});

test("a Service that is deleted, or of another type where only load balancers count, is not ours", () => {
  assert.equal(kind({ isDeleted: true }), "not-ours");
  assert.equal(kind({ ...typed("external", "ip"), type: "ClusterIP" }), "ours");
  assert.equal(kind({ ...typed("external", "ip"), type: "ClusterIP" }, { loadBalancersOnly: true }), "not-ours");
});
