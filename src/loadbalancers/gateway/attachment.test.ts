import assert from "node:assert/strict";
import { test } from "node:test";
import { gateway, listener, listenerSet, parentRef, route, type Scene, wishOf } from "./gateway.fixture.ts";
import { hostnamesBehind, intersection } from "./hostnames.ts";
import type { ListenerView, ParentRef, RouteView } from "./view.ts";

function attached(scene: Scene) {
  const { attachment, listeners } = wishOf(scene);
  return {
    ports: Object.fromEntries([...attachment.byPort].map(([port, routes]) => [port, routes.map((each) => each.route.name)])),
    hosts: [...attachment.byPort.values()].flatMap((routes) => routes.flatMap(({ hostnames }) => hostnames)),
    verdicts: attachment.refs.map(({ failure }) => failure?.reason ?? "Accepted"),
    messages: attachment.refs.flatMap(({ failure }) => failure?.message ?? []),
    counts: listeners.map((each) => attachment.attachedTo(each)),
  };
}

const routed = (more: Partial<RouteView>) => route("web", undefined, more);
const to = (more: Partial<ParentRef>) => routed({ parentRefs: [parentRef(more)] });

test("a route attaches from the Gateway's own namespace unless a listener takes others", () => {
  const foreign = routed({ namespace: "team", parentRefs: [parentRef({ namespace: "shop" })] });
  const of = (namespaces: ListenerView["namespaces"]) => gateway([listener("HTTP:80", { namespaces })]);
  const labels = { team: { team: "a" } };
  assert.deepEqual(attached({ routes: [routed({})] }).ports, { 80: ["web"] });
  const refused = attached({ routes: [foreign] });
  assert.deepEqual([refused.ports, refused.verdicts], [{}, ["NotAllowedByListeners"]]);
  assert.deepEqual(refused.messages, ["Listener does not allow route attachment, namespace does not match between listener and route"]);
  assert.deepEqual(attached({ gateway: of({ from: "All" }), routes: [foreign] }).verdicts, ["Accepted"]);
  assert.deepEqual(attached({ gateway: of({ from: "None" }), routes: [routed({})] }).verdicts, ["NotAllowedByListeners"]);
  const selector = { matchLabels: { team: "a" } };
  assert.deepEqual(attached({ gateway: of({ from: "Selector", selector }), routes: [foreign], labels }).verdicts, ["Accepted"]);
  assert.deepEqual(attached({ gateway: of({ from: "Selector", selector }), routes: [foreign] }).verdicts, ["NotAllowedByListeners"]);
});

test("a listener takes the kinds of its protocol, or those that it names", () => {
  const grpc = routed({ kind: "GRPCRoute" });
  assert.deepEqual(attached({ routes: [grpc] }).messages, [
    "Listener does not allow route attachment, kind does not match between listener and route",
  ]);
  assert.deepEqual(attached({ gateway: gateway(["HTTPS:443"]), routes: [grpc] }).verdicts, ["Accepted"]);
  const only = gateway([listener("HTTPS:443", { kinds: ["HTTPRoute"] })]);
  assert.deepEqual(attached({ gateway: only, routes: [grpc] }).verdicts, ["NotAllowedByListeners"]);
});

test("section and port of a parentRef choose among listeners", () => {
  const three = gateway(["HTTP:80", "HTTP:81", "HTTP:82"]);
  const ports = (more: Partial<ParentRef>) => {
    const { ports: all, verdicts } = attached({ gateway: three, routes: [to(more)] });
    return [Object.keys(all), verdicts];
  };
  assert.deepEqual(ports({}), [["80", "81", "82"], ["Accepted"]]);
  assert.deepEqual(ports({ sectionName: "http-81" }), [["81"], ["Accepted"]]);
  assert.deepEqual(ports({ port: 82 }), [["82"], ["Accepted"]]);
  assert.deepEqual(ports({ sectionName: "http-81", port: 81 }), [["81"], ["Accepted"]]);
  assert.deepEqual(ports({ sectionName: "http-81", port: 82 }), [[], ["NoMatchingParent"]]);
  assert.deepEqual(ports({ sectionName: "none" }), [[], ["NoMatchingParent"]]);
  assert.deepEqual(ports({ port: 90 }), [[], ["NoMatchingParent"]]);
  assert.deepEqual(attached({ routes: [to({ name: "another" })] }).verdicts, []);
  assert.deepEqual(attached({ routes: [to({ kind: "Service" })] }).verdicts, []);
});

