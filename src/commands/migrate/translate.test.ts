/** For every Ingress of the tables: the load balancer of the printed Gateway is that of the Ingress, or it is told what is not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { classParams } from "../../../test/referees/ingress-table.ts";
import { annotationPrefix, authTable, backendTable, familyTable, memberTable } from "../../loadbalancers/ingress/annotations.ts";
import { type IngressOptions, ingress, network } from "../../loadbalancers/ingress/ingress.fixture.ts";
import { certificates, given, json, shop, translated, views, webAcl, whole, world } from "./migrate.fixture.ts";
import type { Translation } from "./translate.ts";
import type { Manifest } from "./translation.ts";

/** Whether nothing is lost: then the two models were found equal. */
function assertWhole(translation: Translation): void {
  assert.deepEqual(translation.lost, []);
}

const named = ({ objects }: Translation, kind: string) => objects.filter((each) => each.kind === kind);
const specOf = <T = Record<string, never>>(object: Manifest | undefined) => object?.spec as T;

/** What each of these cannot take along, by its annotation. */
const losses: Readonly<Record<string, RegExp>> = {
  transforms:
    /^Ingress shop\/transforms: alb\.ingress\.kubernetes\.io\/transforms\.web: ".*": an HTTPRoute replaces .* \(the rule for shop\.example\.com \/api\|\/api\/\* on HTTP is left out\)$/,
  guarded: /^Ingress shop\/guarded: alb\.ingress\.kubernetes\.io\/waf-acl-id: "classic": a Gateway knows no WAF Classic/,
  "behind-another": /enable-frontend-nlb: "true": a Gateway has no load balancer in front: apply a Gateway of a class/,
  "behind-its-own": /enable-frontend-nlb: "true": a Gateway has no load balancer in front/,
  missing: /^Ingress shop\/missing: Service shop\/gone does not exist/,
};

for (const [name, view] of views) {
  if (name.startsWith("member-")) continue;
  test(`the Ingress ${name} of the table of annotations`, () => {
    const result = translated([name === "of-a-class" ? [view, { name: "params", ...classParams(given) }] : view]);
    const expected = losses[name];
    if (expected === undefined) return assertWhole(result);
    assert.equal(result.lost.length, 1, result.lost.join("\n"));
    assert.match(result.lost[0] ?? "", expected);
  });
}

test("the group of the table: three Ingresses become one Gateway with a route each, in the order of the group", () => {
  const members = ["member-a", "member-b", "member-c"].map((name) => {
    const view = views.get(name)!;
    // Tags of one member would be on all listeners of a Gateway, and not on those of that member alone.
    const { [`${annotationPrefix}tags`]: _, ...annotations } = view.annotations;
    return { ...view, annotations };
  });
  const result = translated(members);
  assertWhole(result);
  assert.deepEqual(
    named(result, "Gateway").map(({ metadata }) => `${metadata.namespace}/${metadata.name}`),
    ["shop/shop-teams"],
  );
  assert.deepEqual(
    named(result, "HTTPRoute").map(({ metadata }) => metadata.name),
    // All that member-c has is a listener of HTTP, and those redirect.
    ["r01-member-b", "r01-member-b-b.example.com", "r03-member-a"],
  );
});

for (const [name, options] of Object.entries(whole)) {
  test(`whole: ${name}`, () => assertWhole(translated([ingress("shop/web", options)])));
}

