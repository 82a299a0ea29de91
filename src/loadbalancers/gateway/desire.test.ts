import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApplicationLoadBalancer, ManagedGroup, NetworkLoadBalancer } from "../model.ts";
import { managedGroups } from "../model.ts";
import type { LoadBalancerSettings, TargetGroupSettings } from "./config.ts";
import { GatewayFault, HeldFault } from "./fault.ts";
import { flavours } from "./flavours.ts";
import { backend, desired, gateway, gatewayUid, listener, route, rule, type Scene, service, sourcesOf } from "./gateway.fixture.ts";
import { loadBalancerName, managedGroupName, parts, targetGroupName } from "./names.ts";

const application = (scene: Scene = {}) => desired(scene).model as ApplicationLoadBalancer;
const { settings } = sourcesOf();
const edge = { namespace: "shop-front", name: "edge-gw", uid: gatewayUid };

test("names are the reference's", () => {
  assert.equal(loadBalancerName("prod-eu", edge, "internal"), "k8s-shopfron-edgegw-2a3e59fada");
  assert.equal(loadBalancerName("prod-eu", edge, "internet-facing"), "k8s-shopfron-edgegw-425b9e730a");
  assert.equal(managedGroupName("prod-eu", edge), "k8s-shopfron-edgegw-f3926eaeff");
  const of = (more: object) =>
    targetGroupName("prod-eu", {
      gateway: edge,
      route: { kind: "HTTPRoute", namespace: "shop-cart", name: "cart-route" },
      backend: { namespace: "shop-cart", name: "cart" },
      port: 8080,
      targetType: "ip",
      protocol: "HTTP",
      protocolVersion: "HTTP1",
      ...more,
    });
  assert.equal(of({}), "k8s-shopcart-cartrout-7d7ff8770b");
  assert.equal(of({ port: "http" }), "k8s-shopcart-cartrout-892d1a076b");
  assert.equal(of({ port: 30080, targetType: "instance" }), "k8s-shopcart-cartrout-368eada330");
  assert.equal(of({ controlPort: 9000 }), "k8s-shopcart-cartrout-ad6d6686c0");
  const grpc = { kind: "GRPCRoute", namespace: "shop-cart", name: "cart-route" };
  assert.equal(of({ route: grpc, protocolVersion: "GRPC" }), "k8s-shopcart-cartrout-a5988bb4a4");
  const l4 = { protocol: "TCP", protocolVersion: undefined };
  const db = { route: { kind: "TCPRoute", namespace: "shop-cart", name: "db-route" }, backend: { namespace: "shop-data", name: "db" } };
  assert.equal(of({ ...db, ...l4, port: 5432 }), "k8s-shopcart-dbroute-0be3d86c7d");
  const chain = { route: { ...db.route, name: "chain" }, backend: { namespace: "shop-front", name: "inner-gw" } };
  assert.equal(of({ ...chain, ...l4, port: 80, targetType: "alb" }), "k8s-shopcart-chain-ede75cc4e3");
});

test("a Gateway with a route: a load balancer that answers 404 but for its rules, marked as its own", () => {
  const { model, bindings, problems } = desired();
  const { listeners, targetGroups, tags, internal } = model as ApplicationLoadBalancer;
  assert.deepEqual([problems, internal], [[], true]);
  assert.deepEqual(tags, {
    "elbv2.k8s.aws/cluster": "prod-eu",
    "gateway.k8s.aws.alb/stack": "shop/edge",
    "gateway.k8s.aws.alb/resource": "LoadBalancer",
  });
  assert.deepEqual(
    listeners.map(({ port, protocol, defaultActions }) => [port, protocol, defaultActions]),
    [[80, "HTTP", [{ kind: "fixed-response", status: "404", contentType: "text/plain" }]]],
  );
  assert.equal(targetGroups[0]?.part, "shop/edge:shop-web:HTTPRoute-shop-web:8080");
  assert.deepEqual(bindings[0]?.labels, { "gateway.k8s.aws.alb/stack-namespace": "shop", "gateway.k8s.aws.alb/stack-name": "edge" });
  assert.deepEqual(bindings[0]?.spec.networking, {
    ingress: [{ from: [{ securityGroup: { groupID: "sg-backend" } }], ports: [{ protocol: "TCP", port: 8080 }] }],
  });
});

test("a port without routes is let in and not listened on, and needs no certificate", () => {
  const { model, warnings, problems } = desired({ gateway: gateway(["HTTPS:443", "HTTP:80"]), routes: [] });
  assert.deepEqual([(model as ApplicationLoadBalancer).listeners, warnings, problems], [[], [], []]);
  const [group] = managedGroups(model) as [ManagedGroup];
  assert.deepEqual(
    group.rules.map(({ fromPort }) => fromPort),
    [443, 80],
  );
});

