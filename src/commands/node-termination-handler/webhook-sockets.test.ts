import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { openWebhook } from "../../interruptions/webhook.ts";
import { silentLog } from "../../runtime/log.ts";
import { newRegistry } from "../../runtime/metrics.ts";
import { behindProxy } from "../../runtime/testing/connect-proxy.ts";
import { realWorld } from "../../runtime/world.ts";
import { webhookSockets } from "./webhook-sockets.ts";

/** Posts one webhook to this URL on a machine with this environment. */
async function post(t: TestContext, url: string, proxy: string, environment: Readonly<Record<string, string>>, ca = ""): Promise<void> {
  const machine = realWorld();
  const read = async (path: string) => Buffer.from(path === "/bundle.pem" ? ca : await machine.files.read(path));
  const world = {
    ...machine,
    environment: { ...environment, AWS_CA_BUNDLE: ca === "" ? "" : "/bundle.pem" },
    files: { ...machine.files, read },
  };
  const sockets = webhookSockets(world, proxy);
  t.after(sockets.close);
  const host = { world, log: silentLog, metrics: newRegistry() };
  const settings = { url, headers: '{"Content-type":"application/json"}', template: '{"text":"{{ .EventID }}"}', templateFile: "" };
  const notify = await openWebhook(host, sockets.send, settings, () => ({}));
  const node = { name: "n", instanceId: "i-1", labels: {}, addresses: [] };
  const event = { id: "spot-1", kind: "spot", policy: "drain", description: "d", startTime: 0 };
  await notify(node as never, event as never, new AbortController().signal, []);
}

for (const scheme of ["http", "tcp"]) {
  test(`--webhook-proxy=${scheme}://… is what webhooks go by, whatever the environment says`, async (t) => {
    const bodies: string[] = [];
    const behind = await behindProxy(t, {
      hosts: ["hooks.example.org"],
      answer: async (request, response) => {
        let body = "";
        for await (const chunk of request) body += chunk;
        bodies.push(body);
        response.end();
      },
    });
    const environment = { HTTPS_PROXY: "http://127.0.0.1:1", HTTP_PROXY: "http://127.0.0.1:1", NO_PROXY: "hooks.example.org" };
    await post(t, "https://hooks.example.org/x", behind.proxy.replace("http:", `${scheme}:`), environment, behind.ca);
    assert.deepEqual([behind.seen, bodies], [["CONNECT hooks.example.org:443"], ['{"text":"spot-1"}']]);
  });
}

test("without --webhook-proxy they go directly, past the proxy of the environment", async (t) => {
  let posts = 0;
  const server = createServer((request, response) => {
    posts += request.method === "POST" ? 1 : 0;
    response.end();
  }).listen(0, "127.0.0.1");
  t.after(() => server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address() as AddressInfo;
  await post(t, `http://127.0.0.1:${port}/x`, "", { HTTP_PROXY: "http://127.0.0.1:1", http_proxy: "http://127.0.0.1:1" });
  assert.equal(posts, 1);
});
