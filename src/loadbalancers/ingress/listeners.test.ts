/** Ports of a group with what protects them: who decides, who agrees, and what is told to whom. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bed, type IngressOptions, ingress, rulesText, settings } from "./ingress.fixture.ts";
import type { ClassParams } from "./view.ts";

const shared = { "group.name": "g" };
const both = '[{"HTTP":80},{"HTTPS":443}]';
const arn = (id: string) => `arn:aws:acm:us-east-1:1:certificate/${id}`;

/** What the listeners of these annotations are, one Ingress each, in one group. */
function of(rows: readonly Readonly<Record<string, string>>[], given: Parameters<typeof bed>[0] = {}, params?: ClassParams) {
  const members = rows.map((annotations, i) => ingress(`a/${"xyz"[i]}`, { annotations: { ...shared, ...annotations } }));
  const result = bed(given).desire(...members.map((each) => (params ? ([each, params] as const) : each)));
  const { listeners } = result.model;
  return {
    ...result,
    listeners,
    ports: listeners.map(({ port, protocol }) => `${protocol}:${port}`),
    fault: (key: string) => result.faults.get(key)?.join("; ") ?? "",
    clients: clientsOf(result.model),
  };
}

/** `port source`, of the managed security group. */
function clientsOf({ securityGroups }: ReturnType<ReturnType<typeof bed>["desire"]>["model"]): readonly string[] {
  const groups = securityGroups.kind === "wanted" ? securityGroups.groups : [];
  return groups.flatMap((entry) =>
    entry.kind === "managed"
      ? entry.group.rules.map((rule) => `${rule.fromPort} ${"cidr" in rule ? rule.cidr : "prefixList" in rule ? rule.prefixList : "?"}`)
      : [],
  );
}

test("the port without being told is 443 with a certificate, and 80 without", () => {
  assert.deepEqual(of([{}]).ports, ["HTTP:80"]);
  assert.deepEqual(of([{ "certificate-arn": arn("a") }]).ports, ["HTTPS:443"]);
  assert.deepEqual(of([{}], {}, { name: "p", certificateArn: [arn("a")] }).ports, ["HTTPS:443"]);
  assert.deepEqual(of([{ "listen-ports": both, "certificate-arn": arn("a") }]).ports, ["HTTP:80", "HTTPS:443"]);
  assert.deepEqual(of([{ "listen-ports": "[{}]" }]).ports, [], "an empty entry is no port, and no mistake");
});

test("clients: everybody, unless blocks or lists are given; IPv6 where the load balancer has it; the class goes first", () => {
  assert.deepEqual(of([{}]).clients, ["80 0.0.0.0/0"]);
  assert.deepEqual(of([{ "ip-address-type": "dualstack" }]).clients, ["80 0.0.0.0/0", "80 ::/0"]);
  assert.deepEqual(of([{ "security-group-prefix-lists": "pl-1" }]).clients, ["80 pl-1"]);
  assert.deepEqual(of([{ "inbound-cidrs": "10.0.0.1/8, fd00::1/8" }]).clients, ["80 10.0.0.0/8"], "in the form that EC2 keeps");
  assert.deepEqual(of([{ "inbound-cidrs": "10.0.0.0/8", "security-group-prefix-lists": "pl-1" }]).clients, ["80 10.0.0.0/8", "80 pl-1"]);
  const byClass = { name: "p", inboundCIDRs: ["10.1.0.0/16"], prefixListsIDs: ["pl-9"] };
  assert.deepEqual(of([{ "inbound-cidrs": "10.0.0.0/8", "security-group-prefix-lists": "pl-1" }], {}, byClass).clients, [
    "80 10.1.0.0/16",
    "80 pl-9",
  ]);
  const conflict = of([{ "security-group-prefix-lists": "pl-1" }, { "security-group-prefix-lists": "pl-2" }]);
  assert.match(conflict.fault("a/y"), /for port: 80: conflicting inbound-prefix-lists, a\/x: \[pl-1\] \| a\/y: \[pl-2\]/);
});

test("certificates: the first member's first is the default, the others follow once each", () => {
  const ofThree = of([
    { "listen-ports": '[{"HTTPS":443}]', "certificate-arn": `${arn("b")},${arn("a")}` },
    { "listen-ports": '[{"HTTPS":443}]', "certificate-arn": `${arn("a")},${arn("c")}` },
    { "listen-ports": '[{"HTTPS":443}]', "certificate-arn": arn("b") },
  ]);
  assert.deepEqual(ofThree.listeners[0]?.certificates, [arn("b"), arn("a"), arn("c")]);
  const [second] = of([{ "listen-ports": '[{"HTTPS":443}]' }, { "listen-ports": '[{"HTTPS":443}]', "certificate-arn": arn("z") }], {
    certificates: [],
  }).listeners;
  assert.deepEqual(second?.certificates, [arn("z")], "without hosts none is looked for");
});

