import assert from "node:assert/strict";
import { test } from "node:test";
import { isActive } from "../elbv2/load-balancer-parts.ts";
import { said } from "./conditions.ts";
import { gateway, parentRef, route, rule, type Scene, wishOf } from "./gateway.fixture.ts";
import { parentsOf, routeConditions } from "./route-status.ts";
import { addressesOf, gatewayConditions, listenerConditions, listenerStatuses, rejected, setConditions } from "./status.ts";
import type { ParentStatus } from "./view.ts";

const text = (conditions: readonly { type: string; status: string; reason: string; message: string }[]) =>
  conditions.map(({ type, status, reason, message }) => `${type} ${status} ${reason}${message ? `: ${message}` : ""}`);
const listeners = (scene: Scene) => wishOf(scene).listeners;
const balancer = { arn: "arn:lb", hostname: "LB-1.Example.com", isActive: true };
const moment = { generation: 3, now: "2026-01-02T00:00:00Z" };

test("a Gateway is programmed when its load balancer is active, and accepted with one valid listener", () => {
  const good = listeners({ gateway: gateway(["HTTP:80"]) });
  assert.deepEqual(text(gatewayConditions(good, balancer)), ["Accepted True Accepted", "Programmed True Programmed: arn:lb"]);
  const pending = "Programmed Unknown Pending: Waiting for load balancer to be active.";
  assert.deepEqual(text(gatewayConditions(good, { ...balancer, isActive: false })), ["Accepted True Accepted", pending]);
  assert.deepEqual(text(gatewayConditions(good, undefined)), ["Accepted True Accepted", pending]);
  const mixed = listeners({ gateway: gateway(["HTTP:80", "TCP:81"]) });
  assert.equal(text(gatewayConditions(mixed, balancer))[0], "Accepted True ListenersNotValid");
  const bad = listeners({ gateway: gateway(["TCP:81"]) });
  assert.equal(text(gatewayConditions(bad, balancer))[0], "Accepted False ListenersNotValid");
  assert.deepEqual(addressesOf(balancer), [{ type: "Hostname", value: "lb-1.example.com" }]);
  assert.deepEqual(["active", "active_impaired", "provisioning", undefined].map(isActive), [true, true, false, false]);
});

test("a Gateway that is not accepted is not programmed either, unless it was", () => {
  const why = "Accepted False InvalidParameters: no such kind";
  const waiting = { type: "Programmed", status: "Unknown", reason: "Pending", message: "", observedGeneration: 0 } as const;
  const refused = (...stored: Parameters<typeof rejected>[2]) => text(rejected("InvalidParameters", "no such kind", stored));
  assert.deepEqual(refused(waiting), [why, "Programmed False Invalid: The Gateway is not accepted."]);
  assert.deepEqual(refused({ ...waiting, status: "True" }), [why], "its message is the ARN, which other Gateways read");
});

