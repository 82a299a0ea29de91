import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApplicationLoadBalancer } from "../model.ts";
import type { ListenerRule } from "../routing.ts";
import { Account } from "./account.fixture.ts";
import { applicationModel, listener, rule, targetGroup } from "./model.fixture.ts";
import { planApplication } from "./plan.ts";

const deploy = (account: Account, model: ApplicationLoadBalancer) => account.run(planApplication(model, "vpc-1", account.seen()));
/** An account in which this stands. */
function standing(model: ApplicationLoadBalancer): Account {
  const account = new Account();
  deploy(account, model);
  assert.deepEqual(deploy(account, model), [], "what stands as wanted needs nothing");
  return account;
}
const withRules = (...rules: ListenerRule[]) => applicationModel({ listeners: [listener({ rules })] });
const rulesOf = (account: Account) =>
  account
    .seen()
    .loadBalancer?.listeners[0]?.rules.map(({ priority, conditions, arn }) => [
      priority,
      conditions[0]?.PathPatternConfig?.Values?.[0],
      arn,
    ]) ?? [];

test("a new load balancer: target groups, then itself, its listener and its rules, and then nothing more", () => {
  const account = new Account();
  assert.deepEqual(deploy(account, applicationModel()), [
    "CreateTargetGroup",
    "CreateTargetGroup",
    "CreateLoadBalancer",
    "CreateListener",
    "CreateRule",
    "CreateRule",
  ]);
  assert.deepEqual(deploy(account, applicationModel()), []);
});

test("whatever a model asks for stands after one plan", () => {
  const secure = listener({
    port: 443,
    protocol: "HTTPS",
    certificates: ["arn:a", "arn:b", "arn:a", "arn:c"],
    sslPolicy: "policy",
    mutualTls: { mode: "verify", trustStore: "arn:store", ignoresExpiry: true, advertisesNames: false },
    attributes: { "routing.http.response.server.enabled": "false" },
    rules: [
      rule(1, "/old", "web", { transforms: [{ kind: "url-rewrite", rewrites: [{ regex: "^/old", replace: "/" }] }] }),
      rule(2, "/x", "web", {
        conditions: [
          { field: "host-header", match: "regex", values: ["^a"] },
          { field: "http-header", header: "x", match: "wildcard", values: ["1"] },
          { field: "http-request-method", values: ["GET"] },
          { field: "query-string", values: [{ key: "a", value: "b" }, { value: "c" }] },
          { field: "source-ip", values: ["10.0.0.0/8"] },
        ],
        actions: [
          {
            kind: "jwt-validation",
            jwksEndpoint: "https://k",
            issuer: "i",
            claims: [{ format: "single-string", name: "n", values: ["v"] }],
          },
          {
            kind: "forward",
            to: [
              { group: "api", weight: 1 },
              { group: "web", weight: 9 },
            ],
            stickiness: { enabled: true, seconds: 60 },
          },
        ],
      }),
    ],
  });
  const models: readonly Partial<ApplicationLoadBalancer>[] = [
    { listeners: [listener(), secure] },
    { attributes: { "idle_timeout.timeout_seconds": "61" }, capacity: 100, ipv4IpamPool: "pool-1" },
    {
      targetGroups: [
        targetGroup("api", { attributes: { "slow_start.duration_seconds": "30" } }),
        targetGroup("web", {
          protocolVersion: "GRPC",
          healthCheck: { ...targetGroup("x").healthCheck, matcher: { kind: "grpc", codes: "12" } },
        }),
      ],
    },
  ];
  for (const given of models) standing(applicationModel(given));
});

test("a rule put in front moves the others in one call and keeps their ARNs", () => {
  const account = standing(withRules(rule(1, "/a", "api"), rule(2, "/b", "api"), rule(3, "/c", "web")));
  const before = rulesOf(account);
  const calls = deploy(account, withRules(rule(1, "/x", "api"), rule(2, "/a", "api"), rule(3, "/b", "api")));
  assert.deepEqual(
    calls.filter((name) => name !== "AddTags"),
    ["SetRulePriorities", "CreateRule", "DeleteRule"],
  );
  assert.deepEqual(rulesOf(account).slice(1), [
    [2, "/a", before[0]?.[2]],
    [3, "/b", before[1]?.[2]],
  ]);
});

