import assert from "node:assert/strict";
import { test } from "node:test";
import { bodyText, socketTransport } from "../../../runtime/http.ts";
import { type Log, silentLog } from "../../../runtime/log.ts";
import { realWorld } from "../../../runtime/world.ts";
import { serveTransport } from "../../serve.ts";
import { virtualWorld } from "../../virtual-clock.ts";
import { createEmbeddedCluster, type EmbeddedCluster, type EmbeddedClusterOptions } from "./cluster.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

function start(options: Partial<EmbeddedClusterOptions> = {}) {
  const world = virtualWorld(1);
  return { world, cluster: createEmbeddedCluster({ world, ...options }) };
}

async function ask(cluster: EmbeddedCluster, method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const answer = await cluster.send({
    method,
    url: new URL(path, "http://embedded"),
    headers: { "content-type": method === "PATCH" ? "application/merge-patch+json" : "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await bodyText(answer);
  return { status: answer.status, headers: answer.headers, body: text.startsWith("{") ? JSON.parse(text) : text };
}

/** Reads a watch in the background: what it said so far, and how it ended. */
async function follow(cluster: EmbeddedCluster, path: string) {
  const lines: string[] = [];
  const answer = await cluster.send({ method: "GET", url: new URL(path, "http://embedded"), headers: {} });
  const ended = (async () => {
    for await (const chunk of answer.body) {
      const event = JSON.parse(Buffer.from(chunk).toString("utf8"));
      lines.push(`${event.type} ${event.object.metadata.name ?? event.object.reason ?? ""}`.trim());
    }
    return "ended";
  })().catch((error: Error & { code?: string }) => error.code ?? error.message);
  return { lines, ended };
}

test("what the embedded API does not do is answered with 501 and logged; what nobody does is 404", async () => {
  const said: string[] = [];
  const log: Log = { ...silentLog, error: (message) => said.push(message) };
  const { cluster } = start({ log });
  const { status, body } = await ask(cluster, "GET", "/apis/apps/v1/namespaces/default/deployments");
  assert.equal(status, 501);
  assert.equal(body.reason, "NotImplemented");
  assert.equal(said.length, 1);
  assert.equal((await ask(cluster, "GET", "/api/v1/replicationcontrollers")).status, 501);
  assert.equal((await ask(cluster, "GET", "/apis/nobody.example/v1/things")).status, 404);
  assert.equal(said.length, 2);
});

test("with a table of tokens only their holders are answered, and a service account's token is one of them until it expires", async () => {
  const { world, cluster } = start({ tokens: { secret: { name: "me", groups: ["system:masters"] } } });
  const mine = { authorization: "Bearer secret" };
  assert.equal((await ask(cluster, "GET", configMaps)).status, 401);
  assert.equal((await ask(cluster, "GET", configMaps, undefined, mine)).status, 200);
  await ask(cluster, "POST", "/api/v1/namespaces/default/serviceaccounts", { metadata: { name: "sa" } }, mine);
  const issued = await ask(
    cluster,
    "POST",
    "/api/v1/namespaces/default/serviceaccounts/sa/token",
    { spec: { expirationSeconds: 600 } },
    mine,
  );
  const theirs = { authorization: `Bearer ${issued.body.status.token}` };
  assert.equal((await ask(cluster, "GET", configMaps, undefined, theirs)).status, 200);
  await world.advance(601_000);
  assert.equal((await ask(cluster, "GET", configMaps, undefined, theirs)).status, 401);
});

test("access follows the roles that are stored", async () => {
  const { cluster } = start();
  const may = async (path: string, verb = "get") => {
    const spec = { user: "prometheus", nonResourceAttributes: { path, verb } };
    return (await ask(cluster, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec })).body.status.allowed;
  };
  assert.equal(await may("/metrics"), false);
  const rbac = "/apis/rbac.authorization.k8s.io/v1";
  await ask(cluster, "POST", `${rbac}/clusterroles`, {
    metadata: { name: "r" },
    rules: [{ nonResourceURLs: ["/metrics", "/debug/*"], verbs: ["get"] }],
  });
  await ask(cluster, "POST", `${rbac}/clusterrolebindings`, {
    metadata: { name: "b" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "r" },
    subjects: [{ kind: "User", name: "prometheus" }],
  });
  assert.deepEqual([await may("/metrics"), await may("/debug/pprof"), await may("/metrics", "post")], [true, true, false]);
});

test("bookmarks come every minute, and a watch ends when its time is over", async () => {
  const { world, cluster } = start();
  const watch = await follow(
    cluster,
    `${configMaps}?watch=1&allowWatchBookmarks=true&timeoutSeconds=150&resourceVersion=${cluster.resourceVersion}`,
  );
  await world.advance(149_000);
  assert.deepEqual(watch.lines, ["BOOKMARK", "BOOKMARK"]);
  await world.advance(1000);
  assert.equal(await watch.ended, "ended");
  assert.equal(cluster.openWatches, 0);
});

test("a stalled watch says nothing until it is resumed, a cut one fails", async () => {
  const { world, cluster } = start();
  const watch = await follow(cluster, `${configMaps}?watch=1&timeoutSeconds=600`);
  cluster.stallWatches(true);
  await ask(cluster, "POST", configMaps, { metadata: { name: "a" } });
  await world.settle();
  assert.deepEqual(watch.lines, []);
  cluster.stallWatches(false);
  await world.settle();
  assert.deepEqual(watch.lines, ["ADDED a"]);
  cluster.cutWatches();
  assert.equal(await watch.ended, "ECONNRESET");
});

test("the past is bounded: a watch from before what is remembered is told 410", async () => {
  const { cluster } = start({ historyLimit: 10 });
  const version = cluster.resourceVersion;
  for (let i = 0; i < 25; i++) await ask(cluster, "POST", configMaps, { metadata: { name: `c${i}` } });
  const watch = await follow(cluster, `${configMaps}?watch=1&resourceVersion=${version}`);
  assert.equal(await watch.ended, "ended");
  assert.deepEqual(watch.lines, ["ERROR Expired"]);
});

test("faults strike by rule: refused, cut, carried out with the answer lost", async () => {
  const { cluster } = start();
  const writes = (method: string) => (request: { method: string }) => request.method === method;
  cluster.faults.add({ match: writes("GET"), effect: { kind: "refuse", status: 429, retryAfterSeconds: 3 }, times: 1 });
  const refused = await ask(cluster, "GET", configMaps);
  assert.deepEqual([refused.status, refused.headers["retry-after"], refused.body.reason], [429, "3", "TooManyRequests"]);
  assert.equal((await ask(cluster, "GET", configMaps)).status, 200);

  const remove = cluster.faults.add({ match: writes("POST"), effect: { kind: "lose-answer" } });
  await assert.rejects(ask(cluster, "POST", configMaps, { metadata: { name: "a" } }), { code: "ECONNRESET" });
  remove();
  assert.deepEqual(
    cluster.objects("configmaps").map(({ metadata }) => metadata.name),
    ["a"],
  );

  cluster.faults.add({ match: writes("DELETE"), effect: { kind: "reset" } });
  await assert.rejects(ask(cluster, "DELETE", `${configMaps}/a`), { code: "ECONNRESET" });
  assert.equal(cluster.objects("configmaps").length, 1);
});

test("what a deleted owner leaves behind is collected, and a deleted namespace empties itself", async () => {
  const { world, cluster } = start();
  const owner = await ask(cluster, "POST", configMaps, { metadata: { name: "owner" } });
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid: owner.body.metadata.uid }];
  await ask(cluster, "POST", configMaps, { metadata: { name: "owned", ownerReferences } });
  await ask(cluster, "POST", configMaps, { metadata: { name: "other" } });
  await ask(cluster, "DELETE", `${configMaps}/owner`);
  await world.advance(1);
  assert.deepEqual(
    cluster.objects("configmaps").map(({ metadata }) => metadata.name),
    ["other"],
  );

  await ask(cluster, "POST", "/api/v1/namespaces", { metadata: { name: "leaving" } });
  await ask(cluster, "POST", "/api/v1/namespaces/leaving/configmaps", { metadata: { name: "held", finalizers: ["e.com/hold"] } });
  await ask(cluster, "DELETE", "/api/v1/namespaces/leaving");
  await world.advance(1);
  assert.equal((await ask(cluster, "GET", "/api/v1/namespaces/leaving")).body.status.phase, "Terminating");
  await ask(cluster, "PATCH", "/api/v1/namespaces/leaving/configmaps/held", { metadata: { finalizers: null } });
  await world.advance(1);
  assert.equal((await ask(cluster, "GET", "/api/v1/namespaces/leaving")).status, 404);
});

