/** Which Gateways a process looks at, and what it asks the API server for before it does. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type GatewayWorld, gatewayBed } from "../bed/gateway-world.ts";

/** Requests about Gateways, as they arrive: `GET /apis/…`. */
function listen(world: GatewayWorld): readonly string[] {
  const heard: string[] = [];
  world.cluster.faults.add({
    match({ method, url }) {
      if (/gateway\.(networking\.)?k8s/.test(url.pathname)) heard.push(`${method} ${url.pathname}`);
      return false;
    },
    effect: { kind: "reset" },
  });
  return heard;
}

test("--watch-namespace: Gateways and routes of other namespaces are not looked at", async (t) => {
  const world = await gatewayBed(t, "web");
  const heard = listen(world);
  world.serve("--watch-namespace=default");
  const home = "/apis/gateway.networking.k8s.io/v1/namespaces/other";
  await world.say("POST", "/api/v1/namespaces", { metadata: { name: "other" } });
  const listeners = [{ name: "http", port: 80, protocol: "HTTP", allowedRoutes: { namespaces: { from: "All" } } }];
  const gateway = { apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", metadata: { name: "far" } };
  await world.say("POST", `${home}/gateways`, { ...gateway, spec: { gatewayClassName: "alb", listeners } });
  await world.gateway("edge", listeners as never);
  await world.route("shop", { "/": ["web:80"] });
  await world.route("far", { "/far": ["web:80"] }, { parentRefs: [{ name: "edge", namespace: "default" }] }, "other");
  await world.programmed("edge");
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/rules").length], [1, 1]);
  assert.deepEqual([world.conditions("gateways", "far"), world.conditions("httproutes", "far")], [[], []]);
  const lists = heard.filter((each) => /GET .*\/(gateways|httproutes|tcproutes|listenersets|targetgroupconfigurations)$/.test(each));
  assert.ok(lists.length >= 5 && lists.every((each) => each.includes("/namespaces/default/")), lists.join("\n"));
});

test("gates that are closed ask for nothing; one that is open asks for its own kinds", async (t) => {
  const world = await gatewayBed(t, "web");
  const heard = listen(world);
  const gates = (open: boolean) => `--feature-gates=ALBGatewayAPI=${open},NLBGatewayAPI=false,GatewayListenerSet=false`;
  const end = world.start(gates(false));
  await world.world.advance(120_000);
  assert.deepEqual(heard, []);
  end();
  world.start(gates(true), "--default-target-type=ip");
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  const discovery = heard.filter((each) => /\/v1(beta1)?$/.test(each));
  assert.deepEqual(
    [...new Set(discovery)].toSorted(),
    ["gateway.k8s.aws/v1", "gateway.networking.k8s.io/v1", "gateway.networking.k8s.io/v1beta1"].map((api) => `GET /apis/${api}`),
    "what is served is asked for also where a gate is set: a kind that is missing would otherwise be waited for in vain",
  );
  assert.ok(!heard.some((each) => /listenersets|tcproutes/.test(each)));
});
