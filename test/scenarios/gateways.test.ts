import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type GatewayWorld, type GatewayWorldOptions, gatewayWorld } from "../bed/gateway-world.ts";

async function bed(t: TestContext, options?: GatewayWorldOptions): Promise<GatewayWorld> {
  const world = await gatewayWorld(options);
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 2);
  await world.service("api");
  await world.pods("api", 1);
  return world;
}

const gone = (world: GatewayWorld, name: string) =>
  world
    .until("the Gateway is gone", () => world.get("gateways", name) === undefined, 30 * 60_000)
    .catch((error: unknown) => {
      throw new Error(`${String(error)}\n${world.lines.slice(-20).join("\n")}\n${world.events(name).join("\n")}`);
    });

test("a Gateway with a route gets a load balancer, says so in every status, costs nothing at rest, and leaves nothing behind", async (t) => {
  const world = await bed(t);
  const groupsBefore = world.all("ec2/security-groups").length;
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", { "/": ["web:80"], "/api": ["api:80"] });
  await world.programmed("edge");
  const [balancer] = world.all<{ arn: string; dnsName: string }>("elbv2/load-balancers");
  assert.equal(world.all("elbv2/load-balancers").length, 1);
  assert.deepEqual(world.get("gateways", "edge")?.metadata.finalizers, ["gateway.k8s.aws/alb"]);
  const { addresses, listeners, conditions } = world.get("gateways", "edge")?.status ?? {};
  assert.deepEqual(addresses, [{ type: "Hostname", value: balancer?.dnsName.toLowerCase() }]);
  assert.equal(conditions?.find(({ type }) => type === "Programmed")?.message, balancer?.arn);
  assert.deepEqual(world.conditions("gateways", "edge"), ["Accepted=True Accepted", "Programmed=True Programmed"]);
  assert.deepEqual(
    listeners?.map(({ name, attachedRoutes }) => [name, attachedRoutes]),
    [["http-80", 1]],
  );
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"]);
  assert.deepEqual(world.conditions("gatewayclasses", "alb"), ["Accepted=True Accepted"]);
  const groups = world.all<{ arn: string }>("elbv2/target-groups");
  assert.deepEqual(groups.map(({ arn }) => world.targets(arn).length).toSorted(), [1, 2], world.lines.slice(-10).join("\n"));
  assert.deepEqual([...new Set(world.events("edge"))], ["Normal SuccessfullyReconciled: Successfully reconciled"]);

  await world.world.advance(10 * 60_000);
  world.resetCalls();
  await world.world.advance(10 * 60_000);
  assert.deepEqual([world.mutations(), world.writes], [{}, []]);

  await world.drop("gateways", "edge");
  await gone(world, "edge");
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length, world.bindings().length], [0, 0, 0]);
  await world.until("the shared group is gone", () => world.all("ec2/security-groups").length === groupsBefore, 600_000);
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=False ParentRefDoesNotExist", "ResolvedRefs=True ResolvedRefs"]);
});

test("definitions that appear later are noticed without a restart", async (t) => {
  const world = await bed(t, { defined: false });
  world.serve();
  await world.world.advance(5 * 60_000);
  await world.define();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  assert.equal(world.all("elbv2/load-balancers").length, 1);
});