const group = (said: TargetGroupSettings, scene: Scene = {}) => {
  const targetConfiguration = () => ({ defaultConfiguration: said });
  const { model, failures } = desired({ ...scene, sources: { targetConfiguration, ...scene.sources } });
  return { group: (model as ApplicationLoadBalancer).targetGroups[0], told: [...failures.values()].flat().map(({ message }) => message) };
};
const secure: Scene = { gateway: gateway(["HTTPS:443 a.com"]), sources: { certificates: () => [{ arn: "arn:c", domains: ["a.com"] }] } };

test("target groups of an application load balancer: protocol, version, health check", () => {
  assert.deepEqual(group({}).group?.healthCheck, {
    protocol: "HTTP",
    port: "traffic-port",
    path: "/",
    matcher: { kind: "http", codes: "200-399" },
    interval: 15,
    timeout: 5,
    healthyThreshold: 3,
    unhealthyThreshold: 3,
    keepsAll: true,
  });
  assert.equal(group({ protocolVersion: "HTTP2" }).group?.protocolVersion, "HTTP1");
  assert.equal(group({ protocolVersion: "HTTP2" }, secure).group?.protocolVersion, "HTTP2");
  const h2c = { ...secure.sources, service: () => service("web", {}, { appProtocol: "kubernetes.io/h2c" }) };
  assert.equal(group({}, { ...secure, sources: h2c }).group?.protocolVersion, "HTTP2");
  const grpc: Scene = { ...secure, routes: [route("web", [rule(["web:80"], { matches: [] })], { kind: "GRPCRoute" })] };
  const { healthCheck, protocolVersion } = group({}, grpc).group!;
  assert.deepEqual(
    [protocolVersion, healthCheck.path, healthCheck.matcher],
    ["GRPC", "/AWS.ALB/healthcheck", { kind: "grpc", codes: "12" }],
  );
  assert.equal(group({ protocol: "HTTPS" }).group?.healthCheck.protocol, "HTTPS");
  assert.deepEqual(group({ protocol: "TCP" }).told, ["backend protocol must be within [HTTP, HTTPS]: TCP"]);
});

test("target groups: types, ports, families, control ports, and what cannot be", () => {
  const instance = group({ targetType: "instance" }).group;
  assert.deepEqual([instance?.targetType, instance?.port], ["instance", 30080]);
  const named = { service: () => service("web", {}, { targetPort: "web" }) };
  assert.equal(group({}, { sources: named }).group?.port, 1);
  const noNode = { service: () => service("web", { type: "ClusterIP" }, { nodePort: 0 }) };
  assert.match(group({ targetType: "instance" }, { sources: noNode }).told[0] ?? "", /must be of type 'NodePort' or 'LoadBalancer'/);
  const ipv6 = { service: () => service("web", { ipFamilies: ["IPv6"] }) };
  assert.deepEqual(group({}, { sources: ipv6 }).told, ["unsupported IPv6 configuration, lb not dual-stack"]);
  const both = { service: () => service("web", { ipFamilies: ["IPv4", "IPv6"] }) };
  assert.deepEqual(group({}, { sources: both }).told, [], "a Service that has both is reached by IPv4");
  assert.equal(group({}, { sources: ipv6, config: { ipAddressType: "dualstack" } }).group?.addressType, "ipv6");
  assert.equal(group({ targetControlPort: 9000 }).group?.controlPort, 9000);
  assert.deepEqual(group({ targetControlPort: 9000, targetType: "instance" }).told, [
    "target control port is not supported for instance target target group",
  ]);
  assert.equal(group({ targetGroupName: "mine" }).group?.name, "mine");
  const check = (port: string, more: object = {}) =>
    group({ healthCheckConfig: { healthCheckPort: port }, ...more }).group?.healthCheck.port;
  assert.deepEqual([check("9090"), check("http"), check("http", { targetType: "instance" })], ["9090", "8080", "30080"]);
  assert.match(group({ healthCheckConfig: { healthCheckPort: "gone" } }).told[0] ?? "", /unable to find port gone on service shop\/web/);
});

test("one target group of a name, and one per route and backend, whichever ports lead to it", () => {
  const both = desired({ gateway: gateway(["HTTP:80", "HTTP:81"]), routes: [route("a"), route("b")] });
  assert.equal((both.model as ApplicationLoadBalancer).targetGroups.length, 2);
  const targetConfiguration = () => ({ defaultConfiguration: { targetGroupName: "mine" } });
  const clash = desired({ routes: [route("a"), route("b")], sources: { targetConfiguration } });
  assert.deepEqual(
    [...clash.failures.keys()].map(({ name }) => name),
    ["b"],
  );
});

