import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { type HttpResponse, socketTransport } from "../runtime/http.ts";
import { realWorld } from "../runtime/world.ts";
import type { KeyPair } from "../runtime/x509.ts";
import { createAuthority } from "./cluster/real/certificates.ts";
import { type FaultProxy, startFaultProxy } from "./fault-proxy.ts";

test("without rules requests and answers pass unchanged", async (t) => {
  const { proxy, ask } = await setUp(t, (request, response) => {
    response.setHeader("x-served", "yes");
    response.end(`${request.method} ${request.url} ${request.headers.authorization}`);
  });
  const answer = await ask("/api/v1/nodes?limit=1", { authorization: "Bearer t" });
  assert.equal(await text(answer), "GET /api/v1/nodes?limit=1 Bearer t");
  assert.equal(answer.headers["x-served"], "yes");
  assert.deepEqual(proxy.requests, [{ method: "GET", path: "/api/v1/nodes?limit=1", status: 200 }]);
});

test("who shows a certificate is announced by name and groups, and cannot announce itself as somebody else", async (t) => {
  const { ask } = await setUp(t, (request, response) => {
    const { CN } = (request.socket as import("node:tls").TLSSocket).getPeerCertificate().subject ?? {};
    response.end(JSON.stringify({ proxy: CN, user: request.headers["x-remote-user"], groups: request.headers["x-remote-group"] }));
  });
  const client = authority.client({ commonName: "admin", organizations: ["system:masters", "ops"] });
  const announced = { proxy: "front-proxy", user: "admin", groups: "system:masters, ops" };
  assert.deepEqual(JSON.parse(await text(await ask("/", { "x-remote-user": "root" }, client))), announced);
  assert.deepEqual(JSON.parse(await text(await ask("/", { "x-remote-user": "root" }))), {});
});

test("a rule strikes the requests it means, as often as it says", async (t) => {
  const { proxy, ask } = await setUp(t, (_, response) => response.end("ok"));
  proxy.strike({ path: /\/nodes/, method: "GET", times: 2, fault: { kind: "answer", status: 429, retryAfterSeconds: 3 } });
  const refused = await ask("/api/v1/nodes");
  assert.equal(refused.status, 429);
  assert.equal(refused.headers["retry-after"], "3");
  assert.equal(JSON.parse(await text(refused)).reason, "TooManyRequests");
  assert.equal((await drained(await ask("/api/v1/pods"))).status, 200);
  assert.equal((await drained(await ask("/api/v1/nodes"))).status, 429);
  assert.equal((await drained(await ask("/api/v1/nodes"))).status, 200);
});

test("a reset breaks the connection, and healing ends it", async (t) => {
  const { proxy, ask } = await setUp(t, (_, response) => response.end("ok"));
  proxy.strike({ fault: { kind: "reset" } });
  await assert.rejects(ask("/"), { code: "ECONNRESET" });
  proxy.heal();
  assert.equal(await text(await ask("/")), "ok");
});

test("a delay holds the request back", async (t) => {
  const { proxy, ask } = await setUp(t, (_, response) => response.end("ok"));
  proxy.strike({ fault: { kind: "delay", ms: 60 } });
  const began = performance.now();
  assert.equal(await text(await ask("/")), "ok");
  assert.ok(performance.now() - began >= 55);
});

test("an open watch is cut in the middle of its next line", async (t) => {
  const watch = await openWatch(t);
  await watch.send('{"n":1}\n');
  assert.equal(await watch.next(), '{"n":1}\n');
  watch.proxy.strike({ watch: true, times: 1, fault: { kind: "half-line" } });
  await watch.send('{"n":2}\n');
  assert.equal(await watch.next(), '{"n');
  await assert.rejects(watch.next(), /terminated|other side closed|aborted/);
});

test("an open watch that stalls says nothing more and stays open", async (t) => {
  const watch = await openWatch(t);
  await watch.send('{"n":1}\n');
  assert.equal(await watch.next(), '{"n":1}\n');
  watch.proxy.strike({ watch: true, fault: { kind: "stall" } });
  await watch.send('{"n":2}\n');
  const heard = await Promise.race([watch.next(), pause(100, "silence")]);
  assert.equal(heard, "silence");
  assert.equal(watch.proxy.connections, 1);
});

test("an open watch is reset at once", async (t) => {
  const watch = await openWatch(t);
  await watch.send('{"n":1}\n');
  assert.equal(await watch.next(), '{"n":1}\n');
  watch.proxy.strike({ watch: true, fault: { kind: "reset" } });
  await assert.rejects(watch.next());
});

const authority = createAuthority(realWorld(), "test");

async function setUp(t: TestContext, answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const serving = authority.server({ commonName: "server" }, ["127.0.0.1"]);
  const target = createServer({ ...serving, ca: authority.cert, requestCert: true, rejectUnauthorized: false }, answer);
  target.listen(0, "127.0.0.1");
  await once(target, "listening");
  const proxy: FaultProxy = await startFaultProxy({
    world: realWorld(),
    target: new URL(`https://127.0.0.1:${(target.address() as AddressInfo).port}`),
    ca: authority.cert,
    serving,
    frontProxy: authority.client({ commonName: "front-proxy" }),
  });
  t.after(async () => {
    await proxy.close();
    target.closeAllConnections();
    target.close();
  });
  return {
    proxy,
    ask(path: string, headers: Record<string, string> = {}, client?: KeyPair): Promise<HttpResponse> {
      const transport = socketTransport({ tls: { ca: authority.cert, ...client }, connectTimeoutMs: 1000 });
      t.after(() => transport.close());
      return transport.send({ method: "GET", url: new URL(path, proxy.url), headers });
    },
  };
}

async function openWatch(t: TestContext) {
  const served = Promise.withResolvers<ServerResponse>();
  const { proxy, ask } = await setUp(t, (_, response) => {
    response.flushHeaders();
    served.resolve(response);
  });
  const answer = await ask("/api/v1/nodes?watch=true");
  const chunks = answer.body[Symbol.asyncIterator]();
  const server = await served.promise;
  return {
    proxy,
    send: (line: string) => new Promise<unknown>((resolve) => server.write(line, resolve)),
    async next(): Promise<string> {
      const { value } = await chunks.next();
      return value ? Buffer.from(value).toString("utf8") : "end";
    },
  };
}

async function text(answer: HttpResponse): Promise<string> {
  let all = "";
  for await (const chunk of answer.body) all += Buffer.from(chunk).toString("utf8");
  return all;
}

async function drained(answer: HttpResponse): Promise<HttpResponse> {
  await text(answer);
  return answer;
}
