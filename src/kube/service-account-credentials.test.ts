import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { isApiError } from "./errors.ts";
import { asServiceAccount } from "./service-account-credentials.ts";
import { anonymousConfig, scriptedClient, scriptedServer } from "./testing/scripted-server.ts";

function bed() {
  const world = virtualWorld(1);
  const server = scriptedServer();
  const trust: unknown[] = [];
  const base = scriptedClient(world, server, {
    config: { ...anonymousConfig, access: async () => ({ headers: {}, tls: { ca: "CA", cert: "CERT", key: "KEY" } }) },
    connect(tls) {
      trust.push(tls);
      return server.connect(tls);
    },
  });
  const client = asServiceAccount(base, { namespace: "kube-system", name: "node-controller", userAgent: "agent" });
  const tokenOf = (token: string) => ({
    status: { token, expirationTimestamp: new Date(world.clock.now() + 3_600_000).toISOString() },
  });
  return { world, server, client, trust, tokenOf };
}

test("the service account is made when missing, and its token carried without the base identity's certificate", async () => {
  const { world, server, client, trust, tokenOf } = bed();
  const read = client.raw("/version");
  const answers: [string, string, (asked: ReturnType<typeof server.take>) => void][] = [
    ["GET", "/api/v1/namespaces/kube-system/serviceaccounts/node-controller", (asked) => asked.refuse(404, "NotFound")],
    ["POST", "/api/v1/namespaces/kube-system/serviceaccounts", (asked) => asked.json({})],
    ["POST", "/api/v1/namespaces/kube-system/serviceaccounts/node-controller/token", (asked) => asked.json(tokenOf("first"))],
  ];
  for (const [method, path, answer] of answers) {
    await world.settle();
    const asked = server.take();
    assert.deepEqual([asked.request.method, asked.request.url.pathname], [method, path]);
    answer(asked);
  }
  await world.settle();
  const asked = server.take();
  assert.equal(asked.request.headers.authorization, "Bearer first");
  assert.equal(asked.request.headers["user-agent"], "agent");
  asked.json({});
  await read;
  assert.deepEqual(trust, [{ ca: "CA", cert: "CERT", key: "KEY" }, { ca: "CA" }]);
});

test("the namespace is made only where it is missing", async () => {
  const { world, server, client, tokenOf } = bed();
  const read = client.raw("/version");
  const accounts = "/api/v1/namespaces/kube-system/serviceaccounts";
  const answers: [string, (asked: ReturnType<typeof server.take>) => void][] = [
    [`GET ${accounts}/node-controller`, (asked) => asked.refuse(404, "NotFound")],
    [`POST ${accounts}`, (asked) => asked.refuse(404, "NotFound")],
    ["POST /api/v1/namespaces", (asked) => asked.refuse(409, "AlreadyExists")],
    [`POST ${accounts}`, (asked) => asked.json({})],
    [`POST ${accounts}/node-controller/token`, (asked) => asked.json(tokenOf("first"))],
    ["GET /version", (asked) => asked.json({})],
  ];
  for (const [line, answer] of answers) {
    await world.settle();
    const asked = server.take();
    assert.equal(`${asked.request.method} ${asked.request.url.pathname}`, line);
    answer(asked);
  }
  await read;
});

test("a token is used until a fifth of its life is left, or the server refuses it", async () => {
  const { world, server, client, tokenOf } = bed();
  /** One request, with a new token if the client asks for one; returns the token it was sent with. */
  const used = async (next: string) => {
    const read = client.raw("/version").catch(() => {});
    await world.settle();
    if (server.waiting[0]?.request.url.pathname.endsWith("/node-controller")) {
      server.take().json({});
      await world.settle();
      server.take().json(tokenOf(next));
      await world.settle();
    }
    const asked = server.take();
    asked.json({});
    await read;
    return asked.request.headers.authorization;
  };
  assert.equal(await used("one"), "Bearer one");
  await world.advance(0.79 * 3_600_000);
  assert.equal(await used("two"), "Bearer one");
  await world.advance(0.02 * 3_600_000);
  assert.equal(await used("two"), "Bearer two");

  const refused = client.raw("/version");
  await world.settle();
  server.take().refuse(401, "Unauthorized");
  await world.settle();
  server.take().json({});
  await world.settle();
  server.take().json(tokenOf("three"));
  await world.settle();
  const asked = server.take();
  assert.equal(asked.request.headers.authorization, "Bearer three");
  asked.json({});
  await refused;
});

test("a token that cannot be had is tried for a few times, then the call fails with the reason", async () => {
  const { world, server, client } = bed();
  const read = client.raw("/version").catch((error) => error);
  let tries = 0;
  for (let second = 0; second < 20; second++) {
    await world.settle();
    for (; server.waiting.length > 0; tries++) server.take().refuse(403, "Forbidden");
    await world.advance(1_000);
  }
  assert.equal(tries, 5);
  assert.ok(isApiError(await read, "forbidden"));
});