test("a dry run writes its plan and makes nothing; without it the plan goes and the load balancer comes", async (t) => {
  const world = await bed(t);
  world.serve();
  world.resetCalls();
  await world.gateway("edge", ["HTTP:80"], {}, { "gateway.k8s.aws/dry-run": "true" });
  await world.route("shop", { "/": ["web:80"] });
  const planOf = () => world.get("gateways", "edge")?.metadata.annotations?.["gateway.k8s.aws/dry-run-plan"];
  await world.until("the plan is there", () => planOf()?.includes("TargetGroupBinding") ?? false);
  await world.world.advance(120_000);
  const { id, resources } = JSON.parse(planOf() ?? "{}") as { id: string; resources: Record<string, object> };
  assert.equal(id, "default/edge");
  assert.deepEqual(Object.keys(resources), [
    "AWS::EC2::SecurityGroup",
    "AWS::ElasticLoadBalancingV2::Listener",
    "AWS::ElasticLoadBalancingV2::ListenerRule",
    "AWS::ElasticLoadBalancingV2::LoadBalancer",
    "AWS::ElasticLoadBalancingV2::TargetGroup",
    "K8S::ElasticLoadBalancingV2::TargetGroupBinding",
  ]);
  assert.deepEqual([world.mutations(), world.get("gateways", "edge")?.metadata.finalizers], [{}, undefined]);
  world.resetCalls();
  await world.world.advance(20 * 60_000);
  assert.deepEqual(world.writes, [], "the same plan is not written again");

  await world.change("gateways", "edge", { metadata: { annotations: { "gateway.k8s.aws/dry-run": null } } });
  await world.programmed("edge");
  assert.equal(planOf(), undefined);
  await world.change("gateways", "edge", { metadata: { annotations: { "gateway.k8s.aws/dry-run": "true" } } });
  await world.world.advance(120_000);
  assert.deepEqual([planOf(), world.all("elbv2/load-balancers").length], [undefined, 1], "of one that has a load balancer it says nothing");
});

test("a TCPRoute, a UDPRoute and a TLSRoute each have a port of a network load balancer", async (t) => {
  const world = await bed(t);
  world.serve();
  const spec = { gatewayClassName: "nlb" };
  await world.gateway(
    "edge",
    ["TCP:80", "UDP:53", { name: "tls", protocol: "TLS", port: 443, tls: { mode: "Passthrough" } } as never],
    spec,
  );
  await world.service("dns", { ports: [{ name: "http", port: 53, targetPort: 8080, protocol: "UDP" }] });
  await world.pods("dns", 1);
  const rules = (backend: string) => {
    const [name, port] = backend.split(":");
    return [{ backendRefs: [{ name, port: Number(port) }] }];
  };
  await world.add("tcproutes", "plain", { parentRefs: [{ name: "edge", sectionName: "tcp-80" }], rules: rules("web:80") });
  await world.add("udproutes", "dns", { parentRefs: [{ name: "edge", sectionName: "udp-53" }], rules: rules("dns:53") });
  await world.add("tlsroutes", "secure", { parentRefs: [{ name: "edge", sectionName: "tls" }], rules: rules("api:80") });
  await world.programmed("edge");
  const listeners = world.all<{ port: number; protocol: string }>("elbv2/listeners").map(({ port, protocol }) => `${protocol}:${port}`);
  assert.deepEqual(listeners.toSorted(), ["TCP:443", "TCP:80", "UDP:53"]);
  for (const [plural, name] of [
    ["tcproutes", "plain"],
    ["udproutes", "dns"],
    ["tlsroutes", "secure"],
  ] as const)
    assert.deepEqual(world.conditions(plural, name), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"], name);
  await world.drop("gateways", "edge");
  await gone(world, "edge");
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length], [0, 0]);
});

test("a route that leaves a Gateway that is gone is told of it no more, wherever it goes", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.gateway("plain", ["TCP:80"], { gatewayClassName: "nlb" });
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge", "plain");
  await world.drop("gateways", "edge");
  await gone(world, "edge");
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=False ParentRefDoesNotExist", "ResolvedRefs=True ResolvedRefs"]);
  await world.change("httproutes", "shop", { spec: { parentRefs: [{ name: "plain" }] } });
  await world.world.advance(60_000);
  assert.deepEqual(world.get("httproutes", "shop")?.status?.parents, []);
});

