import assert from "node:assert/strict";
import { test } from "node:test";
import { made } from "../../aws/plan.ts";
import { Secret } from "../../runtime/secret.ts";
import type { Action, AuthenticateOidc } from "../routing.ts";
import { sameActions, sentActions } from "./actions.ts";

const arnOf = (group: string) => `arn:${group}`;
const logIn = { scope: "openid", sessionCookie: "c", sessionSeconds: 60, onUnauthenticated: "authenticate" };
const oidc: AuthenticateOidc = {
  kind: "authenticate-oidc",
  issuer: "https://idp",
  authorizationEndpoint: "https://idp/a",
  tokenEndpoint: "https://idp/t",
  userInfoEndpoint: "https://idp/u",
  clientId: new Secret("id"),
  clientSecret: new Secret("hidden"),
  secretChanged: false,
  ...logIn,
};

test("one group goes by its ARN, several by their weights", () => {
  assert.deepEqual(sentActions([{ kind: "forward", to: [{ group: "a", weight: 5 }] }], arnOf), [
    { Type: "forward", TargetGroupArn: "arn:a" },
  ]);
  const to = [
    { group: "a", weight: 90 },
    { arn: "arn:x", weight: 10 },
  ];
  assert.deepEqual(sentActions([{ kind: "forward", to, stickiness: { enabled: true, seconds: 60 } }], arnOf), [
    {
      Type: "forward",
      ForwardConfig: {
        TargetGroups: [
          { TargetGroupArn: "arn:a", Weight: 90 },
          { TargetGroupArn: "arn:x", Weight: 10 },
        ],
        TargetGroupStickinessConfig: { Enabled: true, DurationSeconds: 60 },
      },
    },
  ]);
});

test("what AWS tells of an action is the same in whatever way it is written", () => {
  const rows: readonly (readonly [string, readonly Action[], Parameters<typeof sameActions>[2], boolean])[] = [
    [
      "one group, told in both ways",
      [{ kind: "forward", to: [{ group: "a" }] }],
      [
        {
          Type: "forward",
          TargetGroupArn: "arn:a",
          ForwardConfig: { TargetGroups: [{ TargetGroupArn: "arn:a", Weight: 7 }], TargetGroupStickinessConfig: { Enabled: false } },
        },
      ],
      true,
    ],
    ["another group", [{ kind: "forward", to: [{ group: "a" }] }], [{ Type: "forward", TargetGroupArn: "arn:b" }], false],
    [
      "several groups in another order",
      [
        {
          kind: "forward",
          to: [
            { group: "a", weight: 1 },
            { group: "b", weight: 2 },
          ],
        },
      ],
      [
        {
          Type: "forward",
          ForwardConfig: {
            TargetGroups: [
              { TargetGroupArn: "arn:b", Weight: 2 },
              { TargetGroupArn: "arn:a", Weight: 1 },
            ],
          },
        },
      ],
      true,
    ],
    [
      "another weight",
      [
        {
          kind: "forward",
          to: [
            { group: "a", weight: 1 },
            { group: "b", weight: 2 },
          ],
        },
      ],
      [
        {
          Type: "forward",
          ForwardConfig: {
            TargetGroups: [
              { TargetGroupArn: "arn:b", Weight: 1 },
              { TargetGroupArn: "arn:a", Weight: 1 },
            ],
          },
        },
      ],
      false,
    ],
    [
      "stickiness that nobody asked for stays",
      [{ kind: "forward", to: [{ group: "a" }] }],
      [
        {
          Type: "forward",
          ForwardConfig: {
            TargetGroups: [{ TargetGroupArn: "arn:a" }],
            TargetGroupStickinessConfig: { Enabled: true, DurationSeconds: 5 },
          },
        },
      ],
      true,
    ],
    [
      "stickiness that is to end",
      [{ kind: "forward", to: [{ group: "a" }], stickiness: { enabled: false } }],
      [
        {
          Type: "forward",
          ForwardConfig: {
            TargetGroups: [{ TargetGroupArn: "arn:a" }],
            TargetGroupStickinessConfig: { Enabled: true, DurationSeconds: 5 },
          },
        },
      ],
      false,
    ],
    [
      "a redirect with AWS's words for what is absent",
      [{ kind: "redirect", port: "443", protocol: "HTTPS", status: "HTTP_301" }],
      [
        {
          Type: "redirect",
          Order: 1,
          RedirectConfig: { Protocol: "HTTPS", Port: "443", Host: "#{host}", Path: "/#{path}", Query: "#{query}", StatusCode: "HTTP_301" },
        },
      ],
      true,
    ],
    [
      "an empty body is no body",
      [{ kind: "fixed-response", status: "404", contentType: "text/plain" }],
      [{ Type: "fixed-response", FixedResponseConfig: { StatusCode: "404", ContentType: "text/plain", MessageBody: "" } }],
      true,
    ],
    [
      "actions told out of order",
      [
        { kind: "authenticate-cognito", userPoolArn: "p", userPoolClientId: "i", userPoolDomain: "d", ...logIn },
        { kind: "forward", to: [{ group: "a" }] },
      ],
      [
        { Type: "forward", Order: 2, TargetGroupArn: "arn:a" },
        {
          Type: "authenticate-cognito",
          Order: 1,
          AuthenticateCognitoConfig: {
            UserPoolDomain: "d",
            UserPoolArn: "p",
            UserPoolClientId: "i",
            Scope: "openid",
            SessionCookieName: "c",
            SessionTimeout: 60,
            OnUnauthenticatedRequest: "authenticate",
          },
        },
      ],
      true,
    ],
  ];
  for (const [name, wanted, seen, same] of rows) assert.equal(sameActions(wanted, arnOf, seen), same, name);
});

test("a client's secret, which AWS does not tell, counts as the same until it is known to have changed", () => {
  const seen = [
    {
      Type: "authenticate-oidc" as const,
      AuthenticateOidcConfig: {
        Issuer: "https://idp",
        AuthorizationEndpoint: "https://idp/a",
        TokenEndpoint: "https://idp/t",
        UserInfoEndpoint: "https://idp/u",
        ClientId: "id",
        Scope: "openid",
        SessionCookieName: "c",
        SessionTimeout: 60,
        OnUnauthenticatedRequest: "authenticate" as const,
      },
    },
  ];
  assert.equal(sameActions([oidc], arnOf, seen), true);
  assert.equal(sameActions([{ ...oidc, secretChanged: true }], arnOf, seen), false);
  assert.equal(sameActions([{ ...oidc, clientId: new Secret("other") }], arnOf, seen), false);
  assert.doesNotMatch(JSON.stringify(sentActions([oidc], arnOf)), /hidden/);
});

test("what has yet to be made is nothing that stands", () => {
  assert.equal(
    sameActions([{ kind: "forward", to: [{ group: "a" }] }], () => made("target group a"), [{ Type: "forward", TargetGroupArn: "arn:a" }]),
    false,
  );
});
