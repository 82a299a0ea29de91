/** Rules of an Ingress: hosts, paths and conditions, what answers, and what is left out. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bed, type IngressOptions, ingress, rulesText, service, settings } from "./ingress.fixture.ts";
import type { IngressSettings } from "./settings.ts";

const prefix = "alb.ingress.kubernetes.io/";
const tls = { "listen-ports": '[{"HTTP":80},{"HTTPS":443}]', "certificate-arn": "arn:aws:acm:us-east-1:1:certificate/x" };
const json = JSON.stringify;

function of(options: IngressOptions, given: Parameters<typeof bed>[0] = {}) {
  const result = bed(given).desire(ingress("shop/web", options));
  return {
    ...result,
    rules: (port = 80) => rulesText(result, port),
    conditions: (port = 80) => rulesText(result, port).map((text) => text.replace(/ ->.*/, "")),
    fault: result.faults.get("shop/web")?.join("; ") ?? "",
  };
}

const host = (values: object) => ({ field: "host-header", hostHeaderConfig: values });
const path = (values: object) => ({ field: "path-pattern", pathPatternConfig: values });

test("paths of Kubernetes in AWS's patterns", () => {
  const patterns = (text: string, annotations = {}) =>
    of({ rules: { "*": [text] }, annotations })
      .conditions()
      .join();
  assert.equal(patterns("Prefix / web:80"), "1 path-pattern /*");
  assert.equal(patterns("Prefix /abc/ web:80"), "1 path-pattern /abc|/abc/*");
  assert.equal(patterns("Exact /abc/ web:80"), "1 path-pattern /abc/");
  assert.equal(patterns("ImplementationSpecific /a?/* web:80"), "1 path-pattern /a?/*");
  assert.equal(patterns("ImplementationSpecific - web:80"), "1 path-pattern /*", "no condition at all is every path");
  const regex = { "use-regex-path-match": "true" };
  assert.equal(patterns("ImplementationSpecific /^/api/(.+)$ web:80", regex), "1 path-pattern ^/api/(.+)$", "one slash goes");
  assert.equal(patterns("Prefix /a web:80", regex), "1 path-pattern /a|/a/*", "only paths of that kind are expressions");
});

test("conditions of annotations: others first and apart, hosts and paths put together, of one kind only", () => {
  const conditions = [
    { field: "http-header", httpHeaderConfig: { httpHeaderName: "x", values: ["1"] } },
    host({ values: ["b.example.com"] }),
    path({ values: ["/b"] }),
    { field: "query-string", queryStringConfig: { values: [{ key: "k", value: "v" }] } },
    { field: "http-header", httpHeaderConfig: { httpHeaderName: "y", values: ["2"] } },
  ];
  const given = (list: readonly object[]) => ({
    annotations: { "conditions.web": json(list) },
    rules: { "a.example.com": ["Exact /a web:80"] },
  });
  assert.deepEqual(of(given(conditions)).conditions(), [
    "1 http-header 1, query-string k=v, http-header 2, host-header a.example.com|b.example.com, path-pattern /a|/b",
  ]);
  assert.match(of(given([host({ regexValues: ["^b"] })])).fault, /host condition must specify exactly one of Values and RegexValues/);
  assert.match(of(given([path({ regexValues: ["^b"] })])).fault, /path condition must specify exactly one of Values and RegexValues/);
  for (const [config, field] of [
    [host({}), "hostHeaderConfig"],
    [path({}), "pathPatternConfig"],
  ] as const)
    assert.match(of(given([config])).fault, new RegExp(`invalid ${field}: values or regexValues must be specified`));
});

const redirect = (config: object) => json({ type: "redirect", redirectConfig: { statusCode: "HTTP_301", ...config } });

test("a redirect to itself is left out, where it is one", () => {
  const kept = (config: object, port: number, text = "Prefix / r:use-annotation") =>
    of({ annotations: { ...tls, "actions.r": redirect(config) }, rules: { "a.example.com": [text] } }).rules(port).length;
  const toHttps = { port: "443", protocol: "HTTPS" };
  assert.deepEqual([kept(toHttps, 80), kept(toHttps, 443)], [1, 0]);
  assert.equal(kept({ host: "#{host}", path: "/#{path}", port: "#{port}", protocol: "#{protocol}", query: "#{query}" }, 80), 0);
  assert.equal(kept({ host: "a.example.com" }, 80), 0);
  assert.equal(kept({ host: "b.example.com" }, 80), 1);
  assert.equal(kept({ path: "/*" }, 80), 0, "one of its own paths");
  assert.equal(kept({ path: "/other" }, 80), 1);
  assert.equal(kept({ query: "a=b" }, 80), 1);
  const regex = of({
    annotations: { "use-regex-path-match": "true", "actions.r": redirect({}) },
    rules: { "*": ["ImplementationSpecific /^/a$ r:use-annotation"] },
  });
  assert.equal(regex.rules().length, 1, "what an expression matches is not known");
});

