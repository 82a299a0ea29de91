import assert from "node:assert/strict";
import { test } from "node:test";
import { managedGroups } from "../model.ts";
import { bed, ingress, rulesText, service, settings } from "./ingress.fixture.ts";

const https = '[{"HTTP":80},{"HTTPS":443}]';
const certificate = "arn:aws:acm:us-east-1:1:certificate/x";
const shared = { "group.name": "g" };
const fixed = '{"type":"fixed-response","fixedResponseConfig":{"contentType":"text/plain","statusCode":"200"}}';

test("one Ingress with one Service: a listener, a rule, a target group and its binding", () => {
  const { desire } = bed();
  const { model, bindings, faults, problems } = desire(ingress("shop/web"));
  assert.deepEqual([[...faults], problems], [[], []]);
  assert.deepEqual(rulesText({ model }), ["1 path-pattern /* -> shop/web-web:80"]);
  const [listener] = model.listeners;
  assert.deepEqual(
    [listener?.port, listener?.protocol, listener?.defaultActions],
    [80, "HTTP", [{ kind: "fixed-response", status: "404", contentType: "text/plain" }]],
  );
  assert.deepEqual(model.tags, {
    "elbv2.k8s.aws/cluster": "prod",
    "ingress.k8s.aws/stack": "shop/web",
    "ingress.k8s.aws/resource": "LoadBalancer",
  });
  assert.deepEqual(
    bindings.map(({ namespace, name, labels, spec }) => [namespace, name === model.targetGroups[0]?.name, labels, spec]),
    [
      [
        "shop",
        true,
        { "ingress.k8s.aws/stack-namespace": "shop", "ingress.k8s.aws/stack-name": "web" },
        {
          targetType: "ip",
          targetGroupProtocol: "HTTP",
          serviceRef: { name: "web", port: 80 },
          ipAddressType: "ipv4",
          vpcID: "vpc-1",
          multiClusterTargetGroup: false,
          networking: { ingress: [{ from: [{ securityGroup: { groupID: "sg-backend" } }], ports: [{ protocol: "TCP", port: 8080 }] }] },
        },
      ],
    ],
  );
});

test("two Ingresses of a group, one with a redirect: the example of the specification", () => {
  const web = ingress("a/web", {
    annotations: { ...shared, "group.order": "1", "listen-ports": https, "ssl-redirect": "443", "certificate-arn": certificate },
    rules: { "x.example.com": ["Prefix / web:http", "Prefix /api api:80"] },
  });
  const health = ingress("b/health", {
    annotations: {
      ...shared,
      "listen-ports": '[{"HTTPS":443}]',
      "certificate-arn": `${certificate}2`,
      "actions.ok": fixed,
      "conditions.ok": '[{"field":"http-request-method","httpRequestMethodConfig":{"values":["GET"]}}]',
    },
    rules: { "y.example.com": ["Exact /health ok:use-annotation"] },
  });
  const result = bed().desire(web, health);
  assert.deepEqual([...result.faults], []);
  assert.deepEqual(result.model.listeners[0]?.defaultActions, [{ kind: "redirect", port: "443", protocol: "HTTPS", status: "HTTP_301" }]);
  assert.deepEqual(rulesText(result, 80), []);
  assert.deepEqual(rulesText(result, 443), [
    "1 http-request-method GET, host-header y.example.com, path-pattern /health -> 200",
    "2 host-header x.example.com, path-pattern /api|/api/* -> a/web-api:80",
    "3 host-header x.example.com, path-pattern /* -> a/web-web:http",
  ]);
  assert.deepEqual(result.model.listeners[1]?.certificates, [`${certificate}2`, certificate], "the first member's is the default one");
});

test("the redirect of old, by two paths, becomes one rule on each listener", () => {
  const redirect = '{"type":"redirect","redirectConfig":{"port":"443","protocol":"HTTPS","statusCode":"HTTP_301"}}';
  const old = ingress("shop/web", {
    annotations: { "listen-ports": https, "certificate-arn": certificate, "actions.ssl-redirect": redirect },
    rules: { "*": ["ImplementationSpecific /* ssl-redirect:use-annotation", "ImplementationSpecific /* web:80"] },
  });
  const result = bed().desire(old);
  assert.deepEqual(rulesText(result, 80), ["1 path-pattern /* -> redirect"]);
  assert.deepEqual(rulesText(result, 443), ["1 path-pattern /* -> shop/web-web:80"]);
});