const lost: Readonly<Record<string, readonly [IngressOptions, RegExp]>> = {
  "subnets that are followed": [
    { annotations: { "subnet-discovery": "always" } },
    /subnet-discovery: "always": a Gateway discovers its subnets once/,
  ],
  "an ACL that gives way": [
    { annotations: { "wafv2-acl-arn": webAcl.arn, "wafv2-acl-association": "if-none" } },
    /wafv2-acl-association: "if-none": a Gateway replaces/,
  ],
  "WAF Classic in its old spelling": [
    { annotations: { "web-acl-id": "classic" } },
    /web-acl-id: "classic": a Gateway knows no WAF Classic/,
  ],
  "a host by regular expression": [
    { annotations: { "conditions.web": json([{ field: "host-header", hostHeaderConfig: { regexValues: ["^a.*$"] } }]) } },
    /conditions\.web: ".*": an HTTPRoute takes whole host names and \*\.name, not "\^a\.\*\$" \(a regular expression\)/,
  ],
  "a value under any name": [
    { annotations: { "conditions.web": json([{ field: "query-string", queryStringConfig: { values: [{ value: "x" }] } }]) } },
    /conditions\.web: ".*": an HTTPRoute compares the value of a named query parameter/,
  ],
  "a method of somebody's own": [
    { annotations: { "conditions.web": json([{ field: "http-request-method", httpRequestMethodConfig: { values: ["PURGE"] } }]) } },
    /conditions\.web: ".*": an HTTPRoute takes the methods GET, .* not PURGE/,
  ],
  "one header twice": [
    {
      annotations: {
        "conditions.web": json(
          ["a*", "*b"].map((value) => ({ field: "http-header", httpHeaderConfig: { httpHeaderName: "X", values: [value] } })),
        ),
      },
    },
    /an HTTPRoute compares a header once, and x is compared twice/,
  ],
  "two blocks at once": [
    {
      annotations: {
        "conditions.web": json(["10.0.0.0/8", "10.1.0.0/16"].map((cidr) => ({ field: "source-ip", sourceIPConfig: { values: [cidr] } }))),
      },
    },
    /conditions\.web: ".*": a rule of a Gateway compares the client's address once/,
  ],
  "a path with a question mark": [
    { rules: { "*": ["ImplementationSpecific /a?c web:80"] } },
    /^Ingress shop\/web: path "\/a\?c": an HTTPRoute takes no path with `\?`/,
  ],
  "a redirect that keeps the port": [
    {
      annotations: { "actions.x": json({ type: "redirect", redirectConfig: { protocol: "HTTPS", statusCode: "HTTP_301" } }) },
      rules: { "*": ["Prefix / x:use-annotation"] },
    },
    /actions\.x: ".*": an HTTPRoute that redirects to HTTPS also changes the port/,
  ],
  "a redirect to a part of the host": [
    {
      annotations: { "actions.x": json({ type: "redirect", redirectConfig: { host: "www.#{host}", statusCode: "HTTP_301" } }) },
      rules: { "*": ["Prefix / x:use-annotation"] },
    },
    /actions\.x: ".*": an HTTPRoute redirects to a whole host name, not to www\.#\{host\}/,
  ],
  "weights that are all nothing": [
    {
      annotations: {
        "actions.x": json({ type: "forward", forwardConfig: { targetGroups: [{ serviceName: "web", servicePort: 80, weight: 0 }] } }),
      },
      rules: { "*": ["Prefix / x:use-annotation"] },
    },
    /actions\.x: ".*": a Gateway answers 500 where all weights are 0/,
  ],
  "HTTP/2 behind plain HTTP": [
    { annotations: { "backend-protocol-version": "HTTP2" } },
    /the Gateway would differ: .*protocolVersion: "HTTP2" \| "HTTP1"/,
  ],
  "an order that the API does not have": [
    { rules: { "*": ["ImplementationSpecific /a* web:80", "ImplementationSpecific /*bbbb api:80"] } },
    /the Gateway would differ: listeners\/HTTP:80\/order: "\* \/a\* > .*" \| "\* \/\*bbbb > /,
  ],
};

for (const [name, [options, expected]] of Object.entries(lost)) {
  test(`told: ${name}`, () => {
    const { lost: messages } = translated([ingress("shop/web", options)]);
    assert.equal(messages.length, 1, messages.join("\n"));
    assert.match(messages[0] ?? "", expected);
  });
}

test("a certificate that is requested for an Ingress is told to go with it", () => {
  const requested = () => ({ arns: [certificates[0]] });
  const settings = world().sources().settings;
  const more = { requested, settings: { ...settings, gates: { ...settings.gates, certificateManagement: true } } };
  const { lost: messages } = translated(
    [ingress("shop/web", { annotations: { "create-acm-cert": "true" }, rules: { [shop]: ["Prefix / web:80"] } })],
    { more },
  );
  assert.match(
    messages.join("\n"),
    /create-acm-cert: "true": no certificate is requested for a Gateway, and the one of the Ingress is deleted with it/,
  );
});

test("every annotation of an Ingress stands in one of these tables", () => {
  const all = [...Object.values(whole), ...Object.values(lost).map(([options]) => options)];
  const used = new Set([
    ...[...views.values()].flatMap(({ annotations }) => Object.keys(annotations)),
    ...all.flatMap(({ annotations = {} }) => Object.keys(annotations).map((name) => annotationPrefix + name)),
    // It has a test of its own.
    `${annotationPrefix}create-acm-cert`,
  ]);
  const front = (name: string) => name.startsWith("frontend-nlb-");
  const missing = [memberTable, backendTable, authTable]
    .flatMap((table) => Object.keys(table))
    .filter((name) => !used.has(annotationPrefix + name));
  assert.deepEqual(
    missing.filter((name) => !front(name)),
    [],
  );
  const families = Object.keys(familyTable).filter((family) => ![...used].some((key) => key.startsWith(annotationPrefix + family)));
  assert.deepEqual(families, []);
});

