import assert from "node:assert/strict";
import { test } from "node:test";
import { planJson, type Step } from "../../aws/plan.ts";
import { echoNetwork } from "../echo.fixture.ts";
import { desireNetwork } from "../service/desire-network.ts";
import { port, type WishOptions, wish } from "../service/wish.fixture.ts";
import { planNetwork, planNetworkDeletion, type SeenNetwork } from "./plan.ts";

const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/x";
const model = (options?: WishOptions) => desireNetwork(wish("network", options)).model;
const actions = (steps: readonly Step[]) => steps.map(({ action }) => action.name);
const plan = (options: WishOptions, seen: SeenNetwork) => planNetwork(model(options), "vpc-1", seen);
const inputOf = (steps: readonly Step[], name: string) =>
  (planJson(steps) as { action: string; input: Record<string, unknown> }[]).find(({ action }) => action === `elbv2:${name}`)?.input;

const nothing: SeenNetwork = { kind: "network", targetGroups: [] };

/** What stands after a plan for these options was carried out. */
const standing = (options: WishOptions = {}) => echoNetwork(plan(options, nothing));

test("a new load balancer: groups of targets first, then listeners, in one pass", () => {
  const steps = plan({}, nothing);
  assert.deepEqual(actions(steps), ["CreateLoadBalancer", "CreateTargetGroup", "RegisterTargets", "CreateListener"]);
  assert.deepEqual(inputOf(steps, "CreateListener")?.DefaultActions, [
    { Type: "forward", TargetGroupArn: "<target group k8s-prodweb-edgegate-e99adf332e>" },
  ]);
  assert.equal(inputOf(steps, "CreateLoadBalancer")?.Scheme, undefined);
});

test("what stands as wanted needs nothing, whatever its features", () => {
  const settings = { managedNetworkGroups: false };
  const cases: readonly WishOptions[] = [
    {},
    { annotations: { "ssl-cert": certificate } },
    { annotations: { "ssl-cert": certificate, "ssl-negotiation-policy": "p" } },
    { annotations: { "target-group-attributes": "proxy_protocol_v2.enabled=true", "access-log-enabled": "true" } },
    { service: { local: true, healthCheckNodePort: 32000, ports: [port(80, 30080), port(53, 30053, { protocol: "UDP" })] }, settings },
  ];
  for (const options of cases) {
    assert.deepEqual(actions(plan(options, standing(options))), [], JSON.stringify(options));
  }
});

test("a crash after any step leaves the rest: what exists is not made again", () => {
  const seen = standing();
  const withoutListener = { ...seen, loadBalancer: { ...seen.loadBalancer, listeners: [] } };
  assert.deepEqual(actions(plan({}, withoutListener)), ["CreateListener"]);
  assert.deepEqual(actions(plan({}, { ...nothing, loadBalancer: withoutListener.loadBalancer })), [
    "CreateTargetGroup",
    "RegisterTargets",
    "CreateListener",
  ]);
});

test("adding a certificate to a live port changes the listener in place", () => {
  const steps = plan({ annotations: { "ssl-cert": certificate } }, standing());
  assert.deepEqual(actions(steps), ["ModifyListener"]);
  assert.deepEqual(inputOf(steps, "ModifyListener")?.Protocol, "TLS");
});

test("TCP to UDP cannot be changed in place: the listener is replaced, the old target group goes last", () => {
  const udp = { service: { ports: [port(443, 31443, { protocol: "UDP" })] } };
  assert.deepEqual(actions(plan(udp, standing())), [
    "CreateTargetGroup",
    "RegisterTargets",
    "DeleteListener",
    "CreateListener",
    "DeleteTargetGroup",
  ]);
});

test("a node port that changes moves the listener to a new target group; swapped ones move both", () => {
  const moved = { service: { ports: [port(443, 31444)] } };
  assert.deepEqual(actions(plan(moved, standing())), ["CreateTargetGroup", "RegisterTargets", "ModifyListener", "DeleteTargetGroup"]);
  const before = { service: { ports: [port(80, 30080), port(81, 30081)] } };
  const after = { service: { ports: [port(80, 30081), port(81, 30080)] } };
  assert.deepEqual(actions(plan(after, standing(before))).filter((name) => name === "ModifyListener").length, 2);
});

