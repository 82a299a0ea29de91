/** What comes before a backend's answer: a log-in, or the check of a token. HTTPS listeners only. Pure. */
import { readRows } from "../annotation-rows.ts";
import { clientIn, type SecretData } from "../followed-secrets.ts";
import type { Authentication, LogIn } from "../routing.ts";
import { annotationPrefix, authTable } from "./annotations.ts";
import { MemberFault, type MemberOptions } from "./member.ts";
import type { IngressView, ServiceView } from "./view.ts";

/** A Secret in the namespace of an Ingress that uses it. */
export type SecretReader = (name: string, ingress: IngressView) => SecretData;

/** What stands in front of a backend. Everything is read, also where the listener does without it. */
export function authentication(
  options: MemberOptions,
  service: ServiceView | undefined,
  isSecure: boolean,
  secret: SecretReader,
): readonly Authentication[] {
  const token = options.values["jwt-validation"];
  const logIn = readLogIn(options, service, isSecure, secret);
  if (!isSecure) return [];
  if (logIn && token) throw new MemberFault("authentication and jwt validation can't both be configured");
  return [logIn, token].filter((action): action is Authentication => action !== undefined);
}

/** The Secrets that an Ingress's log-ins name, whether they exist or not. */
export function secretNames(annotations: readonly Readonly<Record<string, string>>[]): readonly string[] {
  const names = annotations.map((each) => valuesOf(each).values["auth-idp-oidc"]?.secretName);
  return [...new Set(names.filter((name): name is string => !!name))];
}

const valuesOf = (annotations: Readonly<Record<string, string>>) =>
  readRows(
    authTable,
    (name) => annotationPrefix + name,
    (name) => annotations[annotationPrefix + name],
    {},
  );

function readLogIn(
  { member: { ingress } }: MemberOptions,
  service: ServiceView | undefined,
  isSecure: boolean,
  secret: SecretReader,
): Authentication | undefined {
  const { values, problems } = valuesOf({ ...ingress.annotations, ...service?.annotations });
  if (problems.length > 0) throw new MemberFault(problems.map(({ message }) => message).join("; "));
  const common = (extraParameters: LogIn["extraParameters"]): LogIn => ({
    scope: values["auth-scope"] ?? "openid",
    sessionCookie: values["auth-session-cookie"] ?? "AWSELBAuthSessionCookie",
    sessionSeconds: values["auth-session-timeout"] ?? 604_800,
    onUnauthenticated: values["auth-on-unauthenticated-request"] ?? "authenticate",
    ...(extraParameters && { extraParameters }),
  });
  const type = values["auth-type"] ?? "none";
  if (!isSecure || type === "none") return undefined;
  if (type === "cognito") {
    const pool = values["auth-idp-cognito"];
    if (pool === undefined) throw new MemberFault("missing IDPConfigCognito");
    return {
      kind: "authenticate-cognito",
      userPoolArn: pool.userPoolARN ?? "",
      userPoolClientId: pool.userPoolClientID ?? "",
      userPoolDomain: pool.userPoolDomain ?? "",
      ...common(pool.authenticationRequestExtraParams),
    };
  }
  const provider = values["auth-idp-oidc"];
  if (provider === undefined) throw new MemberFault("missing IDPConfigOIDC");
  const { namespace } = ingress;
  const name = provider.secretName ?? "";
  const read = secret(name, ingress);
  if ("problem" in read) throw new MemberFault(read.problem);
  const client = clientIn(read.data);
  if ("missing" in client) throw new MemberFault(`missing ${client.missing}, secret: ${namespace}/${name}`);
  return {
    kind: "authenticate-oidc",
    issuer: provider.issuer ?? "",
    authorizationEndpoint: provider.authorizationEndpoint ?? "",
    tokenEndpoint: provider.tokenEndpoint ?? "",
    userInfoEndpoint: provider.userInfoEndpoint ?? "",
    ...client,
    secretChanged: read.changed,
    ...common(provider.authenticationRequestExtraParams),
  };
}
