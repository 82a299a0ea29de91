/** What a rule answers, as filters, backends and a ListenerRuleConfiguration of an HTTPRoute's rule. Pure. */
import type { ApiFilter, ApiMatch, ApiRoute } from "../../loadbalancers/gateway/api.ts";
import type { ListenerRuleSettings, RuleAction } from "../../loadbalancers/gateway/config.ts";
import { filtered } from "../../loadbalancers/gateway/filters.ts";
import { routeState } from "../../loadbalancers/gateway/states.ts";
import { secretNames } from "../../loadbalancers/ingress/auth.ts";
import type { Action, Authentication, FixedResponse, Forward, LogIn, Redirect, Transform } from "../../loadbalancers/routing.ts";
import { changesOf } from "./canonical.ts";
import { Inexpressible } from "./matches.ts";

export type ApiRule = NonNullable<NonNullable<ApiRoute["spec"]>["rules"]>[number];
export type BackendRef = NonNullable<ApiRule["backendRefs"]>[number];

export interface AnswerSources {
  /** The Service and port of a target group of the model. */
  backend(group: string): BackendRef | undefined;
  /** Annotations that log-ins are read from: the Ingress's, with those of the one Service behind it. */
  readonly annotations: Readonly<Record<string, string>>;
}

export interface Answered {
  readonly filters: readonly ApiFilter[];
  readonly backendRefs: readonly BackendRef[];
  /** What the rule's configuration says; what comes before the answer stands by itself, because HTTP listeners leave it out. */
  readonly actions: readonly RuleAction[];
  readonly front: readonly RuleAction[];
}

/** Throws `Inexpressible`. */
export function answered(
  actions: readonly Action[],
  transforms: readonly Transform[],
  matches: readonly ApiMatch[],
  sources: AnswerSources,
): Answered {
  const last = actions.at(-1)!;
  const front = actions.slice(0, -1).map((action) => beforeAnswer(action as Authentication, sources));
  const rewrites = transforms.length > 0 && last.kind !== "fixed-response" ? [rewriteOf(transforms, matches)] : [];
  switch (last.kind) {
    case "forward":
      return { front, filters: rewrites, backendRefs: backendsOf(last, sources), actions: stickinessOf(last) };
    case "redirect":
      if (rewrites.length > 0) throw new Inexpressible("transforms.", "a rule of an HTTPRoute redirects or rewrites, not both");
      return { front, ...redirectOf(last), backendRefs: [] };
    case "fixed-response":
      return { front, filters: rewrites, backendRefs: [], actions: [fixedOf(last)] };
    default:
      throw new Inexpressible("actions.", `a rule cannot end with ${last.kind}`);
  }
}

function backendsOf({ to }: Forward, { backend }: AnswerSources): readonly BackendRef[] {
  if (to.every(({ weight }) => weight === 0))
    throw new Inexpressible("actions.", "a Gateway answers 500 where all weights are 0: give one of them a weight, or leave the rule out");
  return to.map(({ group, arn, weight }) => {
    const ref = group === undefined ? standing(arn) : backend(group);
    if (ref === undefined) throw new Inexpressible("actions.", `target group ${group} belongs to no Service`);
    return { ...ref, ...(weight !== undefined && { weight }) };
  });
}

/** A target group that somebody else made. */
function standing(arn: string): BackendRef {
  const [, name] = /:targetgroup\/([^/]+)\//.exec(arn) ?? [];
  if (name === undefined) throw new Inexpressible("actions.", `${arn} is not the ARN of a target group`);
  return { kind: "TargetGroupName", name };
}

function stickinessOf({ stickiness }: Forward): readonly RuleAction[] {
  if (!stickiness?.enabled) return [];
  const { seconds } = stickiness;
  const targetGroupStickinessConfig = { enabled: true, ...(seconds !== undefined && { durationSeconds: seconds }) };
  return [{ type: "forward", forwardConfig: { targetGroupStickinessConfig } }];
}

const hostname = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function redirectOf(redirect: Redirect): Pick<Answered, "filters" | "actions"> {
  const { host, path, port, protocol, query } = changesOf(redirect);
  const lost = (message: string) => new Inexpressible("actions.", message);
  if (host !== undefined && !hostname.test(host))
    throw lost(`an HTTPRoute redirects to a whole host name, not to ${host}: write a route per host`);
  if (protocol !== undefined && port === undefined)
    throw lost(`an HTTPRoute that redirects to ${protocol} also changes the port: name the port in the action, then migrate`);
  if (port !== undefined && !/^\d+$/.test(port)) throw lost(`an HTTPRoute redirects to a port number, not to ${port}`);
  if (path !== undefined && /[*?]/.test(path)) throw lost(`an HTTPRoute redirects to no path with \`*\` or \`?\`: ${path}`);
  return {
    filters: [
      {
        type: "RequestRedirect",
        requestRedirect: {
          ...(protocol !== undefined && { scheme: protocol.toLowerCase() }),
          ...(host !== undefined && { hostname: host }),
          ...(port !== undefined && { port: Number(port) }),
          ...(path !== undefined && { path: { type: "ReplaceFullPath", replaceFullPath: path } }),
          statusCode: Number(redirect.status.replace("HTTP_", "")),
        },
      },
    ],
    actions: query === undefined ? [] : [{ type: "redirect", redirectConfig: { query } }],
  };
}

