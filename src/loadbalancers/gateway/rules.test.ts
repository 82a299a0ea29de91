import assert from "node:assert/strict";
import { test } from "node:test";
import { Secret } from "../../runtime/secret.ts";
import type { ApplicationLoadBalancer } from "../model.ts";
import type { Action } from "../routing.ts";
import type { ListenerRuleSettings, RuleAction } from "./config.ts";
import { backend, desired, gateway, match, route, rule, type Scene, service } from "./gateway.fixture.ts";
import { compareRules, type Placed } from "./precedence.ts";
import type { RouteFilter, RouteMatch } from "./view.ts";

const listenersOf = (scene: Scene) => (desired(scene).model as ApplicationLoadBalancer).listeners;
const rulesOf = (scene: Scene) => listenersOf(scene)[0]?.rules ?? [];
const failuresOf = (scene: Scene) => [...desired(scene).failures.values()].flat().map(({ reason, message }) => `${reason}: ${message}`);
const withMatch = (each: RouteMatch, hostnames: readonly string[] = []): Scene => ({
  routes: [route("web", [rule(["web:80"], { matches: [each] })], { hostnames })],
});
const withFilters = (filters: readonly RouteFilter[], path = "PathPrefix /foo"): Scene => ({
  routes: [route("web", [rule(["web:80"], { filters, matches: [match(path)] })])],
});
const value = (type: string, name: string, text: string) => ({ type, name, value: text });

test("every condition of an HTTP match, in their order", () => {
  const all = match("Exact /a", { headers: [value("Exact", "X-A", "1")], queries: [value("Exact", "q", "v")], method: "GET" });
  assert.deepEqual(rulesOf(withMatch(all, ["a.com"]))[0]?.conditions, [
    { field: "host-header", match: "wildcard", values: ["a.com"] },
    { field: "path-pattern", match: "wildcard", values: ["/a"] },
    { field: "http-header", header: "X-A", match: "wildcard", values: ["1"] },
    { field: "query-string", values: [{ key: "q", value: "v" }] },
    { field: "http-request-method", values: ["GET"] },
  ]);
});

test("paths and headers as AWS writes them", () => {
  const path = (text: string) => rulesOf(withMatch(match(text)))[0]?.conditions[0];
  assert.deepEqual(path("PathPrefix /"), { field: "path-pattern", match: "wildcard", values: ["/*"] });
  assert.deepEqual(path("PathPrefix /a"), { field: "path-pattern", match: "wildcard", values: ["/a", "/a/*"] });
  assert.deepEqual(path("PathPrefix /a/"), { field: "path-pattern", match: "wildcard", values: ["/a", "/a/*"] });
  assert.deepEqual(path("RegularExpression /a.+"), { field: "path-pattern", match: "regex", values: ["/a.+"] });
  const header = (type: string, text: string) =>
    rulesOf(withMatch(match(undefined, { headers: [value(type, "h", text)] })))[0]?.conditions[0];
  assert.deepEqual(header("Exact", "a,b\\,c"), { field: "http-header", header: "h", match: "wildcard", values: ["a", "b,c"] });
  assert.deepEqual(header("RegularExpression", "a,b"), { field: "http-header", header: "h", match: "regex", values: ["a,b"] });
});

test("every condition of a gRPC match", () => {
  const path = (call?: { type: string; service: string; method: string }) => {
    const routes = [
      route("web", [rule(["web:80"], { matches: [{ of: "grpc", ...(call && { call }), headers: [] }] })], { kind: "GRPCRoute" }),
    ];
    const sources = { certificates: () => [{ arn: "arn:c", domains: ["a.com"] }] };
    return rulesOf({ gateway: gateway(["HTTPS:443 a.com"]), routes, sources })[0]?.conditions[1];
  };
  const wildcard = (text: string) => ({ field: "path-pattern", match: "wildcard", values: [text] });
  assert.deepEqual(path({ type: "Exact", service: "s", method: "m" }), wildcard("/s/m"));
  assert.deepEqual(path({ type: "Exact", service: "s", method: "" }), wildcard("/s/*"));
  assert.deepEqual(path({ type: "Exact", service: "", method: "m" }), wildcard("/*/m"));
  assert.deepEqual(path(), wildcard("/*"));
  assert.deepEqual(path({ type: "RegularExpression", service: "s.*", method: "" }), {
    field: "path-pattern",
    match: "regex",
    values: ["^/s.*/[^/]+$"],
  });
});