test("where host names meet", () => {
  const cases: readonly [string, string, string | undefined][] = [
    ["a.com", "a.com", "a.com"],
    ["*.a.com", "x.a.com", "x.a.com"],
    ["x.a.com", "*.a.com", "x.a.com"],
    ["*.a.com", "x.y.a.com", "x.y.a.com"],
    ["*.a.com", "*.b.a.com", "*.b.a.com"],
    ["*.a.com", "a.com", undefined],
    ["a.com", "b.com", undefined],
    ["A.com", "a.com", undefined],
  ];
  for (const [a, b, expected] of cases) assert.equal(intersection(a, b), expected, `${a} and ${b}`);
  assert.deepEqual(hostnamesBehind("", []), [""]);
  assert.deepEqual(hostnamesBehind("a.com", []), ["a.com"]);
  assert.deepEqual(hostnamesBehind("", ["a.com", "b.com"]), ["a.com", "b.com"]);
  assert.deepEqual(hostnamesBehind("*.a.com", ["x.a.com", "b.com", "10.0.0.1", `${"l".repeat(64)}.a.com`, "x..a.com"]), ["x.a.com"]);
  assert.equal(hostnamesBehind("a.com", ["b.com"]), undefined);
});

test("a route serves the host names in which it meets its listeners, all of them together", () => {
  const of = gateway([listener("HTTP:80 *.a.com", { name: "a" }), listener("HTTP:80", { name: "all" })]);
  // A listener without a host name takes all of the route's.
  assert.deepEqual(attached({ gateway: of, routes: [routed({ hostnames: ["x.a.com", "b.com"] })] }).hosts.toSorted(), ["b.com", "x.a.com"]);
  const none = attached({ gateway: gateway(["HTTP:80 a.com"]), routes: [routed({ hostnames: ["b.com"] })] });
  assert.deepEqual([none.ports, none.verdicts], [{}, ["NoMatchingListenerHostname"]]);
  assert.deepEqual(none.messages, ["Listener does not allow route attachment, no matching hostname"]);
});

test("one listener that takes a route is enough; an invalid one counts it and serves nothing", () => {
  const of = gateway(["HTTP:80 a.com", "HTTP:81 b.com"]);
  assert.deepEqual(attached({ gateway: of, routes: [routed({ hostnames: ["b.com"] })] }).verdicts, ["Accepted"]);
  const conflicted = gateway([listener("HTTP:80", { name: "a" }), listener("HTTPS:80", { name: "b" })]);
  const both = attached({ gateway: conflicted, routes: [routed({})] });
  assert.deepEqual([both.ports, both.verdicts, both.counts], [{ 80: ["web"] }, ["Accepted"], [1, 1]]);
  const lost = attached({ gateway: conflicted, routes: [to({ sectionName: "b" })] });
  assert.deepEqual([lost.ports, lost.verdicts], [{}, ["NoMatchingParent"]]);
  assert.match(lost.messages[0] ?? "", /Listener b of Gateway shop\/edge is not valid: Protocol conflict for port 80/);
});

test("a route that names a listener twice is one route there, and is told about both", () => {
  const twice = routed({ parentRefs: [parentRef(), parentRef({ sectionName: "http-80" })] });
  const { ports, verdicts, counts } = attached({ routes: [twice] });
  assert.deepEqual([ports, verdicts, counts], [{ 80: ["web"] }, ["Accepted", "Accepted"], [1]]);
});

test("a route attaches to a ListenerSet by its own name, with the set's namespace as home", () => {
  const of = gateway(["HTTP:80"], { allowedListeners: { from: "All" } });
  const set = listenerSet("more", ["HTTP:81"], { namespace: "team" });
  const ref = parentRef({ kind: "ListenerSet", name: "more", namespace: "team" });
  assert.deepEqual(attached({ gateway: of, sets: [set], routes: [routed({ namespace: "team", parentRefs: [ref] })] }).ports, {
    81: ["web"],
  });
  assert.deepEqual(attached({ gateway: of, sets: [set], routes: [routed({ parentRefs: [ref] })] }).verdicts, ["NotAllowedByListeners"]);
  // One that the Gateway does not take is nobody's parent.
  assert.deepEqual(attached({ sets: [set], routes: [routed({ namespace: "team", parentRefs: [ref] })] }).verdicts, []);
});