test("foreground deletion waits for the dependents, orphaning lets them live", async () => {
  const { world, cluster } = start();
  const make = async (name: string, of?: { name: string; uid: string }) => {
    const ownerReferences = of === undefined ? [] : [{ apiVersion: "v1", kind: "ConfigMap", ...of }];
    return (await ask(cluster, "POST", configMaps, { metadata: { name, ownerReferences } })).body.metadata;
  };
  for (const policy of ["Foreground", "Orphan"]) {
    const { uid } = await make(`owner-${policy.toLowerCase()}`);
    await make(`owned-${policy.toLowerCase()}`, { name: `owner-${policy.toLowerCase()}`, uid });
    await ask(cluster, "DELETE", `${configMaps}/owner-${policy.toLowerCase()}?propagationPolicy=${policy}`);
  }
  await world.advance(10);
  assert.deepEqual(
    cluster.objects("configmaps").map(({ metadata }) => metadata.name),
    ["owned-orphan"],
  );
});

test("a deleted definition takes its objects and their watches along, and a new one of its name starts empty", async () => {
  const { cluster } = start();
  const definition = {
    metadata: { name: "widgets.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "widgets", kind: "Widget" },
      versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
    },
  };
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const widgets = "/apis/example.com/v1/namespaces/default/widgets";
  await ask(cluster, "POST", definitions, definition);
  await ask(cluster, "POST", widgets, { apiVersion: "example.com/v1", kind: "Widget", metadata: { name: "w" } });
  const watch = await follow(cluster, `${widgets}?watch=1`);
  await ask(cluster, "DELETE", `${definitions}/widgets.example.com`);
  assert.equal(await watch.ended, "ended");
  assert.deepEqual(watch.lines, ["ADDED w", "DELETED w"]);
  assert.equal((await ask(cluster, "GET", widgets)).status, 404);
  await ask(cluster, "POST", definitions, definition);
  assert.deepEqual((await ask(cluster, "GET", widgets)).body.items, []);
});

