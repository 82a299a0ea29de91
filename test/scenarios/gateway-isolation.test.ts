/** What one mistake, one refusal or one bad start may not do to everybody else who shares a Gateway. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { issue } from "../bed/certificates.ts";
import { configured, type GatewayWorld, gatewayBed, settle } from "../bed/gateway-world.ts";

const ports = (world: GatewayWorld) =>
  world
    .all<{ port: number; protocol: string }>("elbv2/listeners")
    .map(({ port, protocol }) => `${protocol}:${port}`)
    .toSorted();
const gatewayApi = "/apis/gateway.networking.k8s.io/v1";

test("a start on a bad day of the API server takes no listener of a ListenerSet away", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  const end = world.serve();
  await world.gateway("edge", ["HTTP:80"], { allowedListeners: { namespaces: { from: "Same" } } });
  const listeners = [{ name: "more", port: 8080, protocol: "HTTP" }];
  await world.add("listenersets", "more", { parentRef: { name: "edge" }, listeners });
  await world.route("shop", { "/": ["web:80"] });
  await world.route("more", { "/": ["api:80"] }, { parentRefs: [{ kind: "ListenerSet", name: "more" }] });
  await world.programmed("edge");
  assert.deepEqual(ports(world), ["HTTP:80", "HTTP:8080"]);
  end();

  const { faults } = world.cluster;
  const unknown = faults.add({ match: ({ url }) => url.pathname === gatewayApi, effect: { kind: "refuse", status: 503 } });
  faults.add({ match: ({ url }) => url.pathname.endsWith("/listenersets"), effect: { kind: "delay", ms: 20_000 } });
  const taken: string[] = [];
  world.onAwsMutation((action) => taken.push(action));
  world.serve();
  await settle(world, 20_000);
  unknown();
  await settle(world, 300_000);
  assert.deepEqual([taken, ports(world)], [[], ["HTTP:80", "HTTP:8080"]]);
});

test("a protected load balancer outlasts a class of another controller", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gatewayClass("theirs", "elsewhere");
  await world.add("loadbalancerconfigurations", "own", {
    loadBalancerAttributes: [{ key: "deletion_protection.enabled", value: "true" }],
  });
  await world.gateway("edge", ["HTTP:80"], configured);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  await world.change("gateways", "edge", { spec: { gatewayClassName: "theirs" } });
  await settle(world, 600_000);
  assert.equal(world.all("elbv2/load-balancers").length, 1);
  assert.equal(world.bindings().length, 1, "its targets stay");
  assert.match(world.events("edge").join("\n"), /deletion protection is enabled/);
  await world.change("gateways", "edge", { spec: { gatewayClassName: "alb" } });
  await settle(world, 600_000);
  assert.deepEqual(world.conditions("gateways", "edge"), ["Accepted=True Accepted", "Programmed=True Programmed"]);
});

test("a ListenerSet that passes TLS through on a port that terminates it is in conflict, and nobody else is", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await issue(world, [["a.example.com"]]);
  const spec = { gatewayClassName: "nlb", allowedListeners: { namespaces: { from: "Same" } } };
  await world.gateway("edge", ["TCP:80", "TLS:443 a.example.com"], spec);
  const rules = [{ backendRefs: [{ name: "web", port: 80 }] }];
  await world.add("tcproutes", "web", { parentRefs: [{ name: "edge", sectionName: "tcp-80" }], rules });
  await world.programmed("edge");
  const listeners = [{ name: "through", port: 443, protocol: "TLS", hostname: "b.example.com", tls: { mode: "Passthrough" } }];
  await world.add("listenersets", "more", { parentRef: { name: "edge" }, listeners });
  await world.add("tlsroutes", "through", {
    parentRefs: [
      { kind: "ListenerSet", name: "more" },
      { name: "edge", sectionName: "tls-443" },
    ],
    hostnames: ["a.example.com", "b.example.com"],
    rules,
  });
  await settle(world, 120_000);
  assert.deepEqual(world.conditions("listenersets", "more"), ["Accepted=False ListenersNotValid", "Programmed=False ListenersNotValid"]);
  assert.deepEqual(ports(world), ["TCP:80", "TLS:443"]);
  assert.doesNotMatch(world.events("edge").join("\n"), /FailedBuildModel/);
});

const served = ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"];
const refused = ["Accepted=False UnsupportedValue", "ResolvedRefs=True ResolvedRefs"];
const targets = (healthCheckInterval: number) => ({
  targetReference: { name: "web" },
  defaultConfiguration: { healthCheckConfig: { healthCheckInterval } },
});

for (const [className, listener, plural] of [
  ["alb", "HTTP:80", "httproutes"],
  ["nlb", "TCP:80", "tcproutes"],
] as const) {
  test(`a route that serves keeps serving when AWS refuses a change of its target group: class ${className}`, async (t) => {
    const world = await gatewayBed(t, "web", "api");
    world.serve();
    await world.gateway("edge", [listener], { gatewayClassName: className });
    const rules = [{ backendRefs: [{ name: "web", port: 80 }] }];
    await world.add(plural, "shop", { parentRefs: [{ name: "edge" }], rules });
    await world.programmed("edge");
    const [group] = world.all<{ arn: string }>("elbv2/target-groups");
    await world.add("targetgroupconfigurations", "web", targets(1));
    await settle(world, 180_000);
    assert.deepEqual(world.conditions(plural, "shop"), refused);
    assert.deepEqual([ports(world), world.targets(group!.arn).length, world.bindings().length], [[listener], 1, 1]);
    assert.deepEqual(world.conditions("gateways", "edge"), ["Accepted=True Accepted", "Programmed=True Programmed"]);

    await world.change("targetgroupconfigurations", "web", { spec: targets(20) });
    await settle(world);
    assert.deepEqual(world.conditions(plural, "shop"), served, "what is mended is noticed at once");
  });
}

test("a route that AWS refused is served as soon as its configuration is mended, and tried again in ten minutes", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("other", { "/other": ["api:80"] });
  await world.programmed("edge");
  await world.add("targetgroupconfigurations", "web", targets(1));
  await world.route("shop", { "/": ["web:80"] });
  await settle(world);
  assert.deepEqual([world.conditions("httproutes", "shop"), world.conditions("httproutes", "other")], [refused, served]);
  world.resetCalls();
  await settle(world, 11 * 60_000);
  assert.equal(world.calls().CreateTargetGroup, 1);
  await world.change("targetgroupconfigurations", "web", { spec: targets(20) });
  await settle(world);
  assert.deepEqual(world.conditions("httproutes", "shop"), served);
});

test("a binding that the API server refuses holds up no other route", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("other", { "/": ["api:80"] });
  const isBad = (body: unknown) => /"name":"web"/.test(String(body));
  const mend = world.cluster.faults.add({
    match: ({ method, url, body }) => method === "POST" && url.pathname.endsWith("/targetgroupbindings") && isBad(body),
    effect: { kind: "refuse", status: 403 },
  });
  await world.route("bad", { "/a-longer-path-comes-first": ["web:80"] });
  await world.programmed("edge");
  assert.equal(world.bindings().length, 1);
  assert.match(world.events("edge").join("\n"), /FailedDeployModel: .*refused by a fault/);
  assert.deepEqual(world.conditions("gateways", "edge"), ["Accepted=True Accepted", "Programmed=True Programmed"]);
  mend();
  await settle(world, 300_000);
  assert.equal(world.bindings().length, 2);
});
