import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AddTagsCommand,
  CreateListenerCommand,
  DeleteListenerCommand,
  DeleteLoadBalancerCommand,
  DeleteRuleCommand,
  DescribeListenersCommand,
  DescribeRulesCommand,
  DescribeTagsCommand,
  ModifyRuleCommand,
  SetRulePrioritiesCommand,
} from "@aws-sdk/client-elastic-load-balancing-v2";
import { refused } from "../testing.ts";
import { application, forwardTo, HTTPS, NOT_FOUND, path, rule, ruleBed, rules, webGroup, webListener } from "./application-testing.ts";
import { describedGroup, group, listener, network } from "./testing.ts";

test("rules are told in the order of their priorities, whatever the order they were made in, the default rule last", async () => {
  const bed = await ruleBed();
  for (const priority of [30, 4, 200]) await rule(bed, bed.web, priority);
  const told = await rules(bed, bed.web);
  assert.deepEqual(
    told.map(({ Priority, IsDefault }) => [Priority, IsDefault]),
    [
      ["4", false],
      ["30", false],
      ["200", false],
      ["default", true],
    ],
  );
  assert.match(told[0]!.RuleArn!, /:listener-rule\/app\/shop\/[0-9a-f]{16}\/[0-9a-f]{16}\/[0-9a-f]{16}$/);
  assert.deepEqual(told.at(-1)!.Actions, [NOT_FOUND]);
});

test("rules come in pages", async () => {
  const bed = await ruleBed();
  for (const priority of [1, 2, 3, 4]) await rule(bed, bed.web, priority);
  const seen: string[] = [];
  let Marker: string | undefined;
  do {
    const page = await bed.elbv2.send(new DescribeRulesCommand({ ListenerArn: bed.web.ListenerArn, PageSize: 2, Marker }));
    assert.ok(page.Rules!.length <= 2);
    seen.push(...page.Rules!.map(({ Priority }) => Priority!));
    Marker = page.NextMarker;
  } while (Marker !== undefined);
  assert.deepEqual(seen, ["1", "2", "3", "4", "default"]);
});

test("rules are described by ARN too, the default one as well; one that is unknown is RuleNotFound", async () => {
  const bed = await ruleBed();
  const first = await rule(bed, bed.web, 1);
  const all = await rules(bed, bed.web);
  const RuleArns = all.map(({ RuleArn }) => RuleArn!);
  assert.deepEqual((await bed.elbv2.send(new DescribeRulesCommand({ RuleArns }))).Rules, all);
  const unknown = first.RuleArn!.replace(/.{4}$/, "ffff");
  await refused(bed.elbv2.send(new DescribeRulesCommand({ RuleArns: [unknown] })), "RuleNotFoundException");
  await refused(bed.elbv2.send(new DescribeRulesCommand({})), "ValidationError");
});

test("a priority is taken once, and lies between 1 and 50000", async () => {
  const bed = await ruleBed();
  await rule(bed, bed.web, 1);
  await refused(rule(bed, bed.web, 1), "PriorityInUseException");
  for (const priority of [0, 50_001, -1]) await refused(rule(bed, bed.web, priority), "ValidationError");
  await rule(bed, bed.web, 50_000);
});

test("a load balancer has at most 100 rules over its listeners, default rules not counted", async () => {
  const bed = await ruleBed();
  const other = await webListener(bed, bed.lb, { Port: 8080 });
  for (let priority = 1; priority <= 50; priority++) {
    await rule(bed, bed.web, priority);
    await rule(bed, other, priority);
  }
  await refused(rule(bed, bed.web, 51), "TooManyRulesException");
});