test("over a socket: verbs, and a watch that ends when the client goes away", async (t) => {
  const cluster = createEmbeddedCluster({ world: realWorld() });
  const served = await serveTransport(cluster.send);
  const client = socketTransport({ connectTimeoutMs: 1000 });
  t.after(async () => {
    await client.close();
    await served.close();
  });
  const made = await client.send({
    method: "POST",
    url: new URL(configMaps, served.url),
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ metadata: { name: "a" } }),
  });
  assert.equal(made.status, 201);
  await bodyText(made);

  const stop = new AbortController();
  const watch = await client.send({ method: "GET", url: new URL(`${configMaps}?watch=1`, served.url), headers: {}, signal: stop.signal });
  const lines = watch.body[Symbol.asyncIterator]();
  assert.equal(JSON.parse(Buffer.from((await lines.next()).value).toString()).object.metadata.name, "a");
  assert.equal(cluster.openWatches, 1);
  stop.abort();
  await assert.rejects(async () => {
    for (;;) await lines.next();
  });
  const deadline = performance.now() + 5000;
  while (cluster.openWatches > 0 && performance.now() < deadline) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(cluster.openWatches, 0);
});

test("the same seed gives the same uids, addresses and ports", async () => {
  const make = async () => {
    const { cluster } = start();
    await ask(cluster, "POST", "/api/v1/namespaces/default/services", {
      metadata: { name: "s" },
      spec: { type: "NodePort", ports: [{ port: 80 }] },
    });
    return JSON.stringify(cluster.objects("services"));
  };
  assert.equal(await make(), await make());
});

test("a server that does not stream lists refuses them, or opens the watch and fails at once, as etcd lets it", async () => {
  const streamed = `${configMaps}?watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;
  const refused = await ask(start({ streamedLists: "refused" }).cluster, "GET", streamed);
  assert.deepEqual([refused.status, refused.body.reason], [422, "Invalid"]);
  const { cluster } = start({ streamedLists: "failing" });
  const watch = await follow(cluster, streamed);
  assert.equal(await watch.ended, "ended");
  assert.deepEqual(watch.lines, ["ERROR InternalError"]);
  assert.equal((await ask(cluster, "GET", configMaps)).status, 200);
});