test("new nodes are put in before those that left are taken out; a hundred a call", () => {
  const steps = plan({ instances: ["i-2", "i-3"] }, standing());
  assert.deepEqual(actions(steps), ["RegisterTargets", "DeregisterTargets"]);
  assert.deepEqual(inputOf(steps, "RegisterTargets")?.Targets, [{ Id: "i-3", Port: 31443 }]);
  const many = Array.from({ length: 250 }, (_, i) => `i-${1000 + i}`);
  assert.deepEqual(actions(plan({ instances: many }, standing({ instances: [] }))), [
    "RegisterTargets",
    "RegisterTargets",
    "RegisterTargets",
  ]);
  assert.deepEqual(actions(plan({ instances: [] }, nothing)), ["CreateLoadBalancer", "CreateTargetGroup", "CreateListener"]);
});

test("a port that is gone takes its listener and target group with it", () => {
  const two = { service: { ports: [port(443, 31443), port(80, 30080)] } };
  assert.deepEqual(actions(plan({}, standing(two))), ["DeleteListener", "DeleteTargetGroup"]);
});

test("thresholds and path of the health check are changed in place, its protocol makes a new group", () => {
  assert.deepEqual(actions(plan({ annotations: { "healthcheck-unhealthy-threshold": "5" } }, standing())), ["ModifyTargetGroup"]);
  const http = plan({ annotations: { "healthcheck-protocol": "http" } }, standing());
  assert.deepEqual(actions(http), ["CreateTargetGroup", "RegisterTargets", "ModifyListener", "DeleteTargetGroup"]);
});

test("a load balancer without security groups never gets one; a new one does, and it is opened first", () => {
  const settings = { managedNetworkGroups: true };
  assert.deepEqual(actions(plan({ settings }, standing())), []);
  const fresh = plan({ settings }, nothing);
  assert.deepEqual(actions(fresh).slice(0, 3), ["CreateSecurityGroup", "AuthorizeSecurityGroupIngress", "CreateLoadBalancer"]);
});

test("given groups replace the managed one, which is deleted last", () => {
  const settings = { managedNetworkGroups: true };
  const seen = { ...standing({ settings }), managedGroup: { id: "sg-managed", name: "k8s-x", tags: {}, owned: true, rules: [] } };
  const steps = plan({ settings, annotations: { "security-groups": "sg-mine" } }, seen);
  assert.deepEqual(actions(steps), ["SetSecurityGroups", "DeleteSecurityGroup"]);
  const unmarked = { ...seen, managedGroup: { ...seen.managedGroup, owned: false } };
  assert.deepEqual(actions(plan({ settings, annotations: { "security-groups": "sg-mine" } }, unmarked)), ["SetSecurityGroups"]);
});

test("what a security group lets in no more is closed before target groups go, which may have to wait for ever", () => {
  const settings = { managedNetworkGroups: true };
  const two = { settings, service: { ports: [port(443, 31443), port(80, 30080)] } };
  const open = { id: "sgr-1", protocol: "tcp", fromPort: 8080, toPort: 8080, cidr: "0.0.0.0/0" };
  const seen = standing(two);
  const managedGroup = { id: "sg-managed", name: "k8s-x", tags: {}, owned: true, rules: [open] };
  const calls = actions(
    plan({ settings }, { ...seen, loadBalancer: { ...seen.loadBalancer, securityGroups: ["sg-managed"] }, managedGroup }),
  );
  assert.deepEqual(calls.slice(-3), ["DeleteListener", "RevokeSecurityGroupIngress", "DeleteTargetGroup"]);
});

test("deletion takes everything that is ours, and goes on where it stopped", () => {
  const seen = { ...standing(), managedGroup: { id: "sg-managed", name: "k8s-x", tags: {}, owned: true, rules: [] } };
  assert.deepEqual(actions(planNetworkDeletion("lb", seen, "Service")), ["DeleteLoadBalancer", "DeleteTargetGroup", "DeleteSecurityGroup"]);
  assert.deepEqual(actions(planNetworkDeletion("lb", { ...seen, loadBalancer: undefined, targetGroups: [] }, "Service")), [
    "DeleteSecurityGroup",
  ]);
  assert.deepEqual(actions(planNetworkDeletion("lb", { targetGroups: [] }, "Service")), []);
});
