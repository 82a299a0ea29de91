/** What stands in front of a group's load balancer: WAF, WAF Classic and Shield. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AddTagsCommand, ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { CreateSubscriptionCommand, ShieldClient } from "@aws-sdk/client-shield";
import { CreateWebACLCommand, WAFV2Client } from "@aws-sdk/client-wafv2";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { classicWebAcls } from "../../src/sandbox/cloud/waf/waf-regional.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

async function bed(t: TestContext): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  return world;
}

async function webAcl(world: IngressWorld, Name: string): Promise<string> {
  const client = new WAFV2Client(sdkConfig(world.aws));
  const VisibilityConfig = { SampledRequestsEnabled: false, CloudWatchMetricsEnabled: false, MetricName: "m" };
  const { Summary } = await client.send(
    new CreateWebACLCommand({ Name, Scope: "REGIONAL", DefaultAction: { Allow: {} }, VisibilityConfig }),
  );
  return Summary?.ARN ?? "";
}

const subscribe = (world: IngressWorld) => new ShieldClient(sdkConfig(world.aws)).send(new CreateSubscriptionCommand({}));

const served = (world: IngressWorld, name: string) => world.until(`${name} has an address`, () => world.hostname(name) !== "", 120_000);

const guards = (world: IngressWorld) => ({
  waf: world.all<{ acl: string }>("wafv2/associations").map(({ acl }) => acl),
  classic: world.all<{ acl: string }>("waf-regional/associations").map(({ acl }) => acl),
  shield: world.all<{ name: string }>("shield/protections").map(({ name }) => name),
});

const rules = { "*": ["Prefix / web:80"] };

test("a web ACL by ARN or by name, one of WAF Classic and Shield stand in front as the group says, and go with `none`", async (t) => {
  const world = await bed(t);
  const [first, second] = [await webAcl(world, "first"), await webAcl(world, "second")];
  classicWebAcls(world.aws.account).put("old", { id: "old", name: "old" });
  await subscribe(world);
  world.serve();
  await world.ingress("shop", rules, { "wafv2-acl-arn": first, "waf-acl-id": "old", "shield-advanced-protection": "true" });
  await served(world, "shop");
  await world.world.advance(60_000);
  const name = "managed by aws-load-balancer-controller";
  assert.deepEqual(guards(world), { waf: [first], classic: ["old"], shield: [name] }, world.events("shop").join("\n"));

  await world.change("shop", { "wafv2-acl-name": "second" });
  await world.world.advance(60_000);
  assert.deepEqual(guards(world).waf, [second], "a name goes before an ARN");

  world.resetCalls();
  await world.change("shop", { "wafv2-acl-name": null, "wafv2-acl-arn": null, "waf-acl-id": null, "shield-advanced-protection": null });
  await world.world.advance(60_000);
  assert.deepEqual(
    [world.mutations(), guards(world)],
    [{}, { waf: [second], classic: ["old"], shield: [name] }],
    "nothing said, nothing done",
  );
  assert.deepEqual(
    Object.keys(world.calls()).filter((call) => /WebACL|Protection|Subscription/.test(call)),
    [],
    "and nothing asked",
  );

  await world.change("shop", { "wafv2-acl-arn": "none", "web-acl-id": "none", "shield-advanced-protection": "false" });
  await world.world.advance(60_000);
  assert.deepEqual(guards(world), { waf: [], classic: [], shield: [] });
});

test("a protection by Shield goes with the load balancer that it was made for", async (t) => {
  const world = await bed(t);
  await subscribe(world);
  world.serve();
  await world.ingress("shop", rules, { "shield-advanced-protection": "true" });
  await served(world, "shop");
  await world.world.advance(60_000);
  await world.change("shop", { scheme: "internet-facing" });
  await world.world.advance(40 * 60_000);
  assert.deepEqual([world.all("elbv2/load-balancers").length, guards(world).shield.length], [1, 1], "of the new one alone");
  await world.drop("shop");
  await world.until("it is gone", () => world.get("shop") === undefined, 600_000);
  assert.deepEqual(guards(world).shield, []);
});

test("a protection by Shield stays with a load balancer that was given to another cluster", async (t) => {
  const world = await bed(t);
  await subscribe(world);
  world.serve();
  await world.ingress("shop", rules, { "shield-advanced-protection": "true" });
  await world.until("it is protected", () => guards(world).shield.length === 1, 120_000);
  // Whose it is, is known from here on.
  await world.change("shop", { "group.order": "1" });
  await world.world.advance(60_000);
  const [lb] = world.all<{ arn: string }>("elbv2/load-balancers");
  const Tags = [{ Key: "elbv2.k8s.aws/cluster", Value: "another" }];
  await new ElasticLoadBalancingV2Client(sdkConfig(world.aws)).send(new AddTagsCommand({ ResourceArns: [lb!.arn], Tags }));
  await world.drop("shop");
  await world.world.advance(10 * 60_000);
  assert.deepEqual([world.all("elbv2/load-balancers").length, guards(world).shield.length], [1, 1]);
});

test("a web ACL that is not there is told to who names it; the Ingress is served, and others of the group hear nothing", async (t) => {
  const world = await bed(t);
  world.serve();
  const group = { "group.name": "g" };
  await world.ingress("a", { "a.example.com": ["Prefix / web:80"] }, group);
  await world.ingress("b", { "b.example.com": ["Prefix / web:80"] }, group);
  await served(world, "b");
  await world.change("b", { "wafv2-acl-arn": "arn:aws:wafv2:us-east-1:123456789012:regional/webacl/none/0" });
  await world.world.advance(60_000);
  assert.match(world.events("b").join("\n"), /FailedDeployModel: Failed deploy model due to .*AssociateWebACL/);
  await world.change("b", { "wafv2-acl-arn": null, "wafv2-acl-name": "nobody" });
  await world.world.advance(60_000);
  assert.match(world.events("b").join("\n"), /FailedBuildModel: Failed build model due to couldn't find WAFv2 WebACL with name: nobody/);
  await webAcl(world, "nobody");
  await world.world.advance(10 * 60_000);
  assert.equal(guards(world).waf.length, 1, "found when it is there");
  assert.doesNotMatch(world.events("a").join("\n"), /Failed/);

  await world.change("a", { "wafv2-acl-name": "other" });
  await world.world.advance(60_000);
  assert.match(world.events("b").join("\n"), /conflicting WAFv2 WebACL names: other \| nobody/, "the first of the group decides");
});

test("without a subscription nothing is protected and its author is told; a protection of somebody else's is left alone", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress("shop", rules, { "shield-advanced-protection": "true" });
  await served(world, "shop");
  assert.match(world.events("shop").join("\n"), /LoadBalancerWarning: Shield Advanced protects nothing here/);
  assert.deepEqual(guards(world).shield, []);

  await subscribe(world);
  const [lb] = world.all<{ arn: string }>("elbv2/load-balancers");
  world.aws.account.store.table("shield/protections").put("p1", { id: "p1", name: "ours", resourceArn: lb?.arn });
  await world.change("shop", { "shield-advanced-protection": "false" });
  await world.world.advance(30 * 60_000);
  assert.deepEqual(guards(world).shield, ["ours"]);
});

test("what flags switch off is never called", async (t) => {
  const world = await bed(t);
  const acl = await webAcl(world, "acl");
  world.serve("--enable-wafv2=false", "--enable-waf=false", "--enable-shield=false");
  world.resetCalls();
  await world.ingress("shop", rules, { "wafv2-acl-arn": acl, "waf-acl-id": "x", "shield-advanced-protection": "true" });
  await served(world, "shop");
  await world.world.advance(60_000);
  assert.deepEqual(
    Object.keys(world.calls()).filter((call) => /WebACL|Protection|Subscription/.test(call)),
    [],
  );
});

test("a web ACL named by the class goes before the annotation", async (t) => {
  const world = await bed(t);
  const [first, second] = [await webAcl(world, "first"), await webAcl(world, "second")];
  await world.say("POST", "/apis/elbv2.k8s.aws/v1beta1/ingressclassparams", {
    apiVersion: "elbv2.k8s.aws/v1beta1",
    kind: "IngressClassParams",
    metadata: { name: "guarded" },
    spec: { wafv2AclArn: second },
  });
  await world.say("PATCH", "/apis/networking.k8s.io/v1/ingressclasses/alb", {
    spec: { parameters: { apiGroup: "elbv2.k8s.aws", kind: "IngressClassParams", name: "guarded" } },
  });
  world.serve();
  await world.ingress("shop", rules, { "wafv2-acl-arn": first });
  await served(world, "shop");
  await world.world.advance(60_000);
  assert.deepEqual(guards(world).waf, [second]);
});

test("what guards a load balancer is put there, also while the one in front of it cannot be made", async (t) => {
  const world = await bed(t);
  const acl = await webAcl(world, "acl");
  world.aws.controls.faults.add({
    action: "elasticloadbalancing:CreateLoadBalancer",
    containing: '"network"',
    effect: { kind: "fail", code: "TooManyLoadBalancers" },
  });
  world.serve();
  await world.ingress("shop", rules, { "wafv2-acl-arn": acl, "enable-frontend-nlb": "true" });
  await served(world, "shop");
  await world.world.advance(300_000);
  assert.match(world.events("shop").join("\n"), /TooManyLoadBalancers/);
  assert.deepEqual(guards(world).waf, [acl]);
});

for (const [action, annotation] of [
  ["wafv2:GetWebACLForResource", "wafv2-acl-arn"],
  ["waf-regional:GetWebACLForResource", "waf-acl-id"],
  ["shield:DescribeProtection", "shield-advanced-protection"],
] as const) {
  test(`one whose guard may not be looked at holds up nobody else of its group, and is told: ${action}`, async (t) => {
    const world = await bed(t);
    await subscribe(world);
    classicWebAcls(world.aws.account).put("acl", { id: "acl", name: "acl" });
    const asked = { "wafv2-acl-arn": await webAcl(world, "acl"), "waf-acl-id": "acl", "shield-advanced-protection": "true" }[annotation];
    world.serve();
    const group = { "group.name": "shared" };
    await world.ingress("plain", { "p.example.com": ["Prefix / web:80"] }, group);
    await served(world, "plain");
    const allow = world.aws.controls.deny(action);
    await world.ingress("guarded", { "g.example.com": ["Prefix / web:80"] }, { ...group, [annotation]: asked });
    await served(world, "guarded");
    await world.change("plain", {}, { "changed.example.com": ["Prefix / web:80"] });
    await world.until("it is changed", () => JSON.stringify(world.all("elbv2/rules")).includes("changed.example.com"), 300_000);
    assert.match(world.events("guarded").join(), new RegExp(`FailedDeployModel.*${action.split(":")[1]}`));
    assert.doesNotMatch(world.events("plain").join(), /Failed/);
    assert.deepEqual(Object.values(guards(world)).flat(), []);
    allow();
    await world.until("it is guarded", () => Object.values(guards(world)).flat().length === 1, 600_000);
  });
}
