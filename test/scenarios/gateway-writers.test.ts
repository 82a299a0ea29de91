/** Gateways beside other writers of their objects, and on bad days of the API server: nobody's words are lost, and no trouble becomes a verdict. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { issue } from "../bed/certificates.ts";
import { backendOf, type GatewayWorld, gatewayBed, settle } from "../bed/gateway-world.ts";

const accepted = ["Accepted=True Accepted", "Programmed=True Programmed"];
const served = ["Accepted=True Accepted", "ResolvedRefs=True ResolvedRefs"];
const gatewayPath = "/apis/gateway.networking.k8s.io/v1/namespaces/default/gateways/edge";
const classPath = "/apis/gateway.networking.k8s.io/v1/gatewayclasses/alb";

/** A condition that another controller writes. */
const theirs = { type: "example.com/Audited", status: "True", reason: "Fine", message: "", lastTransitionTime: "2026-01-01T00:00:00Z" };

/** Beside those that are there. */
async function say(world: GatewayWorld, plural: string, name: string, path: string): Promise<void> {
  const conditions = [...(world.get(plural, name)?.status?.conditions ?? []), theirs];
  await world.say("PATCH", `${path}/status`, { status: { conditions } }, "merge");
}

for (const [plural, name, path] of [
  ["gateways", "edge", gatewayPath],
  ["gatewayclasses", "alb", classPath],
] as const) {
  test(`a condition that another controller writes at the same moment is not lost: ${plural}`, async (t) => {
    const world = await gatewayBed(t, "web", "api");
    let isOnItsWay = false;
    world.cluster.faults.add({
      match({ method, url }) {
        if (method !== "PATCH" || url.pathname !== `${path}/status`) return false;
        isOnItsWay = true;
        return true;
      },
      effect: { kind: "delay", ms: 4_000 },
      times: 1,
    });
    world.serve();
    await world.gateway("edge", ["HTTP:80"]);
    await world.route("shop", { "/": ["web:80"] });
    await world.until("our write is on its way", () => isOnItsWay, 60_000);
    await say(world, plural, name, path);
    await world.programmed("edge");
    assert.ok(world.conditions(plural, name).includes("example.com/Audited=True Fine"), world.conditions(plural, name).join());
    assert.ok(world.conditions(plural, name).includes("Accepted=True Accepted"));
  });
}

test("a status of a route or a ListenerSet that somebody else changes at the same moment is written a second later, beside theirs", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  const api = "/apis/gateway.networking.k8s.io/v1/namespaces/default";
  const late = new Set<string>();
  const paths = [`${api}/httproutes/shop/status`, `${api}/listenersets/more/status`];
  for (const path of paths) {
    world.cluster.faults.add({
      match({ method, url }) {
        if (method !== "PATCH" || url.pathname !== path) return false;
        late.add(path);
        return true;
      },
      effect: { kind: "delay", ms: 4_000 },
      times: 1,
    });
  }
  world.serve();
  await world.gateway("edge", ["HTTP:80"], { allowedListeners: { namespaces: { from: "Same" } } });
  const listeners = [{ name: "more", port: 8080, protocol: "HTTP" }];
  await world.add("listenersets", "more", { parentRef: { name: "edge" }, listeners });
  await world.route("shop", { "/": ["web:80"] });
  await world.until("the ListenerSet is being told", () => late.has(paths[1]!), 60_000);
  await world.say("PATCH", paths[1]!, { status: { conditions: [theirs] } }, "merge");
  await world.until("the route is being told", () => late.has(paths[0]!), 60_000);
  const parents = [{ controllerName: "example.com/other", parentRef: { name: "elsewhere" }, conditions: [theirs] }];
  await world.say("PATCH", paths[0]!, { status: { parents } }, "merge");
  await world.programmed("edge");
  assert.deepEqual(world.conditions("listenersets", "more"), [
    "example.com/Audited=True Fine",
    "Accepted=True Accepted",
    "Programmed=True Programmed",
  ]);
  const told = world.get("httproutes", "shop")?.status?.parents?.map(({ controllerName }) => controllerName);
  assert.deepEqual(told?.toSorted(), ["example.com/other", "gateway.k8s.aws/alb"]);
});

test("a Gateway that has left is let go at once, also where its new controller writes to it in the same moment", async (t) => {
  const world = await gatewayBed(t, "web");
  world.serve();
  await world.gatewayClass("theirs", "elsewhere");
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  let conflicts = 0;
  world.cluster.faults.add({
    match({ method, url }) {
      const isLast = method === "PATCH" && url.pathname === gatewayPath && world.all("elbv2/load-balancers").length === 0;
      if (isLast) conflicts += 1;
      return isLast;
    },
    effect: { kind: "refuse", status: 409 },
    times: 1,
  });
  await world.change("gateways", "edge", { spec: { gatewayClassName: "theirs" } });
  await world.until("its load balancer is gone", () => world.all("elbv2/load-balancers").length === 0, 15 * 60_000);
  await settle(world, 240_000);
  assert.deepEqual([conflicts, world.get("gateways", "edge")?.metadata.finalizers ?? []], [1, []]);
});

