import assert from "node:assert/strict";
import { test } from "node:test";
import { type Flavour, flavours } from "./flavours.ts";
import { gateway, listener, listenerSet } from "./gateway.fixture.ts";
import { joiningSets } from "./listener-sets.ts";
import { judgeListeners } from "./listener-validation.ts";
import type { GatewayView, ListenerSetView } from "./view.ts";

function reasons(of: GatewayView, flavour: Flavour = flavours.alb, sets: readonly ListenerSetView[] = []) {
  const parents = [
    { kind: "Gateway", object: of } as const,
    ...joiningSets(of, sets, () => ({})).accepted.map((object) => ({ kind: "ListenerSet", object }) as const),
  ];
  return judgeListeners(parents, flavour).map(({ verdict }) => verdict.reason);
}

test("each controller serves its own protocols", () => {
  for (const [flavour, served] of [
    [flavours.alb, ["HTTP", "HTTPS"]],
    [flavours.nlb, ["TCP", "UDP", "TLS"]],
  ] as const) {
    for (const protocol of ["HTTP", "HTTPS", "TCP", "UDP", "TLS", "SCTP"]) {
      const expected = (served as readonly string[]).includes(protocol) ? "Accepted" : "UnsupportedProtocol";
      assert.deepEqual(reasons(gateway([`${protocol}:80`]), flavour), [expected], `${protocol} of ${flavour.name}`);
    }
  }
});

test("the first fault of a listener is the one that is told: kinds, then port, then protocol", () => {
  const judged = (text: string, kinds: readonly string[] = []) =>
    judgeListeners([{ kind: "Gateway", object: gateway([listener(text, { name: "l", kinds })]) }], flavours.alb)[0]!;
  assert.deepEqual(judged("TCP:0", ["TCPRoute"]).verdict, { reason: "InvalidRouteKinds", message: "Invalid route kind for listener l" });
  assert.deepEqual(judged("TCP:0").verdict, { reason: "PortUnavailable", message: "Port 0 is not available (listener name l)" });
  assert.equal(judged("HTTP:65536").verdict.reason, "PortUnavailable");
  assert.equal(judged("HTTP:65535").verdict.reason, "Accepted");
  assert.deepEqual(judged("TCP:80").verdict, { reason: "UnsupportedProtocol", message: "Unsupported protocol TCP for listener l" });
  assert.deepEqual(judged("HTTPS:443", ["GRPCRoute", "TCPRoute"]).kinds, ["GRPCRoute"]);
  assert.deepEqual(judged("HTTPS:443").kinds, ["HTTPRoute", "GRPCRoute"]);
  assert.deepEqual(judged("HTTP:80").kinds, ["HTTPRoute"]);
  assert.deepEqual(judged("TLS:443").kinds, ["TLSRoute", "TCPRoute"]);
});

test("one protocol per port, but TCP and UDP share one; one listener per host name of a port", () => {
  assert.deepEqual(reasons(gateway(["TCP:53", "UDP:53"]), flavours.nlb), ["Accepted", "Accepted"]);
  assert.deepEqual(reasons(gateway(["TCP:53", "TLS:53"]), flavours.nlb), ["Accepted", "ProtocolConflict"]);
  assert.deepEqual(reasons(gateway(["HTTP:80", "HTTPS:80"])), ["Accepted", "ProtocolConflict"]);
  assert.deepEqual(reasons(gateway(["HTTP:80 a.com", "HTTP:80 b.com", "HTTP:80 a.com"])), ["Accepted", "Accepted", "HostnameConflict"]);
  assert.deepEqual(reasons(gateway(["HTTP:80 a.com", "HTTP:81 a.com"])), ["Accepted", "Accepted"]);
  // Both at once: the host name is what is told.
  assert.deepEqual(reasons(gateway(["HTTP:80 a.com", "HTTPS:80 a.com"])), ["Accepted", "HostnameConflict"]);
  // One in conflict still takes its host name from those after it.
  assert.deepEqual(reasons(gateway(["HTTP:80", "HTTPS:80 a.com", "HTTP:80 a.com"])), ["Accepted", "ProtocolConflict", "HostnameConflict"]);
  // Whoever is not served takes no port from anybody, and is in conflict with whoever has it.
  assert.deepEqual(reasons(gateway(["TCP:80", "HTTP:80"])), ["UnsupportedProtocol", "Accepted"]);
  assert.deepEqual(reasons(gateway(["HTTP:80", "TCP:80"])), ["Accepted", "ProtocolConflict"]);
});

test("a Gateway goes before its ListenerSets, and the older set before the younger", () => {
  const of = gateway(["HTTP:80 a.com"], { allowedListeners: { from: "All" } });
  const young = listenerSet("a", ["HTTP:80 b.com"], { createdAt: "2026-01-03T00:00:00Z" });
  const old = listenerSet("z", ["HTTP:80 b.com", "HTTP:80 a.com"], { createdAt: "2026-01-02T00:00:00Z" });
  assert.deepEqual(
    joiningSets(of, [young, old], () => ({})).accepted.map(({ name }) => name),
    ["z", "a"],
  );
  assert.deepEqual(reasons(of, flavours.alb, [young, old]), ["Accepted", "Accepted", "HostnameConflict", "HostnameConflict"]);
  const twins = [listenerSet("b", ["HTTP:81"]), listenerSet("a", ["HTTP:82"])];
  assert.deepEqual(
    joiningSets(of, twins, () => ({})).accepted.map(({ name }) => name),
    ["a", "b"],
  );
  // A name is a listener's within its own object.
  assert.deepEqual(reasons(of, flavours.alb, [listenerSet("s", ["HTTP:80 c.com"])]), ["Accepted", "Accepted"]);
});

test("which ListenerSets a Gateway takes", () => {
  const labels = (namespace: string): Readonly<Record<string, string>> => (namespace === "team" ? { team: "a" } : {});
  const here = listenerSet("here", ["HTTP:81"]);
  const there = listenerSet("there", ["HTTP:82"], { namespace: "team" });
  const irrelevant = [
    listenerSet("other", ["HTTP:83"], { parent: { kind: "Gateway", namespace: "shop", name: "another" } }),
    listenerSet("kind", ["HTTP:83"], { parent: { kind: "Service", namespace: "shop", name: "edge" } }),
  ];
  const taken = (from: string, selector?: object) => {
    const of = gateway(["HTTP:80"], { allowedListeners: { from, ...(selector && { selector }) } });
    const { accepted, rejected } = joiningSets(of, [here, there, ...irrelevant], labels);
    return [accepted.map(({ name }) => name), rejected.map(({ name }) => name)];
  };
  assert.deepEqual(taken("None"), [[], ["here", "there"]]);
  assert.deepEqual(taken("Same"), [["here"], ["there"]]);
  assert.deepEqual(taken("All"), [["here", "there"], []]);
  assert.deepEqual(taken("Selector", { matchLabels: { team: "a" } }), [["there"], ["here"]]);
  assert.deepEqual(taken("Selector", { matchLabels: { team: "b" } }), [[], ["here", "there"]]);
  assert.deepEqual(taken("Selector"), [[], ["here", "there"]]);
  assert.deepEqual(taken("Selector", { matchExpressions: [{ key: "team", operator: "Sometimes" }] }), [[], ["here", "there"]]);
});