test("SetRulePriorities swaps, shifts and keeps priorities at once, or changes nothing", async () => {
  const bed = await ruleBed();
  const [a, b, c] = [await rule(bed, bed.web, 1), await rule(bed, bed.web, 2), await rule(bed, bed.web, 3)];
  const set = (...pairs: [string | undefined, number][]) =>
    bed.elbv2.send(new SetRulePrioritiesCommand({ RulePriorities: pairs.map(([RuleArn, Priority]) => ({ RuleArn, Priority })) }));
  const order = async () => (await rules(bed, bed.web)).slice(0, -1).map(({ RuleArn, Priority }) => [RuleArn, Priority]);
  await set([a.RuleArn, 2], [b.RuleArn, 1]);
  assert.deepEqual(await order(), [
    [b.RuleArn, "1"],
    [a.RuleArn, "2"],
    [c.RuleArn, "3"],
  ]);
  await set([b.RuleArn, 2], [a.RuleArn, 3], [c.RuleArn, 50_000]);
  await set([b.RuleArn, 2]);
  const before = await order();
  await refused(set([b.RuleArn, 7], [a.RuleArn, 50_000]), "PriorityInUseException");
  assert.deepEqual(await order(), before);
  const theDefault = (await rules(bed, bed.web)).at(-1)!;
  await refused(set([theDefault.RuleArn, 9]), "OperationNotPermittedException");
});

test("a rule that is gone cannot be deleted again, and a default rule never", async () => {
  const bed = await ruleBed();
  const { RuleArn } = await rule(bed, bed.web, 1);
  const theDefault = (await rules(bed, bed.web)).at(-1)!;
  await bed.elbv2.send(new DeleteRuleCommand({ RuleArn }));
  await refused(bed.elbv2.send(new DeleteRuleCommand({ RuleArn })), "RuleNotFoundException");
  await refused(bed.elbv2.send(new DeleteRuleCommand({ RuleArn: theDefault.RuleArn })), "OperationNotPermittedException");
  await refused(
    bed.elbv2.send(new ModifyRuleCommand({ RuleArn: theDefault.RuleArn, Actions: [NOT_FOUND] })),
    "OperationNotPermittedException",
  );
});

test("ModifyRule replaces what it names, keeps the rest, and drops transforms when told to", async () => {
  const bed = await ruleBed();
  const Transforms = [{ Type: "url-rewrite" as const, UrlRewriteConfig: { Rewrites: [{ Regex: "^/a", Replace: "/b" }] } }];
  const made = await rule(bed, bed.web, 1, { Transforms });
  const modify = async (input: object) => (await bed.elbv2.send(new ModifyRuleCommand({ RuleArn: made.RuleArn, ...input }))).Rules![0]!;
  const changed = await modify({ Conditions: [path("/b")] });
  assert.deepEqual(changed.Conditions, [{ Field: "path-pattern", Values: ["/b"], PathPatternConfig: { Values: ["/b"] } }]);
  assert.deepEqual(changed.Transforms, Transforms);
  assert.deepEqual(changed.Actions, [NOT_FOUND]);
  assert.equal((await modify({ ResetTransforms: true })).Transforms, undefined);
  await refused(modify({ ResetTransforms: true, Transforms }), "ValidationError");
  assert.equal((await rules(bed, bed.web))[0]!.Priority, "1");
});

test("a target group is in use by rules, once per load balancer, and free when the rule is gone", async () => {
  const bed = await ruleBed();
  const tg = await webGroup(bed, "web");
  await webListener(bed, bed.lb, { Port: 81, DefaultActions: [forwardTo(tg)] });
  const { RuleArn } = await rule(bed, bed.web, 1, { Actions: [forwardTo(tg)] });
  assert.deepEqual((await describedGroup(bed)).LoadBalancerArns, [bed.lb.LoadBalancerArn]);
  const { Listeners } = await bed.elbv2.send(new DescribeListenersCommand({ LoadBalancerArn: bed.lb.LoadBalancerArn }));
  await bed.elbv2.send(new DeleteListenerCommand({ ListenerArn: Listeners!.find(({ Port }) => Port === 81)!.ListenerArn }));
  assert.deepEqual((await describedGroup(bed)).LoadBalancerArns, [bed.lb.LoadBalancerArn]);
  await bed.elbv2.send(new DeleteRuleCommand({ RuleArn }));
  assert.deepEqual((await describedGroup(bed)).LoadBalancerArns, []);
});

