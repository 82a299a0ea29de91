import assert from "node:assert/strict";
import { test } from "node:test";
import { backendGroupName } from "../controller-names.ts";
import type { GroupId } from "./groups.ts";
import {
  bindingLabels,
  frontendName,
  frontendTargetGroupName,
  hasMarks,
  loadBalancerName,
  managedGroupName,
  parts,
  targetGroupName,
  trackingTags,
} from "./names.ts";

const own = (namespace: string, name: string): GroupId => ({ kind: "implicit", namespace, name });
const shared = (name: string): GroupId => ({ kind: "explicit", name });
const service = { namespace: "shop", name: "web", uid: "11111111-2222-3333-4444-555555555555" };
const ingress = { namespace: "shop", name: "web" };
const http = { ingress, service, backendPort: 80, port: 8080, targetType: "ip", protocol: "HTTP", protocolVersion: "HTTP1" };

test("names are the reference's", () => {
  const rows: readonly (readonly [string, string])[] = [
    [loadBalancerName("prod", own("shop", "web"), "internet-facing"), "k8s-shop-web-0c9cb52896"],
    [loadBalancerName("prod", shared("team.shared"), "internal"), "k8s-teamshared-7ba689a79b"],
    [loadBalancerName("prod", own("payments-team", "checkout-frontend"), "internal"), "k8s-payments-checkout-6a9f4149a9"],
    [loadBalancerName("prod", shared("payments.checkout-frontend.v2"), "internal"), "k8s-paymentscheckoutf-bc8db8aad6"],
    [managedGroupName("prod", own("shop", "web")), "k8s-shop-web-2d5ac86ca1"],
    [managedGroupName("prod", shared("team.shared")), "k8s-teamshared-2ef6ad06ea"],
    [backendGroupName("prod"), "k8s-traffic-prod-6754af9632"],
    [targetGroupName("prod", own("shop", "web"), http), "k8s-shop-web-616120f77b"],
    [targetGroupName("prod", own("shop", "web"), { ...http, controlPort: 3000 }), "k8s-shop-web-d2e710eda6"],
    [targetGroupName("prod", shared("team.shared"), { ...http, backendPort: "http", port: 1 }), "k8s-shop-web-3c81a38c4a"],
  ];
  for (const [is, expected] of rows) assert.equal(is, expected);
});

test("names of the one in front are the reference's", () => {
  const long = { kind: "implicit", namespace: "payments-team", name: "checkout-frontend" } as const;
  assert.equal(frontendName(loadBalancerName("prod", long, "internal")), "k8s-payments-checkout-6a9f41-nlb");
  const group = { kind: "implicit", namespace: "shop", name: "web" } as const;
  const name = frontendTargetGroupName("prod", group, 80, { port: "traffic-port", protocol: "HTTP" });
  assert.equal(name, "k8s-shop-web-7499b5a7dc");
});

test("what carries the marks of a group, also the old ones, is its own, and another group's is not", () => {
  const tags = trackingTags("prod", shared("g"), parts.rule(443, 2));
  assert.deepEqual(tags, { "elbv2.k8s.aws/cluster": "prod", "ingress.k8s.aws/stack": "g", "ingress.k8s.aws/resource": "443:2" });
  assert.ok(hasMarks(tags, "prod", shared("g")));
  assert.ok(hasMarks({ "ingress.k8s.aws/cluster": "prod", "ingress.k8s.aws/stack": "a/b" }, "prod", own("a", "b")));
  assert.ok(!hasMarks(tags, "prod", shared("h")));
  assert.ok(!hasMarks(tags, "staging", shared("g")));
});

test("labels of bindings hold long names", () => {
  assert.deepEqual(bindingLabels(own("shop", "web")), { "ingress.k8s.aws/stack-namespace": "shop", "ingress.k8s.aws/stack-name": "web" });
  const long = bindingLabels(own("shop", `${"x".repeat(70)}`))["ingress.k8s.aws/stack-name"]!;
  assert.ok(long.length <= 63 && /^x+-[0-9a-f]{10}$/.test(long));
  assert.notEqual(long, bindingLabels(own("shop", "x".repeat(71)))["ingress.k8s.aws/stack-name"]);
});
