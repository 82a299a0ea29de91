import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiGateway, ApiRoute } from "./api.ts";
import { gatewayState, grantState, listenerSetState, routeState } from "./states.ts";

const metadata = {
  name: "web",
  namespace: "shop",
  uid: "u",
  resourceVersion: "1",
  generation: 2,
  creationTimestamp: "2026-01-01T00:00:00Z",
};
const stored = <T>(object: T) => ({ metadata, ...object }) as never;

test("a listener that says little takes routes of its own namespace and of its protocol", () => {
  const spec = { gatewayClassName: "alb", listeners: [{ name: "http", port: 80, protocol: "HTTP" }] };
  const { view, status } = gatewayState(stored<Pick<ApiGateway, "spec">>({ spec }));
  assert.deepEqual(view.listeners, [
    { name: "http", port: 80, protocol: "HTTP", hostname: "", namespaces: { from: "Same" }, kinds: [], isPassthrough: false },
  ]);
  assert.deepEqual([view.allowedListeners, view.createdAt, status.conditions], [{ from: "None" }, "2026-01-01T00:00:00Z", []]);
});

test("a route as the server has it, with what it leaves out", () => {
  const { view } = routeState(
    "HTTPRoute",
    stored<Pick<ApiRoute, "spec">>({
      spec: {
        parentRefs: [{ name: "edge" }],
        rules: [
          {
            matches: [{ method: "GET", headers: [{ name: "h", value: "v" }] }],
            filters: [
              { type: "RequestRedirect", requestRedirect: { path: { type: "ReplaceFullPath", replaceFullPath: "/x" } } },
              { type: "URLRewrite", urlRewrite: { path: { type: "ReplacePrefixMatch", replacePrefixMatch: "" } } },
              { type: "RequestMirror" },
            ],
            backendRefs: [{ name: "web", port: 80 }],
          },
        ],
      },
    }),
  );
  const [rule] = view.rules;
  assert.deepEqual(view.parentRefs[0], {
    group: "gateway.networking.k8s.io",
    kind: "Gateway",
    namespace: "",
    name: "edge",
    sectionName: "",
    port: 0,
  });
  assert.deepEqual(rule?.matches[0], {
    of: "http",
    path: { type: "PathPrefix", value: "/" },
    headers: [{ name: "h", value: "v", type: "Exact" }],
    queries: [],
    method: "GET",
  });
  assert.deepEqual(rule?.filters, [
    { type: "RequestRedirect", path: { type: "ReplaceFullPath", value: "/x" }, statusCode: 302 },
    { type: "URLRewrite", path: { type: "ReplacePrefixMatch", value: "" } },
    { type: "unsupported", what: "RequestMirror" },
  ]);
  assert.deepEqual(rule?.backends, [{ group: "", kind: "Service", namespace: "", name: "web", port: 80, weight: 1 }]);
});

test("a call of gRPC, a route of TCP, a ListenerSet and a grant", () => {
  const grpc = routeState("GRPCRoute", stored({ spec: { rules: [{ matches: [{ method: { service: "s" } }] }] } })).view.rules[0]
    ?.matches[0];
  assert.deepEqual(grpc, { of: "grpc", call: { type: "Exact", service: "s", method: "" }, headers: [] });
  assert.deepEqual(routeState("TCPRoute", stored({ spec: { rules: [{ backendRefs: [] }] } })).view.rules[0]?.matches, []);
  assert.deepEqual(listenerSetState(stored({ spec: { parentRef: { name: "edge" } } })).view.parent, {
    kind: "Gateway",
    namespace: "shop",
    name: "edge",
  });
  assert.deepEqual(grantState(stored({})).view, { name: "web", namespace: "shop", from: [], to: [] });
});
