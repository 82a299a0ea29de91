/** Gateways on a simulated account: what becomes of the account and of every status. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { CreateWebACLCommand, WAFV2Client } from "@aws-sdk/client-wafv2";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { issue } from "../bed/certificates.ts";
import { backendOf, type GatewayWorld, gatewayWorld, texts } from "../bed/gateway-world.ts";

async function bed(t: TestContext): Promise<GatewayWorld> {
  const world = await gatewayWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  await world.service("api");
  await world.pods("api", 1);
  world.serve();
  return world;
}

const settle = (world: GatewayWorld, ms = 60_000) => world.world.advance(ms);
const loadBalancerRef = (name: string) => ({ group: "gateway.k8s.aws", kind: "LoadBalancerConfiguration", name });
const configured = { infrastructure: { parametersRef: loadBalancerRef("own") } };
const ports = (world: GatewayWorld) =>
  world
    .all<{ port: number; protocol: string }>("elbv2/listeners")
    .map(({ port, protocol }) => `${protocol}:${port}`)
    .toSorted();
const message = (world: GatewayWorld, plural: string, name: string, type: string) => {
  const { conditions, parents } = world.get(plural, name)?.status ?? {};
  return (conditions ?? parents?.[0]?.conditions ?? []).find((each) => each.type === type)?.message;
};

test("one bad route, or one bad rule, is told so, and the others are served", async (t) => {
  const world = await bed(t);
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("good", { "/": ["web:80"] });
  await world.route("missing", { "/missing": ["none:80"] });
  await world.route(
    "mirrored",
    {},
    {
      rules: [
        { matches: [{ path: { type: "PathPrefix", value: "/a" } }], backendRefs: [backendOf("web:80")] },
        {
          matches: [{ path: { type: "PathPrefix", value: "/b" } }],
          filters: [{ type: "RequestMirror" }],
          backendRefs: [backendOf("web:80")],
        },
      ],
    },
  );
  await world.programmed("edge");
  assert.deepEqual(world.conditions("httproutes", "good"), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"]);
  assert.deepEqual(world.conditions("httproutes", "missing"), ["Accepted=True Accepted", "ResolvedRefs=False BackendNotFound"]);
  assert.deepEqual(world.conditions("httproutes", "mirrored"), [
    "Accepted=True Accepted",
    "ResolvedRefs=True ResolvedRefs",
    "PartiallyInvalid=True UnsupportedValue",
  ]);
  assert.equal(world.all("elbv2/rules").length, 4);

  await world.service("none");
  await settle(world);
  assert.deepEqual(
    world.conditions("httproutes", "missing"),
    ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"],
    "a Service wakes it",
  );
});

test("what AWS refuses of one route is told to that route, and the others are served", async (t) => {
  const world = await bed(t);
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("good", { "/": ["web:80"] });
  await world.programmed("edge");
  const healthCheckConfig = { healthCheckInterval: 1 };
  await world.add("targetgroupconfigurations", "api", { targetReference: { name: "api" }, defaultConfiguration: { healthCheckConfig } });
  await world.route("bad", { "/bad": ["api:80"] });
  await settle(world);
  assert.deepEqual(world.conditions("httproutes", "bad"), ["Accepted=False UnsupportedValue", "ResolvedRefs=True ResolvedRefs"]);
  await world.route("late", { "/late": ["web:80"] });
  await settle(world);
  assert.deepEqual(world.conditions("httproutes", "late"), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"]);
  assert.equal(world.all("elbv2/rules").length, 2);
});

test("a port without routes has no listener; the last route takes its listener with it", async (t) => {
  const world = await bed(t);
  await world.gateway("edge", ["HTTP:80", "HTTP:8080", "HTTPS:443"]);
  await world.route("shop", { "/": ["web:80"] }, { parentRefs: [{ name: "edge", sectionName: "http-8080" }] });
  await world.programmed("edge");
  assert.deepEqual(ports(world), ["HTTP:8080"]);
  assert.equal(world.calls().ListCertificates, undefined, "nobody looks for certificates of a port without routes");
  await world.drop("httproutes", "shop");
  await settle(world, 300_000);
  assert.deepEqual([ports(world), world.all("elbv2/target-groups").length], [[], 0]);
  assert.deepEqual(world.conditions("gateways", "edge"), ["Accepted=True Accepted", "Programmed=True Programmed"]);
});

test("a class is accepted with its configuration, follows it, and stays while Gateways use it", async (t) => {
  const world = await bed(t);
  const ref = { ...loadBalancerRef("shared"), namespace: "default" };
  await world.gatewayClass("public", "alb", ref);
  await world.gatewayClass("nowhere", "alb", loadBalancerRef("shared"));
  await settle(world);
  assert.deepEqual(world.conditions("gatewayclasses", "public"), ["Accepted=False NotFound"]);
  assert.deepEqual(world.conditions("gatewayclasses", "nowhere"), ["Accepted=False InvalidParametersRef"]);
  await world.gateway("edge", ["HTTP:80"], { gatewayClassName: "public" });
  await world.route("shop", { "/": ["web:80"] });
  await settle(world);
  assert.deepEqual(world.conditions("gateways", "edge"), ["Accepted=False InvalidParameters", "Programmed=False Invalid"]);

  await world.add("loadbalancerconfigurations", "shared", { scheme: "internet-facing" });
  await world.programmed("edge");
  assert.deepEqual(world.conditions("gatewayclasses", "public"), ["Accepted=True Accepted"]);
  assert.ok(world.get("gatewayclasses", "public")?.status?.supportedFeatures?.some(({ name }) => name === "HTTPRoute"));
  assert.deepEqual(
    world.all<{ scheme: string }>("elbv2/load-balancers").map(({ scheme }) => scheme),
    ["internet-facing"],
  );

  await world.drop("loadbalancerconfigurations", "shared");
  await world.drop("gatewayclasses", "public");
  await settle(world);
  assert.ok(world.get("loadbalancerconfigurations", "shared") && world.get("gatewayclasses", "public"), "both are in use");
  await world.drop("gateways", "edge");
  const isGone = (plural: string, name: string) => world.get(plural, name) === undefined;
  await world.until("the Gateway is gone", () => isGone("gateways", "edge"), 30 * 60_000);
  await world.until("its class too", () => isGone("gatewayclasses", "public") && isGone("loadbalancerconfigurations", "shared"));
});

test("another scheme is another load balancer beside the first, which goes when clients have left it", async (t) => {
  const world = await bed(t);
  await world.add("loadbalancerconfigurations", "own", { scheme: "internal" });
  await world.gateway("edge", ["HTTP:80"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  const before = world.address();
  await world.change("loadbalancerconfigurations", "own", { spec: { scheme: "internet-facing" } });
  await world.until("the address moves", () => world.address() !== before, 30 * 60_000);
  assert.equal(world.all("elbv2/load-balancers").length, 2);
  await settle(world, 15 * 60_000);
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length, world.bindings().length], [1, 1, 1]);
  assert.deepEqual(world.conditions("gateways", "edge"), ["Accepted=True Accepted", "Programmed=True Programmed"]);
});

test("a rule that AWS refuses does not keep a load balancer of another scheme from taking over", async (t) => {
  const world = await bed(t);
  await world.add("loadbalancerconfigurations", "own", { scheme: "internal" });
  await world.gateway("edge", ["HTTP:80"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.route("long", { "/long": ["api:80"] });
  await world.programmed("edge");
  await settle(world, 300_000);
  const rules = [{ matches: [{ path: { type: "PathPrefix", value: `/${"x".repeat(130)}` } }], backendRefs: [{ name: "api", port: 80 }] }];
  await world.change("httproutes", "long", { spec: { rules } });
  await settle(world, 60_000);
  const before = world.address();
  await world.change("loadbalancerconfigurations", "own", { spec: { scheme: "internet-facing" } });
  await world.until("the address moves", () => world.address() !== before, 30 * 60_000);
  await world.until("the old one goes", () => world.all("elbv2/load-balancers").length === 1, 15 * 60_000);
});

test("a web ACL and capacity are recorded before they are enabled and after they are disabled, and left alone when never asked for", async (t) => {
  const world = await bed(t);
  const VisibilityConfig = { SampledRequestsEnabled: false, CloudWatchMetricsEnabled: false, MetricName: "m" };
  const input = { Name: "acl", Scope: "REGIONAL" as const, DefaultAction: { Allow: {} }, VisibilityConfig };
  const webACL = (await new WAFV2Client(sdkConfig(world.aws)).send(new CreateWebACLCommand(input))).Summary?.ARN ?? "";
  await world.add("loadbalancerconfigurations", "own", { wafV2: { webACL }, minimumLoadBalancerCapacity: { capacityUnits: 100 } });
  await world.gateway("edge", ["HTTP:80"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  await settle(world, 300_000);
  const recorded = () => {
    const annotations = world.get("gateways", "edge")?.metadata.annotations ?? {};
    return ["wafv2", "shield", "provisionedcapacity"].map((addOn) => annotations[`gateway.k8s.aws.addon.${addOn}`]);
  };
  assert.deepEqual([world.all("wafv2/associations").length, recorded()], [1, ["true", undefined, "true"]], world.events("edge").join("\n"));
  await world.change("loadbalancerconfigurations", "own", { spec: { wafV2: null, minimumLoadBalancerCapacity: null } });
  await settle(world, 300_000);
  assert.deepEqual([world.all("wafv2/associations").length, recorded()], [0, ["false", undefined, "false"]]);
  world.resetCalls();
  await world.route("other", { "/other": ["api:80"] });
  await settle(world, 120_000);
  assert.deepEqual([world.calls().GetWebACLForResource, world.calls().DescribeCapacityReservation], [undefined, undefined]);
});

test("a protected Gateway is not deleted; one whose class and configuration are gone is, by its tags alone", async (t) => {
  const world = await bed(t);
  const protection = (value: string) => [{ key: "deletion_protection.enabled", value }];
  await world.add("loadbalancerconfigurations", "own", { loadBalancerAttributes: protection("true") });
  await world.gateway("edge", ["HTTP:80"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  await world.drop("gateways", "edge");
  await settle(world, 300_000);
  assert.match(world.events("edge").join("\n"), /Unable to delete gateway default\/edge because deletion protection is enabled/);
  assert.equal(world.all("elbv2/load-balancers").length, 1);
  await world.change("loadbalancerconfigurations", "own", { metadata: { finalizers: null } });
  await world.drop("loadbalancerconfigurations", "own");
  await world.change("gatewayclasses", "alb", { metadata: { finalizers: null } });
  await world.drop("gatewayclasses", "alb");
  await world.until("the Gateway is gone", () => world.get("gateways", "edge") === undefined, 60 * 60_000);
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length], [0, 0]);
});

test("ListenerSets join a Gateway that takes them, and are told when it does not", async (t) => {
  const world = await bed(t);
  await world.gateway("edge", ["HTTP:80"], { allowedListeners: { namespaces: { from: "Same" } } });
  const parentRef = { name: "edge" };
  await world.add("listenersets", "more", { parentRef, listeners: [{ name: "more", port: 8080, protocol: "HTTP" }] });
  await world.add("listenersets", "taken", { parentRef, listeners: [{ name: "tcp", port: 80, protocol: "TCP" }] });
  await world.route("shop", { "/": ["web:80"] }, { parentRefs: [{ kind: "ListenerSet", name: "more" }] });
  await world.programmed("edge");
  assert.deepEqual(ports(world), ["HTTP:8080"]);
  assert.deepEqual(world.conditions("listenersets", "more"), ["Accepted=True Accepted", "Programmed=True Programmed"]);
  assert.deepEqual(world.conditions("listenersets", "taken"), ["Accepted=False ListenersNotValid", "Programmed=False ListenersNotValid"]);
  assert.deepEqual(texts(world.get("listenersets", "taken")?.status?.listeners?.[0]?.conditions ?? []), [
    "Conflicted=True ProtocolConflict",
    "Accepted=False ProtocolConflict",
    "ResolvedRefs=True ResolvedRefs",
    "Programmed=False ProtocolConflict",
  ]);
  assert.equal(world.get("gateways", "edge")?.status?.attachedListenerSets, 1);
  await world.change("gateways", "edge", { spec: { allowedListeners: { namespaces: { from: "None" } } } });
  await settle(world, 120_000);
  assert.deepEqual(world.conditions("listenersets", "more"), ["Accepted=False NotAllowed", "Programmed=False NotAllowed"]);
  assert.deepEqual([ports(world), world.get("gateways", "edge")?.status?.attachedListenerSets], [[], 0]);
  const resolved = "ResolvedRefs=True ResolvedRefs";
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=False NotAllowedByListeners", resolved]);
  await world.change("gateways", "edge", { spec: { allowedListeners: { namespaces: { from: "Same" } } } });
  await settle(world, 120_000);
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=True Accepted", resolved]);
  await world.drop("listenersets", "more");
  await settle(world, 120_000);
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=False ParentRefDoesNotExist", resolved]);
});

test("a log-in waits for its Secret, and a changed client is sent again", async (t) => {
  const world = await bed(t);
  const config = {
    issuer: "https://idp.example.com",
    authorizationEndpoint: "https://idp.example.com/a",
    tokenEndpoint: "https://idp.example.com/t",
    userInfoEndpoint: "https://idp.example.com/u",
    secret: { name: "client" },
  };
  await world.add("listenerruleconfigurations", "log-in", { actions: [{ type: "authenticate-oidc", authenticateOIDCConfig: config }] });
  const [defaultCertificate] = await issue(world, [["shop.example.com"]]);
  const listenerConfigurations = [{ protocolPort: "HTTPS:443", defaultCertificate }];
  await world.add("loadbalancerconfigurations", "own", { listenerConfigurations });
  await world.gateway("edge", ["HTTPS:443"], configured);
  const extensionRef = { group: "gateway.k8s.aws", kind: "ListenerRuleConfiguration", name: "log-in" };
  const rule = { matches: [{ path: { type: "PathPrefix", value: "/" } }], filters: [{ type: "ExtensionRef", extensionRef }] };
  await world.route("shop", {}, { rules: [{ ...rule, backendRefs: [backendOf("web:80")] }] });
  await settle(world, 120_000);
  assert.deepEqual(
    [
      world.get("listenerruleconfigurations", "log-in")?.status?.accepted,
      world.get("listenerruleconfigurations", "log-in")?.status?.message,
    ],
    [false, "secret [default/client] not found"],
  );
  const client = (clientSecret: string) => ({
    clientID: Buffer.from("id").toString("base64"),
    clientSecret: Buffer.from(clientSecret).toString("base64"),
  });
  await world.say("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "client" }, data: client("one") });
  await world.programmed("edge");
  assert.equal(world.get("listenerruleconfigurations", "log-in")?.status?.accepted, true);
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"]);
  world.resetCalls();
  await world.say("PATCH", "/api/v1/namespaces/default/secrets/client", { data: client("two") }, "merge");
  await settle(world, 120_000);
  assert.equal(world.mutations().ModifyRule, 1);
  assert.doesNotMatch(world.lines.join("\n"), /two"/);
});

test("an application load balancer behind a network load balancer", async (t) => {
  const world = await bed(t);
  await world.gateway("inner", ["HTTP:80"]);
  await world.route("shop", { "/": ["web:80"] }, { parentRefs: [{ name: "inner" }] });
  await world.gateway("outer", ["TCP:80"], { gatewayClassName: "nlb" });
  const backendRefs = [{ group: "gateway.networking.k8s.io", kind: "Gateway", name: "inner", port: 80 }];
  await world.add("tcproutes", "chain", { parentRefs: [{ name: "outer" }], rules: [{ backendRefs }] });
  await world.programmed("inner", "outer");
  await settle(world, 120_000);
  const group = world.all<{ arn: string; targetType: string }>("elbv2/target-groups").find(({ targetType }) => targetType === "alb");
  const arn = message(world, "gateways", "inner", "Programmed");
  assert.deepEqual(world.targets(group?.arn ?? ""), [`${arn}:80`], world.lines.slice(-5).join("\n"));
  assert.deepEqual(world.conditions("tcproutes", "chain"), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"]);
  await world.drop("gateways", "inner");
  await world.until("the inner one is gone", () => world.get("gateways", "inner") === undefined, 60 * 60_000);
  assert.deepEqual(world.conditions("tcproutes", "chain"), ["Accepted=True Accepted", "ResolvedRefs=False BackendNotFound"]);
});

test("a grant lets a route lead to another namespace, and its end takes that back", async (t) => {
  const world = await bed(t);
  await world.say("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
  const from = { namespaces: { from: "All" } };
  await world.gateway("edge", [{ name: "http", port: 80, protocol: "HTTP", allowedRoutes: from } as never]);
  const parentRefs = [{ name: "edge", namespace: "default" }];
  const backendRefs = [{ name: "web", namespace: "default", port: 80 }];
  const rules = [{ matches: [{ path: { type: "PathPrefix", value: "/" } }], backendRefs }];
  await world.route("shop", {}, { parentRefs, rules }, "other");
  await world.programmed("edge");
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=True Accepted", "ResolvedRefs=False RefNotPermitted"]);
  const grant = {
    from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "other" }],
    to: [{ group: "", kind: "Service" }],
  };
  await world.add("referencegrants", "web", grant);
  await settle(world);
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"]);
  await world.drop("referencegrants", "web");
  await settle(world);
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=True Accepted", "ResolvedRefs=False RefNotPermitted"]);
});

test("a Gateway of another controller's class is left alone, and one that goes there is given up", async (t) => {
  const world = await bed(t);
  await world.gatewayClass("theirs", "elsewhere");
  await world.gateway("edge", ["HTTP:80"], { gatewayClassName: "theirs" });
  await world.route("shop", { "/": ["web:80"] });
  await settle(world);
  assert.deepEqual(
    [world.all("elbv2/load-balancers").length, world.conditions("gateways", "edge"), world.conditions("httproutes", "shop")],
    [0, [], []],
  );
  await world.change("gateways", "edge", { spec: { gatewayClassName: "alb" } });
  await world.programmed("edge");
  const before = world.all<{ arn: string }>("elbv2/load-balancers").map(({ arn }) => arn);
  await world.change("gateways", "edge", { spec: { gatewayClassName: "theirs" } });
  await settle(world, 9 * 60_000);
  const targets = () => world.all<{ arn: string }>("elbv2/target-groups").map(({ arn }) => world.targets(arn).length);
  assert.deepEqual([world.all("elbv2/rules").length, targets()], [1, [1]], "for a while it serves on");
  assert.match(
    world.events("edge").join("\n"),
    /GatewayClass theirs belongs to another controller, gateway\.k8s\.aws\/elsewhere: .* 10 minutes/,
  );
  await world.change("gateways", "edge", { spec: { gatewayClassName: "alb" } });
  await settle(world, 20 * 60_000);
  assert.deepEqual(
    world.all<{ arn: string }>("elbv2/load-balancers").map(({ arn }) => arn),
    before,
    "who comes back has it still",
  );
  await world.change("gateways", "edge", { spec: { gatewayClassName: "theirs" } });
  await world.until("it is given up", () => world.all("elbv2/load-balancers").length === 0, 30 * 60_000);
  await settle(world, 300_000);
  assert.deepEqual(world.get("gateways", "edge")?.metadata.finalizers ?? [], []);
});

test("certificates are found by the host names of listeners and routes; a host without one holds up nobody", async (t) => {
  const world = await bed(t);
  const [wild, other] = await issue(world, [["*.example.com"], ["other.org"]]);
  await world.gateway("edge", ["HTTPS:443 *.example.com", { name: "all", port: 443, protocol: "HTTPS" } as never]);
  await world.route("shop", { "/": ["web:80"] }, { hostnames: ["shop.example.com", "other.org"] });
  await world.programmed("edge");
  const [listener] = world.all<{ certificates: readonly { CertificateArn: string }[] }>("elbv2/listeners");
  assert.deepEqual(new Set(JSON.stringify(listener).match(/arn:aws:acm[^"]+/g)), new Set([wild, other]));
  await world.route("unknown", { "/": ["web:80"] }, { hostnames: ["nobody.net"] });
  await settle(world);
  assert.match(world.events("edge").join("\n"), /no certificate found for host: nobody.net/);
  assert.equal(world.all("elbv2/rules").length, 3);
});
