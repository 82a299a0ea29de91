/** What filters of a rule do to a request: redirects, and rewrites on the way to a backend. Pure. */
import type { Redirect, Transform } from "../routing.ts";
import { RouteFault } from "./fault.ts";
import type { PathChange, RouteFilter, RouteMatch, RouteRule, RouteView } from "./view.ts";

export const extensionGroup = "gateway.k8s.aws";
export const extensionKind = "ListenerRuleConfiguration";

export interface Filtered {
  readonly redirect?: Redirect;
  readonly transforms: readonly Transform[];
}

const unsupported = (message: string) => new RouteFault("UnsupportedValue", message);

/** Names of the configurations that a rule refers to. Others' extensions are none of ours. */
export function extensionsOf({ filters }: RouteRule): readonly string[] {
  return filters.flatMap((filter) =>
    filter.type === "ExtensionRef" && filter.group === extensionGroup && filter.kind === extensionKind ? [filter.name] : [],
  );
}

export const hasRedirect = ({ filters }: RouteRule) => filters.some(({ type }) => type === "RequestRedirect");

/** For one match of a rule. What follows a redirect is not looked at. Throws a `RouteFault` for what a load balancer cannot do. */
export function filtered(
  route: Pick<RouteView, "kind">,
  { filters }: RouteRule,
  match: RouteMatch | undefined,
  query: string | undefined,
): Filtered {
  const transforms: Transform[] = [];
  for (const filter of filters) {
    if (filter.type === "RequestRedirect" && route.kind === "HTTPRoute")
      return { redirect: redirectOf(filter, query), transforms: [...transforms, ...redirectTransforms(filter, match)] };
    if (filter.type === "URLRewrite" && route.kind === "HTTPRoute") transforms.push(...rewritesOf(filter, match));
    else if (filter.type !== "ExtensionRef")
      throw unsupported(refusal(route.kind, filter.type === "unsupported" ? filter.what : filter.type));
  }
  return { transforms };
}

function refusal(kind: string, type: string): string {
  const others = kind === "HTTPRoute" ? " Only request redirect is supported." : "";
  return `Unsupported filter type: ${type}.${others} To specify header modification, please configure it through LoadBalancerConfiguration.`;
}

const ports: Readonly<Record<string, number>> = { HTTP: 80, HTTPS: 443 };

function redirectOf(filter: RouteFilter & { readonly type: "RequestRedirect" }, query: string | undefined): Redirect {
  const { hostname, path, statusCode } = filter;
  if (statusCode !== 301 && statusCode !== 302) throw unsupported(`redirect status code ${statusCode}: a load balancer answers 301 or 302`);
  const scheme = filter.scheme?.toUpperCase();
  if (scheme !== undefined && ports[scheme] === undefined) throw unsupported(`unsupported redirect scheme: ${filter.scheme}`);
  if (path && /[*?]/.test(path.value)) throw unsupported(`${path.type} shouldn't contain wildcards: ${path.value}`);
  const port = filter.port ?? (scheme === undefined ? undefined : ports[scheme]);
  return {
    kind: "redirect",
    ...(scheme !== undefined && { protocol: scheme }),
    ...(hostname !== undefined && { host: hostname }),
    ...(port !== undefined && { port: String(port) }),
    ...(path?.type === "ReplaceFullPath" && { path: path.value }),
    ...(query !== undefined && { query }),
    status: `HTTP_${statusCode}`,
  };
}

const redirectTransforms = ({ path }: RouteFilter & { readonly type: "RequestRedirect" }, match: RouteMatch | undefined) =>
  path?.type === "ReplacePrefixMatch" ? [pathRewrite(path, match)] : [];

function rewritesOf(
  { hostname, path }: RouteFilter & { readonly type: "URLRewrite" },
  match: RouteMatch | undefined,
): readonly Transform[] {
  return [
    ...(path ? [pathRewrite(path, match)] : []),
    ...(hostname === undefined ? [] : [{ kind: "host-header-rewrite", rewrites: [{ regex: ".*", replace: hostname }] } as const]),
  ];
}

function pathRewrite({ type, value }: PathChange, match: RouteMatch | undefined): Transform {
  const rewrite = (regex: string, replace: string): Transform => ({ kind: "url-rewrite", rewrites: [{ regex, replace }] });
  if (type === "ReplaceFullPath") return rewrite("^([^?]*)", value);
  const prefix = (match?.of === "http" && match.path?.type === "PathPrefix" ? match.path.value : "/").replace(/\/$/, "");
  const replace = value === "" ? "/" : value.endsWith("/") ? value : `${value}$2`;
  return rewrite(`(^${quoted(prefix)}(/)?)`, replace);
}

/** A dot may stand for itself: the condition of the rule has compared the path already, and what the reference made is the same. */
const quoted = (path: string) => path.replace(/[\\^$*+?()[\]{}|]/g, "\\$&");