test("conditions of a listener by what is wrong with it", () => {
  const of = (reason: string, isProgrammed = true) =>
    text(listenerConditions({ verdict: { reason: reason as never, message: "m" } }, isProgrammed));
  const fine = [
    "Conflicted False NoConflicts: Listener has no conflict.",
    "Accepted True Accepted: Listener is accepted.",
    "ResolvedRefs True ResolvedRefs: Listener has all refs resolved.",
  ];
  assert.deepEqual(of("Accepted"), [...fine, "Programmed True Programmed: Listener is programmed."]);
  assert.deepEqual(of("Accepted", false), [...fine, "Programmed False Pending: Listener is pending to be programmed."]);
  assert.deepEqual(of("HostnameConflict"), [
    "Conflicted True HostnameConflict: m",
    "Accepted False HostnameConflict: m",
    fine[2],
    "Programmed False HostnameConflict: Listener is not accepted.",
  ]);
  assert.deepEqual(of("InvalidRouteKinds"), [
    fine[0],
    fine[1],
    "ResolvedRefs False InvalidRouteKinds: m",
    "Programmed False InvalidRouteKinds: Listener is not accepted.",
  ]);
  assert.equal(of("PortUnavailable")[1], "Accepted False PortUnavailable: m");
  const [status] = listenerStatuses(listeners({}), () => 2, { isProgrammed: true, portFaults: new Map() }, [], moment);
  assert.deepEqual([status?.attachedRoutes, status?.supportedKinds], [2, [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute" }]]);
});

test("what is said of a ListenerSet", () => {
  const [good, bad] = listeners({ gateway: gateway(["HTTP:80", "TCP:81"]) });
  assert.deepEqual(text(setConditions([good!], true)), ["Accepted True Accepted: Accepted", "Programmed True Programmed: Programmed"]);
  assert.deepEqual(text(setConditions([good!, bad!], false)), [
    "Accepted True ListenersNotValid: Some listeners are not valid",
    "Programmed False Pending: Parent gateway not yet programmed",
  ]);
  assert.deepEqual(text(setConditions([bad!], true)), [
    "Accepted False ListenersNotValid: Some listeners are not valid",
    "Programmed False ListenersNotValid: No valid listeners to materialize",
  ]);
});

test("what is said of a route: attachment first, references apart, and a part of it that is not served", () => {
  const two = route("web", [rule([]), rule([])]);
  const failure = (reason: string, ruleIndex = 0) => ({ reason, message: "m", ruleIndex });
  assert.deepEqual(text(routeConditions(two, undefined, [])), ["Accepted True Accepted", "ResolvedRefs True ResolvedRefs"]);
  assert.deepEqual(text(routeConditions(two, { reason: "NoMatchingParent", message: "m" }, [failure("BackendNotFound")])), [
    "Accepted False NoMatchingParent: m",
    "ResolvedRefs True ResolvedRefs",
  ]);
  assert.deepEqual(text(routeConditions(two, undefined, [failure("BackendNotFound"), failure("RefNotPermitted")])), [
    "Accepted True Accepted",
    "ResolvedRefs False BackendNotFound: m",
  ]);
  assert.deepEqual(text(routeConditions(two, undefined, [failure("UnsupportedValue", 1)])), [
    "Accepted True Accepted",
    "ResolvedRefs True ResolvedRefs",
    "PartiallyInvalid True UnsupportedValue: Dropped Rule 1: m",
  ]);
  assert.equal(
    text(routeConditions(two, undefined, [failure("IncompatibleFilters"), failure("UnsupportedValue", 1)]))[0],
    "Accepted False IncompatibleFilters: m",
  );
});

const ours = "gateway.k8s.aws/alb";
const entry = (name: string, controllerName = ours, more: object = {}): ParentStatus => ({
  parentRef: parentRef({ name }),
  controllerName,
  conditions: [
    {
      type: "Accepted",
      status: "True",
      reason: "Accepted",
      message: "",
      observedGeneration: 1,
      lastTransitionTime: "2026-01-01T00:00:00Z",
      ...more,
    },
  ],
});

test("only entries of our own are touched; those of refs that are gone go, and times are those of changes", () => {
  const of = route("web", [], { parentRefs: [parentRef({ name: "a" }), parentRef({ name: "b" })] });
  const stored = [entry("gone"), entry("a"), entry("b"), entry("gone", "other.io/controller")];
  const verdicts = [{ ref: parentRef({ name: "a", namespace: "shop" }), conditions: [said("Accepted", true, "Accepted", "")] }];
  const after = parentsOf(of, stored, verdicts, ours, moment);
  assert.deepEqual(
    after.map(({ parentRef: ref, controllerName }) => `${ref.name} ${controllerName}`),
    [`a ${ours}`, `b ${ours}`, "gone other.io/controller"],
  );
  assert.deepEqual(after[0]?.conditions[0]?.lastTransitionTime, "2026-01-01T00:00:00Z");
  assert.equal(after[0]?.conditions[0]?.observedGeneration, 3);
  const refused = [{ ref: parentRef({ name: "a" }), conditions: [said("Accepted", false, "NoMatchingParent", "")] }];
  assert.equal(parentsOf(of, stored, refused, ours, moment)[0]?.conditions[0]?.lastTransitionTime, moment.now);
});

test("a message is cut to what the API takes", () => {
  assert.equal(said("Accepted", false, "Invalid", "x".repeat(40_000)).message.length, 32_703);
});