test("a route of a ListenerSet whose Gateway is gone is told so, and one that leaves it is told of it no more", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.gateway("edge", ["HTTP:80"], { allowedListeners: { namespaces: { from: "Same" } } });
  await world.add("listenersets", "more", {
    parentRef: { name: "edge" },
    listeners: [{ name: "more", port: 8080, protocol: "HTTP" }],
  });
  await world.route("shop", { "/": ["web:80"] }, { parentRefs: [{ kind: "ListenerSet", name: "more" }] });
  await world.programmed("edge");
  await world.world.advance(60_000);
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"]);
  await world.drop("gateways", "edge");
  await gone(world, "edge");
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=False ParentRefDoesNotExist", "ResolvedRefs=True ResolvedRefs"]);
  assert.deepEqual(world.conditions("listenersets", "more"), ["Accepted=False ParentNotAccepted", "Programmed=False ParentNotAccepted"]);
  assert.deepEqual(world.get("listenersets", "more")?.status?.listeners, []);
  await world.change("httproutes", "shop", { spec: { parentRefs: [{ name: "edge" }] } });
  await world.world.advance(60_000);
  const parents = world.get("httproutes", "shop")?.status?.parents ?? [];
  assert.deepEqual(
    parents.map(({ parentRef }) => parentRef.name),
    ["edge"],
  );
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=False ParentRefDoesNotExist", "ResolvedRefs=True ResolvedRefs"]);
});

test("a route whose ListenerSet is gone is told nothing of a Gateway that another controller serves", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.gateway("edge", ["HTTP:80"], { allowedListeners: { namespaces: { from: "Same" } } });
  await world.gateway("low", ["TCP:80"], { gatewayClassName: "nlb" });
  await world.add("listenersets", "more", {
    parentRef: { name: "edge" },
    listeners: [{ name: "more", port: 8080, protocol: "HTTP" }],
  });
  await world.route("shop", { "/": ["web:80"] }, { parentRefs: [{ kind: "ListenerSet", name: "more" }, { name: "low" }] });
  await world.programmed("edge");
  await world.drop("listenersets", "more");
  await world.world.advance(60_000);
  await world.change("gateways", "low", { metadata: { labels: { looked: "at" }, generation: 2 } });
  await world.change("httproutes", "shop", { metadata: { generation: 2 }, spec: { hostnames: ["shop.example.com"] } });
  await world.world.advance(600_000);
  const ofAlb = world.get("httproutes", "shop")?.status?.parents?.filter(({ controllerName }) => controllerName === "gateway.k8s.aws/alb");
  assert.deepEqual(
    ofAlb?.map(({ parentRef }) => parentRef.name),
    ["more"],
  );
});

test("a route that leaves a ListenerSet that is gone for another that never was is told of neither", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.gateway("edge", ["HTTP:80"], { allowedListeners: { namespaces: { from: "Same" } } });
  const listeners = [{ name: "more", port: 8080, protocol: "HTTP" }];
  await world.add("listenersets", "more", { parentRef: { name: "edge" }, listeners });
  await world.route("shop", { "/": ["web:80"] }, { parentRefs: [{ kind: "ListenerSet", name: "more" }] });
  await world.programmed("edge");
  await world.drop("listenersets", "more");
  await world.world.advance(60_000);
  assert.deepEqual(world.conditions("httproutes", "shop"), ["Accepted=False ParentRefDoesNotExist", "ResolvedRefs=True ResolvedRefs"]);
  await world.change("httproutes", "shop", { metadata: { generation: 2 }, spec: { parentRefs: [{ kind: "ListenerSet", name: "never" }] } });
  await world.world.advance(60_000);
  assert.deepEqual(world.get("httproutes", "shop")?.status?.parents, []);
});

test("routes of a Gateway that goes to another controller's class are told so, and not that it is gone", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.gatewayClass("theirs", "elsewhere");
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  await world.change("gateways", "edge", { spec: { gatewayClassName: "theirs" } });
  await world.world.advance(60 * 60_000);
  const [accepted] = world.get("httproutes", "shop")?.status?.parents?.[0]?.conditions ?? [];
  assert.deepEqual(
    [accepted?.reason, accepted?.message],
    ["ParentRefDoesNotExist", "Gateway default/edge is of GatewayClass theirs now, which another controller serves"],
  );
});
