/** How a listener answers: conditions of rules, what is done when they hold, and how requests are rewritten on the way. */
import type { Secret } from "../runtime/secret.ts";
import type { TaggedPart } from "./model.ts";

/** A target group that gets a share of the requests: one of the model, by its name, or one that somebody else made, by its ARN. */
export type ForwardTarget = { readonly weight?: number } & (
  | { readonly group: string; readonly arn?: undefined }
  | { readonly group?: undefined; readonly arn: string }
);

export interface Forward {
  readonly kind: "forward";
  readonly to: readonly ForwardTarget[];
  /** Absent: as it is. */
  readonly stickiness?: { readonly enabled: boolean; readonly seconds?: number };
}

/** What is absent stays as the client asked for it. */
export interface Redirect {
  readonly kind: "redirect";
  readonly protocol?: string;
  readonly host?: string;
  readonly port?: string;
  readonly path?: string;
  readonly query?: string;
  /** `HTTP_301` or `HTTP_302` */
  readonly status: string;
}

export interface FixedResponse {
  readonly kind: "fixed-response";
  readonly status: string;
  readonly contentType?: string;
  readonly body?: string;
}

/** What a log-in is remembered by, and what happens without one. */
export interface LogIn {
  readonly scope: string;
  readonly sessionCookie: string;
  readonly sessionSeconds: number;
  /** `authenticate`, `allow` or `deny` */
  readonly onUnauthenticated: string;
  readonly extraParameters?: Readonly<Record<string, string>>;
}

export interface AuthenticateCognito extends LogIn {
  readonly kind: "authenticate-cognito";
  readonly userPoolArn: string;
  readonly userPoolClientId: string;
  readonly userPoolDomain: string;
}

export interface AuthenticateOidc extends LogIn {
  readonly kind: "authenticate-oidc";
  readonly issuer: string;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userInfoEndpoint: string;
  readonly clientId: Secret;
  /** AWS never tells it: whoever plans knows whether it has changed since it was sent. */
  readonly clientSecret: Secret;
  readonly secretChanged: boolean;
}

export interface ValidateJwt {
  readonly kind: "jwt-validation";
  readonly jwksEndpoint: string;
  readonly issuer: string;
  readonly claims: readonly { readonly format: string; readonly name: string; readonly values: readonly string[] }[];
}

export type Authentication = AuthenticateCognito | AuthenticateOidc | ValidateJwt;
export type Answer = Forward | Redirect | FixedResponse;
export type Action = Authentication | Answer;

/** `wildcard`: `*` and `?` stand for any text and any letter. */
export type Match = "wildcard" | "regex";

export type Condition =
  | { readonly field: "host-header" | "path-pattern"; readonly match: Match; readonly values: readonly string[] }
  | { readonly field: "http-header"; readonly header: string; readonly match: Match; readonly values: readonly string[] }
  | { readonly field: "http-request-method" | "source-ip"; readonly values: readonly string[] }
  | { readonly field: "query-string"; readonly values: readonly { readonly key?: string; readonly value: string }[] };

export interface Transform {
  readonly kind: "url-rewrite" | "host-header-rewrite";
  readonly rewrites: readonly { readonly regex: string; readonly replace: string }[];
}

export interface ListenerRule extends TaggedPart {
  readonly priority: number;
  readonly conditions: readonly Condition[];
  /** In the order in which they are carried out; the last one answers. */
  readonly actions: readonly Action[];
  readonly transforms: readonly Transform[];
  /** `Ingress shop/web routes /api here` */
  readonly why: string;
  /** ARN of a rule that stands and stays what it is: nobody knows what its author wants now. Only its place may change. */
  readonly keeps?: string;
}

/** Whether clients must present certificates, and which are accepted. */
export type MutualTls =
  | { readonly mode: "off" | "passthrough" }
  | {
      readonly mode: "verify";
      /** ARN */
      readonly trustStore: string;
      readonly ignoresExpiry: boolean;
      readonly advertisesNames: boolean;
    };

/** A forward to one group of the model. */
export const forwardTo = (group: string): Forward => ({ kind: "forward", to: [{ group }] });