test("rules go with their listener, and with their load balancer", async () => {
  const bed = await ruleBed();
  const tg = await webGroup(bed, "web");
  const first = await rule(bed, bed.web, 1, { Actions: [forwardTo(tg)] });
  await bed.elbv2.send(new DeleteListenerCommand({ ListenerArn: bed.web.ListenerArn }));
  await refused(bed.elbv2.send(new DescribeRulesCommand({ RuleArns: [first.RuleArn!] })), "RuleNotFoundException");
  await rule(bed, await webListener(bed, bed.lb), 1, { Actions: [forwardTo(tg)] });
  await bed.elbv2.send(new DeleteLoadBalancerCommand({ LoadBalancerArn: bed.lb.LoadBalancerArn }));
  assert.deepEqual(bed.cloud.controls.snapshot()["elbv2/rules"], {});
  assert.deepEqual((await describedGroup(bed)).LoadBalancerArns, []);
});

test("rules are tagged, and their tags are described", async () => {
  const bed = await ruleBed();
  const { RuleArn } = await rule(bed, bed.web, 1, { Tags: [{ Key: "team", Value: "shop" }] });
  await bed.elbv2.send(new AddTagsCommand({ ResourceArns: [RuleArn!], Tags: [{ Key: "stage", Value: "prod" }] }));
  const { TagDescriptions } = await bed.elbv2.send(new DescribeTagsCommand({ ResourceArns: [RuleArn!] }));
  assert.deepEqual(TagDescriptions![0]!.Tags, [
    { Key: "team", Value: "shop" },
    { Key: "stage", Value: "prod" },
  ]);
});

test("a group behind one load balancer cannot stand behind another, be it by a rule", async () => {
  const bed = await ruleBed();
  const tg = await webGroup(bed, "web");
  await rule(bed, bed.web, 1, { Actions: [forwardTo(tg)] });
  const other = await webListener(bed, await application(bed, { Name: "other" }));
  await refused(rule(bed, other, 1, { Actions: [forwardTo(tg)] }), "TargetGroupAssociationLimitException");
});

test("the protocols of listener and group must go together: no TCP behind rules, no gRPC or HTTP/2 behind plain HTTP", async () => {
  const bed = await ruleBed();
  const secure = await webListener(bed, bed.lb, HTTPS);
  const tcp = await group(bed, { Name: "tcp" });
  await refused(rule(bed, bed.web, 1, { Actions: [forwardTo(tcp)] }), "IncompatibleProtocolsException");
  for (const [index, ProtocolVersion] of ["GRPC", "HTTP2"].entries()) {
    const tg = await webGroup(bed, ProtocolVersion.toLowerCase(), { ProtocolVersion });
    await refused(rule(bed, bed.web, 1, { Actions: [forwardTo(tg)] }), "InvalidConfigurationRequestException");
    await rule(bed, secure, index + 1, { Actions: [forwardTo(tg)] });
  }
});

test("one load balancer uses at most 100 target groups", async () => {
  const quotas = { targetGroupsPerApplicationLoadBalancer: 2 };
  const bed = await ruleBed();
  bed.cloud.controls.change({ quotas });
  const groups = [await webGroup(bed, "a"), await webGroup(bed, "b"), await webGroup(bed, "c")];
  await rule(bed, bed.web, 1, { Actions: [forwardTo(groups[0]!)] });
  await rule(bed, bed.web, 2, { Actions: [forwardTo(groups[0]!, groups[1]!)] });
  await refused(rule(bed, bed.web, 3, { Actions: [forwardTo(groups[2]!)] }), "TooManyUniqueTargetGroupsPerLoadBalancerException");
});

test("a network load balancer has no rules of this kind", async () => {
  const bed = await ruleBed();
  const tg = await group(bed, { Name: "tcp" });
  const tcp = await listener(bed, await network(bed, { Name: "net" }), tg);
  await refused(rule(bed, tcp, 1), "InvalidAction");
  assert.equal((await rules(bed, tcp)).length, 1);
});