test("what no condition can say is told to its route, and the others are served", () => {
  const bad: readonly [RouteMatch, RegExp][] = [
    [match("PathPrefix /a*"), /^UnsupportedValue: prefix path shouldn't contain wildcards: \/a\*$/],
    [match(undefined, { queries: [value("RegularExpression", "q", ".*")] }), /^UnsupportedValue: query parameter q/],
    [match("PathPrefix /a", { headers: [value("Exact", "h", "1,2,3,4")] }), /takes 6 values/],
  ];
  for (const [each, told] of bad) {
    const scene: Scene = { routes: [route("bad", [rule(["web:80"], { matches: [each] })]), route("good")] };
    assert.match(failuresOf(scene).join(), told);
    assert.deepEqual(
      rulesOf(scene).map(({ by }) => by),
      ["HTTPRoute shop/good rule 0 on port 80"],
    );
  }
});

test("a rule per host name, rule and match, by precedence, numbered from 1", () => {
  const first = route("a", [rule(["web:80"], { matches: [match("PathPrefix /"), match("Exact /x")] }), rule(["api:80"], { matches: [] })], {
    hostnames: ["a.com", "*.a.com"],
  });
  const scene: Scene = { routes: [first, route("b")] };
  const text = rulesOf(scene).map(({ priority, conditions, part }) => {
    const of = (field: string) => conditions.find((each) => each.field === field)?.values[0] ?? "-";
    return `${priority} ${part} ${of("host-header")} ${of("path-pattern")}`;
  });
  assert.deepEqual(text, [
    "1 80:1 a.com /x",
    "2 80:2 a.com /*",
    "3 80:3 a.com -",
    "4 80:4 *.a.com /x",
    "5 80:5 *.a.com /*",
    "6 80:6 *.a.com -",
    "7 80:7 - /*",
  ]);
});

const placed = (more: Partial<Placed>): Placed => ({
  hostname: "",
  route: { namespace: "shop", name: "web", createdAt: "2026-01-02T00:00:00Z" },
  ruleIndex: 0,
  matchIndex: 0,
  match: match("PathPrefix /"),
  ...more,
});
const grpc = (type: string, of: string, method: string): RouteMatch => ({ of: "grpc", call: { type, service: of, method }, headers: [] });
const header = value("Exact", "h", "1");

/** Each goes before the next. */
const ladder: readonly Placed[] = [
  placed({ hostname: "x.a.com" }),
  placed({ hostname: "aaaaaaaa.com" }),
  placed({ hostname: "a.com", match: match("Exact /long/path") }),
  placed({ hostname: "a.com", match: match("Exact /x") }),
  placed({ hostname: "a.com", match: match("PathPrefix /longer") }),
  placed({ hostname: "a.com", match: match("PathPrefix /a") }),
  placed({ hostname: "a.com", match: match("RegularExpression /longest.*") }),
  placed({ hostname: "a.com", match: match() }),
  placed({ hostname: "*.x.a.com" }),
  placed({ hostname: "*.a.com" }),
  placed({ match: grpc("Exact", "service", "method") }),
  placed({ match: grpc("Exact", "service", "m") }),
  placed({ match: match("Exact /a") }),
  placed({ match: match("PathPrefix /", { method: "GET" }) }),
  placed({ match: match("PathPrefix /", { headers: [header, header] }) }),
  placed({ match: match("PathPrefix /", { headers: [header] }) }),
  placed({ match: match("PathPrefix /", { queries: [header] }) }),
  placed({ route: { namespace: "shop", name: "web", createdAt: "2026-01-01T00:00:00Z" } }),
  placed({ route: { namespace: "shop", name: "api", createdAt: "2026-01-02T00:00:00Z" } }),
  placed({ ruleIndex: 0, matchIndex: 0 }),
  placed({ ruleIndex: 0, matchIndex: 1 }),
  placed({ ruleIndex: 1, matchIndex: 0 }),
  { ...placed({}), match: undefined, matchIndex: Number.POSITIVE_INFINITY } as unknown as Placed,
];

test("which rule goes before which", () => {
  for (const [i, a] of ladder.entries())
    for (const [j, b] of ladder.entries()) assert.equal(Math.sign(compareRules(a, b)), Math.sign(i - j), `${i} and ${j}`);
});

test("a redirect: its fields, ports of schemes, and what a load balancer cannot do", () => {
  const redirect = (more: object, path?: string) =>
    rulesOf(withFilters([{ type: "RequestRedirect", statusCode: 302, ...more } as RouteFilter], path))[0];
  const first = (more: object) => redirect(more)?.actions[0];
  assert.deepEqual(first({}), { kind: "redirect", status: "HTTP_302" });
  assert.deepEqual(
    first({ statusCode: 301, hostname: "b.com", port: 8443, scheme: "https", path: { type: "ReplaceFullPath", value: "/b" } }),
    {
      kind: "redirect",
      status: "HTTP_301",
      host: "b.com",
      port: "8443",
      protocol: "HTTPS",
      path: "/b",
    },
  );
  assert.deepEqual(first({ scheme: "http" }), { kind: "redirect", status: "HTTP_302", protocol: "HTTP", port: "80" });
  assert.deepEqual(first({ scheme: "https" }), { kind: "redirect", status: "HTTP_302", protocol: "HTTPS", port: "443" });
  const prefix = redirect({ path: { type: "ReplacePrefixMatch", value: "/bar" } });
  assert.deepEqual(prefix?.transforms, [{ kind: "url-rewrite", rewrites: [{ regex: "(^/foo(/)?)", replace: "/bar$2" }] }]);
  for (const [more, told] of [
    [{ scheme: "ftp" }, "unsupported redirect scheme: ftp"],
    [{ statusCode: 308 }, "redirect status code 308: a load balancer answers 301 or 302"],
    [{ path: { type: "ReplaceFullPath", value: "/b*" } }, "ReplaceFullPath shouldn't contain wildcards: /b*"],
    [{ path: { type: "ReplacePrefixMatch", value: "/b?" } }, "ReplacePrefixMatch shouldn't contain wildcards: /b?"],
  ] as const) {
    const scene = withFilters([{ type: "RequestRedirect", statusCode: 302, ...more } as RouteFilter]);
    assert.deepEqual(failuresOf(scene), [`UnsupportedValue: ${told}`]);
    assert.deepEqual(rulesOf(scene)[0]?.actions, [{ kind: "fixed-response", status: "500", contentType: "text/plain" }]);
  }
});

test("filters that no load balancer has are refused to their rule; what follows a redirect is not looked at", () => {
  const header: RouteFilter = { type: "unsupported", what: "RequestHeaderModifier" };
  assert.match(
    failuresOf(withFilters([header]))[0] ?? "",
    /^UnsupportedValue: Unsupported filter type: RequestHeaderModifier\. Only request redirect/,
  );
  assert.deepEqual(failuresOf(withFilters([{ type: "RequestRedirect", statusCode: 302 }, header])), []);
  assert.deepEqual(failuresOf(withFilters([{ type: "ExtensionRef", group: "other.io", kind: "Any", name: "x" }])), []);
});

test("rewrites of paths keep their separators and compare paths literally", () => {
  const rewrite = (type: string, text: string, path?: string) => {
    const transforms = rulesOf(withFilters([{ type: "URLRewrite", path: { type, value: text } } as RouteFilter], path))[0]?.transforms;
    return transforms?.[0]?.rewrites[0];
  };
  assert.deepEqual(rewrite("ReplaceFullPath", "/b"), { regex: "^([^?]*)", replace: "/b" });
  assert.deepEqual(rewrite("ReplacePrefixMatch", "/bar"), { regex: "(^/foo(/)?)", replace: "/bar$2" });
  assert.deepEqual(rewrite("ReplacePrefixMatch", "/bar/"), { regex: "(^/foo(/)?)", replace: "/bar/" });
  assert.deepEqual(rewrite("ReplacePrefixMatch", ""), { regex: "(^/foo(/)?)", replace: "/" });
  assert.deepEqual(rewrite("ReplacePrefixMatch", "/api", "PathPrefix /"), { regex: "(^(/)?)", replace: "/api$2" });
  assert.deepEqual(rewrite("ReplacePrefixMatch", "/b", "PathPrefix /a+(b)/v1.0"), { regex: "(^/a\\+\\(b\\)/v1.0(/)?)", replace: "/b$2" });
  // What AWS does with them.
  const apply = ({ regex, replace }: { readonly regex: string; readonly replace: string }, path: string) =>
    path.replace(new RegExp(regex), replace);
  assert.equal(apply(rewrite("ReplacePrefixMatch", "/api", "PathPrefix /")!, "/x"), "/api/x");
  assert.equal(apply(rewrite("ReplacePrefixMatch", "")!, "/foo/x"), "/x");
  assert.equal(apply(rewrite("ReplacePrefixMatch", "/bar")!, "/foo"), "/bar");
  const host = rulesOf(withFilters([{ type: "URLRewrite", hostname: "b.com" }]))[0]?.transforms;
  assert.deepEqual(host, [{ kind: "host-header-rewrite", rewrites: [{ regex: ".*", replace: "b.com" }] }]);
});

const actionsOf = (scene: Scene): readonly Action[] => rulesOf(scene)[0]?.actions ?? [];
const backends = (...all: Parameters<typeof rule>[0]): Scene => ({ routes: [route("web", [rule(all)])] });
const unavailable = { kind: "fixed-response", status: "500", contentType: "text/plain" };

test("requests are shared by weight; where nothing takes any the answer is 500", () => {
  const shares = (scene: Scene) => {
    const [action] = actionsOf(scene);
    return action?.kind === "forward" ? action.to.map(({ weight }) => weight) : action;
  };
  assert.deepEqual(shares(backends("web:80", "api:80 3")), [1, 3]);
  assert.deepEqual(shares(backends("web:80 0", "api:80 999")), [0, 999]);
  assert.deepEqual(shares(backends("web:80 0", "api:80 0")), unavailable);
  assert.deepEqual(shares(backends()), unavailable);
  assert.deepEqual(shares(backends("web:80 1000")), unavailable);
  assert.deepEqual(failuresOf(backends("web:80 1000")), ["UnsupportedValue: Weight [1000] must be less than or equal to 999"]);
  assert.deepEqual(shares(backends("gone:80", "api:80 3")), [3]);
});

test("what backends cannot be, each with its reason", () => {
  for (const [ref, told] of [
    [backend("web"), "UnsupportedValue: Port is required"],
    [backend("gone:80"), "BackendNotFound: Service (shop:gone) not found)"],
    [backend("web:81"), "BackendNotFound: Unable to find service port for port 81"],
    [backend("other/web:80"), "RefNotPermitted: No explicit ReferenceGrant exists to allow the reference."],
    [backend("ServiceImport web:80"), "InvalidKind: Unknown backend reference kind"],
    [backend("toString web:80"), "InvalidKind: Unknown backend reference kind"],
    [backend("TargetGroupName mine"), "BackendNotFound: searching TargetGroup with name mine: not found"],
    [backend("Gateway inner:80"), "BackendNotFound: Gateway (shop:inner) not found)"],
  ] as const) {
    assert.deepEqual(failuresOf(backends(ref)), [told]);
    assert.deepEqual(actionsOf(backends(ref)), [unavailable]);
  }
});

test("a target group that somebody else made, by its name", () => {
  const [action] = actionsOf({ ...backends(backend("TargetGroupName mine 2")), sources: { targetGroupArn: () => "arn:mine" } });
  assert.deepEqual(action, { kind: "forward", to: [{ arn: "arn:mine", weight: 2 }] });
});

test("a grant lets a route refer to another namespace: of its kind and namespace, to all or to one by name", () => {
  const granted = (more: object = {}, name?: string) => {
    const from = [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "shop", ...more }];
    const grants = [{ namespace: "other", name: "g", from, to: [{ group: "", kind: "Service", ...(name && { name }) }] }];
    const found = (key: string) => (key === "other/web" ? service("web", { namespace: "other" }) : undefined);
    return failuresOf({ ...backends("other/web:80"), sources: { grants, service: found } }).length === 0;
  };
  assert.equal(granted(), true);
  assert.equal(granted({}, "web"), true);
  assert.equal(granted({}, "api"), false);
  assert.equal(granted({ kind: "GRPCRoute" }), false);
  assert.equal(granted({ namespace: "team" }), false);
});

