/** Actions that ask who the user is: through an OpenID provider, a user pool of Cognito, or a token that the request brings. */
import type { Action, JwtValidationActionAdditionalClaim } from "@aws-sdk/client-elastic-load-balancing-v2";
import { ServiceError } from "../errors.ts";

const SESSION_SECONDS = 604_800;
const MAX_PARAMETERS = 10;
const MAX_JWT_TEXT = 256;
const MAX_CLAIMS = 10;
/** AWS validates these by itself. */
const OWN_CLAIMS = ["exp", "iss", "nbf", "iat"];
const CLAIM_FORMATS = ["single-string", "string-array", "space-separated-values"];

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_AuthenticateOidcActionConfig.html */
export function authenticateOidc(action: Action, before: readonly Action[]): Action {
  const given = action.AuthenticateOidcConfig;
  if (given === undefined) throw invalid("AuthenticateOidcConfig must be specified");
  for (const name of ["Issuer", "AuthorizationEndpoint", "TokenEndpoint", "UserInfoEndpoint"] as const) httpsUrl(name, given[name]);
  if (!given.ClientId) throw invalid("A client ID must be specified");
  const { UseExistingClientSecret: existing = false, ...config } = given;
  if (existing && given.ClientSecret !== undefined) throw invalid("You cannot specify a client secret and use the existing one");
  const known = before.find((other) => other.AuthenticateOidcConfig !== undefined)?.AuthenticateOidcConfig?.ClientSecret;
  const secret = existing ? known : given.ClientSecret;
  if (!secret) throw invalid("A client secret must be specified");
  return { ...kept(action), AuthenticateOidcConfig: { ...config, ClientSecret: secret, ...session(config) } };
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_AuthenticateCognitoActionConfig.html */
export function authenticateCognito(action: Action): Action {
  const given = action.AuthenticateCognitoConfig;
  if (!/^arn:[a-z-]+:cognito-idp:[a-z0-9-]+:\d{12}:userpool\/[\w-]+$/.test(given?.UserPoolArn ?? "")) {
    throw invalid(`The user pool ARN '${given?.UserPoolArn}' is not valid`);
  }
  if (!given?.UserPoolClientId || !given.UserPoolDomain) throw invalid("A user pool client ID and a user pool domain must be specified");
  return { ...kept(action), AuthenticateCognitoConfig: { ...given, ...session(given) } };
}

/** https://docs.aws.amazon.com/elasticloadbalancing/latest/APIReference/API_JwtValidationActionConfig.html */
export function validateJwt(action: Action): Action {
  const given = action.JwtValidationConfig;
  httpsUrl("JwksEndpoint", given?.JwksEndpoint);
  if (given!.JwksEndpoint!.length > MAX_JWT_TEXT) throw invalid(`The JWKS endpoint must have at most ${MAX_JWT_TEXT} characters`);
  if (!given?.Issuer || given.Issuer.length > MAX_JWT_TEXT) throw invalid(`The issuer must have between 1 and ${MAX_JWT_TEXT} characters`);
  const claims = given.AdditionalClaims ?? [];
  if (claims.length > MAX_CLAIMS) throw invalid(`At most ${MAX_CLAIMS} additional claims can be specified`);
  for (const claim of claims) checkClaim(claim);
  return { ...kept(action), JwtValidationConfig: given };
}

function checkClaim({ Format: format, Name: name, Values: values = [] }: JwtValidationActionAdditionalClaim): void {
  if (!CLAIM_FORMATS.includes(format ?? "")) throw invalid(`The claim format '${format}' must be one of '[${CLAIM_FORMATS.join(", ")}]'`);
  if (!name || OWN_CLAIMS.includes(name)) throw invalid(`'${name}' cannot be an additional claim`);
  if (values.length === 0 || values.length > MAX_CLAIMS) throw invalid(`Claim '${name}' must have between 1 and ${MAX_CLAIMS} values`);
  for (const value of values) {
    if (value === "" || value.length > MAX_JWT_TEXT)
      throw invalid(`A value of claim '${name}' must have between 1 and ${MAX_JWT_TEXT} characters`);
    if (format === "space-separated-values" && value.includes(" ")) throw invalid(`A value of claim '${name}' cannot include spaces`);
  }
}

interface Session {
  readonly SessionCookieName?: string | undefined;
  readonly Scope?: string | undefined;
  readonly SessionTimeout?: number | undefined;
  readonly OnUnauthenticatedRequest?: string | undefined;
  readonly AuthenticationRequestExtraParams?: Record<string, string> | undefined;
}

/** What both kinds of providers have in common, with AWS's defaults. */
function session<T extends Session>(given: T) {
  const timeout = given.SessionTimeout ?? SESSION_SECONDS;
  if (timeout < 1 || timeout > SESSION_SECONDS) {
    throw invalid(`The session timeout must be between 1 and ${SESSION_SECONDS} seconds, not ${timeout}`);
  }
  const behaviour = given.OnUnauthenticatedRequest ?? "authenticate";
  if (!["deny", "allow", "authenticate"].includes(behaviour)) throw invalid(`'${behaviour}' must be one of '[deny, allow, authenticate]'`);
  if (Object.keys(given.AuthenticationRequestExtraParams ?? {}).length > MAX_PARAMETERS) {
    throw invalid(`At most ${MAX_PARAMETERS} extra parameters can be specified`);
  }
  return {
    SessionCookieName: given.SessionCookieName ?? "AWSELBAuthSessionCookie",
    Scope: given.Scope ?? "openid",
    SessionTimeout: timeout,
    OnUnauthenticatedRequest: behaviour as "deny" | "allow" | "authenticate",
  };
}

function kept({ Type, Order }: Action): Pick<Action, "Type" | "Order"> {
  return { Type, ...(Order !== undefined && { Order }) };
}

function httpsUrl(name: string, value: string | undefined): void {
  if (!URL.canParse(value ?? "") || !value!.startsWith("https://"))
    throw invalid(`${name} '${value}' must be a full URL with the HTTPS protocol`);
}

function invalid(message: string): ServiceError {
  return new ServiceError("ValidationError", message);
}