test("certificates by host: exact names and wildcards of one label, those of allowed authorities only", () => {
  const certificates = [
    { arn: "arn:exact", domains: ["x.example.com"] },
    { arn: "arn:wild", domains: ["*.example.com"], authority: "arn:ca" },
    { arn: "arn:deep", domains: ["*.a.example.com"] },
  ];
  const found = (options: IngressOptions, given: object = {}) => {
    const annotations = { "listen-ports": '[{"HTTPS":443}]', ...options.annotations };
    const result = bed({ certificates, ...given }).desire(ingress("shop/web", { ...options, annotations }));
    return result.faults.get("shop/web")?.join() ?? result.model.listeners[0]?.certificates;
  };
  const to = (host: string): IngressOptions => ({ rules: { [host]: ["Prefix / web:80"] } });
  assert.deepEqual(found(to("x.example.com")), ["arn:exact", "arn:wild"]);
  assert.deepEqual(found(to("*.example.com")), ["arn:wild"], "a wildcard host is a name like others");
  assert.deepEqual(found(to("b.a.example.com")), ["arn:deep"]);
  assert.equal(found(to("example.com")), "no certificate found for host: example.com");
  assert.deepEqual(found({ ...to("b.a.example.com"), tlsHosts: ["x.example.com"] }), ["arn:deep", "arn:exact", "arn:wild"]);
  const strict = { settings: { ...settings, allowedAuthorities: ["arn:ca"] } };
  assert.deepEqual(found(to("x.example.com"), strict), ["arn:wild"]);
  assert.equal(found(to("b.a.example.com"), strict), "no certificate found for host: b.a.example.com");
  assert.deepEqual(
    found({ ...to("example.com"), annotations: { "listen-ports": '[{"HTTP":80}]' } }),
    [],
    "where nobody speaks HTTPS none is looked for",
  );
});

test("ssl-redirect: one port for all, that exists and speaks HTTPS; what only HTTP would answer is not looked at", () => {
  const tls = { "listen-ports": both, "certificate-arn": arn("a") };
  const redirect = { kind: "redirect", port: "443", protocol: "HTTPS", status: "HTTP_301" };
  const one = of([{ ...tls, "ssl-redirect": "443" }, { "listen-ports": '[{"HTTP":81}]' }]);
  assert.deepEqual(
    one.listeners.map(({ port, defaultActions, rules }) => [port, defaultActions[0]?.kind, rules.length]),
    [
      [80, "redirect", 0],
      [81, "redirect", 0],
      [443, "fixed-response", 1],
    ],
    "every HTTP listener of the group",
  );
  assert.deepEqual(one.listeners[0]?.defaultActions, [redirect]);
  assert.deepEqual(
    one.model.targetGroups.map(({ part }) => part),
    ["a/x-web:80"],
    "what only redirects needs no target group",
  );
  assert.deepEqual(
    [
      ...of([
        { ...tls, "ssl-redirect": "443" },
        { ...tls, "ssl-redirect": "443" },
      ]).faults,
    ],
    [],
  );
  assert.match(
    of([
      { ...tls, "ssl-redirect": "443" },
      { ...tls, "ssl-redirect": "80" },
    ]).fault("a/y"),
    /conflicting sslRedirect port: \[443 80\]/,
  );
  assert.equal(of([{ ...tls, "ssl-redirect": "444" }]).fault("a/x"), "listener does not exist for SSLRedirect port: 444");
  assert.equal(of([{ ...tls, "ssl-redirect": "80" }]).fault("a/x"), "listener protocol non-SSL for SSLRedirect port: 80");
  assert.deepEqual(of([{ ...tls, "ssl-redirect": "80" }], {}, { name: "p", sslRedirectPort: "443" }).listeners[0]?.defaultActions, [
    redirect,
  ]);
  assert.match(of([tls], {}, { name: "p", sslRedirectPort: "https" }).fault("a/x"), /sslRedirectPort .* takes a port number/);
  const bad = ingress("b/bad", {
    annotations: { ...shared, "actions.x": "{" },
    rules: { "*": ["Prefix /a gone:80", "Prefix /b x:use-annotation"] },
  });
  const group = bed().desire(ingress("a/x", { annotations: { ...shared, ...tls, "ssl-redirect": "443" } }), bad);
  assert.deepEqual([[...group.faults], group.model.targetGroups.length], [[], 1]);
});

