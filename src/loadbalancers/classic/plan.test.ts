import assert from "node:assert/strict";
import { test } from "node:test";
import { planJson, type Step } from "../../aws/plan.ts";
import { echoClassic } from "../echo.fixture.ts";
import { desireClassic } from "../service/desire-classic.ts";
import { port, type WishOptions, wish } from "../service/wish.fixture.ts";
import { planClassic, planClassicDeletion, type SeenClassic } from "./plan.ts";

const certificate = "arn:aws:acm:us-east-1:123456789012:certificate/x";
const model = (options?: WishOptions) => desireClassic(wish("classic", options)).model;
const actions = (steps: readonly Step[]) => steps.map(({ action }) => action.name);
const plan = (options: WishOptions, seen: SeenClassic) => planClassic(model(options), "vpc-1", seen);
const inputOf = (steps: readonly Step[], name: string) =>
  (planJson(steps) as { action: string; input: Record<string, unknown> }[]).find(({ action }) => action.endsWith(`:${name}`))?.input;

/** What stands after a plan for these options was carried out. */
const nothing: SeenClassic = { kind: "classic" };
const standing = (options: WishOptions = {}) => echoClassic(plan(options, nothing));

test("a new load balancer: the group is opened first, instances come last", () => {
  assert.deepEqual(actions(plan({}, nothing)), [
    "CreateSecurityGroup",
    "AuthorizeSecurityGroupIngress",
    "CreateLoadBalancer",
    "ConfigureHealthCheck",
    "RegisterInstancesWithLoadBalancer",
  ]);
  assert.deepEqual(inputOf(plan({}, nothing), "CreateLoadBalancer")?.SecurityGroups, [
    "<security group k8s-elb-a0f1e2d3c4b5a69788796a5b4c3d2e1f>",
  ]);
});

test("what stands as wanted needs nothing, whatever its features", () => {
  const cases: readonly WishOptions[] = [
    {},
    { annotations: { "proxy-protocol": "*", internal: "true" } },
    { annotations: { "ssl-cert": certificate, "ssl-negotiation-policy": "p", "backend-protocol": "http" } },
    {
      annotations: { "connection-draining-enabled": "true", "connection-idle-timeout": "120", "cross-zone-load-balancing-enabled": "true" },
    },
    { annotations: { "security-groups": "sg-1" }, settings: {} },
  ];
  for (const options of cases) {
    const seen = standing(options);
    const groupless = options.annotations?.["security-groups"] !== undefined;
    assert.deepEqual(
      actions(plan(options, groupless ? { ...nothing, loadBalancer: seen.loadBalancer } : seen)),
      [],
      JSON.stringify(options),
    );
  }
});

test("a changed listener is deleted and made anew; comparison ignores case", () => {
  const steps = plan({ annotations: { "ssl-cert": certificate } }, standing());
  assert.deepEqual(actions(steps), ["DeleteLoadBalancerListeners", "CreateLoadBalancerListeners"]);
  const seen = standing({ annotations: { "ssl-cert": certificate.toUpperCase() } });
  assert.deepEqual(actions(plan({ annotations: { "ssl-cert": certificate } }, seen)), []);
});

test("a listener made anew gets its TLS policy again", () => {
  const before = { "ssl-cert": certificate, "ssl-negotiation-policy": "p" };
  const steps = plan({ annotations: { ...before, "ssl-cert": `${certificate}2` } }, standing({ annotations: before }));
  assert.deepEqual(actions(steps), ["DeleteLoadBalancerListeners", "CreateLoadBalancerListeners", "SetLoadBalancerPoliciesOfListener"]);
});

test("the PROXY protocol is switched on and off by port", () => {
  const on = { annotations: { "proxy-protocol": "*" } };
  assert.deepEqual(actions(plan(on, standing())), ["CreateLoadBalancerPolicy", "SetLoadBalancerPoliciesForBackendServer"]);
  assert.deepEqual(inputOf(plan({}, standing(on)), "SetLoadBalancerPoliciesForBackendServer")?.PolicyNames, []);
  const moved = { ...on, service: { ports: [port(443, 31999)] } };
  assert.deepEqual(actions(plan(moved, standing(on))), [
    "DeleteLoadBalancerListeners",
    "CreateLoadBalancerListeners",
    "SetLoadBalancerPoliciesForBackendServer",
    "SetLoadBalancerPoliciesForBackendServer",
    "ConfigureHealthCheck",
  ]);
});

test("new clients are let in before old ones are shut out, by rule id", () => {
  const steps = plan({ sourceRanges: ["10.0.0.0/8"] }, standing());
  assert.deepEqual(actions(steps), ["AuthorizeSecurityGroupIngress", "RevokeSecurityGroupIngress"]);
  assert.deepEqual(inputOf(steps, "RevokeSecurityGroupIngress")?.SecurityGroupRuleIds, ["sgr-0", "sgr-1"]);
});

test("a group that lost its cluster tag gets it back", () => {
  const seen = standing();
  const untagged = { ...seen, managedGroup: { ...seen.managedGroup!, tags: {} } };
  assert.deepEqual(actions(plan({}, untagged)), ["CreateTags"]);
});

test("a managed group that lost its cluster tag is left alone when others are given in its place", () => {
  const seen = standing();
  const given = { annotations: { "security-groups": "sg-mine" } };
  assert.ok(actions(plan(given, seen)).includes("DeleteSecurityGroup"));
  const unmarked = { ...seen, managedGroup: { ...seen.managedGroup!, tags: {}, owned: false } };
  assert.ok(!actions(plan(given, unmarked)).includes("DeleteSecurityGroup"));
});

test("where all subnets are replaced, one stays until another has come", () => {
  const zones = { "subnet-a": "1", "subnet-b": "2", "subnet-x": "1", "subnet-y": "2" };
  const steps = plan({ subnets: ["subnet-x", "subnet-y"] }, { ...standing({ subnets: ["subnet-a", "subnet-b"] }), zones });
  assert.deepEqual(
    steps.map(({ what }) => what.replace(/ load balancer.*/, "")),
    ["detach subnet-b from", "attach subnet-y to", "detach subnet-a from", "attach subnet-x to"],
  );
});

test("subnets, attributes and instances follow", () => {
  assert.deepEqual(actions(plan({ subnets: ["subnet-b", "subnet-c"] }, standing())), [
    "DetachLoadBalancerFromSubnets",
    "AttachLoadBalancerToSubnets",
  ]);
  assert.deepEqual(actions(plan({ annotations: { "connection-idle-timeout": "61" } }, standing())), ["ModifyLoadBalancerAttributes"]);
  assert.deepEqual(actions(plan({ instances: ["i-2", "i-3"] }, standing())), [
    "RegisterInstancesWithLoadBalancer",
    "DeregisterInstancesFromLoadBalancer",
  ]);
});

test("given groups replace the managed one, which is deleted last", () => {
  assert.deepEqual(actions(plan({ annotations: { "security-groups": "sg-1" } }, standing())), [
    "ApplySecurityGroupsToLoadBalancer",
    "DeleteSecurityGroup",
  ]);
});

test("deletion goes on where it stopped", () => {
  assert.deepEqual(actions(planClassicDeletion("lb", standing(), "Service")), ["DeleteLoadBalancer", "DeleteSecurityGroup"]);
  assert.deepEqual(actions(planClassicDeletion("lb", { managedGroup: standing().managedGroup }, "Service")), ["DeleteSecurityGroup"]);
  assert.deepEqual(actions(planClassicDeletion("lb", {}, "Service")), []);
});