test("paths: exact ones first, then prefixes from the longest on, then the others", () => {
  const result = bed().desire(
    ingress("shop/web", {
      rules: {
        "*": [
          "ImplementationSpecific /i* web:80",
          "Prefix /a web:80",
          "Prefix /a/b/ web:80",
          "Exact /z/ web:80",
          "Prefix / web:80",
          "ImplementationSpecific - web:80",
        ],
      },
    }),
  );
  assert.deepEqual(
    rulesText(result).map((text) => text.replace(/ ->.*/, "")),
    [
      "1 path-pattern /z/",
      "2 path-pattern /a/b|/a/b/*",
      "3 path-pattern /a|/a/*",
      "4 path-pattern /*",
      "5 path-pattern /i*",
      "6 path-pattern /*",
    ],
  );
});

const faultRows: readonly (readonly [string, Parameters<typeof ingress>[1], RegExp])[] = [
  ["a wildcard in an exact path", { rules: { "*": ["Exact /a* web:80"] } }, /exact path shouldn't contain wildcards: \/a\*/],
  ["a wildcard in a prefix", { rules: { "*": ["Prefix /a? web:80"] } }, /prefix path shouldn't contain wildcards/],
  ["an unknown kind of path", { rules: { "*": ["Glob /a web:80"] } }, /unknown pathType for path \/a/],
  ["a port that the Service has not", { rules: { "*": ["Prefix / web:82"] } }, /unable to find port 82 on service shop\/web/],
  [
    "JSON that is none",
    { annotations: { "actions.x": "{" }, rules: { "*": ["Prefix / x:use-annotation"] } },
    /failed to parse json annotation, alb.ingress.kubernetes.io\/actions.x: \{/,
  ],
  ["a number in quotes", { annotations: { "listen-ports": '[{"HTTP":"80"}]' } }, /failed to parse listen-ports configuration/],
  [
    "a flag that is none",
    { annotations: { "use-regex-path-match": "yes" } },
    /failed to parse bool annotation, alb.ingress.kubernetes.io\/use-regex-path-match: yes/,
  ],
  [
    "a host without a certificate",
    { annotations: { "listen-ports": '[{"HTTPS":443}]' }, rules: { "x.example.com": ["Prefix / web:80"] } },
    /no certificate found for host: x.example.com/,
  ],
  [
    "a redirect to a port that nobody listens on",
    { annotations: { "ssl-redirect": "443" } },
    /listener does not exist for SSLRedirect port: 443/,
  ],
  [
    "a Secret that is missing",
    {
      annotations: {
        "listen-ports": '[{"HTTPS":443}]',
        "certificate-arn": certificate,
        "auth-type": "oidc",
        "auth-idp-oidc": '{"secretName":"s"}',
      },
    },
    /secret shop\/s not found/,
  ],
  [
    "an IPv6 Service behind an IPv4 load balancer",
    { rules: { "*": ["Prefix / six:80"] } },
    /unsupported IPv6 configuration, lb not dual-stack/,
  ],
  [
    "an order that is too great",
    { annotations: { "group.order": "1001" } },
    /explicit Ingress group order must be within \[-1000:1000\], Ingress: shop\/bad, order: 1001/,
  ],
];

test("one bad Ingress of a group is told so, and the others are served and can be changed", () => {
  const services = ["shop/web", "a/web", "a/api", "c/web"].map((key) => service(key)).concat(service("shop/six", { ipFamilies: ["IPv6"] }));
  for (const [name, options, expected] of faultRows) {
    for (const forgets of [false, true]) {
      const { desire, deploy, account } = bed({ services, forgets });
      const good = { annotations: shared };
      const before = ingress("shop/bad", { ...good, rules: { "bad.example.com": ["Prefix / web:80"] } });
      const first = ingress("a/first", { ...good, rules: { "a.example.com": ["Prefix / web:80"] } });
      const last = ingress("z/last", {
        ...good,
        rules: { "z.example.com": ["Exact /fixed ok:use-annotation"] },
        annotations: { ...shared, "actions.ok": fixed },
      });
      deploy(first, before, last);
      const bad = ingress("shop/bad", { ...options, annotations: { ...shared, ...options?.annotations } });
      const result = desire(first, bad, last);
      assert.deepEqual([...result.faults.keys()], ["shop/bad"], name);
      assert.match(result.faults.get("shop/bad")?.join() ?? "", expected, name);
      assert.deepEqual(deploy(first, bad, last), [], `${name}: what stands stays${forgets ? ", also when nobody remembers" : ""}`);
      const changed = ingress("a/first", { ...good, rules: { "a.example.com": ["Prefix /new api:80", "Prefix / web:80"] } });
      deploy(changed, bad, last);
      const hosts = account
        .seen()
        .loadBalancer?.listeners[0]?.rules.map(
          ({ conditions }) => conditions.find(({ Field }) => Field === "host-header")?.HostHeaderConfig?.Values?.[0],
        );
      assert.deepEqual(hosts, ["a.example.com", "a.example.com", "bad.example.com", "z.example.com"], name);
      deploy(changed, bad);
      assert.equal(
        account.seen().loadBalancer?.listeners[0]?.rules.some(({ conditions }) => JSON.stringify(conditions).includes("bad.example.com")),
        true,
        name,
      );
      const mended = ingress("shop/bad", { ...good, rules: { "mended.example.com": ["Prefix / web:80"] } });
      deploy(changed, mended);
      assert.deepEqual(deploy(changed, mended), [], name);
      assert.deepEqual(account.seen().targetGroups.length, 3, `${name}: nothing is left over`);
    }
  }
});

test("of Ingresses that contradict each other the first decides, and the other keeps what it has", () => {
  const rows: readonly (readonly [Record<string, string>, Record<string, string>, RegExp])[] = [
    [{ scheme: "internal" }, { scheme: "internet-facing" }, /conflicting scheme: internal \| internet-facing/],
    [{ "ip-address-type": "ipv4" }, { "ip-address-type": "dualstack" }, /conflicting IPAddressType/],
    [{ "load-balancer-name": "a" }, { "load-balancer-name": "b" }, /conflicting load balancer name: a \| b/],
    [
      { "load-balancer-attributes": "idle_timeout.timeout_seconds=1" },
      { "load-balancer-attributes": "idle_timeout.timeout_seconds=2" },
      /conflicting load balancer attributes idle_timeout.timeout_seconds: 1 \| 2/,
    ],
    [{ tags: "team=a" }, { tags: "team=b" }, /conflicting tag team: a \| b/],
    [
      { "listen-ports": '[{"HTTP":80}]' },
      { "listen-ports": '[{"HTTPS":80}]', "certificate-arn": certificate },
      /conflicting protocol, a\/one: HTTP \| a\/two: HTTPS/,
    ],
    [{ "inbound-cidrs": "10.0.0.0/8" }, { "inbound-cidrs": "10.1.0.0/16" }, /conflicting inbound-cidrs/],
    [
      { "minimum-load-balancer-capacity": "CapacityUnits=1" },
      { "minimum-load-balancer-capacity": "CapacityUnits=2" },
      /conflicting capacity reservation CapacityUnits: 1 \| 2/,
    ],
    [{ subnets: "subnet-a,subnet-b" }, { subnets: "subnet-a" }, /conflicting subnets: \[subnet-a, subnet-b\] \| \[subnet-a\]/],
    [{ "listener-attributes.HTTP-80": "a=1" }, { "listener-attributes.HTTP-80": "a=2" }, /conflicting listener attributes a: 1 \| 2/],
  ];
  for (const [one, two, expected] of rows) {
    const { faults } = bed().desire(
      ingress("a/one", { annotations: { ...shared, ...one } }),
      ingress("a/two", { annotations: { ...shared, ...two } }),
    );
    assert.deepEqual([...faults.keys()], ["a/two"], JSON.stringify(two));
    assert.match(faults.get("a/two")?.join() ?? "", expected);
  }
  const same = bed().desire(
    ingress("a/one", { annotations: { ...shared, "inbound-cidrs": "10.1.2.3/8,10.0.0.0/16", subnets: "subnet-b,subnet-a" } }),
    ingress("a/two", { annotations: { ...shared, "inbound-cidrs": "10.0.0.0/16,10.0.0.0/8", subnets: "subnet-a,subnet-b" } }),
  );
  assert.deepEqual([...same.faults], [], "the order of a set means nothing, and blocks are compared in their canonical form");
});

test("missing Services and actions answer 503 where that is tolerated", () => {
  const missing = ingress("shop/web", { rules: { "*": ["Prefix /a gone:80", "Prefix /b gone:use-annotation"] } });
  assert.deepEqual(
    rulesText(bed().desire(missing)).map((text) => text.replace(/.*-> /, "")),
    ["503 Backend service does not exist", "503 Backend action does not exist"],
  );
  const strict = { ...settings, toleratesMissingService: false };
  assert.match(bed({ settings: strict }).desire(missing).faults.get("shop/web")?.join() ?? "", /Service "shop\/gone" not found/);
  const weighted =
    '{"type":"forward","forwardConfig":{"targetGroups":[{"serviceName":"web","servicePort":"80","weight":1},{"serviceName":"gone","servicePort":80,"weight":1}]}}';
  const two = ingress("shop/web", { annotations: { "actions.x": weighted }, rules: { "*": ["Prefix / x:use-annotation"] } });
  assert.match(bed().desire(two).faults.get("shop/web")?.join() ?? "", /Service "shop\/gone" not found/);
});

test("weights, stickiness, target groups by ARN, and a Service by name and by number", () => {
  const weighted =
    '{"Type":"forward","ForwardConfig":{"TargetGroups":[{"ServiceName":"web","ServicePort":"http","Weight":90},{"targetGroupARN":"arn:tg","weight":10}],"targetGroupStickinessConfig":{"enabled":true,"durationSeconds":200}}}';
  const result = bed().desire(
    ingress("shop/web", { annotations: { "actions.x": weighted }, rules: { "*": ["Prefix /x x:use-annotation", "Prefix / web:80"] } }),
  );
  assert.deepEqual(rulesText(result), ["1 path-pattern /x|/x/* -> shop/web-web:http*90+arn:tg*10", "2 path-pattern /* -> shop/web-web:80"]);
  assert.deepEqual(result.model.listeners[0]?.rules[0]?.actions[0], {
    kind: "forward",
    to: [
      { group: result.model.targetGroups[0]?.name, weight: 90 },
      { arn: "arn:tg", weight: 10 },
    ],
    stickiness: { enabled: true, seconds: 200 },
  });
});

test("annotations of a Service go before those of its Ingress, parameters of the class before both", () => {
  const services = [
    service("shop/web", {
      annotations: {
        "alb.ingress.kubernetes.io/target-type": "instance",
        "alb.ingress.kubernetes.io/healthcheck-port": "admin",
        "alb.ingress.kubernetes.io/tags": "team=service",
      },
    }),
  ];
  const web = ingress("shop/web", { annotations: { "target-type": "ip", "healthcheck-path": "/up", tags: "team=ingress,cost=1" } });
  const [group] = bed({ services }).desire(web).model.targetGroups;
  assert.deepEqual([group?.targetType, group?.port, group?.healthCheck.port, group?.healthCheck.path], ["instance", 30080, "30081", "/up"]);
  assert.deepEqual([group?.tags?.team, group?.tags?.cost], ["service", "1"]);
  const byClass = bed({ services }).desire([web, { name: "p", targetType: "ip", tags: [{ key: "team", value: "class" }] }]);
  assert.match(byClass.faults.get("shop/web")?.join() ?? "", /cannot use named healthCheckPort for IP TargetType/);
});

test("log-ins and tokens stand before the answer, on HTTPS only", () => {
  const secure = { "listen-ports": https, "certificate-arn": certificate };
  const oidc = {
    "auth-type": "oidc",
    "auth-idp-oidc": '{"issuer":"i","authorizationEndpoint":"a","tokenEndpoint":"t","userInfoEndpoint":"u","secretName":"s"}',
  };
  const secret = () => ({ data: { clientId: "hidden-id \n", clientSecret: "hidden-secret\n" }, changed: false });
  const result = bed({ secret }).desire(ingress("shop/web", { annotations: { ...secure, ...oidc } }));
  assert.deepEqual(
    [rulesText(result, 80)[0]?.replace(/.*-> /, ""), rulesText(result, 443)[0]?.replace(/.*-> /, "")],
    ["shop/web-web:80", "authenticate-oidc, shop/web-web:80"],
  );
  const [front] = result.model.listeners[1]?.rules[0]?.actions ?? [];
  assert.deepEqual(front?.kind === "authenticate-oidc" && [front.clientId.reveal(), front.clientSecret.reveal()], [
    "hidden-id",
    "hidden-secret",
  ]);
  assert.doesNotMatch(JSON.stringify(result.model), /hidden/);
  const both = ingress("shop/web", { annotations: { ...secure, ...oidc, "jwt-validation": '{"jwksEndpoint":"k","issuer":"i"}' } });
  assert.match(
    bed({ secret }).desire(both).faults.get("shop/web")?.join() ?? "",
    /authentication and jwt validation can't both be configured/,
  );
});

test("certificates are found by host names, a wildcard for one label", () => {
  const certificates = [
    { arn: "arn:b", domains: ["*.example.com"] },
    { arn: "arn:a", domains: ["x.example.com"] },
    { arn: "arn:c", domains: ["example.com"] },
  ];
  const found = (host: string) =>
    bed({ certificates }).desire(
      ingress("shop/web", { annotations: { "listen-ports": '[{"HTTPS":443}]' }, rules: { [host]: ["Prefix / web:80"] } }),
    );
  assert.deepEqual(found("x.example.com").model.listeners[0]?.certificates, ["arn:a", "arn:b"]);
  assert.deepEqual(found("example.com").model.listeners[0]?.certificates, ["arn:c"]);
  assert.match(found("y.x.example.com").faults.get("shop/web")?.join() ?? "", /no certificate found for host: y.x.example.com/);
});

test("a default backend answers what no rule does; of two the first Ingress has it", () => {
  const result = bed().desire(
    ingress("a/one", { annotations: shared, rules: {}, defaultBackend: "web:80" }),
    ingress("c/two", { annotations: shared, rules: {}, defaultBackend: "web:80" }),
  );
  const [forward] = result.model.listeners[0]?.defaultActions ?? [];
  assert.equal(forward?.kind === "forward" && forward.to[0]?.group, result.model.targetGroups[0]?.name);
  assert.match(result.faults.get("c/two")?.join() ?? "", /multiple ingress defined default backend: \[a\/one c\/two\]/);
});

test("subnets that cannot be used are the fault of who names them, and what stands stays in its own", () => {
  const { desire, deploy } = bed({
    standing: { subnets: ["subnet-a", "subnet-b"], internal: true, securityGroups: [], addressType: "ipv4" },
  });
  deploy(ingress("shop/web"));
  const { faults, model, problems } = desire(ingress("shop/web", { annotations: { subnets: "subnet-a,subnet-x" } }));
  assert.match(faults.get("shop/web")?.join() ?? "", /couldn't find all subnets, want: \[subnet-a, subnet-x\], found: \[subnet-a\]/);
  assert.deepEqual([problems, model.subnets], [[], [{ subnet: "subnet-a" }, { subnet: "subnet-b" }]]);
  const fresh = bed().desire(ingress("shop/web", { annotations: { subnets: "subnet-a" } }));
  assert.deepEqual(fresh.faults.get("shop/web"), ["subnets count less than minimal required count: 1 < 2"]);
  assert.deepEqual(fresh.problems, ["no Ingress of the group can be understood"], "so nothing is made");
});

test("whatever is asked for stands after one plan, and moves little when an Ingress comes in between", () => {
  const { deploy } = bed();
  const one = ingress("a/one", {
    annotations: { ...shared, "group.order": "1" },
    rules: { "a.example.com": ["Prefix / web:80", "Prefix /api api:80"] },
  });
  const three = ingress("c/three", { annotations: { ...shared, "group.order": "3" }, rules: { "c.example.com": ["Prefix / web:80"] } });
  deploy(one, three);
  assert.deepEqual(deploy(one, three), []);
  const two = ingress("b/two", { annotations: { ...shared, "group.order": "2" }, rules: { "b.example.com": ["Prefix / web:80"] } });
  assert.deepEqual(deploy(one, three, two), ["CreateTargetGroup", "SetRulePriorities", "CreateRule", "AddTags"]);
  assert.deepEqual(deploy(one, two, three), []);
  assert.deepEqual(deploy(one, three), ["SetRulePriorities", "DeleteRule", "AddTags", "DeleteTargetGroup"]);
});

test("while nobody knows what an Ingress asked for, what it may have asked for stays", () => {
  const { deploy } = bed({ forgets: true });
  const annotations = {
    ...shared,
    "group.order": "-1",
    "listen-ports": '[{"HTTP":80},{"HTTP":8080}]',
    "ip-address-type": "dualstack",
    tags: "team=a",
  };
  const rich = ingress("a/rich", { annotations, rules: { "a.example.com": ["Prefix / web:80"] }, defaultBackend: "api:80" });
  const plain = ingress("b/plain", { annotations: shared, rules: { "b.example.com": ["Prefix / web:80"] } });
  deploy(rich, plain);
  const bad = { ...rich, annotations: { ...rich.annotations, "alb.ingress.kubernetes.io/listen-ports": "[" } };
  assert.deepEqual(deploy(bad, plain), []);
  assert.deepEqual(deploy(rich, plain), []);
});

test("rules that lead nowhere go with their Ingress, and are changed by it, while another is not understood", () => {
  const { deploy, account } = bed({ forgets: true });
  const answers = (key: string, host: string, body: string, rest = {}) =>
    ingress(key, {
      annotations: { ...shared, "actions.ok": fixed.replace("200", body) },
      rules: { [host]: ["Prefix / ok:use-annotation"] },
      rest,
    });
  const bad = ingress("a/bad", { annotations: { ...shared, "listen-ports": "[" }, rules: { "bad.example.com": ["Prefix / web:80"] } });
  const good = answers("a/bad", "bad.example.com", "201");
  const served = () =>
    account.seen().loadBalancer?.listeners[0]?.rules.map(({ conditions, actions }) => {
      const host = conditions.find(({ Field }) => Field === "host-header")?.HostHeaderConfig?.Values?.[0];
      return `${host} ${actions[0]?.FixedResponseConfig?.StatusCode}`;
    });
  deploy(good, answers("b/one", "one.example.com", "202"), answers("c/two", "two.example.com", "203"));
  deploy(bad, answers("b/one", "one.example.com", "204"), answers("c/two", "two.example.com", "203"));
  assert.deepEqual(served(), ["bad.example.com 201", "one.example.com 204", "two.example.com 203"]);
  const gone = answers("c/two", "two.example.com", "203", { isDeleted: true, finalizers: ["group.ingress.k8s.aws/g"] });
  deploy(bad, answers("b/one", "one.example.com", "204"), gone);
  assert.deepEqual(served(), ["bad.example.com 201", "one.example.com 204"]);
});

test("what is remembered of an Ingress is of the group that it was in", () => {
  const { desire } = bed();
  desire(ingress("a/web", { annotations: { "group.name": "other" } }));
  const moved = ingress("a/web", { annotations: { ...shared, "listen-ports": "[" } });
  const { model, bindings } = desire(ingress("b/web", { annotations: shared }), moved);
  assert.deepEqual(
    model.targetGroups.map(({ tags }) => tags?.["ingress.k8s.aws/stack"]),
    ["g"],
  );
  assert.deepEqual([bindings.length, rulesText({ model })], [1, ["1 path-pattern /* -> b/web-web:80"]]);
});

test("what a class says anew does not set those who are understood against one who is not", () => {
  const { desire } = bed();
  const member = (key: string, more = {}) => ingress(key, { annotations: { ...shared, ...more } });
  const before = { name: "p", tags: [{ key: "cost", value: "19" }] };
  const after = { name: "p", tags: [{ key: "cost", value: "33" }] };
  desire([member("a/web"), before], [member("b/web"), before]);
  const { model, faults } = desire([member("a/web", { "listen-ports": "[" }), after], [member("b/web"), after]);
  assert.deepEqual([[...faults.keys()], model.tags.cost], [["a/web"], "33"]);
});

test("addresses that a class lets in anew are those of all, also while one member is not understood", () => {
  const { desire } = bed();
  const member = (key: string, more = {}) => ingress(key, { annotations: { ...shared, ...more } });
  const under = (...inboundCIDRs: readonly string[]) => ({ name: "p", inboundCIDRs });
  desire([member("a/web"), under("10.0.0.0/8")], [member("b/web"), under("10.0.0.0/8")]);
  const bad = member("a/web", { "listen-ports": "[" });
  const { model, faults } = desire([bad, under("10.1.0.0/16")], [member("b/web"), under("10.1.0.0/16")]);
  assert.deepEqual([...faults.keys()], ["a/web"], JSON.stringify([...faults]));
  assert.match(JSON.stringify(model.securityGroups), /10\.1\.0\.0\/16/);
  assert.doesNotMatch(JSON.stringify(model.securityGroups), /10\.0\.0\.0\/8/);
});

test("a mistake in a class changes nothing of what stands", () => {
  const wrong: Readonly<Record<string, object>> = {
    redirect: { sslRedirectPort: "https" },
    "redirect to nowhere": { sslRedirectPort: "8443" },
    tags: { tags: [{ key: "theirs", value: "1" }] },
    addresses: { inboundCIDRs: ["10.0.0.0/33"] },
  };
  for (const [what, change] of Object.entries(wrong)) {
    const { deploy } = bed({ settings: { ...settings, externalManagedTags: ["theirs"] } });
    const web = ingress("a/web", { annotations: { ...shared, "listen-ports": '[{"HTTP":80},{"HTTPS":443}]', "certificate-arn": "arn:c" } });
    const params = { name: "p", sslRedirectPort: "443", tags: [{ key: "cost", value: "19" }], inboundCIDRs: ["10.0.0.0/8"] };
    deploy([web, params]);
    assert.deepEqual(deploy([web, params]), []);
    assert.deepEqual(deploy([web, { ...params, ...change }]), [], what);
  }
});

test("a redirect to nowhere of one Ingress and a mistake in the class of another are their own affairs", () => {
  const member = (key: string, more = {}) => ingress(key, { annotations: { ...shared, ...more } });
  const { faults, model } = bed().desire(
    [member("a/web"), { name: "p", sslRedirectPort: "8443" }],
    [member("b/web"), { name: "q", sslRedirectPort: "https" }],
    member("c/web"),
  );
  assert.deepEqual([[...faults.keys()].toSorted(), rulesText({ model })], [["a/web", "b/web"], ["1 path-pattern /* -> c/web-web:80"]]);
});

test("while nobody knows whom an Ingress lets in, a port that stands is not opened to everybody for another's sake", () => {
  const { deploy, desire } = bed({ forgets: true });
  const close = ingress("a/close", {
    annotations: { ...shared, "inbound-cidrs": "10.0.0.0/8" },
    rules: { "a.example.com": ["Prefix / web:80"] },
  });
  const plain = (more = {}) => ingress("b/plain", { annotations: { ...shared, ...more }, rules: { "b.example.com": ["Prefix / web:80"] } });
  const opened = (...ingresses: ReturnType<typeof ingress>[]) =>
    managedGroups(desire(...ingresses).model).flatMap(({ rules }) => rules.map(({ fromPort, cidr }) => `${fromPort} ${cidr}`));
  deploy(close, plain());
  assert.deepEqual(opened(close, plain()), ["80 10.0.0.0/8"]);
  const bad = { ...close, annotations: { ...close.annotations, "alb.ingress.kubernetes.io/listen-ports": "[" } };
  assert.deepEqual(opened(bad, plain()), []);
  const ports = '[{"HTTP":80},{"HTTP":8080}]';
  assert.deepEqual(opened(bad, plain({ "listen-ports": ports })), ["8080 0.0.0.0/0"], "what was never there was never closed");
  assert.deepEqual(opened(bad, plain({ "inbound-cidrs": "10.1.0.0/16" })), ["80 10.1.0.0/16"], "who says so is let in");
});

test("while nobody knows whether an Ingress redirects to HTTPS, a port that stands goes on as it is", () => {
  const secure = { ...shared, "listen-ports": https, "certificate-arn": certificate };
  const rules = (host: string) => ({ [`${host}.example.com`]: ["Prefix / web:80"] });
  const member = (host: string, more = {}) => ingress(`${host}/web`, { annotations: { ...secure, ...more }, rules: rules(host) });
  const bad = { "group.order": "x" };
  const redirect = { "ssl-redirect": "443" };
  const onHttp = ({ account }: ReturnType<typeof bed>) => {
    const listener = account.seen().loadBalancer?.listeners.find(({ port }) => port === 80);
    return [listener?.actions[0]?.Type, listener?.rules.length];
  };

  const redirecting = bed({ forgets: true });
  redirecting.deploy(member("a", redirect), member("b"));
  assert.deepEqual(onHttp(redirecting), ["redirect", 0]);
  assert.deepEqual(redirecting.deploy(member("a", { ...redirect, ...bad }), member("b")), [], "nobody is served in plain text for it");

  const plain = bed({ forgets: true });
  plain.deploy(member("a"), member("b"));
  plain.deploy(member("a", bad), member("b", redirect));
  assert.deepEqual(onHttp(plain), ["fixed-response", 2], "who asks for a redirect waits until all are understood");
  plain.deploy(member("a"), member("b", redirect));
  assert.deepEqual(onHttp(plain), ["redirect", 0]);
});
