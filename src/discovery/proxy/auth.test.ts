import assert from "node:assert/strict";
import { test } from "node:test";
import type { User } from "../../runtime/access.ts";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { AccessUnknown, ProxyAuth } from "./auth.ts";
import { matchesPath, readProxyConfig, upstreamFor } from "./config.ts";

const config = readProxyConfig(`
excludePaths: [/healthz]
upstreams:
- upstream: http://127.0.0.1:8081/
  path: /
  authorization:
    resourceAttributes: {namespace: ns, apiGroup: apps, apiVersion: v1, resource: deployments, subresource: prometheus-metrics, name: d}
- upstream: http://127.0.0.1:8082/
  path: /second
  authorization:
    resourceAttributes: {namespace: ns, resource: pods, name: second}
`);
const users: Readonly<Record<string, User>> = { scraper: { name: "scraper", groups: [] }, other: { name: "other", groups: [] } };

function proxy(staleMs = 90 * 60_000) {
  const world = virtualWorld(1);
  const asked: string[] = [];
  const server = { down: false, refused: new Set<string>(), onlyTokens: false };
  const auth = new ProxyAuth(
    { world, log: silentLog, metrics: newRegistry() },
    {
      config,
      livezPath: "/livez",
      staleMs,
      reviews: {
        async authenticate(token) {
          asked.push(`token ${token}`);
          if (server.down) throw new Error("unreachable");
          return server.refused.has(token) ? undefined : users[token];
        },
        async authorize(user, verb, { name }) {
          asked.push(`access ${user.name} ${verb} ${name}`);
          if (server.down || server.onlyTokens) throw new Error("unreachable");
          return user.name === "scraper" && verb === "get" && !server.refused.has("scraper-access");
        },
      },
    },
  );
  const ask = async (path: string, token?: string, method = "GET") => {
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return (await auth.decide({ method, path, headers, certificate: undefined })).kind;
  };
  return { world, asked, server, ask };
}

test("probes need no token; metrics need one that the API server knows and lets in", async () => {
  const { ask, asked } = proxy();
  assert.deepEqual([await ask("/healthz"), await ask("/livez")], ["allowed", "allowed"]);
  assert.equal(asked.length, 0);
  assert.equal(await ask("/metrics"), "unauthorized");
  assert.equal(await ask("/metrics", "unknown"), "unauthorized");
  assert.equal(await ask("/metrics", "other"), "forbidden");
  assert.equal(await ask("/metrics", "scraper"), "allowed");
  assert.equal(await ask("/metrics", "scraper", "POST"), "forbidden");
  assert.ok(asked.includes("access scraper create d"));
  assert.equal(await ask("/metrics", "scraper", "TRACE"), "forbidden");
  assert.ok(asked.includes("access scraper  d"), "a method that Kubernetes does not know has an empty verb");
});

test("answers are remembered: users for 2 minutes, permissions for 5, refusals for 30 seconds", async () => {
  const { ask, asked, world } = proxy();
  const askedAfter = async (ms: number, token: string) => {
    await world.advance(ms);
    asked.length = 0;
    await ask("/metrics", token);
    return [...asked];
  };
  await ask("/metrics", "scraper");
  assert.deepEqual(await askedAfter(119_000, "scraper"), []);
  assert.deepEqual(await askedAfter(2_000, "scraper"), ["token scraper"]);
  assert.deepEqual(await askedAfter(180_000, "scraper"), ["token scraper", "access scraper get d"]);
  await ask("/metrics", "other");
  assert.deepEqual(await askedAfter(29_000, "other"), []);
  assert.deepEqual(await askedAfter(2_000, "other"), ["access other get d"]);
  await ask("/metrics", "unknown");
  assert.deepEqual(await askedAfter(119_000, "unknown"), []);
});

test("while the API server is away, who was allowed stays so for as long as is said, and nobody else", async () => {
  const { ask, server, world } = proxy();
  await ask("/metrics", "scraper");
  server.down = true;
  await world.advance(10 * 60_000);
  assert.equal(await ask("/metrics", "scraper"), "allowed");
  assert.equal(await ask("/metrics", "unknown"), "unauthorized");
  assert.equal(await ask("/metrics", "scraper", "POST"), "unauthorized", "only what was allowed");
  await world.advance(81 * 60_000);
  assert.equal(await ask("/metrics", "scraper"), "unauthorized");
});

test("a definite refusal ends it, and who cannot be judged at all is told of an error", async () => {
  const { ask, server, world } = proxy();
  await ask("/metrics", "scraper");
  server.refused.add("scraper-access");
  await world.advance(6 * 60_000);
  assert.equal(await ask("/metrics", "scraper"), "forbidden");
  server.onlyTokens = true;
  await world.advance(60_000);
  await assert.rejects(ask("/metrics", "scraper"), AccessUnknown);
});

test("a token that is no longer known is refused everywhere, also where it was not asked about before the API server went away", async () => {
  const { ask, server, world } = proxy();
  assert.deepEqual([await ask("/metrics", "scraper"), await ask("/second", "scraper")], ["allowed", "allowed"]);
  server.refused.add("scraper");
  await world.advance(3 * 60_000);
  assert.equal(await ask("/metrics", "scraper"), "unauthorized");
  server.down = true;
  await world.advance(3 * 60_000);
  assert.deepEqual([await ask("/metrics", "scraper"), await ask("/second", "scraper")], ["unauthorized", "unauthorized"]);
});

test("without an interval nobody outlives the API server", async () => {
  const { ask, server, world } = proxy(0);
  await ask("/metrics", "scraper");
  server.down = true;
  await world.advance(3 * 60_000);
  assert.equal(await ask("/metrics", "scraper"), "unauthorized");
});

test("the longest path decides the upstream; a pattern is that of the whole path", () => {
  const { upstreams } = config;
  const two = { ...config, upstreams: [...upstreams, { ...upstreams[0]!, path: "/a/" }, { ...upstreams[0]!, path: "/a/b" }] };
  assert.equal(upstreamFor(two, "/a/c")?.path, "/a/");
  assert.equal(upstreamFor(two, "/a/b")?.path, "/a/b");
  assert.equal(upstreamFor(two, "/a/b/c")?.path, "/a/");
  assert.ok(matchesPath("/health*", "/healthz") && !matchesPath("/health*", "/healthz/x") && !matchesPath("/healthz", "/healthzz"));
  assert.ok(matchesPath("/[ab]?", "/bx") && !matchesPath("/.", "/x"));
});

test("a configuration that cannot be used names the key", () => {
  assert.throws(() => readProxyConfig("upstreams: []"), /upstreams: /);
  assert.throws(() => readProxyConfig("excludePath: [/a]\nupstreams: []"), /excludePath/);
  assert.throws(
    () => readProxyConfig("upstreams: [{upstream: nowhere, path: x}]"),
    /upstreams\.0\.upstream: .*upstreams\.0\.path: .*upstreams\.0\.authorization: /s,
  );
  assert.throws(() => readProxyConfig("a: [b"), /flow/i);
});
