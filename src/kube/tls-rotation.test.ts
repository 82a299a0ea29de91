/** Certificates that rotate under a client that goes on talking, over real sockets. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { Registry } from "prom-client";
import { stringify } from "yaml";
import { openGate } from "../runtime/gate.ts";
import { realWorld } from "../runtime/world.ts";
import { createAuthority } from "../sandbox/cluster/real/certificates.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { nodes } from "./builtin.ts";
import { KubeClient } from "./client.ts";
import { loadKubeConfig } from "./config/load.ts";
import { isApiError } from "./errors.ts";
import { recordingLog } from "./testing/scripted-server.ts";

const authorities = ["one", "two"].map((name) => createAuthority(realWorld(), name));
const [one, two] = authorities as [(typeof authorities)[0], (typeof authorities)[0]];

/** A server that takes clients of the authority it stands under, and a client whose files are in memory. */
async function bed(t: TestContext) {
  const server: Server = createServer({ ...one.server({ commonName: "api" }, ["127.0.0.1"]), ca: one.cert, requestCert: true });
  const clients: string[] = [];
  server.on("request", (request, response) => {
    clients.push(String(request.method));
    // So that every request is a handshake.
    response.setHeader("connection", "close");
    response.end("{}");
  });
  server.on("tlsClientError", () => {});
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const me = one.client({ commonName: "me" });
  const { files } = virtualWorld(1, {
    files: {
      "/k/ca.crt": one.cert,
      "/k/me.crt": me.cert,
      "/k/me.key": me.key,
      "/k/config": stringify({
        "current-context": "c",
        contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
        clusters: [{ name: "c", cluster: { server: `https://127.0.0.1:${port}`, "certificate-authority": "ca.crt" } }],
        users: [{ name: "u", user: { "client-certificate": "me.crt", "client-key": "me.key" } }],
      }),
    },
  });
  const world = { ...realWorld(), files };
  const config = await loadKubeConfig(world, { kubeconfig: "/k/config" });
  const client = new KubeClient({
    host: { world, log: recordingLog(), metrics: new Registry() },
    config,
    gate: openGate(),
    userAgent: "test",
  });
  t.after(async () => {
    await client.close();
    server.close();
  });
  const replace = async (contents: Readonly<Record<string, string>>) => {
    for (const [name, text] of Object.entries(contents)) await files.write(`/k/${name}`, text, 0o600);
  };
  /** The whole cluster moves to another authority. */
  const move = (authority: typeof one) =>
    server.setSecureContext({ ...authority.server({ commonName: "api" }, ["127.0.0.1"]), ca: authority.cert });
  return { client, clients, replace, move };
}

test("a new certificate without its key yet breaks nothing", async (t) => {
  const { client, clients, replace } = await bed(t);
  await client.delete(nodes, { name: "n" });
  await replace({ "me.crt": one.client({ commonName: "me" }).cert });
  client.config.tlsFailed();
  await client.delete(nodes, { name: "n" });
  assert.deepEqual(clients, ["DELETE", "DELETE"]);
});

test("a server that moved to another authority is reached at once when the files have moved too, by reads and by writes", async (t) => {
  const { client, replace, move } = await bed(t);
  assert.equal(await client.raw("/healthz"), "{}");
  for (const authority of [two, one]) {
    move(authority);
    const me = authority.client({ commonName: "me" });
    await replace({ "ca.crt": authority.cert, "me.crt": me.cert, "me.key": me.key });
    if (authority === two) await client.delete(nodes, { name: "n" });
    else assert.equal(await client.raw("/healthz"), "{}");
  }
});

test("a server that moved while the files have not is told of as a matter of certificates", async (t) => {
  const { client, move } = await bed(t);
  move(two);
  await assert.rejects(client.delete(nodes, { name: "n" }), (error) => {
    assert.ok(isApiError(error, "unreachable"));
    assert.match(error.message, /check the certificates in kubeconfig \/k\/config/);
    return true;
  });
});
