/** The rules of an Ingress on one listener: paths and conditions in the order in which they hold, and what answers them. Pure. */
import type { Action, Condition, FixedResponse, Match, Transform } from "../routing.ts";
import { authentication, type SecretReader } from "./auth.ts";
import { type Backend, type BackendContext, backendOf } from "./backends.ts";
import type { Protocol } from "./listen-ports.ts";
import { MemberFault, type MemberOptions, readFamily } from "./member.ts";
import type { BackendShare } from "./routing-json.ts";
import type { BackendView, IngressView, PathView, ServiceView } from "./view.ts";

export interface RuleSources extends BackendContext {
  service(namespace: string, name: string): ServiceView | undefined;
  readonly secret: SecretReader;
  /** The ARN of a target group that somebody else made, by its name. */
  targetGroupArn(name: string): string | undefined;
}

/** A rule before it has a place. */
export interface DraftRule {
  readonly conditions: readonly Condition[];
  readonly actions: readonly Action[];
  readonly transforms: readonly Transform[];
  readonly why: string;
}

/** Target groups that rules of an Ingress lead to, each once. */
export type Backends = Map<string, Backend>;

/** Throws a `MemberFault` for what is wrong with any of them. */
export function rulesOf(options: MemberOptions, protocol: Protocol, sources: RuleSources, backends: Backends): readonly DraftRule[] {
  const { ingress } = options.member;
  return ingress.rules.flatMap(({ host, paths }) =>
    sortedPaths(paths).map((path) => {
      const { service } = path.backend;
      const more = service ? (readFamily(options, "conditions.", service.name) ?? []) : [];
      return {
        conditions: conditionsOf(host, patternsOf(path, options.values["use-regex-path-match"] ?? false), more),
        actions: actionsOf(options, path.backend, protocol, sources, backends),
        transforms: service ? (readFamily(options, "transforms.", service.name) ?? []) : [],
        why: `Ingress ${options.key} routes ${host}${path.path || "/*"} here`,
      };
    }),
  );
}

/** What a backend answers, with what stands in front of it. */
export function actionsOf(
  options: MemberOptions,
  backend: BackendView,
  protocol: Protocol,
  sources: RuleSources,
  backends: Backends,
): readonly Action[] {
  const { service } = backend;
  if (service === undefined) throw new MemberFault('missing required "service" field');
  const wish = service.port === "use-annotation" ? annotated(options, service.name, sources) : forwardTo(service.name, service.port);
  if (wish.kind !== "forward") return [...authentication(options, undefined, protocol === "HTTPS", sources.secret), wish];
  const { namespace } = options.member.ingress;
  const [only, ...others] = wish.to;
  const single = only && "service" in only && others.length === 0 ? sources.service(namespace, only.service) : undefined;
  const front = authentication(options, single, protocol === "HTTPS", sources.secret);
  if (only && "service" in only && others.length === 0 && single === undefined && sources.settings.toleratesMissingService) {
    return [...front, unavailable("Backend service does not exist")];
  }
  const to = wish.to.map((share) => resolved(share, options, sources, backends));
  if (to.length > 1 && !sources.settings.gates.weightedTargetGroups) throw new MemberFault("weighted target groups feature is disabled");
  return [...front, { ...wish, to }];
}

const forwardTo = (service: string, port: number | string) =>
  ({ kind: "forward", to: [{ service, port }] as readonly BackendShare[] }) as const;

const unavailable = (body: string): FixedResponse => ({ kind: "fixed-response", status: "503", contentType: "text/plain", body });

function annotated(options: MemberOptions, name: string, { settings }: RuleSources) {
  const action = readFamily(options, "actions.", name);
  if (action !== undefined) return action;
  if (settings.toleratesMissingAction) return unavailable("Backend action does not exist");
  throw new MemberFault(`missing actions.${name} configuration`);
}

