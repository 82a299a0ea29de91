import assert from "node:assert/strict";
import { test } from "node:test";
import { WriteRefused } from "../runtime/gate.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { accessReviews } from "./access-reviews.ts";
import { readAuthenticationConfig } from "./authentication-config.ts";
import { isApiError } from "./errors.ts";
import { scriptedClient, scriptedServer } from "./testing/scripted-server.ts";

function bed() {
  const world = virtualWorld(1);
  const server = scriptedServer();
  const shut = { lost: AbortSignal.abort(), check: (write: string) => assert.fail(new WriteRefused(write, "not-leading")) };
  const client = scriptedClient(world, server, { gate: shut });
  const reviews = accessReviews(client, { unauthorizedTtlMs: 1_000 });
  return { world, server, client, reviews, signal: new AbortController().signal };
}

test("a token's user is asked for once in ten seconds, by a process that does not lead too", async () => {
  const { world, server, reviews, signal } = bed();
  const first = reviews.authenticate("secret", signal);
  await world.settle();
  const asked = server.take();
  assert.equal(asked.request.url.pathname, "/apis/authentication.k8s.io/v1/tokenreviews");
  assert.deepEqual((asked.sent as { spec: object }).spec, { token: "secret" });
  asked.json({ status: { authenticated: true, user: { username: "prometheus", groups: ["g"] } } });
  assert.equal((await first)?.name, "prometheus");
  await world.advance(9_999);
  assert.deepEqual((await reviews.authenticate("secret", signal))?.groups, ["g"]);
  await world.advance(1);
  const again = reviews.authenticate("secret", signal);
  await world.settle();
  server.take().json({ status: { authenticated: false } });
  assert.equal(await again, undefined);
});

test("verdicts are remembered by user, path and verb, a refusal for its own time", async () => {
  const { world, server, reviews, signal } = bed();
  const user = { name: "u", groups: ["g"], extra: { k: ["v"] } };
  const ask = async (path: string, allowed: boolean) => {
    const verdict = reviews.authorize(user, path, "get", signal);
    await world.settle();
    const asked = server.take();
    assert.deepEqual((asked.sent as { spec: object }).spec, {
      user: "u",
      groups: ["g"],
      extra: { k: ["v"] },
      nonResourceAttributes: { path, verb: "get" },
    });
    asked.json({ status: { allowed } });
    assert.equal(await verdict, allowed);
  };
  await ask("/metrics", true);
  await ask("/configz", false);
  await world.advance(1_000);
  assert.equal(await reviews.authorize(user, "/metrics", "get", signal), true);
  await ask("/configz", true);
});

test("a review that fails is an error and is not remembered", async () => {
  const { world, server, reviews, signal } = bed();
  const failing = reviews.authenticate("secret", signal).catch((error) => error);
  await world.settle();
  server.take().refuse(403, "Forbidden");
  const error = await failing;
  assert.ok(isApiError(error, "forbidden"));
  assert.ok(!error.message.includes("secret"));
  const again = reviews.authenticate("secret", signal);
  await world.settle();
  server.take().json({ status: { authenticated: true, user: { username: "u" } } });
  assert.equal((await again)?.name, "u");
});

test("the published authentication settings are read; their absence is no error, a broken list is", async () => {
  const { world, server, client } = bed();
  const read = async (answer: (asked: ReturnType<typeof server.take>) => void) => {
    const reading = readAuthenticationConfig(client).catch((error) => error);
    await world.settle();
    const asked = server.take();
    assert.equal(asked.request.url.pathname, "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication");
    answer(asked);
    return reading;
  };
  const data = {
    "client-ca-file": "CA",
    "requestheader-client-ca-file": "PROXY-CA",
    "requestheader-allowed-names": '["front-proxy-client"]',
    "requestheader-username-headers": '["X-Remote-User"]',
  };
  assert.deepEqual(await read((asked) => asked.json({ data })), {
    clientCa: "CA",
    requestHeader: {
      ca: "PROXY-CA",
      allowedNames: ["front-proxy-client"],
      usernameHeaders: ["X-Remote-User"],
      groupHeaders: [],
      extraHeaderPrefixes: [],
      uidHeaders: [],
    },
  });
  assert.equal(await read((asked) => asked.refuse(404, "NotFound")), undefined);
  const broken = await read((asked) => asked.json({ data: { ...data, "requestheader-allowed-names": "x" } }));
  assert.match(broken.message, /requestheader-allowed-names is not a JSON list/);
});