const managed = (config: LoadBalancerSettings, scene: Scene = {}) =>
  (managedGroups(desired({ config, ...scene }).model)[0]?.rules ?? []).map(
    ({ protocol, fromPort, toPort, cidr, prefixList }) => `${protocol} ${fromPort}-${toPort} ${cidr ?? prefixList}`,
  );

test("what the managed security group lets in", () => {
  assert.deepEqual(managed({}), ["tcp 80-80 0.0.0.0/0"]);
  assert.deepEqual(managed({ ipAddressType: "dualstack" }), ["tcp 80-80 0.0.0.0/0", "tcp 80-80 ::/0"]);
  assert.deepEqual(managed({ sourceRanges: ["10.0.0.1/8", "2600::/16"] }), ["tcp 80-80 10.0.0.0/8"]);
  assert.deepEqual(managed({ sourceRanges: [] }), []);
  assert.deepEqual(managed({ securityGroupPrefixes: ["pl-1"] }), ["tcp 80-80 0.0.0.0/0", "tcp 80-80 pl-1"]);
  assert.deepEqual(managed({ enableICMP: true, sourceRanges: ["10.0.0.0/8"] }), ["tcp 80-80 10.0.0.0/8", "icmp 3-4 10.0.0.0/8"]);
  const nlb: Scene = { flavour: flavours.nlb, gateway: gateway(["TCP:53", "UDP:53"]), routes: [] };
  assert.deepEqual(managed({}, nlb), ["tcp 53-53 0.0.0.0/0", "udp 53-53 0.0.0.0/0"]);
  assert.deepEqual(desired({ config: { sourceRanges: ["nonsense"] } }).problems, [
    "invalid CIDR address: nonsense (sourceRanges takes CIDR blocks)",
  ]);
});