test("Ingresses of a group in two namespaces: the Gateway takes routes of both, and of no other", () => {
  const shared = { "group.name": "g" };
  const result = translated([
    ingress("shop/web", { annotations: shared, rules: { [shop]: ["Prefix / web:80"] } }),
    ingress("other/api", { annotations: shared, rules: { "api.example.com": ["Prefix / api:80"] } }),
  ]);
  assertWhole(result);
  const [gateway] = named(result, "Gateway");
  assert.equal(gateway?.metadata.namespace, "other", "that of the first member");
  const { listeners } = specOf<{ listeners: { allowedRoutes: unknown }[] }>(gateway);
  assert.deepEqual(listeners[0]?.allowedRoutes, {
    namespaces: {
      from: "Selector",
      selector: { matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["other", "shop"] }] },
    },
  });
  const route = named(result, "HTTPRoute").find(({ metadata }) => metadata.namespace === "shop");
  assert.deepEqual(specOf<{ parentRefs: unknown }>(route).parentRefs, [{ namespace: "other", name: "g", sectionName: "http-80" }]);
});

test("Ingresses of a group that say different things of one Service: a configuration per route", () => {
  const result = translated([
    ingress("shop/a", { annotations: { "group.name": "g", "healthcheck-path": "/a" }, rules: { "a.example.com": ["Prefix / web:80"] } }),
    ingress("shop/b", { annotations: { "group.name": "g", "healthcheck-path": "/b" }, rules: { "b.example.com": ["Prefix / web:80"] } }),
  ]);
  assertWhole(result);
  const [configuration] = named(result, "TargetGroupConfiguration");
  const { routeConfigurations } = specOf<{
    routeConfigurations: { routeIdentifier: { name: string }; targetGroupProps: { healthCheckConfig: { healthCheckPath: string } } }[];
  }>(configuration);
  assert.deepEqual(
    routeConfigurations.map(({ routeIdentifier, targetGroupProps }) => [
      routeIdentifier.name,
      targetGroupProps.healthCheckConfig.healthCheckPath,
    ]),
    [
      ["r01-a", "/a"],
      ["r02-b", "/b"],
    ],
  );
});

test("a Service that has a configuration keeps it: a part for the new route is added", () => {
  const other = {
    routeIdentifier: { kind: "HTTPRoute", namespace: "shop", name: "before" },
    targetGroupProps: { targetType: "ip" as const },
  };
  const configurations = [
    { namespace: "shop", name: "own-name", spec: { targetReference: { name: "web" }, routeConfigurations: [other] } },
  ];
  const result = translated([ingress("shop/web")], { configurations });
  assertWhole(result);
  const [configuration] = named(result, "TargetGroupConfiguration");
  assert.equal(configuration?.metadata.name, "own-name");
  const { routeConfigurations } = specOf<{ routeConfigurations: (typeof other)[] }>(configuration);
  assert.deepEqual(
    routeConfigurations.map(({ routeIdentifier }) => routeIdentifier.name),
    ["before", "web"],
  );
});

test("a load balancer that stands in other subnets than would be discovered names its own", () => {
  const apart = { ...network, subnets: [...network.subnets, { ...network.subnets[0]!, id: "subnet-c", zone: "c" }] };
  const standing = { subnets: ["subnet-a", "subnet-b"], internal: true, securityGroups: [], addressType: "ipv4" as const };
  const result = translated([ingress("shop/web")], { more: { network: apart, standing } });
  assertWhole(result);
  const [configuration] = named(result, "LoadBalancerConfiguration");
  assert.deepEqual(specOf<{ loadBalancerSubnets: unknown }>(configuration).loadBalancerSubnets, [
    { identifier: "subnet-a" },
    { identifier: "subnet-b" },
  ]);
});

test("members that let different clients in: nobody is let in, and it is told", () => {
  const { lost: messages, objects } = translated([
    ingress("shop/a", {
      annotations: { "group.name": "g", "inbound-cidrs": "10.0.0.0/8" },
      rules: { "a.example.com": ["Prefix / web:80"] },
    }),
    ingress("shop/b", {
      annotations: { "group.name": "g", "listen-ports": '[{"HTTP":8080}]' },
      rules: { "b.example.com": ["Prefix / web:80"] },
    }),
  ]);
  assert.equal(messages.length, 1, messages.join("\n"));
  assert.match(
    messages[0] ?? "",
    /^Ingress shop\/a: alb\.ingress\.kubernetes\.io\/inbound-cidrs: "10\.0\.0\.0\/8": a Gateway lets the same clients reach all its listeners/,
  );
  assert.deepEqual(specOf<{ sourceRanges: unknown }>(objects.find(({ kind }) => kind === "LoadBalancerConfiguration")).sourceRanges, []);
});
