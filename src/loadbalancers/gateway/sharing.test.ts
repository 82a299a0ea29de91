import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApplicationLoadBalancer, NetworkLoadBalancer } from "../model.ts";
import type { TargetGroupConfiguration } from "./config.ts";
import { flavours } from "./flavours.ts";
import { desired, gateway, listener, route, rule, type Scene, service } from "./gateway.fixture.ts";
import { parts } from "./names.ts";
import { sharesTargetGroups, sharingAnnotation } from "./sharing.ts";
import type { ClassView, RouteView } from "./view.ts";

const on = { sharesTargetGroups: true };
const at = (name: string, ...backends: readonly string[]): RouteView => route(name, [rule(backends)], { hostnames: [`${name}.com`] });

function sharing(scene: Scene, wish: object = on) {
  const { model, bindings, sharedBy, failures } = desired({ ...scene, wish });
  const { targetGroups, listeners } = model as ApplicationLoadBalancer;
  const leadsTo = listeners.flatMap(({ rules }) =>
    rules.flatMap(({ actions, conditions }) =>
      actions.flatMap((action) => (action.kind === "forward" ? [`${conditions[0]?.values} → ${action.to.map(({ group }) => group)}`] : [])),
    ),
  );
  return { groups: targetGroups, bindings, leadsTo, sharedBy, failures };
}

test("routes that lead to one port of a Service have one target group and one binding", () => {
  const routes = [at("a", "web:80"), at("b", "web:80"), at("c", "api:80")];
  const { groups, bindings, leadsTo, sharedBy } = sharing({ routes });
  assert.deepEqual(
    groups.map(({ part }) => part),
    ["shop/edge:shop/web:Service-80:HTTP:HTTP1", "shop/edge:shop/api:Service-80:HTTP:HTTP1"],
  );
  const [web, api] = groups.map(({ name }) => name);
  assert.match(web!, /^k8s-shop-web-[0-9a-f]{10}$/);
  assert.deepEqual(leadsTo, [`a.com → ${web}`, `b.com → ${web}`, `c.com → ${api}`]);
  assert.deepEqual(
    bindings.map(({ name, namespace, spec }) => [namespace, name, spec.serviceRef]),
    [
      ["shop", web, { name: "web", port: 80 }],
      ["shop", api, { name: "api", port: 80 }],
    ],
  );
  assert.deepEqual([...(sharedBy.get(web!) ?? [])], ["HTTPRoute shop/a", "HTTPRoute shop/b"]);
});

test("unless it is asked for, names and parts are the reference's, one target group per route", () => {
  const routes = [at("a", "web:80"), at("b", "web:80")];
  const { groups, sharedBy } = sharing({ routes }, {});
  assert.deepEqual(
    groups.map(({ part }) => part),
    ["shop/edge:shop-a:HTTPRoute-shop-web:8080", "shop/edge:shop-b:HTTPRoute-shop-web:8080"],
  );
  assert.deepEqual([sharedBy.size, groups.some(({ part = "" }) => parts.isShared(part))], [0, false]);
});

const configured = (configuration: TargetGroupConfiguration): Scene["sources"] => ({ targetConfiguration: () => configuration });
const healthCheckConfig = (healthCheckInterval: number) => ({ healthCheckConfig: { healthCheckInterval } });
const ofRoute = (name: string, healthCheckInterval: number) => ({
  routeIdentifier: { kind: "HTTPRoute" as const, namespace: "shop", name },
  targetGroupProps: healthCheckConfig(healthCheckInterval),
});

