import assert from "node:assert/strict";
import { test } from "node:test";
import type { WriteGate } from "../runtime/gate.ts";
import { dryRunGate, WriteRefused } from "../runtime/gate.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { nodes, services } from "./builtin.ts";
import { userAgent } from "./client.ts";
import type { Access } from "./config/access.ts";
import { callsAtOnce } from "./connections.ts";
import type { ApiError } from "./errors.ts";
import { isApiError } from "./errors.ts";
import { resource } from "./resource.ts";
import { anonymousConfig, scriptedClient, scriptedServer } from "./testing/scripted-server.ts";
import type { Node } from "./types.ts";

const node: Node = { metadata: { name: "ip-10-0-0-1", uid: "u", resourceVersion: "7" } };

function bed(changes: Parameters<typeof scriptedClient>[2] = {}) {
  const world = virtualWorld(3);
  const server = scriptedServer();
  return { world, server, client: scriptedClient(world, server, changes) };
}

/** A gate that is open until it is shut. */
function lease() {
  const lost = new AbortController();
  const checked: string[] = [];
  const gate: WriteGate = {
    check(write) {
      checked.push(write);
      if (lost.signal.aborted) throw new WriteRefused(write, "not-leading");
    },
    lost: lost.signal,
  };
  return { gate, checked, lose: () => lost.abort(new WriteRefused("go on", "not-leading")) };
}

test("each kind of patch is sent with its content type, to the object or to its part", async () => {
  const { world, server, client } = bed();
  const cases = [
    [{ apply: node, fieldManager: "fairlead", force: true }, "application/apply-patch+yaml"],
    [{ merge: { spec: {} } }, "application/merge-patch+json"],
    [{ strategic: { status: {} } }, "application/strategic-merge-patch+json"],
    [{ json: [{ op: "remove", path: "/spec/taints" }] }, "application/json-patch+json"],
  ] as const;
  for (const [patch, contentType] of cases) {
    const answer = client.patch(nodes, { name: "ip-10-0-0-1", subresource: "status" }, patch);
    await world.settle();
    const asked = server.take();
    assert.equal(asked.request.method, "PATCH");
    assert.equal(asked.request.url.pathname, "/api/v1/nodes/ip-10-0-0-1/status");
    assert.equal(asked.request.headers["content-type"], contentType);
    if ("apply" in patch) {
      assert.equal(asked.query.get("fieldManager"), "fairlead");
      assert.equal(asked.query.get("force"), "true");
      assert.equal((asked.sent as Node).apiVersion, "v1");
    }
    asked.json(node);
    assert.equal((await answer).resourceVersion, "7");
  }
});

test("custom resources are spoken to like built-in ones", async () => {
  const { world, server, client } = bed();
  const bindings = resource<{ metadata?: { name?: string; namespace?: string }; spec: { arn: string } }>({
    group: "elbv2.k8s.aws",
    version: "v1beta1",
    plural: "targetgroupbindings",
    kind: "TargetGroupBinding",
    namespaced: true,
  });
  const created = client.create(bindings, { metadata: { name: "web", namespace: "shop" }, spec: { arn: "a" } });
  await world.settle();
  const asked = server.take();
  assert.equal(asked.request.url.pathname, "/apis/elbv2.k8s.aws/v1beta1/namespaces/shop/targetgroupbindings");
  assert.deepEqual(asked.sent, {
    apiVersion: "elbv2.k8s.aws/v1beta1",
    kind: "TargetGroupBinding",
    metadata: { name: "web", namespace: "shop" },
    spec: { arn: "a" },
  });
  asked.json({ metadata: { name: "web", namespace: "shop", uid: "1", resourceVersion: "2" }, spec: { arn: "a" } }, 201);
  assert.equal((await created).spec.arn, "a");
});

test("a deletion carries its preconditions", async () => {
  const { world, server, client } = bed();
  const deleted = client.delete(nodes, { name: "n" }, { uid: "u", resourceVersion: "7", propagationPolicy: "Background" });
  await world.settle();
  const asked = server.take();
  assert.deepEqual(asked.sent, {
    apiVersion: "v1",
    kind: "DeleteOptions",
    preconditions: { uid: "u", resourceVersion: "7" },
    propagationPolicy: "Background",
  });
  asked.json({ kind: "Status", status: "Success" });
  await deleted;
});

