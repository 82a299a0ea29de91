/** What a ListenerRuleConfiguration adds to a rule: what comes before its answer, and how it answers. Pure. */
import { clientIn, type SecretData } from "../followed-secrets.ts";
import type { Authentication, FixedResponse, Forward, LogIn } from "../routing.ts";
import type { CognitoSettings, JwtSettings, ListenerRuleSettings, ListenerRuleView, OidcSettings, RuleAction } from "./config.ts";
import { HeldFault, RouteFault } from "./fault.ts";
import { extensionsOf } from "./filters.ts";
import { keyOf, type RouteRule, type RouteView } from "./view.ts";

const incompatible = (message: string) => new RouteFault("IncompatibleFilters", message);

/** The configuration of a rule; undefined where it names none. Throws a `RouteFault` where it cannot be used. */
export function ruleSettings(
  route: Pick<RouteView, "namespace">,
  rule: RouteRule,
  find: (key: string) => ListenerRuleView | undefined,
): ListenerRuleView | undefined {
  const [name, ...others] = extensionsOf(rule);
  if (name === undefined) return undefined;
  if (others.length > 0) throw incompatible("Only one listener rule config can be referenced per route rule, found multiple");
  const key = keyOf({ namespace: route.namespace, name });
  const found = find(key);
  if (found === undefined) throw incompatible(`ListenerRuleConfiguration [${key}] not found)`);
  if (found.accepted !== true)
    throw incompatible(`ListenerRuleConfiguration [${key}] is not accepted. Reason:  ${found.message || "status unknown"})`);
  return found;
}

const actionOf = <Type extends RuleAction["type"]>(settings: ListenerRuleSettings | undefined, type: Type) =>
  settings?.actions?.find((action) => action.type === type);

/** The Secret of a log-in, by name. */
export const oidcSecret = ({ settings }: Pick<ListenerRuleView, "settings">): string | undefined =>
  actionOf(settings, "authenticate-oidc")?.authenticateOIDCConfig?.secret.name;

/** What stands in front of an answer on HTTPS. */
export function preRouting(view: ListenerRuleView | undefined, secret: (name: string) => SecretData): readonly Authentication[] {
  const oidc = actionOf(view?.settings, "authenticate-oidc")?.authenticateOIDCConfig;
  const cognito = actionOf(view?.settings, "authenticate-cognito")?.authenticateCognitoConfig;
  const jwt = actionOf(view?.settings, "jwt-validation")?.jwtValidationConfig;
  return [
    ...(view && oidc
      ? [authenticateOidc(oidc, keyOf({ namespace: view.namespace, name: oidc.secret.name }), secret(oidc.secret.name))]
      : []),
    ...(cognito ? [authenticateCognito(cognito)] : []),
    ...(jwt ? [validateJwt(jwt)] : []),
  ];
}

const logIn = (settings: OidcSettings | CognitoSettings): LogIn => ({
  scope: settings.scope ?? "openid",
  sessionCookie: settings.sessionCookieName ?? "AWSELBAuthSessionCookie",
  sessionSeconds: settings.sessionTimeout ?? 604_800,
  onUnauthenticated: settings.onUnauthenticatedRequest ?? "authenticate",
  ...(settings.authenticationRequestExtraParams && { extraParameters: settings.authenticationRequestExtraParams }),
});

function authenticateOidc(oidc: OidcSettings, key: string, read: SecretData): Authentication {
  if ("problem" in read) throw read.isUnread ? new HeldFault(read.problem, { isUnknown: true }) : incompatible(read.problem);
  const client = clientIn(read.data);
  if ("missing" in client) throw incompatible(`missing ${client.missing}, secret: ${key}`);
  const { issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint } = oidc;
  const provider = { issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint };
  return { kind: "authenticate-oidc", ...provider, ...client, secretChanged: read.changed, ...logIn(oidc) };
}

const authenticateCognito = (cognito: CognitoSettings): Authentication => ({
  kind: "authenticate-cognito",
  userPoolArn: cognito.userPoolArn,
  userPoolClientId: cognito.userPoolClientId,
  userPoolDomain: cognito.userPoolDomain,
  ...logIn(cognito),
});

const validateJwt = ({ jwksEndpoint, issuer, additionalClaims = [] }: JwtSettings): Authentication => ({
  kind: "jwt-validation",
  jwksEndpoint,
  issuer,
  claims: additionalClaims.map(({ format, name, values }) => ({ format, name, values })),
});

export function fixedResponse(settings: ListenerRuleSettings | undefined): FixedResponse | undefined {
  const fixed = actionOf(settings, "fixed-response")?.fixedResponseConfig;
  if (fixed === undefined) return undefined;
  const { statusCode, contentType = "text/plain", messageBody } = fixed;
  return { kind: "fixed-response", status: String(statusCode), contentType, ...(messageBody !== undefined && { body: messageBody }) };
}

/** What a redirect does with the query; undefined where nothing is said. */
export function redirectQuery(settings: ListenerRuleSettings | undefined): string | undefined {
  const action = actionOf(settings, "redirect");
  return action && (action.redirectConfig?.query ?? "#{query}");
}

/** Absent: as AWS has it. */
export function stickiness(settings: ListenerRuleSettings | undefined): Pick<Forward, "stickiness"> {
  const action = actionOf(settings, "forward");
  if (action === undefined) return {};
  const { enabled = false, durationSeconds = 3600 } = action.forwardConfig?.targetGroupStickinessConfig ?? {};
  return { stickiness: { enabled, seconds: durationSeconds } };
}

/** Addresses that a match of a rule is for. */
export function sourceIps(settings: ListenerRuleSettings | undefined, matchIndex: number): readonly string[] {
  return (settings?.conditions ?? [])
    .filter(({ matchIndexes }) => matchIndexes === undefined || matchIndexes.includes(matchIndex))
    .flatMap(({ sourceIPConfig }) => sourceIPConfig?.values ?? []);
}