const extension: RouteFilter = { type: "ExtensionRef", group: "gateway.k8s.aws", kind: "ListenerRuleConfiguration", name: "cfg" };

function configured(settings: ListenerRuleSettings, more: Partial<Scene> = {}, filters: readonly RouteFilter[] = [extension]): Scene {
  const view = { namespace: "shop", name: "cfg", uid: "u", settings, accepted: true };
  return {
    gateway: gateway(["HTTPS:443 a.com"]),
    routes: [route("web", [rule(["web:80"], { filters })])],
    ...more,
    sources: { certificates: () => [{ arn: "arn:c", domains: ["a.com"] }], ruleConfiguration: () => view, ...more.sources },
  };
}
const actions = (...all: readonly RuleAction[]): ListenerRuleSettings => ({ actions: all });
const oidc = (more: object = {}): RuleAction => ({
  type: "authenticate-oidc",
  authenticateOIDCConfig: {
    issuer: "https://i",
    authorizationEndpoint: "https://a",
    tokenEndpoint: "https://t",
    userInfoEndpoint: "https://u",
    secret: { name: "client" },
    ...more,
  },
});

test("a ListenerRuleConfiguration: fixed responses, stickiness, queries of redirects, addresses, tags", () => {
  const fixed: RuleAction = { type: "fixed-response", fixedResponseConfig: { statusCode: 503, messageBody: "no" } };
  assert.deepEqual(actionsOf(configured(actions(fixed))), [
    { kind: "fixed-response", status: "503", contentType: "text/plain", body: "no" },
  ]);
  // It beats everything, and filters are not looked at then.
  assert.deepEqual(failuresOf(configured(actions(fixed), {}, [extension, { type: "unsupported", what: "CORS" }])), []);
  const [forward] = actionsOf(configured(actions({ type: "forward" })));
  assert.deepEqual(forward?.kind === "forward" && forward.stickiness, { enabled: false, seconds: 3600 });
  const redirecting = configured(actions({ type: "redirect", redirectConfig: { query: "a=b" } }), {}, [
    extension,
    { type: "RequestRedirect", statusCode: 301 },
  ]);
  assert.deepEqual(actionsOf(redirecting), [{ kind: "redirect", status: "HTTP_301", query: "a=b" }]);
  assert.match(
    failuresOf(configured(actions({ type: "redirect" })))[0] ?? "",
    /^IncompatibleFilters: HTTPRouteFilterRequestRedirect must be provided/,
  );
  const conditions = [{ field: "source-ip", sourceIPConfig: { values: ["10.0.0.0/8"] }, matchIndexes: [1] }] as const;
  const two = route("web", [rule(["web:80"], { filters: [extension], matches: [match("Exact /a"), match("Exact /b")] })]);
  assert.deepEqual(
    rulesOf(configured({ conditions }, { routes: [two] })).map((each) => each.conditions.some(({ field }) => field === "source-ip")),
    [false, true],
  );
  assert.equal(rulesOf(configured({ tags: { team: "a" } }))[0]?.tags?.team, "a");
});