test("refusals are typed by what the server says, and tell what was asked", async () => {
  const cases = [
    [404, "NotFound", "not-found"],
    [409, "Conflict", "conflict"],
    [409, "AlreadyExists", "already-exists"],
    [403, "Forbidden", "forbidden"],
    [410, "Expired", "gone"],
    [422, "Invalid", "invalid"],
    [400, "BadRequest", "bad-request"],
    [418, "Teapot", "unknown"],
  ] as const;
  for (const [status, said, reason] of cases) {
    const { world, server, client } = bed();
    const answer = client.patch(services, { namespace: "default", name: "web" }, { merge: {} });
    await world.settle();
    server.take().refuse(status, said, `the server says ${said}`);
    await assert.rejects(answer, (error: ApiError) => {
      assert.equal(error.reason, reason);
      assert.equal(error.status, status);
      assert.equal(error.message, `patch services/default/web: the server says ${said} (${status})`);
      return isApiError(error, reason);
    });
  }
});

test("reads are tried again after a cut and after 5xx, a bounded number of times; writes are not", async () => {
  const { world, server, client } = bed();
  const read = client.get(nodes, { name: "n" });
  await world.settle();
  server.take().cut();
  await world.advance(200);
  server.take().refuse(503, "ServiceUnavailable");
  await world.advance(400);
  server.take().json(node);
  assert.equal((await read).metadata.name, "ip-10-0-0-1");

  const hopeless = client.get(nodes, { name: "n" }).catch((error) => error);
  for (let tries = 0; tries < 4; tries++) {
    await world.advance(1_000);
    server.take().refuse(500, "InternalError");
  }
  await world.advance(10_000);
  assert.equal(server.waiting.length, 0);
  assert.ok(isApiError(await hopeless, "internal"));

  const write = client.patch(nodes, { name: "n" }, { merge: {} }).catch((error) => error);
  await world.settle();
  server.take().cut();
  await world.advance(10_000);
  assert.equal(server.waiting.length, 0);
  assert.ok(isApiError(await write, "unreachable"));
});

test("what a server does not implement is not asked for again", async () => {
  const { world, server, client } = bed();
  const read = client.get(nodes, { name: "n" }).catch((error) => error);
  await world.settle();
  server.take().refuse(501, "NotImplemented");
  await world.advance(10_000);
  assert.equal(server.waiting.length, 0);
  assert.equal((await read).status, 501);
});

test("429 is waited out as the server asks, for writes too, and the gate is asked again", async () => {
  const { gate, checked } = lease();
  const { world, server, client } = bed({ gate });
  const write = client.patch(nodes, { name: "n" }, { merge: {} });
  await world.settle();
  server.take().refuse(429, "TooManyRequests", "slow down", { "retry-after": "2" });
  await world.advance(1_999);
  assert.equal(server.waiting.length, 0);
  await world.advance(300);
  server.take().json(node);
  await write;
  assert.deepEqual(checked, ["patch nodes/n", "patch nodes/n"]);
});

test("a 429 that asks for more time than the call has fails at once, with the time to wait", async () => {
  const { world, server, client } = bed();
  const write = client.patch(nodes, { name: "n" }, { merge: {} }, { timeoutMs: 1_000 }).catch((error) => error);
  await world.settle();
  server.take().refuse(429, "TooManyRequests", "slow down", { "retry-after": "5" });
  const error = await write;
  assert.ok(isApiError(error, "too-many-requests"));
  assert.equal(error.retryAfterMs, 5_000);
});

test("a call without an answer ends at its time limit and leaves no timer", async () => {
  const { world, server, client } = bed();
  const read = client.get(nodes, { name: "n" }).catch((error) => error);
  await world.advance(29_999);
  assert.equal(server.take().request.signal?.aborted, false);
  await world.advance(1);
  const error = await read;
  assert.ok(isApiError(error, "timeout"));
  assert.match(error.message, /get nodes\/n: no answer from https:\/\/api\.test:6443 within 30 s/);
});

test("no write is sent once the gate is shut, and one in flight is cut", async () => {
  const { gate, lose } = lease();
  const { world, server, client } = bed({ gate });
  const inFlight = client.patch(nodes, { name: "n" }, { merge: {} }).catch((error) => error);
  await world.settle();
  const asked = server.take();
  lose();
  assert.ok((await inFlight) instanceof WriteRefused);
  assert.equal(asked.request.signal?.aborted, true);

  await assert.rejects(client.delete(nodes, { name: "n" }), WriteRefused);
  const read = client.get(nodes, { name: "n" });
  await world.settle();
  server.take().json(node);
  await read;
  assert.equal(server.requests.length, 2);
});