test("a route with settings of its own has a target group of its own, and those with the same settings share it", () => {
  const routes = ["a", "b", "c", "d", "e"].map((name) => at(name, "web:80"));
  const routeConfigurations = [ofRoute("b", 30), ofRoute("c", 30), ofRoute("d", 20), ofRoute("e", 15)];
  const sources = configured({ defaultConfiguration: healthCheckConfig(15), routeConfigurations });
  const { groups, leadsTo } = sharing({ routes, sources });
  assert.deepEqual(
    groups.map(({ healthCheck }) => healthCheck.interval),
    [15, 30, 20],
  );
  const [usual, slow, other] = groups.map(({ name }) => name);
  assert.deepEqual(leadsTo, [`a.com → ${usual}`, `b.com → ${slow}`, `c.com → ${slow}`, `d.com → ${other}`, `e.com → ${usual}`]);
  assert.equal(new Set(groups.map(({ part }) => part)).size, 3);
});

test("what is said of all routes may change, and their target group stays", () => {
  const routes = [at("a", "web:80"), at("b", "web:80")];
  const of = (interval: number) => sharing({ routes, sources: configured({ defaultConfiguration: healthCheckConfig(interval) }) }).groups;
  const [before, after] = [of(15), of(30)];
  assert.deepEqual(
    [before.length, after.length, after[0]?.name, after[0]?.part, after[0]?.healthCheck.interval],
    [1, 1, before[0]?.name, before[0]?.part, 30],
  );
});

test("groups are split by what AWS cannot change: the protocol version behind HTTP and HTTPS, and ports of a Service", () => {
  const sources: Scene["sources"] = {
    certificates: () => [{ arn: "arn:c", domains: ["a.com", "g.com", "p.com"] }],
    service: () => {
      const one = service("web", {}, { appProtocol: "kubernetes.io/h2c" });
      return { ...one, ports: [one.ports[0]!, { ...one.ports[0]!, name: "other", port: 81, nodePort: 30081 }] };
    },
  };
  const grpc = route("g", [rule(["web:80"], { matches: [] })], { kind: "GRPCRoute", hostnames: ["g.com"] });
  const routes = [at("a", "web:80"), grpc, at("p", "web:81")];
  const { groups } = sharing({ gateway: gateway(["HTTP:80", "HTTPS:443"]), routes, sources });
  assert.deepEqual(groups.map(({ part = "", protocolVersion }) => [part.split("Service-").at(-1), protocolVersion]).toSorted(), [
    ["80:HTTP:GRPC", "GRPC"],
    ["80:HTTP:HTTP1", "HTTP1"],
    ["80:HTTP:HTTP2", "HTTP2"],
    ["81:HTTP:HTTP1", "HTTP1"],
    ["81:HTTP:HTTP2", "HTTP2"],
  ]);
});

test("a target group that a configuration names stays with its route, and leading to a port of a network load balancer is shared", () => {
  const named = configured({ defaultConfiguration: { targetGroupName: "mine" } });
  const { groups, sharedBy } = sharing({ routes: [at("a", "web:80")], sources: named });
  assert.deepEqual(
    [groups.map(({ name, part }) => [name, part]), sharedBy.size],
    [[["mine", "shop/edge:shop-a:HTTPRoute-shop-web:8080"]], 0],
  );

  const tcp = (name: string, sectionName: string) =>
    route(name, [rule(["web:80"])], {
      kind: "TCPRoute",
      parentRefs: [{ group: "gateway.networking.k8s.io", kind: "Gateway", namespace: "", name: "edge", sectionName, port: 0 }],
    });
  const { model } = desired({
    flavour: flavours.nlb,
    gateway: gateway([listener("TCP:80"), listener("TCP:81")]),
    routes: [tcp("x", "tcp-80"), tcp("y", "tcp-81")],
    wish: on,
  });
  const { targetGroups, listeners } = model as NetworkLoadBalancer;
  assert.deepEqual(
    targetGroups.map(({ part }) => part),
    ["shop/edge:shop/web:Service-80:TCP"],
  );
  assert.deepEqual(
    listeners.map(({ forward }) => forward.to.map(({ group }) => group)),
    [[targetGroups[0]?.name], [targetGroups[0]?.name]],
  );
});