test("a rule that becomes another in its place is changed, one at the end only deleted", () => {
  const two = withRules(rule(1, "/a", "api"), rule(2, "/b", "web"));
  assert.deepEqual(deploy(standing(two), withRules(rule(1, "/a", "api"), rule(2, "/y", "web"))), ["ModifyRule"]);
  assert.deepEqual(deploy(standing(two), withRules(rule(1, "/a", "api"))), ["DeleteRule"]);
});

test("a rule that answers the same requests in another way is changed where it is, also when it moves", () => {
  const account = standing(withRules(rule(1, "/a", "api"), rule(2, "/b", "web")));
  const before = rulesOf(account);
  const calls = deploy(account, withRules(rule(1, "/x", "api"), rule(2, "/a", "web"), rule(3, "/b", "web")));
  assert.deepEqual(
    calls.filter((name) => name !== "AddTags"),
    ["SetRulePriorities", "ModifyRule", "CreateRule"],
  );
  assert.deepEqual(rulesOf(account).slice(1), [
    [2, "/a", before[0]?.[2]],
    [3, "/b", before[1]?.[2]],
  ]);
});

test("transforms that are not wanted any more are reset", () => {
  const rewritten = rule(1, "/a", "api", { transforms: [{ kind: "host-header-rewrite", rewrites: [{ regex: ".*", replace: "x" }] }] });
  const account = standing(withRules(rewritten));
  assert.deepEqual(deploy(account, withRules(rule(1, "/a", "api"))), ["ModifyRule"]);
  assert.deepEqual(account.seen().loadBalancer?.listeners[0]?.rules[0]?.transforms, []);
});

test("from any rules to any others in one plan: nothing clashes on the way, and no more is left to do", () => {
  let state = 7;
  const random = (below: number) => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    return Math.floor((state / 2 ** 31) * below);
  };
  const some = () => {
    const paths = Array.from({ length: random(9) }, () => `/${random(12)}`);
    return withRules(...[...new Set(paths)].map((path, i) => rule(i + 1, path, random(2) ? "api" : "web")));
  };
  const account = new Account();
  for (let i = 0; i < 300; i++) {
    const model = some();
    deploy(account, model);
    assert.deepEqual(deploy(account, model), [], `round ${i}`);
    assert.deepEqual(
      rulesOf(account).map(([priority, path]) => [priority, path]),
      model.listeners[0]?.rules.map(({ priority, conditions: [first] }) => [
        priority,
        (first as { readonly values: readonly unknown[] }).values[0],
      ]),
      `round ${i}`,
    );
  }
});

test("the default certificate among the further ones is nobody's concern, others are added and removed", () => {
  const secure = (...certificates: string[]) => applicationModel({ listeners: [listener({ port: 443, protocol: "HTTPS", certificates })] });
  const account = standing(secure("arn:a", "arn:b"));
  const seen = account.seen();
  const [present] = seen.loadBalancer!.listeners;
  const alsoDefault = {
    ...seen,
    loadBalancer: { ...seen.loadBalancer!, listeners: [{ ...present!, furtherCertificates: ["arn:a", "arn:b"] }] },
  };
  assert.deepEqual(planApplication(secure("arn:a", "arn:b"), "vpc-1", alsoDefault), []);
  assert.deepEqual(deploy(account, secure("arn:a", "arn:c")), ["AddListenerCertificates", "RemoveListenerCertificates"]);
  assert.deepEqual(deploy(account, secure("arn:c")), ["ModifyListener"]);
});

test("mutual TLS that nobody speaks of stays, off is what AWS does not mention", () => {
  const secure = (given: object) =>
    applicationModel({ listeners: [listener({ port: 443, protocol: "HTTPS", certificates: ["arn:a"], ...given })] });
  const off = secure({ mutualTls: { mode: "off" } });
  assert.deepEqual(deploy(standing(secure({})), off), []);
  const account = standing(secure({ mutualTls: { mode: "passthrough" } }));
  assert.deepEqual(deploy(account, secure({})), []);
  assert.deepEqual(deploy(account, off), ["ModifyListener"]);
});