test("the gate is asked after the credentials are there, not before: nothing comes between it and the sending", async () => {
  const { gate, lose } = lease();
  let grant = () => {};
  const config = {
    ...anonymousConfig,
    access: () => new Promise<Access>((resolve) => (grant = () => resolve({ headers: {}, tls: {} }))),
  };
  const { world, server, client } = bed({ gate, config });
  const write = client.delete(nodes, { name: "n" }).catch((error) => error);
  await world.settle();
  lose();
  grant();
  assert.ok((await write) instanceof WriteRefused);
  assert.equal(server.requests.length, 0);
});

test("in a dry run reads pass and writes are told, and a derived client with an open gate writes", async () => {
  const would: string[] = [];
  const { world, server, client } = bed({ gate: dryRunGate((write) => would.push(write)) });
  await assert.rejects(client.patch(nodes, { name: "n" }, { merge: {} }), WriteRefused);
  assert.deepEqual(would, ["patch nodes/n"]);
  const { gate } = lease();
  const open = client.as({ gate, userAgent: "events" }).patch(nodes, { name: "n" }, { merge: {} });
  await world.settle();
  const asked = server.take();
  assert.equal(asked.request.headers["user-agent"], "events");
  asked.json(node);
  await open;
});

test("a 401 makes the credentials be fetched anew, once", async () => {
  let token = "old";
  let refusals = 0;
  const config = {
    ...anonymousConfig,
    access: async () => ({ headers: { authorization: `Bearer ${token}` }, tls: {} }),
    refused() {
      refusals++;
      token = "new";
    },
  };
  const { world, server, client } = bed({ config });
  const read = client.get(nodes, { name: "n" }).catch((error) => error);
  await world.settle();
  assert.equal(server.waiting[0]?.request.headers.authorization, "Bearer old");
  server.take().refuse(401, "Unauthorized");
  await world.settle();
  assert.equal(server.waiting[0]?.request.headers.authorization, "Bearer new");
  server.take().refuse(401, "Unauthorized");
  const error = await read;
  assert.ok(isApiError(error, "unauthorized"));
  assert.equal(refusals, 1);
  assert.ok(!String(error.stack).includes("Bearer"));
});

test("the server's refusal names the credentials that were refused, not those that have come since", async () => {
  const used: Access[] = [];
  const refused: Access[] = [];
  const config = {
    ...anonymousConfig,
    async access() {
      used.push({ headers: { authorization: `Bearer ${used.length}` }, tls: {} });
      return used.at(-1)!;
    },
    refused: (access: Access) => void refused.push(access),
  };
  const { world, server, client } = bed({ config });
  const reads = Array.from({ length: 3 }, () => client.get(nodes, { name: "n" }));
  await world.settle();
  const [first, second, third] = [server.take(), server.take(), server.take()];
  for (const asked of [third, first]) asked.refuse(401, "Unauthorized");
  second.json(node);
  await world.settle();
  assert.deepEqual(refused, [used[2], used[0]]);
  while (server.waiting.length > 0) server.take().json(node);
  await Promise.all(reads);
});

