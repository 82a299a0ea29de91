import assert from "node:assert/strict";
import { test } from "node:test";
import { openGate } from "../runtime/gate.ts";
import { silentLog } from "../runtime/log.ts";
import { newRegistry } from "../runtime/metrics.ts";
import { createEmbeddedCluster } from "../sandbox/cluster/embedded/cluster.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { nodes } from "./builtin.ts";
import { KubeClient } from "./client.ts";
import { isApiError } from "./errors.ts";
import { anonymousConfig } from "./testing/scripted-server.ts";
import type { Node } from "./types.ts";

const node: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "worker" } };

test("a patch for one incarnation of a name changes no other, and says that it found none", async () => {
  const world = virtualWorld(1);
  const cluster = createEmbeddedCluster({ world });
  const client = new KubeClient({
    host: { world, log: silentLog, metrics: newRegistry() },
    config: anonymousConfig,
    gate: openGate(),
    userAgent: "test",
    connect: () => ({ send: cluster.send, close: async () => {} }),
  });
  const former = await client.create(nodes, node);
  await client.delete(nodes, { name: "worker" });
  const { metadata } = await client.create(nodes, node);
  assert.notEqual(metadata.uid, former.metadata.uid);

  const labels = { metadata: { labels: { seen: "yes" } } };
  const status = { status: { conditions: [{ type: "NetworkUnavailable", status: "True" }] } };
  const patches = [
    [undefined, { merge: labels }],
    [undefined, { strategic: labels }],
    ["status", { strategic: status }],
  ] as const;
  for (const [subresource, patch] of patches) {
    const target = { name: "worker", subresource };
    await assert.rejects(client.patch(nodes, target, { ...patch, uid: former.metadata.uid }), (error) => isApiError(error, "not-found"));
    const untouched = await client.get(nodes, { name: "worker" });
    assert.equal(untouched.metadata.resourceVersion, metadata.resourceVersion);
  }
  for (const [subresource, patch] of patches) await client.patch(nodes, { name: "worker", subresource }, { ...patch, uid: metadata.uid });
  const changed = await client.get(nodes, { name: "worker" });
  assert.equal(changed.metadata.labels?.seen, "yes");
  assert.equal(changed.status?.conditions?.length, 1);
  cluster.close();
});