test("a Gateway's annotation counts before that of its class, and anything but true and false is refused", () => {
  const of = (annotations: ClassView["annotations"]) => ({ name: "alb", annotations }) as ClassView;
  const said = (own: string | undefined, ofClass: string | undefined) =>
    sharesTargetGroups(
      gateway([], { annotations: own === undefined ? {} : { [sharingAnnotation]: own } }),
      of(ofClass === undefined ? {} : { [sharingAnnotation]: ofClass }),
    );
  assert.deepEqual(
    [said(undefined, undefined), said("true", undefined), said(undefined, "true"), said("false", "true"), said("true", "false")],
    [false, true, true, false, true],
  );
  assert.throws(() => said("yes", undefined), {
    name: "GatewayFault",
    message: 'annotation gateway.fairlead.io/share-target-groups of Gateway shop/edge is "yes": it takes "true" or "false"',
  });
  assert.throws(() => said(undefined, "1"), /of GatewayClass alb is "1"/);
});

const teams = ["team/a-web:80", "team-a/web:80"] as const;
const granted = (namespace: string) => ({
  namespace,
  name: "all",
  from: [{ group: "gateway.networking.k8s.io", kind: "HTTPRoute", namespace: "shop" }],
  to: [{ group: "", kind: "Service" }],
});
const acrossTeams: Scene["sources"] = {
  grants: ["team", "team-a"].map(granted),
  service: (key) => service(key.split("/")[1]!, { namespace: key.split("/")[0]! }),
};

test("Services of two namespaces are never taken for one, however alike their names are", () => {
  const routes = [at("a", teams[0]), at("b", teams[1])];
  const { groups, bindings, leadsTo } = sharing({ routes, sources: acrossTeams });
  const [first, second] = groups.map(({ name }) => name);
  assert.deepEqual(leadsTo, [`a.com → ${first}`, `b.com → ${second}`]);
  assert.deepEqual(
    bindings.map(({ namespace, spec }) => `${namespace}/${spec.serviceRef.name}`),
    ["team/a-web", "team-a/web"],
  );
  assert.equal(new Set(groups.flatMap(({ name, part }) => [name, part])).size, 4);

  const rules = teams.map((backend) => rule([backend], { matches: [] }));
  const own = sharing({ routes: [route("both", rules, { hostnames: ["a.com", "b.com"] })], sources: acrossTeams }, {});
  assert.deepEqual(own.bindings.map(({ namespace }) => namespace).toSorted(), ["team", "team-a"], "those of one route neither");
  assert.equal(new Set(own.groups.flatMap(({ name, part }) => [name, part])).size, 4);
});

test("two Gateways never have a target group of one name, however alike theirs are", () => {
  const nameOf = (namespace: string, name: string) => {
    const allowed = listener("HTTP:80", { namespaces: { from: "All" } });
    const parentRefs = [{ group: "gateway.networking.k8s.io", kind: "Gateway", namespace, name, sectionName: "", port: 0 }];
    const routes = [{ ...at("a", "web:80"), parentRefs }];
    return sharing({ gateway: gateway([allowed], { namespace, name }), routes }).groups.map((group) => group.name);
  };
  const [one, other] = [nameOf("team", "web"), nameOf("tea", "mweb")];
  assert.deepEqual([one.length, other.length], [1, 1]);
  assert.notDeepEqual(one, other);
});

test("a shared target group of long names is known by a tag that AWS takes", () => {
  const [namespace, name] = ["n".repeat(50), "s".repeat(63)];
  const parentRefs = [{ group: "gateway.networking.k8s.io", kind: "Gateway", namespace, name: "g".repeat(63), sectionName: "", port: 0 }];
  const routes = [{ ...at("a", `${name}:80`), namespace, parentRefs }];
  const long = gateway(["HTTP:80"], { namespace, name: "g".repeat(63) });
  const { groups } = sharing({ gateway: long, routes, sources: { service: () => service(name, { namespace }) } });
  assert.deepEqual(
    groups.map(({ part = "" }) => part.length <= 256),
    [true],
  );
});