test("an alert of the server's TLS makes certificates be read anew; a write that may have arrived is not sent again", async () => {
  let failures = 0;
  const config = {
    ...anonymousConfig,
    access: async () => ({ headers: {}, tls: { cert: String(failures) } }),
    tlsFailed() {
      failures++;
    },
  };
  const { world, server, client } = bed({ config });
  const codes = ["ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED", "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "ERR_OSSL_X509_KEY_VALUES_MISMATCH"];
  const sent: [string, string, number][] = [];
  for (const code of codes) {
    for (const method of ["GET", "DELETE"]) {
      const before = server.requests.length;
      const call = method === "GET" ? client.raw("/healthz") : client.delete(nodes, { name: "n" });
      const settled = call.catch(() => {});
      await world.settle();
      server.take().cut(code);
      await world.settle();
      if (server.waiting.length > 0) server.take().json({});
      await settled;
      sent.push([code, method, server.requests.length - before]);
    }
  }
  assert.deepEqual(
    sent.map(([, , times]) => times),
    [2, 1, 2, 2, 2, 2],
    JSON.stringify(sent),
  );
  assert.equal(failures, 6);
});

test("a rotated client certificate gives new connections, and the old ones are closed after a while", async () => {
  let certificate = "one";
  const opened: string[] = [];
  const closed: string[] = [];
  const config = { ...anonymousConfig, access: async () => ({ headers: {}, tls: { cert: certificate } }) };
  const scripted = scriptedServer();
  const { world, client } = bed({
    config,
    connect(tls) {
      opened.push(String(tls.cert));
      return { ...scripted.connect(tls), close: async () => void closed.push(String(tls.cert)) };
    },
  });
  for (const next of ["one", "two"]) {
    const read = client.raw("/healthz");
    await world.settle();
    scripted.take().json("ok");
    await read;
    certificate = next;
  }
  const read = client.raw("/healthz");
  await world.settle();
  scripted.take().json("ok");
  await read;
  assert.deepEqual(opened, ["one", "two"]);
  await world.advance(60_000);
  assert.deepEqual(closed, ["one"]);
  await client.close();
  assert.deepEqual(closed, ["one", "two"]);
});

test("with a rate limit, the burst passes at once and the rest at the rate", async () => {
  const { world, server, client } = bed({ limit: { qps: 10, burst: 3 } });
  const reads = Array.from({ length: 5 }, () => client.raw("/healthz"));
  await world.settle();
  assert.equal(server.requests.length, 3);
  await world.advance(100);
  assert.equal(server.requests.length, 4);
  await world.advance(100);
  assert.equal(server.requests.length, 5);
  while (server.waiting.length > 0) server.take().json("ok");
  await Promise.all(reads);
});

test("a list goes through all pages and gives every item its kind", async () => {
  const { world, server, client } = bed();
  const listed = client.list(services, { namespace: "shop", labelSelector: "a=b", limit: 1 });
  const item = (name: string) => ({ metadata: { name, namespace: "shop", annotations: { tricky: '"items":[{"\\' } } });
  await world.settle();
  const first = server.take();
  assert.equal(first.request.url.pathname, "/api/v1/namespaces/shop/services");
  assert.equal(first.query.get("labelSelector"), "a=b");
  first.json({ metadata: { resourceVersion: "5", continue: "next" }, items: [item("one")] });
  await world.settle();
  server.take().json({ items: [item("two")], metadata: { resourceVersion: "5" } });
  const { items, resourceVersion } = await listed;
  assert.deepEqual(items[1], { apiVersion: "v1", kind: "Service", ...item("two") });
  assert.deepEqual([items.length, resourceVersion], [2, "5"]);
});

test("a page that breaks off is read again", async () => {
  const { world, server, client } = bed();
  const listed = client.list(nodes);
  await world.settle();
  const broken = server.take().stream();
  broken.bytes('{"metadata":{"resourceVersion":"5"},"items":[{"metadata":{"name":"a"}},{"meta');
  broken.close();
  await world.advance(200);
  server.take().json({ metadata: { resourceVersion: "6" }, items: [node] });
  assert.equal((await listed).items.length, 1);
});

test("the user agent names the binary, the system and the client", () => {
  const text = userAgent({ binary: "aws-cloud-controller-manager", version: "v1.2.3", commit: "abc" }, "node-controller");
  assert.match(text, /^aws-cloud-controller-manager\/v1\.2\.3 \(\w+\/\w+\) kubernetes\/abc\/node-controller$/);
});

test("only so many calls are in work at once; who waits is served in order, may give up, and waits within its time limit", async () => {
  const { world, server, client } = bed({ timeoutMs: 1_000 });
  const impatient = new AbortController();
  const first = Array.from({ length: callsAtOnce }, (_, n) => client.get(nodes, { name: `first-${n}` }).catch((error) => error));
  const gaveUp = client.get(nodes, { name: "gave-up" }, { signal: impatient.signal }).catch((error) => error);
  const second = client.get(nodes, { name: "second" }, { timeoutMs: 5_000 });
  const last = client.get(nodes, { name: "last" }).catch((error) => error);
  await world.advance(900);
  assert.equal(server.requests.length, callsAtOnce);
  impatient.abort(new Error("enough"));
  assert.equal((await gaveUp).message, "enough");
  server.take().json(node);
  await world.settle();
  assert.equal(server.requests.at(-1)?.url.pathname, "/api/v1/nodes/second");
  server.waiting.at(-1)?.json(node);
  assert.equal((await second).metadata.uid, "u");
  await world.settle();
  assert.equal(server.requests.at(-1)?.url.pathname, "/api/v1/nodes/last");
  // It was sent after 900 ms; its second began when it was asked for.
  await world.advance(100);
  assert.match((await last).message, /get nodes\/last: no answer from .* within 1 s/);
  assert.equal((await Promise.all(first)).filter((answer) => isApiError(answer, "timeout")).length, callsAtOnce - 1);
});

test("a call that is never sent because others hang fails at its limit and says so", async () => {
  const { world, server, client } = bed();
  for (let n = 0; n < 200; n++) client.patch(nodes, { name: `node-${n}` }, { merge: {} }).catch(() => {});
  const waiting = client.get(services, { namespace: "default", name: "web" }, { timeoutMs: 5_000 }).catch((error) => error);
  await world.advance(5_000);
  const error = await waiting;
  assert.ok(isApiError(error, "timeout"));
  assert.match(error.message, /get services\/default\/web: not sent within 5 s: other calls of the same client/);
  assert.equal(server.requests.length, callsAtOnce);
  await world.advance(25_000);
  assert.equal(server.requests.length, callsAtOnce, "what has waited for its whole limit is not sent");
});

test("the wait for the rate limit counts against a call's limit, and one that gave up leaves its turn to the next", async () => {
  const { world, server, client } = bed({ limit: { qps: 0.1, burst: 1 } });
  const first = client.raw("/healthz");
  const hurried = client.raw("/livez", { timeoutMs: 5_000 }).catch((error) => error);
  await world.advance(5_000);
  assert.match((await hurried).message, /get \/livez: not sent within 5 s/);
  const next = client.raw("/readyz");
  await world.advance(5_000);
  assert.deepEqual(
    server.requests.map(({ url }) => url.pathname),
    ["/healthz", "/readyz"],
  );
  while (server.waiting.length > 0) server.take().json("ok");
  await Promise.all([first, next]);
});

test("calls of one client that hang hold up no call of another on the same connections", async () => {
  const { world, server, client } = bed();
  const [one, other] = [client.as({ userAgent: "node-controller" }), client.as({ userAgent: "service-controller" })];
  for (let n = 0; n < 200; n++) one.patch(nodes, { name: `node-${n}` }, { merge: {} }).catch(() => {});
  await world.settle();
  const hanging = server.requests.length;
  for (let n = 0; n < 3; n++) {
    const read = other.get(services, { namespace: "default", name: `web-${n}` }, { timeoutMs: 5_000 });
    await world.settle();
    assert.equal(server.requests.length, hanging + n + 1, "sent at once");
    server.waiting.at(-1)?.json(node);
    await read;
  }
});

test("places that become free go round among the clients that wait", async () => {
  const { world, server, client } = bed();
  const clients = ["a", "b"].map((userAgent) => client.as({ userAgent }));
  const hogs = Array.from({ length: callsAtOnce }, () => client.get(nodes, { name: "hog" }));
  const reads = clients.flatMap((each) => Array.from({ length: 6 }, () => each.get(nodes, { name: "n" })));
  await world.settle();
  const before = server.requests.length;
  for (let n = 0; n < 4; n++) {
    server.waiting.filter(({ request }) => request.url.pathname.endsWith("/hog"))[n]?.json(node);
    await world.settle();
  }
  assert.deepEqual(
    server.requests.slice(before).map(({ headers }) => headers["user-agent"]),
    ["a", "b", "a", "b"],
  );
  for (let n = 0; n < 40; n++) {
    while (server.waiting.length > 0) server.take().json(node);
    await world.settle();
  }
  assert.equal((await Promise.all([...hogs, ...reads])).length, callsAtOnce + 12);
});

test("a place that comes at the moment its caller gives up is not lost", async () => {
  const { world, server, client } = bed();
  for (let round = 0; round < 2 * callsAtOnce; round++) {
    const enough = new AbortController();
    const calls = Array.from({ length: callsAtOnce }, () => client.get(nodes, { name: "n" }, { signal: enough.signal }));
    // The first failure ends the others' work, as when several things are asked for and all are needed.
    for (const call of calls) call.catch(() => enough.abort(new Error("enough")));
    const waiting = client.get(nodes, { name: "waiting" }, { signal: enough.signal }).catch(() => {});
    await world.settle();
    server.take().refuse(404, "NotFound");
    await Promise.allSettled([...calls, waiting]);
    while (server.waiting.length > 0) server.take();
  }
  const read = client.get(nodes, { name: "n" });
  await world.settle();
  assert.equal(server.waiting.length, 1, "there are places still");
  server.take().json(node);
  await read;
});

test("a write that waits while the lease is lost is not sent", async () => {
  const { gate, lose } = lease();
  const { world, server, client } = bed({ gate });
  const reads = Array.from({ length: callsAtOnce }, () => client.get(nodes, { name: "n" }));
  const write = client.delete(nodes, { name: "n" }).catch((error) => error);
  await world.settle();
  lose();
  for (const asked of server.waiting) asked.json(node);
  await Promise.all(reads);
  assert.ok((await write) instanceof WriteRefused);
  assert.ok(server.requests.every(({ method }) => method === "GET"));
});