test("what an earlier redirect takes is left out, and nothing else", () => {
  const left = (first: string, annotations: Readonly<Record<string, string>>, later: readonly string[], hosts = "a.example.com") =>
    of({
      annotations: { "actions.r": redirect({ port: "443", protocol: "HTTPS" }), ...annotations },
      rules: { [hosts]: [first], "a.example.com ": later } as never,
    });
  const all = left("Prefix / r:use-annotation", {}, ["Prefix /x web:80"], "*");
  assert.equal(all.rules().length, 1);
  const byMethod = [{ field: "http-request-method", httpRequestMethodConfig: { values: ["GET"] } }];
  const bySource = [{ field: "source-ip", sourceIpConfig: { values: ["10.0.0.0/8"] } }];
  const byQuery = [{ field: "query-string", queryStringConfig: { values: [{ value: "v" }] } }];
  for (const conditions of [byMethod, bySource, byQuery])
    assert.equal(left("Prefix / r:use-annotation", { "conditions.r": json(conditions) }, ["Prefix /x web:80"], "*").rules().length, 2);
  const expressions = (first: string, second: string) =>
    of({
      annotations: { "use-regex-path-match": "true", "actions.r": redirect({ port: "443", protocol: "HTTPS" }) },
      rules: { "*": [`ImplementationSpecific /${first} r:use-annotation`, `ImplementationSpecific /${second} web:80`] },
    }).rules().length;
  assert.deepEqual([expressions("^/a$", "^/a$"), expressions("^/a$", "^/b$"), expressions(".*", "^/b$")], [1, 2, 2]);
  const hostExpression = of({
    annotations: { "actions.r": redirect({ port: "443", protocol: "HTTPS" }), "conditions.r": json([host({ regexValues: ["^a"] })]) },
    rules: { "*": ["ImplementationSpecific - r:use-annotation", "ImplementationSpecific /x web:80"] },
  });
  assert.equal(hostExpression.rules().length, 2, "hosts by expression are not no hosts");
});

test("backends: a Service by name and by number is two groups, a resource is none, and a port that is missing fails", () => {
  const { model } = of({ rules: { "*": ["Prefix /a web:80", "Prefix /b web:http", "Prefix /c web:80"] } });
  assert.deepEqual(
    model.targetGroups.map(({ part }) => part),
    ["shop/web-web:80", "shop/web-web:http"],
  );
  const view = ingress("shop/web");
  const resource = { ...view, rules: [{ host: "", paths: [{ path: "/", pathType: "Prefix", backend: {} }] }] };
  assert.deepEqual(bed().desire(resource).faults.get("shop/web"), ['missing required "service" field']);
  const strict: IngressSettings = { ...settings, toleratesMissingAction: false };
  assert.match(of({ rules: { "*": ["Prefix / x:use-annotation"] } }, { settings: strict }).fault, /missing actions.x configuration/);
});

test("target groups: ports, address types, gates, and labels of nodes", () => {
  const one = (services: readonly ReturnType<typeof service>[], annotations = {}, rest = {}) => {
    const result = of({ annotations, rules: { "*": ["Prefix / web:80"] } }, { services, ...rest });
    return { group: result.model.targetGroups[0], binding: result.bindings[0]?.spec, fault: result.fault };
  };
  const instance = { "target-type": "instance" };
  const internal = service("shop/web", { ports: [{ name: "http", port: 80, targetPort: "named", nodePort: 0 }] });
  assert.match(
    one([internal], instance).fault,
    /TargetGroup port is empty. When using Instance targets, your service be must of type 'NodePort' or 'LoadBalancer'/,
  );
  assert.equal(one([internal]).group?.port, 1, "a port by name is another in each pod");
  const closed = { settings: { ...settings, gates: { ...settings.gates, ipTargetType: false } } };
  assert.match(one([service("shop/web")], {}, closed).fault, /unsupported targetType: ip when EnableIPTargetType is false/);
  const dual = service("shop/web", { ipFamilies: ["IPv4", "IPv6"] });
  assert.equal(one([dual], { "ip-address-type": "dualstack" }).group?.addressType, "ipv6");
  assert.match(one([dual]).fault, /unsupported IPv6 configuration, lb not dual-stack/);
  const grpc = one([service("shop/web")], { "backend-protocol-version": "GRPC" }).group;
  assert.deepEqual([grpc?.healthCheck.path, grpc?.healthCheck.matcher], ["/AWS.ALB/healthcheck", { kind: "grpc", codes: "12" }]);
  assert.match(
    one([service("shop/web")], { ...instance, "target-control-port.web.80": "3000" }).fault,
    /target control port is not supported for instance target target group/,
  );
  const labelled = service("shop/web", { annotations: { [`${prefix}target-node-labels`]: "pool=service" } });
  assert.deepEqual(one([labelled], { ...instance, "target-node-labels": "pool=ingress" }).binding?.nodeSelector, {
    matchLabels: { pool: "service" },
  });
  assert.equal(
    one([labelled], { "target-node-labels": "pool=ingress" }).binding?.nodeSelector,
    undefined,
    "pods are not chosen by their nodes",
  );
});