test("security groups: given ones, with and without rules of targets; none on a network load balancer", () => {
  const groups = [{ id: "sg-1", name: "one", tags: {} }] as never;
  const of = (config: LoadBalancerSettings, scene: Scene = {}) => {
    const { model, bindings, problems } = desired({ ...scene, config, sources: { groups, ...scene.sources } });
    const wanted = model.securityGroups.kind === "wanted" ? model.securityGroups.groups : [];
    return [wanted.map((each) => (each.kind === "given" ? each.id : "managed")), bindings[0]?.spec.networking !== undefined, problems];
  };
  assert.deepEqual(of({}), [["managed", "sg-backend"], true, []]);
  assert.deepEqual(of({ securityGroups: [] }), [["managed", "sg-backend"], true, []]);
  assert.deepEqual(of({ securityGroups: ["sg-1"] }), [["sg-1"], false, []]);
  assert.deepEqual(of({ securityGroups: ["sg-1"], manageBackendSecurityGroupRules: true }), [["sg-1", "sg-backend"], true, []]);
  assert.match(String(of({ securityGroups: ["sg-2"] })[2]), /couldn't find all security groups/);
  const noShared = { backendGroup: undefined } as never;
  assert.deepEqual(of({}, { sources: noShared }), [["managed"], true, []]);
  const refused = of({ securityGroups: ["sg-1"], manageBackendSecurityGroupRules: true }, { sources: noShared });
  assert.match(String(refused[2]), /backendSG feature is required/);
  assert.deepEqual(of({ disableSecurityGroup: true })[0], ["managed", "sg-backend"]);
  const nlb: Scene = { flavour: flavours.nlb, gateway: gateway(["TCP:80"]), routes: [route("web", undefined, { kind: "TCPRoute" })] };
  assert.deepEqual(of({ disableSecurityGroup: true }, nlb), [[], true, []]);
});

test("subnets: what contradicts itself is refused, and one that stands stays where it is", () => {
  const problem = (config: LoadBalancerSettings, flavour = flavours.nlb as Scene["flavour"]) =>
    desired({ config, ...(flavour && { flavour }), routes: [] }).problems[0];
  const [a, b] = [{ identifier: "subnet-a" }, { identifier: "subnet-b" }];
  assert.equal(problem({ loadBalancerSubnets: [a, {}] }), "Either specify all subnet identifiers or none.");
  for (const [field, noun, config] of [
    ["eipAllocation", "eip allocations", { scheme: "internet-facing" }],
    ["ipv6Allocation", "ipv6 allocations", { ipAddressType: "dualstack" }],
    ["privateIPv4Allocation", "private ipv4 allocations", {}],
    ["sourceNatIPv6Prefix", "source nat prefixes", {}],
  ] as const) {
    assert.equal(problem({ ...config, loadBalancerSubnets: [{ ...a, [field]: "x" }, b] }), `Either specify all ${noun} or none.`);
    assert.match(
      problem({ ...config, loadBalancerSubnets: [{ ...a, [field]: "x" }] }, flavours.alb) ?? "",
      /only .* Network LoadBalancers/,
    );
  }
  const eip = { loadBalancerSubnets: [{ ...a, eipAllocation: "eip" }] };
  assert.equal(problem(eip), "EIPAllocation can only be set for internet facing load balancers");
  assert.match(problem({ loadBalancerSubnets: [{ ...a, ipv6Allocation: "::1" }] }) ?? "", /only be set for dualstack/);
  assert.match(
    problem({ scheme: "internet-facing", loadBalancerSubnets: [{ ...a, privateIPv4Allocation: "10.0.1.5" }] }) ?? "",
    /internal/,
  );
  const privates = [
    { ...a, privateIPv4Allocation: "10.0.2.5" },
    { ...b, privateIPv4Allocation: "10.0.1.5" },
  ];
  const { subnets } = desired({ config: { loadBalancerSubnets: privates }, flavour: flavours.nlb, routes: [] })
    .model as NetworkLoadBalancer;
  assert.deepEqual(
    subnets.map(({ subnet, privateIpv4Address }) => [subnet, privateIpv4Address]),
    [
      ["subnet-a", "10.0.1.5"],
      ["subnet-b", "10.0.2.5"],
    ],
  );
  const outside = privates.map((each) => ({ ...each, privateIPv4Allocation: "10.0.1.5" }));
  assert.equal(problem({ loadBalancerSubnets: outside }), "expect one private IPv4 address configured for subnet: subnet-a");
  const standing = {
    kind: "application",
    name: "old",
    hostname: "",
    internal: true,
    subnets: ["subnet-b"],
    securityGroups: [],
    createdAt: 0,
  };
  const kept = application({ sources: { standing } });
  assert.deepEqual([kept.name, kept.subnets], ["old", [{ subnet: "subnet-b" }]]);
  const moved = application({ sources: { standing }, config: { scheme: "internet-facing" } });
  assert.deepEqual([moved.name, moved.subnets.length], [loadBalancerName("prod-eu", gateway([]), "internet-facing"), 2]);
});

test("certificates: given, found by host names, and what happens where none is", () => {
  const certificates = [
    { arn: "arn:2", domains: ["*.a.com"] },
    { arn: "arn:1", domains: ["a.com", "x.a.com"] },
  ];
  const of = (scene: Scene) => {
    const { model, problems, warnings } = desired({ ...scene, sources: { certificates: () => certificates, ...scene.sources } });
    return { certificates: (model as ApplicationLoadBalancer).listeners.map((each) => each.certificates), problems, warnings };
  };
  const https = gateway(["HTTPS:443"]);
  const config = { listenerConfigurations: [{ protocolPort: "https:443", defaultCertificate: "arn:d", certificates: ["arn:e", "arn:d"] }] };
  assert.deepEqual(of({ gateway: https, config }).certificates, [["arn:d", "arn:e"]]);
  const hosts = route("web", undefined, { hostnames: ["a.com", "y.a.com"] });
  assert.deepEqual(
    of({ gateway: gateway(["HTTPS:443 *.a.com"]), routes: [route("web", undefined, { hostnames: ["x.a.com"] })] }).certificates,
    [["arn:1", "arn:2"]],
  );
  assert.deepEqual(of({ gateway: https, routes: [hosts] }).certificates, [["arn:1", "arn:2"]]);
  // A new port that no certificate fits is not served, and everything else is.
  const both = of({ gateway: gateway(["HTTPS:443", "HTTP:80"]) });
  assert.equal(both.certificates.length, 1);
  assert.match(both.warnings[0] ?? "", /port 443 is not served: No hostnames found for TLS cert discovery/);
  // One that stands keeps what it has.
  const standingListeners = [{ port: 443, protocol: "HTTPS", certificates: ["arn:old"], actions: [], rules: [] }];
  const routes = [route("web", undefined, { hostnames: ["b.com"] })];
  const kept = of({ gateway: https, routes, sources: { standingListeners } });
  assert.deepEqual([kept.certificates, kept.problems], [[["arn:old"]], []]);
  assert.match(kept.warnings[0] ?? "", /no certificate found for host: b\.com/);
  // So does one where nobody can be asked; a new one is left out.
  const denied = () => {
    throw new GatewayFault("ListCertificates: denied");
  };
  const asStands = of({ gateway: https, routes, sources: { standingListeners, certificates: denied } });
  assert.deepEqual([asStands.certificates, asStands.warnings.length], [[["arn:old"]], 1]);
  const fresh = of({ gateway: gateway(["HTTPS:443", "HTTP:80"]), routes, sources: { certificates: denied } });
  assert.deepEqual([fresh.certificates, fresh.warnings], [[[]], ["port 443 is not served: ListCertificates: denied"]]);
});

test("mutual TLS: off unless it is asked for; a trust store by name or ARN", () => {
  const mutual = (mutualAuthentication?: object, trustStore: (name: string) => string | undefined = () => undefined) => {
    const listenerConfigurations = [
      { protocolPort: "HTTPS:443", defaultCertificate: "arn:d", ...(mutualAuthentication && { mutualAuthentication }) },
    ];
    const { model, warnings } = desired({
      gateway: gateway(["HTTPS:443"]),
      config: { listenerConfigurations } as never,
      sources: { trustStore },
    });
    return (model as ApplicationLoadBalancer).listeners[0]?.mutualTls ?? warnings[0];
  };
  assert.deepEqual(mutual(), { mode: "off" });
  assert.deepEqual(mutual({ mode: "passthrough" }), { mode: "passthrough" });
  const verify = { mode: "verify", trustStore: "arn:t", ignoresExpiry: false, advertisesNames: false };
  assert.deepEqual(mutual({ mode: "verify", trustStore: "arn:t" }), verify);
  assert.deepEqual(
    mutual({ mode: "verify", trustStore: "mine", advertiseTrustStoreCaNames: "on" }, () => "arn:t"),
    { ...verify, advertisesNames: true },
  );
  assert.match(String(mutual({ mode: "verify", trustStore: "gone" })), /couldn't find TrustStore with name: gone/);
});

test("add-ons: what is asked for is enabled, what was enabled is disabled, everything else is left alone", () => {
  const of = (config: LoadBalancerSettings, addOns: readonly ("wafv2" | "shield" | "provisionedcapacity")[] = []) => {
    const { guards, capacity } = application({ config, wish: { addOns: new Set(addOns) } });
    return [guards, capacity];
  };
  assert.deepEqual(of({}), [undefined, undefined]);
  const all = { wafV2: { webACL: "arn:w" }, shieldConfiguration: { enabled: true }, minimumLoadBalancerCapacity: { capacityUnits: 100 } };
  assert.deepEqual(of(all), [{ webAcl: "arn:w", shield: true }, 100]);
  assert.deepEqual(of({}, ["wafv2", "shield", "provisionedcapacity"]), [{ webAcl: "", shield: false }, 0]);
});

const layer4 = (listeners: Parameters<typeof gateway>[0], routes: Scene["routes"], config: LoadBalancerSettings = {}, sources = {}) => {
  const { model, problems, warnings, failures, balancers } = desired({
    flavour: flavours.nlb,
    gateway: gateway(listeners),
    ...(routes && { routes }),
    config,
    sources,
  });
  return {
    model: model as NetworkLoadBalancer,
    problems,
    warnings,
    told: [...failures.values()].flat().map(({ message }) => message),
    balancers,
  };
};
const tcp = (name: string, backends: readonly string[] = ["web:80"], more: object = {}) =>
  route(name, [rule(backends)], { kind: "TCPRoute", ...more });

test("the oldest route has a port of a network load balancer, and by name among equals; all of its rules contribute", () => {
  const forwards = (routes: Scene["routes"]) => layer4(["TCP:80"], routes).model.listeners[0]?.forward.to.map(({ group: name }) => name);
  const groupOf = (name: string, backends = "web") =>
    targetGroupName("prod-eu", {
      gateway: { namespace: "shop", name: "edge" },
      route: { kind: "TCPRoute", namespace: "shop", name },
      backend: { namespace: "shop", name: backends },
      port: 8080,
      targetType: "ip",
      protocol: "TCP",
    });
  assert.deepEqual(forwards([tcp("b"), tcp("a")]), [groupOf("a")]);
  assert.deepEqual(forwards([tcp("b", ["web:80"], { createdAt: "2025-01-01T00:00:00Z" }), tcp("a")]), [groupOf("b")]);
  assert.deepEqual(forwards([route("a", [rule(["web:80"]), rule(["api:80 2"])], { kind: "TCPRoute" })]), [
    groupOf("a"),
    groupOf("a", "api"),
  ]);
});

test("a port of a network load balancer without a backend that takes traffic is not listened on", () => {
  assert.deepEqual(layer4(["TCP:80"], [tcp("a", [])]).model.listeners, []);
  const { listeners, targetGroups } = layer4(["TCP:80"], [tcp("a", ["web:80 0"])]).model;
  assert.deepEqual([listeners, targetGroups.length], [[], 1]);
});

test("protocols of network listeners and their target groups: merged, upgraded, passed through", () => {
  const of = (listeners: Parameters<typeof gateway>[0], routes: Scene["routes"], config?: LoadBalancerSettings) => {
    const { model, problems, warnings } = layer4(listeners, routes, config);
    return (
      problems[0] ?? warnings[0] ?? [model.listeners.map(({ protocol }) => protocol), model.targetGroups.map(({ protocol }) => protocol)]
    );
  };
  const quic = (protocolPort: string) => ({ listenerConfigurations: [{ protocolPort, quicEnabled: true }] });
  const udp = route("u", [rule(["web:80"])], { kind: "UDPRoute" });
  const tls = route("t", [rule(["web:80"])], { kind: "TLSRoute", hostnames: ["a.com"] });
  assert.deepEqual(of(["TCP:53", "UDP:53"], [tcp("a"), udp]), [["TCP_UDP"], ["TCP_UDP"]]);
  assert.deepEqual(of(["UDP:443"], [udp], quic("UDP:443")), [["QUIC"], ["QUIC"]]);
  assert.deepEqual(of(["TCP:443", "UDP:443"], [tcp("a"), udp], quic("TCP_UDP:443")), [["TCP_QUIC"], ["TCP_QUIC"]]);
  assert.match(String(of(["TCP:443"], [tcp("a")], quic("TCP:443"))), /QUIC protocol upgrade not supported for protocol TCP/);
  const passed = listener("TLS:443", { isPassthrough: true, name: "p" });
  assert.deepEqual(of([passed], [tls]), [["TCP"], ["TCP"]]);
  assert.deepEqual(
    of([passed, listener("TLS:443 a.com")], [tls]),
    [["TCP"], ["TCP"]],
    "the second is in conflict, and the first is served",
  );
  const certified = { listenerConfigurations: [{ protocolPort: "TLS:443", defaultCertificate: "arn:d" }] };
  const { model } = layer4(["TLS:443"], [tls], certified);
  assert.deepEqual(
    [model.listeners[0]?.alpnPolicy, model.listeners[0]?.certificates, model.targetGroups[0]?.protocol],
    ["None", ["arn:d"], "TLS"],
  );
  // AWS takes no weights with QUIC.
  assert.equal(layer4(["UDP:443"], [udp], quic("UDP:443")).model.listeners[0]?.forward.to[0]?.weight, undefined);
});

test("health checks behind a network load balancer", () => {
  const check = (more: object = {}, type: "ip" | "instance" = "ip") => {
    const sources = { service: () => service("web", more), settings: { ...settings, defaultTargetType: type } };
    const { protocol, port, path, interval, timeout, healthyThreshold } = layer4(["TCP:80"], [tcp("a")], {}, sources).model.targetGroups[0]!
      .healthCheck;
    return [protocol, port, path, interval, timeout, healthyThreshold];
  };
  assert.deepEqual(check(), ["TCP", "traffic-port", undefined, 15, 5, 3]);
  assert.deepEqual(check({ local: true, healthCheckNodePort: 32000 }, "instance"), ["HTTP", "32000", "/healthz", 10, 6, 2]);
  assert.deepEqual(check({ local: true, healthCheckNodePort: 32000 }), ["TCP", "traffic-port", undefined, 15, 5, 3]);
});

test("an application load balancer behind a network load balancer", () => {
  const arn = "arn:aws:elasticloadbalancing:eu-west-1:1:loadbalancer/app/inner/1";
  const conditions =
    (message: string, status = "True") =>
    () =>
      [{ type: "Programmed", status, reason: "Programmed", message }] as never;
  const of = (gatewayConditions: () => never) => layer4(["TCP:80"], [tcp("chain", ["Gateway inner:80"])], {}, { gatewayConditions });
  const { model, balancers } = of(conditions(arn));
  assert.deepEqual([model.targetGroups[0]?.targetType, model.targetGroups[0]?.healthCheck.protocol], ["alb", "HTTP"]);
  assert.deepEqual([...balancers.values()], [{ arn, port: 80 }]);
  assert.match(of(conditions(arn, "Unknown")).told[0] ?? "", /is not usable yet, LB ARN is not provisioned/);
  assert.match(of(conditions(arn.replace("/app/", "/net/"))).told[0] ?? "", /the resource type must be application load balancer/);
});

test("what targets behind a network load balancer let in", () => {
  const networking = (listeners: readonly string[], config: LoadBalancerSettings = {}, kind = "TCPRoute") => {
    const { bindings } = desired({
      flavour: flavours.nlb,
      gateway: gateway(listeners),
      routes: [route("a", [rule(["web:80"])], { kind: kind as never })],
      config,
    });
    return (bindings[0]?.spec.networking?.ingress ?? []).map(({ from, ports }) => {
      const sources = from.map(({ ipBlock, securityGroup }) => ipBlock?.cidr ?? securityGroup?.groupID).join(",");
      return `${ports.map(({ protocol, port }) => `${protocol} ${port}`).join(",")} from ${sources}`;
    });
  };
  assert.deepEqual(networking(["TCP:80"]), ["TCP 8080 from sg-backend"]);
  assert.deepEqual(networking(["UDP:80"], {}, "UDPRoute"), ["UDP 8080 from sg-backend", "TCP 8080 from sg-backend"]);
  assert.deepEqual(networking(["TCP:80", "UDP:80"]), ["UDP 8080 from sg-backend", "TCP 8080 from sg-backend"]);
  const none = { disableSecurityGroup: true };
  assert.deepEqual(networking(["TCP:80"], none), ["TCP 8080 from 10.0.1.0/24,10.0.2.0/24"]);
  assert.deepEqual(networking(["UDP:80"], none, "UDPRoute"), ["UDP 8080 from 10.0.0.0/16", "TCP 8080 from 10.0.1.0/24,10.0.2.0/24"]);
  assert.deepEqual(networking(["UDP:80"], { ...none, scheme: "internet-facing", sourceRanges: ["8.0.0.0/8"] }, "UDPRoute"), [
    "UDP 8080 from 8.0.0.0/8",
    "TCP 8080 from 10.0.1.0/24,10.0.2.0/24",
  ]);
});

test("what targets let in, by protocol, type, scheme, health port, ranges and family", () => {
  interface Row {
    readonly listeners?: readonly string[];
    readonly kind?: string;
    readonly config?: LoadBalancerSettings;
    readonly said?: TargetGroupSettings;
    readonly families?: readonly string[];
    readonly letsIn: readonly string[];
  }
  const none = { disableSecurityGroup: true };
  const open = { ...none, scheme: "internet-facing" } as const;
  const instance = { targetType: "instance" } as const;
  const health = { healthCheckConfig: { healthCheckPort: "9000" } };
  const dual = { ipAddressType: "dualstack" } as const;
  const udp = { listeners: ["UDP:80"], kind: "UDPRoute" };
  const six = { families: ["IPv6"] };
  const preserve = (value: string) => ({ targetGroupAttributes: [{ key: "preserve_client_ip.enabled", value }] });
  const subnets = "10.0.1.0/24,10.0.2.0/24";
  const subnets6 = "2600:1f14:0:1::/64,2600:1f14:0:2::/64";
  const rows: readonly Row[] = [
    { said: instance, letsIn: ["TCP 30080 from sg-backend"] },
    { said: health, letsIn: ["TCP 8080 from sg-backend", "TCP 9000 from sg-backend"] },
    { ...udp, said: health, letsIn: ["UDP 8080 from sg-backend", "TCP 9000 from sg-backend"] },
    {
      listeners: ["TCP:80", "UDP:80"],
      said: health,
      letsIn: ["UDP 8080 from sg-backend", "TCP 8080 from sg-backend", "TCP 9000 from sg-backend"],
    },
    { ...six, config: dual, letsIn: ["TCP 8080 from sg-backend"] },
    { config: none, said: instance, letsIn: ["TCP 30080 from 10.0.0.0/16"] },
    { config: open, said: instance, letsIn: ["TCP 30080 from 0.0.0.0/0"] },
    {
      config: { ...open, sourceRanges: ["8.0.0.0/8"] },
      said: instance,
      letsIn: ["TCP 30080 from 8.0.0.0/8", `TCP 30080 from ${subnets}`],
    },
    { config: none, said: { ...instance, ...preserve("false") }, letsIn: [`TCP 30080 from ${subnets}`] },
    { config: none, said: preserve("true"), letsIn: ["TCP 8080 from 10.0.0.0/16"] },
    { config: none, said: health, letsIn: [`TCP 8080 from ${subnets}`, `TCP 9000 from ${subnets}`] },
    { ...six, config: { ...none, ...dual }, letsIn: [`TCP 8080 from ${subnets6}`] },
    { ...udp, ...six, config: { ...none, ...dual }, letsIn: ["UDP 8080 from 2600:1f14::/56", `TCP 8080 from ${subnets6}`] },
    { ...udp, ...six, config: { ...open, ...dual }, letsIn: ["UDP 8080 from ::/0", `TCP 8080 from ${subnets6}`] },
  ];
  for (const { listeners = ["TCP:80"], kind = "TCPRoute", config = {}, said = {}, families = ["IPv4"], letsIn } of rows) {
    const { bindings } = desired({
      flavour: flavours.nlb,
      gateway: gateway(listeners),
      routes: [route("a", [rule(["web:80"])], { kind: kind as never })],
      config,
      sources: {
        targetConfiguration: () => ({ defaultConfiguration: said }),
        service: () => service("web", { ipFamilies: families }),
      },
    });
    const told = (bindings[0]?.spec.networking?.ingress ?? []).map(({ from, ports }) => {
      const sources = from.map(({ ipBlock, securityGroup }) => ipBlock?.cidr ?? securityGroup?.groupID).join(",");
      return `${ports.map(({ protocol, port }) => `${protocol} ${port}`).join(",")} from ${sources}`;
    });
    assert.deepEqual(told, letsIn, JSON.stringify([listeners, config, said, families]));
  }
});

test("a route on HTTP and HTTPS has one target group, with the settings of the lower port", () => {
  const { model } = desired({
    ...secure,
    gateway: gateway(["HTTP:80", "HTTPS:443 a.com"]),
    sources: { ...secure.sources, targetConfiguration: () => ({ defaultConfiguration: { protocolVersion: "HTTP2" } }) },
  });
  const { targetGroups, listeners } = model as ApplicationLoadBalancer;
  assert.deepEqual(
    targetGroups.map(({ protocolVersion }) => protocolVersion),
    ["HTTP1"],
  );
  const [name] = targetGroups.map((each) => each.name);
  const leadsTo = listeners.map(({ rules }) => rules[0]?.actions.flatMap((action) => (action.kind === "forward" ? action.to : [])));
  assert.deepEqual(leadsTo, [[{ group: name, weight: 1 }], [{ group: name, weight: 1 }]]);
});

test("tags: flags go before the author's unless a gate says otherwise; a key that others keep is refused", () => {
  const tags = (more: object) => desired({ config: { tags: { a: "author" } }, sources: { settings: { ...settings, ...more } } });
  assert.equal(tags({ defaultTags: { a: "flag" } }).model.tags.a, "flag");
  assert.equal(tags({ defaultTags: { a: "flag" }, gates: { ...settings.gates, defaultTagsLowPriority: true } }).model.tags.a, "author");
  assert.deepEqual(tags({ externalManagedTags: ["a"] }).problems, ["external managed tag key a cannot be specified"]);
  assert.equal(parts.rule(80, 3), "80:3");
});

test("a target group that nobody could be asked about is told to no route whose listener stands, on either kind of load balancer", () => {
  const told = (flavour: Scene["flavour"], listener: string, kind: "HTTPRoute" | "TCPRoute", stands: boolean) => {
    const [protocol = "", port] = listener.split(":");
    const actions = [{ Type: "forward" as const, TargetGroupArn: "arn:given" }];
    const conditions = [{ Field: "path-pattern", PathPatternConfig: { Values: ["/*"] } }];
    const rules = kind === "HTTPRoute" ? [{ arn: "arn:rule", priority: 1, actions, conditions, transforms: [], tags: {} }] : [];
    const { failures } = desired({
      flavour: flavour!,
      gateway: gateway([listener]),
      routes: [route("web", [rule([backend("TargetGroupName given")])], { kind })],
      sources: {
        standingListeners: stands ? [{ port: Number(port), protocol, certificates: [], actions, rules }] : [],
        targetGroupArn() {
          throw new HeldFault("nobody answers", { isUnknown: true });
        },
      },
    });
    return [...failures.values()].flat().map(({ reason }) => reason);
  };
  assert.deepEqual(told(flavours.alb, "HTTP:80", "HTTPRoute", true), []);
  assert.deepEqual(told(flavours.nlb, "TCP:80", "TCPRoute", true), []);
  assert.deepEqual(told(flavours.alb, "HTTP:80", "HTTPRoute", false), ["Pending"]);
  assert.deepEqual(told(flavours.nlb, "TCP:80", "TCPRoute", false), ["Pending"]);
});
