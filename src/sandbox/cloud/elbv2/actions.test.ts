import assert from "node:assert/strict";
import { test } from "node:test";
import { type Action, ModifyListenerCommand, ModifyRuleCommand } from "@aws-sdk/client-elastic-load-balancing-v2";
import { refused } from "../testing.ts";
import { forwardTo, HTTPS, NOT_FOUND, rule, ruleBed, rules, webGroup } from "./application-testing.ts";

const oidc = (input: object = {}): Action => ({
  Type: "authenticate-oidc",
  Order: 1,
  AuthenticateOidcConfig: {
    Issuer: "https://id.example.com",
    AuthorizationEndpoint: "https://id.example.com/authorize",
    TokenEndpoint: "https://id.example.com/token",
    UserInfoEndpoint: "https://id.example.com/userinfo",
    ClientId: "shop",
    ClientSecret: "hush",
    ...input,
  },
});
const jwt = (input: object = {}): Action => ({
  Type: "jwt-validation",
  Order: 1,
  JwtValidationConfig: { JwksEndpoint: "https://id.example.com/keys", Issuer: "https://id.example.com", ...input },
});
const last: Action = { ...NOT_FOUND, Order: 2 };
const redirect = (RedirectConfig: object): Action => ({
  Type: "redirect",
  RedirectConfig: { StatusCode: "HTTP_301", ...RedirectConfig },
});
const fixed = (FixedResponseConfig: object): Action => ({
  Type: "fixed-response",
  FixedResponseConfig: { StatusCode: "200", ...FixedResponseConfig },
});

test("a forward is told in both ways, with weights and stickiness filled in", async () => {
  const bed = await ruleBed();
  const [a, b] = [await webGroup(bed, "a"), await webGroup(bed, "b")];
  const plain = await rule(bed, bed.web, 1, { Actions: [{ Type: "forward", TargetGroupArn: a.TargetGroupArn }] });
  assert.deepEqual(plain.Actions, [
    {
      Type: "forward",
      TargetGroupArn: a.TargetGroupArn,
      ForwardConfig: {
        TargetGroups: [{ TargetGroupArn: a.TargetGroupArn, Weight: 1 }],
        TargetGroupStickinessConfig: { Enabled: false },
      },
    },
  ]);
  const weighted = await rule(bed, bed.web, 2, {
    Actions: [
      {
        Type: "forward",
        ForwardConfig: {
          TargetGroups: [
            { TargetGroupArn: a.TargetGroupArn, Weight: 90 },
            { TargetGroupArn: b.TargetGroupArn, Weight: 0 },
          ],
          TargetGroupStickinessConfig: { Enabled: true, DurationSeconds: 200 },
        },
      },
    ],
  });
  assert.equal(weighted.Actions?.[0]?.TargetGroupArn, undefined);
  assert.deepEqual(weighted.Actions?.[0]?.ForwardConfig?.TargetGroupStickinessConfig, { Enabled: true, DurationSeconds: 200 });
});

test("forwards that AWS does not take are refused", async () => {
  const bed = await ruleBed();
  const groups = await Promise.all(["a", "b", "c", "d", "e", "f"].map((name) => webGroup(bed, name)));
  const [a] = groups;
  const sticky = (TargetGroupStickinessConfig: object): Action => ({
    Type: "forward",
    ForwardConfig: { TargetGroups: [{ TargetGroupArn: a!.TargetGroupArn }], TargetGroupStickinessConfig },
  });
  const weight = (Weight: number): Action => ({
    Type: "forward",
    ForwardConfig: { TargetGroups: [{ TargetGroupArn: a!.TargetGroupArn, Weight }] },
  });
  const bad: readonly (readonly [Action, string])[] = [
    [{ Type: "forward" }, "ValidationError"],
    [forwardTo(...groups), "InvalidConfigurationRequestException"],
    [forwardTo(a!, a!), "InvalidConfigurationRequestException"],
    [weight(1000), "ValidationError"],
    [weight(-1), "ValidationError"],
    [sticky({ Enabled: true }), "ValidationError"],
    [sticky({ Enabled: true, DurationSeconds: 604_801 }), "ValidationError"],
    [forwardTo({ TargetGroupArn: a!.TargetGroupArn!.replace(/.{4}$/, "ffff") }), "TargetGroupNotFoundException"],
  ];
  for (const [action, code] of bad) await refused(rule(bed, bed.web, 1, { Actions: [action] }), code);
  await rule(bed, bed.web, 1, { Actions: [forwardTo(...groups.slice(0, 5))] });
});

test("a redirect is told with what it keeps of the request", async () => {
  const bed = await ruleBed();
  const made = await rule(bed, bed.web, 1, { Actions: [redirect({ Protocol: "HTTPS", Port: "443" })] });
  assert.deepEqual(made.Actions?.[0]?.RedirectConfig, {
    Protocol: "HTTPS",
    Port: "443",
    Host: "#{host}",
    Path: "/#{path}",
    Query: "#{query}",
    StatusCode: "HTTP_301",
  });
});

test("redirects and fixed responses that AWS does not take are refused", async () => {
  const bed = await ruleBed({}, HTTPS);
  const bad: readonly (readonly [Action, string])[] = [
    [redirect({}), "InvalidLoadBalancerActionException"],
    [redirect({ Query: "a=b" }), "InvalidLoadBalancerActionException"],
    [redirect({ Protocol: "HTTP" }), "InvalidLoadBalancerActionException"],
    [redirect({ Protocol: "FTP" }), "ValidationError"],
    [redirect({ Port: "0" }), "ValidationError"],
    [redirect({ Port: "web" }), "ValidationError"],
    [redirect({ Path: "a" }), "ValidationError"],
    [redirect({ Host: "h".repeat(129) }), "ValidationError"],
    [redirect({ Host: "a.com", StatusCode: "HTTP_307" }), "ValidationError"],
    [fixed({ StatusCode: "301" }), "ValidationError"],
    [fixed({ StatusCode: "600" }), "ValidationError"],
    [fixed({ ContentType: "image/png" }), "ValidationError"],
    [fixed({ MessageBody: "x".repeat(1025) }), "ValidationError"],
  ];
  for (const [action, code] of bad) await refused(rule(bed, bed.web, 1, { Actions: [action] }), code);
});