test("what comes before an answer, on HTTPS alone", () => {
  const secret = () => ({ data: { clientID: "id \n", clientSecret: "secret\n" }, changed: false });
  const [first, second] = actionsOf(configured(actions(oidc()), { sources: { secret } }));
  assert.ok(first?.kind === "authenticate-oidc" && second?.kind === "forward");
  assert.deepEqual([first.clientId.reveal(), first.clientSecret.reveal()], ["id", "secret"]);
  assert.deepEqual(
    [first.scope, first.sessionCookie, first.sessionSeconds, first.onUnauthenticated],
    ["openid", "AWSELBAuthSessionCookie", 604_800, "authenticate"],
  );
  const legacy = () => ({ data: { clientId: "old", clientSecret: "s" }, changed: false });
  const [old] = actionsOf(configured(actions(oidc()), { sources: { secret: legacy } }));
  assert.deepEqual(old?.kind === "authenticate-oidc" && old.clientId.reveal(), "old");
  assert.ok(first.clientSecret instanceof Secret);
  const plain = configured(actions(oidc()), { gateway: gateway(["HTTP:80"]), sources: { secret } });
  assert.deepEqual(
    actionsOf(plain).map(({ kind }) => kind),
    ["forward"],
  );
  const jwt: RuleAction = { type: "jwt-validation", jwtValidationConfig: { issuer: "i", jwksEndpoint: "j" } };
  assert.deepEqual(actionsOf(configured(actions(jwt)))[0], { kind: "jwt-validation", issuer: "i", jwksEndpoint: "j", claims: [] });
  const pool = { userPoolArn: "arn", userPoolClientId: "c", userPoolDomain: "d" };
  const [cognito] = actionsOf(configured(actions({ type: "authenticate-cognito", authenticateCognitoConfig: pool })));
  assert.equal(cognito?.kind, "authenticate-cognito");
  // Also in front of an error.
  const gone = configured(actions(jwt), { routes: [route("web", [rule(["gone:80"], { filters: [extension] })])] });
  assert.deepEqual(
    actionsOf(gone).map(({ kind }) => kind),
    ["jwt-validation", "fixed-response"],
  );
});