test("a Gateway that the API server cannot write to for a while is not told that it is invalid", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  await settle(world, 300_000);
  const mend = world.cluster.faults.add({
    match: ({ method, url }) => method === "PATCH" && url.pathname === gatewayPath,
    effect: { kind: "refuse", status: 503 },
  });
  await world.route("late", { "/late": ["api:80"] });
  await settle(world, 120_000);
  assert.deepEqual(world.conditions("gateways", "edge"), accepted, "the last status stays");
  assert.match(world.events("edge").join("\n"), /FailedDeployModel/);
  assert.equal(world.all("elbv2/rules").length, 1);
  mend();
  await settle(world, 600_000);
  assert.deepEqual([world.all("elbv2/rules").length, world.conditions("httproutes", "late")], [2, served]);
});

test("what AWS refuses of the whole Gateway is told in its status, with the Event that says what", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  const lift = world.aws.controls.deny("elasticloadbalancing:CreateLoadBalancer");
  await world.route("shop", { "/": ["web:80"] });
  await settle(world, 120_000);
  const conditions = world.get("gateways", "edge")?.status?.conditions ?? [];
  assert.deepEqual(
    conditions.map(({ type, status, reason, message }) => `${type}=${status} ${reason}: ${message}`),
    ["Accepted=False Invalid: Check Gateway Events for more information.", "Programmed=False Invalid: The Gateway is not accepted."],
  );
  assert.match(world.events("edge").join("\n"), /FailedDeployModel: Failed deploy model due to .*CreateLoadBalancer/);
  lift();
  await world.programmed("edge");
  assert.deepEqual(world.conditions("gateways", "edge"), accepted);
});

test("a Secret that cannot be read after a start changes no log-in, and no verdict", async (t) => {
  const world = await gatewayBed(t, "web", "api");
  const end = world.serve();
  const config = {
    issuer: "https://idp.example.com",
    authorizationEndpoint: "https://idp.example.com/a",
    tokenEndpoint: "https://idp.example.com/t",
    userInfoEndpoint: "https://idp.example.com/u",
    secret: { name: "client" },
  };
  const data = { clientID: Buffer.from("id").toString("base64"), clientSecret: Buffer.from("one").toString("base64") };
  await world.say("POST", "/api/v1/namespaces/default/secrets", { metadata: { name: "client" }, data });
  await world.add("listenerruleconfigurations", "log-in", { actions: [{ type: "authenticate-oidc", authenticateOIDCConfig: config }] });
  await issue(world, [["shop.example.com"]]);
  await world.gateway("edge", ["HTTPS:443 shop.example.com"]);
  const extensionRef = { group: "gateway.k8s.aws", kind: "ListenerRuleConfiguration", name: "log-in" };
  const rule = { matches: [{ path: { type: "PathPrefix", value: "/" } }], filters: [{ type: "ExtensionRef", extensionRef }] };
  await world.route("shop", {}, { rules: [{ ...rule, backendRefs: [backendOf("web:80")] }] });
  await world.programmed("edge");
  end();
  const before = JSON.stringify(world.all("elbv2/rules"));
  const mend = world.cluster.faults.add({
    match: ({ url }) => url.pathname.endsWith("/secrets"),
    effect: { kind: "refuse", status: 503 },
  });
  await world.change("gateways", "edge", { metadata: { annotations: { "gateway.fairlead.io/checkpoint": null } } });
  world.serve();
  await settle(world, 180_000);
  assert.equal(JSON.stringify(world.all("elbv2/rules")), before, "the log-in stays");
  assert.equal(world.get("listenerruleconfigurations", "log-in")?.status?.accepted, true);
  assert.deepEqual(world.conditions("httproutes", "shop"), served);
  mend();
  await settle(world, 300_000);
  assert.deepEqual([world.conditions("httproutes", "shop"), JSON.stringify(world.all("elbv2/rules"))], [served, before]);
});

test("a finalizer that is taken away by hand comes back", async (t) => {
  const world = await gatewayBed(t, "web");
  world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  await settle(world, 600_000);
  const held = world.get("gateways", "edge")?.metadata.finalizers;
  await world.change("gateways", "edge", { metadata: { finalizers: null } });
  await world.world.advance(60_000);
  assert.deepEqual(world.get("gateways", "edge")?.metadata.finalizers, held);
  await world.drop("gateways", "edge");
  await world.until("nothing is left", () => world.all("elbv2/load-balancers").length === 0 && !world.get("gateways", "edge"), 600_000);
});

test("a route that could not be told of its Gateway's mistake, because another wrote at the same moment, is told soon", async (t) => {
  const world = await gatewayBed(t, "web");
  world.serve();
  await world.add("loadbalancerconfigurations", "own", { loadBalancerSubnets: [{ identifier: "subnet-00000000000000bad" }] });
  const parametersRef = { group: "gateway.k8s.aws", kind: "LoadBalancerConfiguration", name: "own" };
  await world.gateway("edge", ["HTTP:80"], { infrastructure: { parametersRef } });
  await world.world.advance(30 * 60_000);
  const path = "/apis/gateway.networking.k8s.io/v1/namespaces/default/httproutes/shop/status";
  world.cluster.faults.add({
    match: ({ method, url }) => method === "PATCH" && url.pathname === path,
    effect: { kind: "refuse", status: 409 },
    times: 1,
  });
  await world.route("shop", { "/": ["web:80"] });
  await world.until("it is told", () => (world.get("httproutes", "shop")?.status?.parents ?? []).length > 0, 10_000);
});
