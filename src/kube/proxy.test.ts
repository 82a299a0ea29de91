import assert from "node:assert/strict";
import { test } from "node:test";
import { Registry } from "prom-client";
import { openGate } from "../runtime/gate.ts";
import { silentLog } from "../runtime/log.ts";
import { behindProxy } from "../runtime/testing/connect-proxy.ts";
import { realWorld } from "../runtime/world.ts";
import { nodes } from "./builtin.ts";
import { KubeClient } from "./client.ts";
import { loadKubeConfig } from "./config/load.ts";
import { informer } from "./informer.ts";

test("the API server is reached through the proxy of the environment, watches too, by the authority of the kubeconfig", {
  timeout: 20_000,
}, async (t) => {
  const event = (type: string, name: string, annotations = {}) =>
    `${JSON.stringify({ type, object: { kind: "Node", metadata: { name, uid: name, resourceVersion: "5", annotations } } })}\n`;
  const behind = await behindProxy(t, {
    hosts: ["api.cluster.example"],
    answer: (_, response) => {
      response.writeHead(200);
      response.write(`${event("ADDED", "a")}${event("BOOKMARK", "", { "k8s.io/initial-events-end": "true" })}`);
    },
  });
  const kubeconfig = JSON.stringify({
    "current-context": "c",
    contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
    clusters: [
      {
        name: "c",
        cluster: { server: "https://api.cluster.example:6443", "certificate-authority-data": Buffer.from(behind.ca).toString("base64") },
      },
    ],
    users: [{ name: "u", user: { token: "t" } }],
  });
  const machine = realWorld();
  const world = {
    ...machine,
    environment: { HTTPS_PROXY: behind.proxy },
    files: { ...machine.files, read: async () => Buffer.from(kubeconfig) },
  };
  const config = await loadKubeConfig(world, { kubeconfig: "/kubeconfig" });
  const client = new KubeClient({
    host: { world, log: silentLog, metrics: new Registry() },
    config,
    gate: openGate(),
    userAgent: "test",
  });
  t.after(() => client.close());
  const stop = new AbortController();
  const following = informer({ client, of: nodes });
  const running = following.run(stop.signal);
  await following.synced;
  assert.deepEqual(
    following.list().map(({ metadata }) => metadata.name),
    ["a"],
  );
  assert.deepEqual(new Set(behind.seen), new Set(["CONNECT api.cluster.example:6443"]));
  stop.abort();
  await running;
});