test("a listener that is not there has no rules", async () => {
  const bed = await ruleBed();
  const gone = { ListenerArn: bed.web.ListenerArn!.replace(/.{4}$/, "ffff") };
  await refused(rule(bed, gone, 1), "ListenerNotFoundException");
  await refused(rules(bed, gone), "ListenerNotFoundException");
});

test("naming a user pool needs the permission to look at its client", async () => {
  const bed = await ruleBed();
  const lift = bed.cloud.controls.deny("cognito-idp:DescribeUserPoolClient");
  const AuthenticateCognitoConfig = {
    UserPoolArn: "arn:aws:cognito-idp:us-east-1:123456789012:userpool/us-east-1_abc",
    UserPoolClientId: "client",
    UserPoolDomain: "shop",
  };
  const DefaultActions = [
    { Type: "authenticate-cognito" as const, Order: 1, AuthenticateCognitoConfig },
    { ...NOT_FOUND, Order: 2 },
  ];
  const create = () =>
    bed.elbv2.send(
      new CreateListenerCommand({
        LoadBalancerArn: bed.lb.LoadBalancerArn,
        ...HTTPS,
        DefaultActions,
      }),
    );
  await refused(create(), "AccessDenied");
  lift();
  const made = (await create()).Listeners![0]!;
  assert.equal(made.DefaultActions?.[0]?.AuthenticateCognitoConfig?.SessionCookieName, "AWSELBAuthSessionCookie");
});

test("policies speak of listeners and rules by ARN and tag, and of the rule to be made when it is tagged", async () => {
  const bed = await ruleBed();
  const tag = (Value: string) => ({ Tags: [{ Key: "elbv2.k8s.aws/cluster", Value }] });
  const [mine, theirs] = [await rule(bed, bed.web, 1, tag("a")), await rule(bed, bed.web, 2, tag("b"))];
  const owned = { StringEquals: { "aws:ResourceTag/elbv2.k8s.aws/cluster": "a" } };
  const asked = { StringEquals: { "aws:RequestTag/elbv2.k8s.aws/cluster": "a" } };
  const rulesOfApplications = ["arn:aws:elasticloadbalancing:*:*:listener-rule/app/*/*/*"];
  const elb = (...actions: string[]) => actions.map((action) => `elasticloadbalancing:${action}`);
  bed.cloud.controls.change({
    policy: [
      { effect: "allow", actions: elb("DeleteRule", "SetRulePriorities"), resources: rulesOfApplications, condition: owned },
      { effect: "allow", actions: elb("CreateRule"), resources: [bed.web.ListenerArn!] },
      { effect: "allow", actions: elb("AddTags"), resources: rulesOfApplications, condition: asked },
    ],
  });
  await refused(bed.elbv2.send(new DeleteRuleCommand({ RuleArn: theirs.RuleArn })), "AccessDenied");
  const move = (...arns: (string | undefined)[]) =>
    bed.elbv2.send(new SetRulePrioritiesCommand({ RulePriorities: arns.map((RuleArn, index) => ({ RuleArn, Priority: 100 + index })) }));
  await refused(move(mine.RuleArn, theirs.RuleArn), "AccessDenied");
  await move(mine.RuleArn);
  await refused(rule(bed, bed.web, 3, tag("b")), "AccessDenied");
  await rule(bed, bed.web, 3, tag("a"));
  await bed.elbv2.send(new DeleteRuleCommand({ RuleArn: mine.RuleArn }));
});

test("the tags of a rule that does not exist are RuleNotFound", async () => {
  const bed = await ruleBed();
  const { RuleArn } = await rule(bed, bed.web, 1);
  const unknown = RuleArn!.replace(/.{4}$/, "ffff");
  await refused(bed.elbv2.send(new DescribeTagsCommand({ ResourceArns: [RuleArn!, unknown] })), "RuleNotFoundException");
  const theDefault = (await rules(bed, bed.web)).at(-1)!.RuleArn!;
  assert.deepEqual((await bed.elbv2.send(new DescribeTagsCommand({ ResourceArns: [theDefault] }))).TagDescriptions![0]!.Tags, []);
});