test("a target group for several clusters, where the Ingress or the Service asks for it", () => {
  const multi = (onIngress: string | undefined, onService: string | undefined) => {
    const key = "multi-cluster-target-group";
    const services = [service("shop/web", { annotations: onService === undefined ? {} : { [prefix + key]: onService } })];
    return of({ annotations: onIngress === undefined ? {} : { [key]: onIngress } }, { services }).bindings[0]?.spec.multiClusterTargetGroup;
  };
  assert.deepEqual(
    [multi(undefined, undefined), multi("true", undefined), multi(undefined, "true"), multi("true", "false"), multi("false", "true")],
    [false, true, true, true, true],
  );
  assert.equal(multi("false", "false"), false);
});

test("what targets let in: traffic, another port for health checks, one for control, or everything", () => {
  const ports = (annotations: Readonly<Record<string, string>>, given = {}) =>
    of({ annotations }, given).bindings[0]?.spec.networking?.ingress?.map((rule) => rule.ports?.[0]?.port ?? "all");
  assert.deepEqual(ports({}), [8080]);
  assert.deepEqual(ports({ "healthcheck-port": "9000" }), [8080, 9000]);
  assert.deepEqual(ports({ "target-control-port.web.80": "3000" }), [8080, 3000]);
  assert.deepEqual(ports({ "target-type": "instance" }), [30080]);
  assert.deepEqual(ports({}, { settings: { ...settings, restrictsRules: false } }), ["all"]);
});

const provider = { issuer: "i", authorizationEndpoint: "a", tokenEndpoint: "t", userInfoEndpoint: "u", secretName: "s" };
const cognito = json({ userPoolARN: "arn:p", userPoolClientID: "c", userPoolDomain: "d" });

test("log-ins: those of the one Service go before the Ingress's, key by key; several Services have none of their own", () => {
  const services = [service("shop/web", { annotations: { [`${prefix}auth-scope`]: "email" } }), service("shop/api")];
  const annotations = { ...tls, "auth-type": "cognito", "auth-idp-cognito": cognito, "auth-scope": "openid" };
  const scopes = (backend: string, extra = {}) => {
    const result = of({ annotations: { ...annotations, ...extra }, rules: { "*": [`Prefix / ${backend}`] } }, { services });
    const [front] = result.model.listeners.find(({ port }) => port === 443)?.rules[0]?.actions ?? [];
    return front?.kind === "authenticate-cognito" ? front.scope : (front?.kind ?? result.fault);
  };
  assert.equal(scopes("web:80"), "email");
  assert.equal(scopes("api:80"), "openid");
  const two = {
    type: "forward",
    forwardConfig: { targetGroups: ["web", "api"].map((serviceName) => ({ serviceName, servicePort: 80, weight: 1 })) },
  };
  assert.equal(scopes("x:use-annotation", { "actions.x": json(two) }), "openid");
  const answer = { type: "fixed-response", fixedResponseConfig: { statusCode: "200" } };
  assert.equal(scopes("x:use-annotation", { "actions.x": json(answer) }), "openid", "a fixed answer is the Ingress's own");
});

test("log-ins: what is wrong is told, also where nobody logs in", () => {
  const fault = (annotations: Readonly<Record<string, string>>, data?: Readonly<Record<string, string>>) =>
    of({ annotations: { ...tls, ...annotations } }, data ? { secret: () => ({ data, changed: false }) } : {}).fault;
  assert.equal(fault({ "auth-type": "ldap" }), "unknown authType: ldap");
  assert.equal(fault({ "auth-type": "cognito" }), "missing IDPConfigCognito");
  assert.equal(fault({ "auth-type": "oidc" }), "missing IDPConfigOIDC");
  assert.match(fault({ "auth-idp-oidc": "{" }), /failed to parse json annotation, .*auth-idp-oidc/);
  const oidc = { "auth-type": "oidc", "auth-idp-oidc": json(provider) };
  assert.equal(fault(oidc, { clientSecret: "x" }), "missing clientID, secret: shop/s");
  assert.equal(fault(oidc, { clientId: "x" }), "missing clientSecret, secret: shop/s");
  assert.match(fault({ "jwt-validation": "{}" }), /jwksEndpoint is a required field for jwt validation/);
  const http = of({ annotations: { "auth-type": "cognito", "auth-idp-cognito": cognito } });
  assert.deepEqual([http.fault, http.rules()], ["", ["1 path-pattern /* -> shop/web-web:80"]], "HTTP has no log-in");
});
