/**
 * Actions that ask who the user is. The identity provider is not reached: whoever comes back from it with a code counts as signed in,
 * and of tokens the claims are checked, not the signature.
 */
import type { Action } from "@aws-sdk/client-elastic-load-balancing-v2";
import type { Account } from "../account.ts";
import { failure, type Place, type Reply, seeOther } from "./replies.ts";
import { cookieOf, hostOf, parametersOf, type Request, urlOf } from "./request.ts";

/** Where the provider sends the user back to: https://docs.aws.amazon.com/elasticloadbalancing/latest/application/listener-authenticate-users.html */
const CALLBACK = "/oauth2/idpresponse";
const NONCE = "AWSALBAuthNonce";

/** What the action makes of a request: an answer of its own, or leave to go on, with what targets are told. */
export type SignIn = { readonly reply: Reply } | { readonly headers: Readonly<Record<string, string>> };

/** What a sign-in is judged by. */
export interface SignInContext {
  /** The ARN of the rule whose action it is: users come back to it, whatever its conditions. */
  readonly rule: string;
  readonly request: Request;
  readonly place: Place;
  readonly region: Account["region"];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The rule that a user who comes back from the provider left from. */
export function ruleReturnedTo(request: Request): string | undefined {
  if (request.path !== CALLBACK) return undefined;
  const state = readSeal(new Map(parametersOf(request)).get("state"));
  return state === undefined ? undefined : String(state.rule);
}

/** Carries out the action that comes before the one that answers. */
export function signIn(action: Action, context: SignInContext): SignIn {
  switch (action.Type) {
    case "authenticate-oidc": {
      const config = action.AuthenticateOidcConfig!;
      return authenticate({ ...config, endpoint: config.AuthorizationEndpoint!, client: config.ClientId! }, context);
    }
    case "authenticate-cognito": {
      const config = action.AuthenticateCognitoConfig!;
      const domain = config.UserPoolDomain!;
      const host = domain.includes(".") ? domain : `${domain}.auth.${context.region}.amazoncognito.com`;
      return authenticate({ ...config, endpoint: `https://${host}/oauth2/authorize`, client: config.UserPoolClientId! }, context);
    }
    case "jwt-validation":
      return validate(action, context);
    default:
      return { headers: {} };
  }
}

interface Provider {
  readonly endpoint: string;
  readonly client: string;
  readonly SessionCookieName?: string | undefined;
  readonly Scope?: string | undefined;
  readonly SessionTimeout?: number | undefined;
  readonly OnUnauthenticatedRequest?: string | undefined;
  readonly AuthenticationRequestExtraParams?: Readonly<Record<string, string>> | undefined;
}

function authenticate(provider: Provider, { rule, request, place, now }: SignInContext): SignIn {
  // Sessions are cut into cookies of 4 kB each; ours fit into the first.
  const cookie = `${provider.SessionCookieName}-0`;
  const session = readSeal(cookieOf(request, cookie));
  if (session !== undefined && Number(session.until) > now) return { headers: { "x-amzn-oidc-identity": String(session.user) } };
  if (request.path === CALLBACK) return { reply: comeBack(provider, cookie, request, now) };
  if (provider.OnUnauthenticatedRequest === "allow") return { headers: {} };
  if (provider.OnUnauthenticatedRequest === "deny") return { reply: failure(401, "Authorization Required") };
  const origin = `https://${hostOf(request)}${place.port === 443 ? "" : `:${place.port}`}`;
  const location = new URL(provider.endpoint);
  const parameters = {
    client_id: provider.client,
    redirect_uri: `${origin}${CALLBACK}`,
    response_type: "code",
    scope: provider.Scope ?? "openid",
    state: seal({ rule, url: `${origin}${urlOf(request)}` }),
    ...provider.AuthenticationRequestExtraParams,
  };
  for (const [name, value] of Object.entries(parameters)) location.searchParams.set(name, value);
  return { reply: seeOther(location.href, 302, [`${NONCE}=${seal({ client: provider.client })}; Path=/; Secure; HttpOnly`]) };
}

function comeBack(provider: Provider, cookie: string, request: Request, now: number): Reply {
  const given = new Map(parametersOf(request));
  const state = readSeal(given.get("state"));
  if (!given.get("code") || state === undefined) return failure(401, "Authorization Required");
  const seconds = provider.SessionTimeout ?? 0;
  const session = seal({ user: given.get("code"), until: now + seconds * 1000 });
  return seeOther(String(state.url), 302, [`${cookie}=${session}; Max-Age=${seconds}; Path=/; Secure; HttpOnly`]);
}

function validate({ JwtValidationConfig: config }: Action, { request, now }: SignInContext): SignIn {
  const refused = { reply: failure(401, "Unauthorized") };
  const token = /^Bearer ([\w-]+\.[\w-]+\.[\w-]*)$/i.exec(request.headers.authorization?.[0] ?? "")?.[1];
  const claims = token === undefined ? undefined : readClaims(token.split(".")[1]!);
  if (claims === undefined || claims.iss !== config?.Issuer) return refused;
  const seconds = now / 1000;
  if (typeof claims.exp !== "number" || claims.exp <= seconds) return refused;
  for (const name of ["nbf", "iat"]) if (typeof claims[name] === "number" && (claims[name] as number) > seconds) return refused;
  const meets = (config?.AdditionalClaims ?? []).every(({ Name = "", Format, Values = [] }) => {
    const claim = claims[Name];
    const held = Format === "space-separated-values" ? String(claim ?? "").split(" ") : [claim].flat();
    return Values.some((value) => held.includes(value));
  });
  return meets ? { headers: {} } : refused;
}

/** AWS encrypts what it puts into cookies; here it is only wrapped. */
function seal(content: object): string {
  return Buffer.from(JSON.stringify(content)).toString("base64url");
}

function readSeal(text: string | undefined): Readonly<Record<string, unknown>> | undefined {
  return text ? readClaims(text) : undefined;
}

function readClaims(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    return typeof parsed === "object" && parsed !== null ? (parsed as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