test("an action that asks who the user is comes before the one that answers, with an order, on HTTPS only", async () => {
  const bed = await ruleBed({}, HTTPS);
  const made = await rule(bed, bed.web, 1, { Actions: [last, oidc()] });
  assert.deepEqual(
    made.Actions?.map(({ Type, Order }) => [Type, Order]),
    [
      ["authenticate-oidc", 1],
      ["fixed-response", 2],
    ],
  );
  const refusals: readonly (readonly [Action[], string])[] = [
    [[oidc()], "InvalidLoadBalancerActionException"],
    [[oidc(), { ...oidc(), Order: 3 }, last], "TooManyActionsException"],
    [[NOT_FOUND, NOT_FOUND], "ValidationError"],
    [[{ ...NOT_FOUND, Order: 1 }, last], "TooManyActionsException"],
    [
      [
        { ...last, Order: 1 },
        { ...oidc(), Order: 2 },
      ],
      "InvalidLoadBalancerActionException",
    ],
  ];
  for (const [Actions, code] of refusals) await refused(rule(bed, bed.web, 2, { Actions }), code);
  const plain = await ruleBed();
  await refused(rule(plain, plain.web, 1, { Actions: [oidc(), last] }), "InvalidLoadBalancerActionException");
  await refused(rule(plain, plain.web, 1, { Actions: [jwt(), last] }), "InvalidLoadBalancerActionException");
});

test("an OIDC client's secret is never told, is needed at first, and can be kept without being sent again", async () => {
  const bed = await ruleBed({}, HTTPS);
  await refused(rule(bed, bed.web, 1, { Actions: [oidc({ ClientSecret: undefined }), last] }), "ValidationError");
  const made = await rule(bed, bed.web, 1, { Actions: [oidc(), last] });
  const told = made.Actions?.[0]?.AuthenticateOidcConfig;
  assert.equal(told?.ClientSecret, undefined);
  assert.deepEqual(
    [told?.SessionCookieName, told?.Scope, told?.SessionTimeout, told?.OnUnauthenticatedRequest],
    ["AWSELBAuthSessionCookie", "openid", 604_800, "authenticate"],
  );
  const modify = (input: object) =>
    bed.elbv2.send(new ModifyRuleCommand({ RuleArn: made.RuleArn, Actions: [oidc({ ClientSecret: undefined, ...input }), last] }));
  await refused(modify({}), "ValidationError");
  await modify({ UseExistingClientSecret: true, Scope: "email" });
  const [changed] = await rules(bed, bed.web);
  assert.equal(changed?.Actions?.[0]?.AuthenticateOidcConfig?.Scope, "email");
  assert.equal(changed?.Actions?.[0]?.AuthenticateOidcConfig?.UseExistingClientSecret, undefined);
  const stored = JSON.stringify(bed.cloud.controls.snapshot()["elbv2/rules"]);
  assert.match(stored, /"ClientSecret":"hush"/);
});

test("authentications that AWS does not take are refused", async () => {
  const bed = await ruleBed({}, HTTPS);
  const claim = (input: object) => jwt({ AdditionalClaims: [{ Format: "single-string", Name: "aud", Values: ["shop"], ...input }] });
  const bad: readonly Action[] = [
    oidc({ Issuer: "http://id.example.com" }),
    oidc({ TokenEndpoint: "id.example.com/token" }),
    oidc({ ClientId: "" }),
    oidc({ SessionTimeout: 0 }),
    oidc({ OnUnauthenticatedRequest: "ignore" }),
    oidc({ AuthenticationRequestExtraParams: Object.fromEntries(Array.from({ length: 11 }, (_, index) => [`p${index}`, "v"])) }),
    {
      Type: "authenticate-cognito",
      Order: 1,
      AuthenticateCognitoConfig: { UserPoolArn: "pool", UserPoolClientId: "c", UserPoolDomain: "d" },
    },
    jwt({ JwksEndpoint: "http://id.example.com/keys" }),
    jwt({ Issuer: "i".repeat(257) }),
    claim({ Name: "exp" }),
    claim({ Format: "list" }),
    claim({ Values: [] }),
    claim({ Format: "space-separated-values", Values: ["a b"] }),
  ];
  for (const action of bad) await refused(rule(bed, bed.web, 1, { Actions: [action, last] }), "ValidationError");
  assert.deepEqual((await rule(bed, bed.web, 1, { Actions: [claim({}), last] })).Actions?.[0], claim({}));
});

test("default actions take what rules take", async () => {
  const bed = await ruleBed({}, HTTPS);
  const DefaultActions = [oidc(), last];
  const changed = await bed.elbv2.send(new ModifyListenerCommand({ ListenerArn: bed.web.ListenerArn, DefaultActions }));
  assert.equal(changed.Listeners?.[0]?.DefaultActions?.[0]?.AuthenticateOidcConfig?.ClientSecret, undefined);
  await bed.elbv2.send(new ModifyListenerCommand({ ListenerArn: bed.web.ListenerArn, Port: 8443 }));
  assert.equal((await rules(bed, bed.web)).at(-1)?.Actions?.length, 2);
});
