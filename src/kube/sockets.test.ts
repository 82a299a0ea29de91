/** The client on real sockets: what a scripted transport cannot show. */
import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { test } from "node:test";
import { Registry } from "prom-client";
import type { WriteGate } from "../runtime/gate.ts";
import { openGate, WriteRefused } from "../runtime/gate.ts";
import { silentLog } from "../runtime/log.ts";
import { realWorld } from "../runtime/world.ts";
import { nodes } from "./builtin.ts";
import { KubeClient } from "./client.ts";
import { loadKubeConfig } from "./config/load.ts";
import { isApiError } from "./errors.ts";
import { informer } from "./informer.ts";

type Answer = (request: IncomingMessage, response: ServerResponse, url: URL) => void;

async function bed(t: TestContext, answer: Answer, gate = openGate()) {
  const server = createServer((request, response) => answer(request, response, new URL(request.url ?? "", "http://server")));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const world = realWorld();
  const config = await loadKubeConfig(world, { master: `http://127.0.0.1:${port}` });
  const host = { world, log: silentLog, metrics: new Registry() };
  const client = new KubeClient({ host, config, gate, userAgent: "test" });
  t.after(async () => {
    await client.close();
    server.closeAllConnections();
    server.close();
  });
  const connections = () => new Promise<number>((resolve) => server.getConnections((_, count) => resolve(count)));
  return { server, client, connections };
}

const line = (type: string, name: string, version: number, annotations = {}) =>
  `${JSON.stringify({ type, object: { kind: "Node", metadata: { name, uid: name, resourceVersion: String(version), annotations } } })}\n`;
const endOfList = line("BOOKMARK", "", 5, { "k8s.io/initial-events-end": "true" });

test("a watch cut by the server in the middle of a line goes on where it was, and stopping it closes its connection", {
  timeout: 10_000,
}, async (t) => {
  const resumedAt: (string | null)[] = [];
  const { client, connections } = await bed(t, (_request, response, url) => {
    response.writeHead(200);
    if (url.searchParams.has("sendInitialEvents")) {
      response.write(`${line("ADDED", "a", 1)}${endOfList}${line("ADDED", "b", 6)}`);
      response.write('{"type":"ADDED","obj', () => setImmediate(() => response.destroy()));
      return;
    }
    resumedAt.push(url.searchParams.get("resourceVersion"));
    response.write(line("DELETED", "a", 7));
  });
  const stop = new AbortController();
  const following = informer({ client, of: nodes });
  const deleted = Promise.withResolvers<void>();
  following.subscribe({ onDelete: () => deleted.resolve() });
  const running = following.run(stop.signal);
  await deleted.promise;
  assert.deepEqual(
    following.list().map((node) => node.metadata.name),
    ["b"],
  );
  assert.deepEqual(resumedAt, ["6"]);
  assert.equal(following.staleSinceMs, undefined);
  stop.abort();
  await running;
  while ((await connections()) > 0) await new Promise((resolve) => setImmediate(resolve));
});

test("a server that is not there is an ApiError that says where it was looked for", async (t) => {
  const { server, client } = await bed(t, () => {});
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  await assert.rejects(client.get(nodes, { name: "n" }), (error) => {
    assert.ok(isApiError(error, "unreachable"));
    assert.match(
      error.message,
      new RegExp(`^get nodes/n: cannot reach http://127\\.0\\.0\\.1:${port} \\(ECONNREFUSED\\); check that the API server runs`),
    );
    return true;
  });
});

test("an answer that stops in the middle ends at the time limit", async (t) => {
  const { client } = await bed(t, (_request, response) => {
    response.writeHead(200);
    response.write('{"metadata":');
  });
  await assert.rejects(client.get(nodes, { name: "n" }, { timeoutMs: 50 }), (error) => isApiError(error, "timeout"));
});

test("a read whose connection is reset is tried again on a new one", async (t) => {
  let asked = 0;
  const { client } = await bed(t, (request, response) => {
    if (++asked === 1) request.socket.resetAndDestroy();
    else response.end("ok");
  });
  assert.equal(await client.raw("/healthz"), "ok");
  assert.equal(asked, 2);
});

test("a write whose connection is being opened is checked at the gate again when it is open", async (t) => {
  let checks = 0;
  const gate: WriteGate = {
    check(write) {
      if (++checks > 1) throw new WriteRefused(write, "not-leading");
    },
    lost: new AbortController().signal,
  };
  const arrived: string[] = [];
  const { client } = await bed(
    t,
    (request, response) => {
      arrived.push(String(request.method));
      response.end("{}");
    },
    gate,
  );
  await assert.rejects(client.delete(nodes, { name: "n" }), WriteRefused);
  assert.equal(checks, 2);
  assert.equal(await client.raw("/healthz"), "{}");
  assert.deepEqual(arrived, ["GET"]);
});