test("a target group is known by its tags: another name is no reason for a new one, another protocol is", () => {
  const account = standing(applicationModel());
  const renamed = applicationModel({
    targetGroups: [targetGroup("api"), { ...targetGroup("web"), name: "web2" }],
    listeners: [listener({ rules: [rule(1, "/api", "api"), rule(2, "/*", "web2")] })],
  });
  assert.deepEqual(deploy(account, renamed), []);
  const grpc = applicationModel({
    targetGroups: [targetGroup("api"), targetGroup("web", { name: "web-grpc", protocolVersion: "GRPC" })],
    listeners: [listener({ rules: [rule(1, "/api", "api"), rule(2, "/*", "web-grpc")] })],
  });
  assert.deepEqual(deploy(account, grpc), ["CreateTargetGroup", "ModifyRule", "DeleteTargetGroup"]);
});

test("what can be changed in place is, in as many calls as there are changes", () => {
  const account = standing(applicationModel({ ipv4IpamPool: "pool-1" }));
  const calls = deploy(
    account,
    applicationModel({
      subnets: [{ subnet: "subnet-a" }, { subnet: "subnet-c" }],
      securityGroups: { kind: "wanted", groups: [{ kind: "given", id: "sg-2" }] },
      addressType: "dualstack",
      attributes: { "idle_timeout.timeout_seconds": "61", "deletion_protection.enabled": "false" },
      tags: { stack: "shop", part: "LoadBalancer", team: "a" },
    }),
  );
  assert.deepEqual(calls.toSorted(), [
    "AddTags",
    "AddTags",
    "ModifyIpPools",
    "ModifyLoadBalancerAttributes",
    "SetIpAddressType",
    "SetSecurityGroups",
    "SetSubnets",
  ]);
});

test("a port that nobody listens on goes, and its rules with it", () => {
  const account = standing(applicationModel({ listeners: [listener(), listener({ port: 81 })] }));
  assert.deepEqual(deploy(account, applicationModel({ listeners: [listener()] })), ["DeleteListener"]);
});

test("tags of AWS and of others are neither compared nor removed", () => {
  const account = standing(applicationModel());
  const seen = account.seen();
  const tags = { ...seen.loadBalancer!.tags, "aws:cloudformation:stack-name": "x", theirs: "y", old: "z" };
  const tagged = { ...seen, loadBalancer: { ...seen.loadBalancer!, tags }, isForeignTag: (key: string) => key === "theirs" };
  const [step, ...more] = planApplication(applicationModel(), "vpc-1", tagged);
  assert.deepEqual([step?.action.name, (step?.input as { TagKeys: string[] } | undefined)?.TagKeys, more], ["RemoveTags", ["old"], []]);
});

test("more rules than AWS grants make room first", () => {
  const many = Array.from({ length: 100 }, (_, i) => rule(i + 1, `/${i}`, "api"));
  const account = standing(withRules(...many));
  const calls = deploy(account, withRules(...many.slice(0, 98), rule(200, "/new", "web")));
  assert.deepEqual(calls, ["DeleteRule", "DeleteRule", "CreateRule"]);
});

test("of two target groups that could stand for the same, one goes", () => {
  const account = standing(applicationModel());
  const seen = account.seen();
  const twin = { ...seen.targetGroups[0]!, arn: "arn:twin", name: "twin" };
  const steps = planApplication(applicationModel(), "vpc-1", { ...seen, targetGroups: [...seen.targetGroups, twin] });
  assert.deepEqual(
    steps.map(({ what }) => what),
    ["delete target group twin"],
  );
});

test("what a security group lets in no more is closed before target groups go, which may have to wait for ever", () => {
  const seen = standing(applicationModel()).seen();
  const group = { name: "k8s-shop", description: "", tags: {}, ownership: {}, rules: [] };
  const open = { id: "sgr-1", protocol: "tcp", fromPort: 80, toPort: 80, cidr: "0.0.0.0/0" };
  const model = applicationModel({
    securityGroups: { kind: "wanted", groups: [{ kind: "managed", group }] },
    targetGroups: [targetGroup("api")],
    listeners: [listener({ rules: [rule(1, "/api", "api")] })],
  });
  const managedGroup = { id: "sg-1", name: "k8s-shop", tags: {}, owned: true, rules: [open] };
  const calls = planApplication(model, "vpc-1", { ...seen, managedGroup }).map(({ action }) => action.name);
  assert.deepEqual(calls, ["DeleteRule", "RevokeSecurityGroupIngress", "DeleteTargetGroup"]);
});
