/** What a listener or rule does with a request: as AWS takes it, and whether what AWS tells of is the same. Pure. */
import type { Action as SentAction } from "@aws-sdk/client-elastic-load-balancing-v2";
import { isMade, type Made, type Planned } from "../../aws/plan.ts";
import { Secret } from "../../runtime/secret.ts";
import type { Action, Forward, LogIn } from "../routing.ts";

/** The ARN of a target group of the model, or the promise of one. */
export type ArnOf = (group: string) => string | Made;

export type PlannedAction = Planned<SentAction>;

/** In the order in which they are carried out. */
export function sentActions(actions: readonly Action[], arnOf: ArnOf): PlannedAction[] {
  return actions.map((action, i) => ({ ...sentAction(action, arnOf), ...(actions.length > 1 && { Order: i + 1 }) }));
}

/** A row per kind of action. */
const encoders: { readonly [Kind in Action["kind"]]: (action: Extract<Action, { kind: Kind }>, arnOf: ArnOf) => PlannedAction } = {
  forward: sentForward,
  redirect: ({ protocol, host, port, path, query, status }) => ({
    Type: "redirect",
    RedirectConfig: { Protocol: protocol, Host: host, Port: port, Path: path, Query: query, StatusCode: status as "HTTP_301" },
  }),
  "fixed-response": ({ status, contentType, body }) => ({
    Type: "fixed-response",
    FixedResponseConfig: { StatusCode: status, ContentType: contentType, MessageBody: body },
  }),
  "authenticate-cognito": (action) => ({
    Type: "authenticate-cognito",
    AuthenticateCognitoConfig: {
      UserPoolArn: action.userPoolArn,
      UserPoolClientId: action.userPoolClientId,
      UserPoolDomain: action.userPoolDomain,
      ...logIn(action),
    },
  }),
  "authenticate-oidc": (action) => ({
    Type: "authenticate-oidc",
    AuthenticateOidcConfig: {
      Issuer: action.issuer,
      AuthorizationEndpoint: action.authorizationEndpoint,
      TokenEndpoint: action.tokenEndpoint,
      UserInfoEndpoint: action.userInfoEndpoint,
      ClientId: action.clientId,
      ClientSecret: action.clientSecret,
      ...logIn(action),
    },
  }),
  "jwt-validation": ({ jwksEndpoint, issuer, claims }) => ({
    Type: "jwt-validation",
    JwtValidationConfig: {
      JwksEndpoint: jwksEndpoint,
      Issuer: issuer,
      ...(claims.length > 0 && {
        AdditionalClaims: claims.map(({ format, name, values }) => ({ Format: format as "single-string", Name: name, Values: values })),
      }),
    },
  }),
};

function sentAction(action: Action, arnOf: ArnOf): PlannedAction {
  return (encoders[action.kind] as (action: Action, arnOf: ArnOf) => PlannedAction)(action, arnOf);
}

/** One group without stickiness goes by its ARN alone, as AWS has always taken it. */
function sentForward({ to, stickiness }: Forward, arnOf: ArnOf): PlannedAction {
  const groups = to.map(({ group, arn, weight }) => ({ TargetGroupArn: group === undefined ? arn : arnOf(group), Weight: weight }));
  const [only] = groups;
  if (groups.length === 1 && stickiness === undefined) return { Type: "forward", TargetGroupArn: only?.TargetGroupArn };
  return {
    Type: "forward",
    ForwardConfig: {
      TargetGroups: groups,
      ...(stickiness && { TargetGroupStickinessConfig: { Enabled: stickiness.enabled, DurationSeconds: stickiness.seconds } }),
    },
  };
}

const logIn = ({ scope, sessionCookie, sessionSeconds, onUnauthenticated, extraParameters }: LogIn) => ({
  Scope: scope,
  SessionCookieName: sessionCookie,
  SessionTimeout: sessionSeconds,
  OnUnauthenticatedRequest: onUnauthenticated as "authenticate",
  ...(extraParameters && { AuthenticationRequestExtraParams: extraParameters }),
});

/** Whether a listener or rule does what is wanted. AWS never tells a client's secret, so its sender has to know that. */
export function sameActions(wanted: readonly Action[], arnOf: ArnOf, seen: readonly SentAction[]): boolean {
  if (wanted.some((action) => action.kind === "authenticate-oidc" && action.secretChanged)) return false;
  const present = seen.toSorted((a, b) => (a.Order ?? 0) - (b.Order ?? 0));
  return (
    wanted.length === present.length &&
    wanted.every((action, i) => {
      const keepsStickiness = action.kind === "forward" && action.stickiness === undefined;
      const is = canonical(present[i]!, keepsStickiness);
      return is === canonical(sentAction(action, arnOf), keepsStickiness);
    })
  );
}

/** What AWS takes an absent part of a redirect for. */
const redirectDefaults = { Protocol: "#{protocol}", Host: "#{host}", Port: "#{port}", Path: "/#{path}", Query: "#{query}" };

/** One text for all ways in which AWS and we write the same action. */
function canonical(action: PlannedAction, keepsStickiness: boolean): string {
  const { Type, ForwardConfig, TargetGroupArn, RedirectConfig, AuthenticateOidcConfig } = action;
  if (Type === "forward") {
    const groups = ForwardConfig?.TargetGroups ?? [{ TargetGroupArn }];
    const to = groups.map((group) => [arnText(group.TargetGroupArn), groups.length > 1 ? (group.Weight ?? 1) : 1]);
    const { Enabled = false, DurationSeconds } = ForwardConfig?.TargetGroupStickinessConfig ?? {};
    const sticks = keepsStickiness ? undefined : Enabled ? [true, DurationSeconds] : [false];
    return JSON.stringify(["forward", to.toSorted(([a = ""], [b = ""]) => (a < b ? -1 : 1)), sticks]);
  }
  if (Type === "redirect") return sortedJson({ ...redirectDefaults, ...withoutAbsent(RedirectConfig) });
  if (Type === "authenticate-oidc") {
    const { ClientSecret, UseExistingClientSecret, ClientId, ...rest } = AuthenticateOidcConfig ?? {};
    return sortedJson({ ...rest, ClientId: revealed(ClientId) });
  }
  const { Order, ...rest } = action;
  return sortedJson(rest);
}

/** Only compared, never shown. */
const revealed = (value: unknown) => (value instanceof Secret ? value.reveal() : value);

const arnText = (arn: Planned<string> | undefined) => (isMade(arn) ? `<${arn.made}>` : String(arn ?? ""));

const isAbsent = (value: unknown) => value === undefined || value === null || value === "";

const withoutAbsent = (value: object | undefined) =>
  Object.fromEntries(Object.entries(value ?? {}).filter(([, inner]) => !isAbsent(inner)));

/** JSON with keys in order and without what is empty: AWS and we leave out different things. */
export function sortedJson(value: unknown): string {
  return JSON.stringify(value, (_, inner: unknown) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    const full = Object.entries(inner).filter(([, part]) => !isAbsent(part) && !(Array.isArray(part) && part.length === 0));
    return Object.fromEntries(full.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  });
}