test("a configuration that cannot be used: 500, or still a redirect; and its Secret's faults are named", () => {
  const unusable = (sources: object, filters?: readonly RouteFilter[]) => configured({}, { sources }, filters);
  const view = { namespace: "shop", name: "cfg", uid: "u", settings: {} };
  const cases: readonly [object, RegExp][] = [
    [{ ruleConfiguration: () => undefined }, /ListenerRuleConfiguration \[shop\/cfg\] not found\)/],
    [{ ruleConfiguration: () => view }, /is not accepted\. Reason: {2}status unknown\)/],
    [{ ruleConfiguration: () => ({ ...view, accepted: false, message: "no" }) }, /is not accepted\. Reason: {2}no\)/],
  ];
  const modelOf = (scene: Scene) => desired(scene).model as ApplicationLoadBalancer;
  const groupsOf = (scene: Scene) => modelOf(scene).targetGroups.map(({ name }) => name);
  const standing = modelOf(configured({})).targetGroups.map((group) => ({ ...group, arn: "arn:tg", targets: [] }));
  assert.equal(standing.length, 1);
  for (const [sources, told] of cases) {
    assert.match(failuresOf(unusable(sources))[0] ?? "", told);
    assert.deepEqual(actionsOf(unusable(sources)), [unavailable]);
    assert.deepEqual(groupsOf(unusable(sources)), [], "nothing is made behind it");
    assert.deepEqual(
      groupsOf(unusable({ ...sources, targetGroups: standing })),
      standing.map(({ name }) => name),
      "what stands stays",
    );
    assert.equal(actionsOf(unusable(sources, [extension, { type: "RequestRedirect", statusCode: 302 }]))[0]?.kind, "redirect");
  }
  assert.match(failuresOf(configured({}, {}, [extension, extension]))[0] ?? "", /Only one listener rule config can be referenced/);
  const withData = (data: Readonly<Record<string, string>>) =>
    failuresOf(configured(actions(oidc()), { sources: { secret: () => ({ data, changed: false }) } }))[0];
  assert.equal(withData({ clientSecret: "s" }), "IncompatibleFilters: missing clientID, secret: shop/client");
  assert.equal(withData({ clientID: "i" }), "IncompatibleFilters: missing clientSecret, secret: shop/client");
});