function resolved(share: BackendShare, options: MemberOptions, sources: RuleSources, backends: Backends) {
  const weight = share.weight === undefined ? {} : { weight: share.weight };
  if ("targetGroupArn" in share) return { arn: share.targetGroupArn, ...weight };
  if ("targetGroupName" in share) {
    const arn = sources.targetGroupArn(share.targetGroupName);
    if (arn === undefined) throw new MemberFault(`searching TargetGroup with name ${share.targetGroupName}: not found`);
    return { arn, ...weight };
  }
  const { namespace } = options.member.ingress;
  const service = sources.service(namespace, share.service);
  if (service === undefined) throw new MemberFault(`Service "${namespace}/${share.service}" not found`);
  const key = `${share.service}:${share.port}`;
  const backend = backends.get(key) ?? backendOf(options, service, share.port, sources);
  backends.set(key, backend);
  return { group: backend.group.name, ...weight };
}

/** Exact ones, then prefixes from the longest on, then the others; equals stay as they are written. */
function sortedPaths(paths: readonly PathView[]): readonly PathView[] {
  const of = (type: string) => paths.filter(({ pathType }) => (pathType || "ImplementationSpecific") === type);
  const known = [of("Exact"), of("Prefix").toSorted((a, b) => b.path.length - a.path.length), of("ImplementationSpecific")].flat();
  const unknown = paths.find((path) => !known.includes(path));
  if (unknown) throw new MemberFault(`unknown pathType for path ${unknown.path}`);
  return known;
}

/** What a rule is asked for by, without what annotations add to it. */
export interface Route {
  readonly hosts: readonly string[];
  readonly paths: readonly string[];
}

/** What an Ingress writes, as far as it can be read; whether paths are regular expressions is left open. */
export function routesOf({ rules }: IngressView): readonly Route[] {
  return rules.flatMap(({ host, paths }) =>
    paths.flatMap((path): Route[] => {
      const isSpecific = (path.pathType || "ImplementationSpecific") === "ImplementationSpecific";
      if (!isSpecific && /[*?]/.test(path.path)) return [];
      const hosts = host === "" ? [] : [host];
      const plain = patternsOf(path, false).values;
      const own = [{ hosts, paths: plain.length === 0 && hosts.length === 0 ? ["/*"] : plain }];
      return isSpecific && path.path !== "" ? [...own, { hosts, paths: patternsOf(path, true).values }] : own;
    }),
  );
}

interface Patterns {
  readonly match: Match;
  readonly values: readonly string[];
}

/** A path of Kubernetes in AWS's patterns. */
function patternsOf({ path, pathType }: PathView, isRegex: boolean): Patterns {
  const wildcard = (...values: readonly string[]): Patterns => ({ match: "wildcard", values });
  const hasWildcards = /[*?]/.test(path);
  if (path === "") return wildcard();
  if (pathType === "Exact") {
    if (hasWildcards) throw new MemberFault(`exact path shouldn't contain wildcards: ${path}`);
    return wildcard(path);
  }
  if (pathType === "Prefix") {
    if (hasWildcards) throw new MemberFault(`prefix path shouldn't contain wildcards: ${path}`);
    const base = path.replace(/\/$/, "");
    return base === "" ? wildcard("/*") : wildcard(base, `${base}/*`);
  }
  return isRegex ? { match: "regex", values: [path.slice(1)] } : wildcard(path);
}

/** Conditions of annotations come first; all hosts are one condition, and all paths. */
function conditionsOf(host: string, path: Patterns, more: readonly Condition[]): readonly Condition[] {
  const others = more.filter(({ field }) => field !== "host-header" && field !== "path-pattern");
  const hosts = merged("host-header", { match: "wildcard", values: host === "" ? [] : [host] }, more);
  const paths = merged("path-pattern", path, more);
  const all = [...others, ...hosts, ...paths];
  return all.length > 0 ? all : [{ field: "path-pattern", match: "wildcard", values: ["/*"] }];
}

function merged(field: "host-header" | "path-pattern", own: Patterns, more: readonly Condition[]): readonly Condition[] {
  const all = [
    own,
    ...more.flatMap((each) => (each.field === field ? [{ match: (each as Patterns).match, values: (each as Patterns).values }] : [])),
  ].filter(({ values }) => values.length > 0);
  const [first] = all;
  if (first === undefined) return [];
  if (all.some(({ match }) => match !== first.match)) {
    const name = field === "host-header" ? "host" : "path";
    throw new MemberFault(`${name} condition must specify exactly one of Values and RegexValues`);
  }
  return [{ field, match: first.match, values: all.flatMap(({ values }) => values) }];
}