const fixedOf = ({ status, contentType, body }: FixedResponse): RuleAction => ({
  type: "fixed-response",
  fixedResponseConfig: {
    statusCode: Number(status),
    ...(contentType !== undefined && { contentType }),
    ...(body !== undefined && { messageBody: body }),
  },
});

/** The one rewrite of the API that a Gateway turns into these transforms. */
function rewriteOf(transforms: readonly Transform[], matches: readonly ApiMatch[]): ApiFilter {
  const replaced = (kind: Transform["kind"]) => transforms.find((each) => each.kind === kind)?.rewrites[0]?.replace;
  const [url, host] = [replaced("url-rewrite"), replaced("host-header-rewrite")];
  const named = host === undefined || !hostname.test(host) ? {} : { hostname: host };
  const prefixes = url === undefined ? [] : [url.replace(/\$2$/, ""), ...(url === "/" ? [""] : [])];
  const paths = [
    ...(url === undefined ? [undefined] : [{ type: "ReplaceFullPath", replaceFullPath: url }]),
    ...(matches.length === 1 ? prefixes.map((replacePrefixMatch) => ({ type: "ReplacePrefixMatch", replacePrefixMatch })) : []),
  ];
  const candidates = paths.map((path): ApiFilter => ({ type: "URLRewrite", urlRewrite: { ...named, ...(path && { path }) } }));
  const fitting = candidates.find((filter) =>
    matches.every((match) => JSON.stringify(transformsBy(filter, match)) === JSON.stringify(transforms)),
  );
  if (fitting) return fitting;
  throw new Inexpressible(
    "transforms.",
    "an HTTPRoute replaces a whole path, the prefix that the rule matches, or the host name, and knows no regular expressions: use a URLRewrite filter, or rewrite in the application",
  );
}

/** What a Gateway makes of a rewrite. */
function transformsBy(filter: ApiFilter, match: ApiMatch): readonly Transform[] {
  const meta = { name: "", uid: "", resourceVersion: "" };
  const { view } = routeState("HTTPRoute", { metadata: meta, spec: { rules: [{ matches: [match], filters: [filter] }] } });
  const [rule] = view.rules;
  return filtered(view, rule!, rule!.matches[0], undefined).transforms;
}

function beforeAnswer(action: Authentication, { annotations }: AnswerSources): RuleAction {
  switch (action.kind) {
    case "jwt-validation":
      return {
        type: action.kind,
        jwtValidationConfig: {
          issuer: action.issuer,
          jwksEndpoint: action.jwksEndpoint,
          ...(action.claims.length > 0 && { additionalClaims: action.claims }),
        },
      };
    case "authenticate-cognito": {
      const { userPoolArn, userPoolClientId, userPoolDomain } = action;
      return { type: action.kind, authenticateCognitoConfig: { userPoolArn, userPoolClientId, userPoolDomain, ...logInOf(action) } };
    }
    case "authenticate-oidc": {
      const { issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint } = action;
      const [secret = ""] = secretNames([annotations]);
      const provider = { issuer, authorizationEndpoint, tokenEndpoint, userInfoEndpoint, secret: { name: secret } };
      return { type: action.kind, authenticateOIDCConfig: { ...provider, ...logInOf(action) } };
    }
  }
}

const logInOf = ({ scope, sessionCookie, sessionSeconds, onUnauthenticated, extraParameters }: LogIn) => ({
  scope,
  sessionCookieName: sessionCookie,
  sessionTimeout: sessionSeconds,
  onUnauthenticatedRequest: onUnauthenticated as "authenticate",
  ...(extraParameters && { authenticationRequestExtraParams: extraParameters }),
});

/** A configuration of a rule; undefined where there is nothing to say. */
export function settingsOf(
  actions: readonly RuleAction[],
  sources: readonly (readonly string[])[],
  tags: Readonly<Record<string, string>> | undefined,
): ListenerRuleSettings | undefined {
  const [only, ...others] = sources;
  if (others.length > 0)
    throw new Inexpressible("conditions.", "a rule of a Gateway compares the client's address once: join the blocks in one condition");
  const settings: ListenerRuleSettings = {
    ...(actions.length > 0 && { actions }),
    ...(only && { conditions: [{ field: "source-ip", sourceIPConfig: { values: only } }] }),
    ...(tags && { tags }),
  };
  return Object.keys(settings).length > 0 ? settings : undefined;
}
