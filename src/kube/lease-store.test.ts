import assert from "node:assert/strict";
import { test } from "node:test";
import type { LeaseRecord } from "../runtime/lease.ts";
import { LeaseConflict } from "../runtime/lease.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { nodes } from "./builtin.ts";
import { isApiError } from "./errors.ts";
import { leaseStore } from "./lease-store.ts";
import { scriptedClient, scriptedServer } from "./testing/scripted-server.ts";

const record: LeaseRecord = {
  holderIdentity: "host_1",
  leaseDurationSeconds: 15,
  acquireTime: "2026-01-01T00:00:00.000Z",
  renewTime: "2026-01-01T00:00:05.5Z",
  leaseTransitions: 2,
};

function bed() {
  const world = virtualWorld(1);
  const server = scriptedServer();
  const client = scriptedClient(world, server);
  const store = leaseStore(client, { namespace: "kube-system", name: "ccm", renewDeadlineMs: 10_000 });
  return { world, server, client, store, signal: new AbortController().signal };
}

test("a lease is created with times of six digits, and read back", async () => {
  const { world, server, store, signal } = bed();
  const nothing = store.read(signal);
  await world.settle();
  server.take().refuse(404, "NotFound");
  assert.equal(await nothing, undefined);

  const created = store.create(record, signal);
  await world.settle();
  const asked = server.take();
  assert.equal(asked.request.url.pathname, "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases");
  const { spec } = asked.sent as { spec: Record<string, unknown> };
  assert.deepEqual(spec, { ...record, acquireTime: "2026-01-01T00:00:00.000000Z", renewTime: "2026-01-01T00:00:05.500000Z" });
  asked.json({ metadata: { name: "ccm", namespace: "kube-system", uid: "u", resourceVersion: "1" }, spec }, 201);
  assert.equal(await created, "1");
});

test("an update is conditional on the version and keeps what others put on the lease", async () => {
  const { world, server, store, signal } = bed();
  const reading = store.read(signal);
  await world.settle();
  const metadata = { name: "ccm", namespace: "kube-system", uid: "u", resourceVersion: "5", labels: { kept: "yes" } };
  server.take().json({ metadata, spec: { holderIdentity: "", strategy: "kept" } });
  assert.equal((await reading)?.record.holderIdentity, "");

  const updating = store.update(record, "5", signal);
  await world.settle();
  const asked = server.take();
  const sent = asked.sent as { metadata: object; spec: { strategy: string; holderIdentity: string } };
  assert.equal(asked.request.method, "PUT");
  assert.deepEqual(sent.metadata, metadata);
  assert.equal(sent.spec.strategy, "kept");
  assert.equal(sent.spec.holderIdentity, "host_1");
  asked.json({ ...sent, metadata: { ...metadata, resourceVersion: "6" } });
  assert.equal(await updating, "6");
});

test("whoever was faster is a LeaseConflict; other refusals stay what they are", async () => {
  const { world, server, store, signal } = bed();
  for (const [status, reason] of [
    [409, "Conflict"],
    [404, "NotFound"],
  ] as const) {
    const updating = store.update(record, "5", signal);
    await world.settle();
    server.take().refuse(status, reason);
    await assert.rejects(updating, LeaseConflict);
  }
  const creating = store.create(record, signal);
  await world.settle();
  server.take().refuse(409, "AlreadyExists");
  await assert.rejects(creating, LeaseConflict);
  const forbidden = store.create(record, signal);
  await world.settle();
  server.take().refuse(403, "Forbidden");
  await assert.rejects(forbidden, (error) => isApiError(error, "forbidden"));
});

test("a request takes no longer than half the renew deadline", async () => {
  const { world, store, signal } = bed();
  const updating = store.update(record, "5", signal).catch((error) => error);
  await world.advance(5_000);
  assert.ok(isApiError(await updating, "timeout"));
});

test("a lease waits for nobody: it is asked for at once while a thousand calls wait for a slow server", async () => {
  const { world, server, client, store, signal } = bed();
  const others = Array.from({ length: 1_000 }, (_, n) => client.delete(nodes, { name: `n-${n}` }, { signal }).catch(() => {}));
  await world.settle();
  const updating = store.update(record, "5", signal);
  await world.settle();
  const asked = server.waiting.at(-1)!;
  assert.equal(asked.request.method, "PUT");
  asked.json({ metadata: { name: "ccm", namespace: "kube-system", uid: "u", resourceVersion: "6" } });
  assert.equal(await updating, "6");
  assert.ok(server.requests.length < 100, `${server.requests.length} of ${others.length} calls are in work`);
});