test("client certificates: unset leaves what stands, the gate turns it off; two who disagree are told", () => {
  const tls = { "listen-ports": '[{"HTTPS":443}]', "certificate-arn": arn("a") };
  const mtls = (json: string) => ({ ...tls, "mutual-authentication": json });
  const modeOf = (rows: readonly Readonly<Record<string, string>>[], given = {}) => of(rows, given).listeners[0]?.mutualTls;
  const enhanced = { settings: { ...settings, gates: { ...settings.gates, enhancedDefaults: true } } };
  assert.equal(modeOf([tls]), undefined);
  assert.deepEqual(modeOf([tls], enhanced), { mode: "off" });
  assert.deepEqual(modeOf([mtls('[{"port":443,"mode":"passthrough"}]')], enhanced), { mode: "passthrough" });
  const verify = '[{"port":443,"mode":"verify","trustStore":"s"}]';
  const trustStore = (name: string) => (name === "s" ? "arn:store" : undefined);
  assert.deepEqual(modeOf([mtls(verify)], { trustStore }), {
    mode: "verify",
    trustStore: "arn:store",
    ignoresExpiry: false,
    advertisesNames: false,
  });
  assert.equal(of([mtls(verify)]).fault("a/x"), "couldn't find TrustStore with name s");
  assert.match(
    of([mtls('[{"port":443,"mode":"off"}]'), mtls('[{"port":443,"mode":"passthrough"}]')]).fault("a/y"),
    /conflicting mTLS Attributes, a\/x: .* \| a\/y: /,
  );
  assert.match(of([{ "mutual-authentication": verify }]).fault("a/x"), /TrustStore/, "also where the port speaks HTTP");
  assert.deepEqual(
    modeOf([mtls('[{"port":443,"mode":"off"},{"port":443,"mode":"passthrough"}]')]),
    { mode: "passthrough" },
    "of two entries for a port the last one counts",
  );
});

test("policies and attributes of listeners: two who disagree are told, unless the class has settled it", () => {
  const tls = { "listen-ports": '[{"HTTPS":443}]', "certificate-arn": arn("a") };
  assert.equal(of([tls]).listeners[0]?.sslPolicy, settings.defaultSslPolicy);
  assert.match(
    of([
      { ...tls, "ssl-policy": "A" },
      { ...tls, "ssl-policy": "B" },
    ]).fault("a/y"),
    /conflicting sslPolicy, a\/x: A \| a\/y: B/,
  );
  assert.equal(of([{ ...tls, "ssl-policy": "A" }], {}, { name: "p", sslPolicy: "C" }).listeners[0]?.sslPolicy, "C");
  const rows = [{ "listener-attributes.HTTP-80": "k=1" }, { "listener-attributes.HTTP-80": "k=2" }];
  assert.match(of(rows).fault("a/y"), /conflicting listener attributes k: 1 \| 2/);
  const settled = of(
    rows,
    {},
    {
      name: "p",
      listeners: [
        { protocol: "HTTP", port: 80, listenerAttributes: [{ key: "k", value: "3" }] },
        { protocol: "HTTPS", port: 444, listenerAttributes: [{ key: "k", value: "4" }] },
      ],
    },
  );
  assert.deepEqual([settled.fault("a/y"), settled.listeners[0]?.attributes, settled.ports], ["", { k: "3" }, ["HTTP:80"]]);
});

test("settings of HTTPS mean nothing on an HTTP port, and a default backend is of the ports that its Ingress listens on", () => {
  const [listener] = of([{ "ssl-policy": "A", "mutual-authentication": '[{"port":80,"mode":"passthrough"}]' }]).listeners;
  assert.deepEqual([listener?.sslPolicy, listener?.mutualTls, listener?.certificates], [undefined, undefined, []]);
  const { model } = bed().desire(
    ingress("a/x", { annotations: { ...shared, "listen-ports": '[{"HTTP":80}]' }, defaultBackend: "web:80", rules: {} }),
    ingress("b/y", { annotations: { ...shared, "listen-ports": '[{"HTTP":81}]' }, defaultBackend: "web:80", rules: {} }),
    ingress("c/z", { annotations: { ...shared, "listen-ports": '[{"HTTP":82}]' } }),
  );
  assert.deepEqual(
    model.listeners.map(({ defaultActions: [first] }) => first?.kind),
    ["forward", "forward", "fixed-response"],
  );
  assert.deepEqual(rulesText({ model }, 82), ["1 path-pattern /* -> c/z-web:80"]);
});