test("of a rule that AWS has refused what stands stays where it is, and the others are served", () => {
  const path = (value: string) => ({ Field: "path-pattern", PathPatternConfig: { Values: [value, `${value}/*`] } });
  const standing = (priority: number, value: string, group: string) => ({
    arn: `arn:${value}`,
    priority,
    actions: [{ Type: "forward" as const, TargetGroupArn: group }],
    conditions: [path(value)],
    transforms: [],
    tags: { mine: "yes" },
  });
  const rules = [standing(1, "/longer", "arn:o"), standing(2, "/old", "arn:t"), standing(3, "/s", "arn:o")];
  const sources = {
    refusal: (key: string) => (key === "HTTPRoute shop/bad rule 0 on port 80" ? "AWS says no" : undefined),
    standingListeners: [{ port: 80, protocol: "HTTP", certificates: [], actions: [], rules }],
    targetGroups: [{ arn: "arn:t", name: "t", part: "shop/edge:shop-bad:HTTPRoute-shop-web:8080" } as never],
  };
  const at = (value: string) => rule(["web:80"], { matches: [match(`PathPrefix ${value}`)] });
  const routes = [route("bad", [at("/new"), at("/fine")]), route("good", [at("/longer"), at("/s")])];
  const made = rulesOf({ routes, sources });
  assert.deepEqual(
    made.map(({ keeps, conditions }) => keeps ?? conditions[0]?.values[0]),
    ["/longer", "/fine", "arn:/old", "/s"],
  );
  assert.deepEqual(made[2]?.tags?.mine, "yes");
  assert.deepEqual(failuresOf({ routes, sources }), ["UnsupportedValue: AWS says no"]);
  assert.deepEqual([...desired({ routes, sources }).keptGroups], ["arn:t"]);
  // Who remembers that it was asked for by another rule of the route lets it go.
  const formerRules = [
    {
      port: 80,
      route: "HTTPRoute shop/bad",
      ruleIndex: 1,
      conditions: [{ field: "path-pattern", match: "wildcard", values: ["/old", "/old/*"] }],
    },
  ] as const;
  assert.deepEqual(rulesOf({ routes, sources: { ...sources, formerRules } }).length, 3);
});
