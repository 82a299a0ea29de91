import assert from "node:assert/strict";
import { test } from "node:test";
import type { SeenNode } from "../../identity/node-view.ts";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { NodeSync } from "./node-sync.ts";

const node = (name: string) =>
  ({ metadata: { name, labels: {} }, taints: [], providerId: `aws:///us-east-1a/i-${name}` }) as unknown as SeenNode;

/** Node sync over these Services, with a queue that runs at once, and Nodes that come when told. */
async function bed(services: readonly string[]) {
  const world = virtualWorld(1);
  const latencies: number[] = [];
  const woken: string[] = [];
  const keys: string[] = [];
  let tell: (before: SeenNode | undefined, after: SeenNode | undefined) => void = () => {};
  const nodes = {
    name: "nodes",
    synced: Promise.resolve(),
    subscribe: (listener: typeof tell) => {
      listener(undefined, node("there-already"));
      tell = listener;
      return () => {};
    },
  };
  const sync = new NodeSync({ clock: world.clock, nodes, services: () => services, onSynced: (ms) => latencies.push(ms) });
  sync.onWork((key) => woken.push(key));
  const controller = sync.controller();
  const { signal } = new AbortController();
  const enqueue = (key: string) => {
    keys.push(key);
    void controller.reconcile(key, signal);
  };
  await controller.sources[0]?.start(enqueue, signal);
  return { world, sync, latencies, woken, keys, join: (name: string) => tell(undefined, node(name)) };
}

test("Nodes that come within a second wake every Service once, and the round lasts until the last was looked at", async () => {
  const { world, sync, latencies, woken, keys, join } = await bed(["a", "b"]);
  join("first");
  await world.advance(400);
  join("second");
  await world.advance(1_000);
  assert.deepEqual(keys, ["first", "second"]);
  assert.deepEqual(woken, ["a", "b"]);
  await sync.during("a", async () => {});
  assert.deepEqual(latencies, []);
  await world.advance(600);
  await assert.rejects(sync.during("b", () => Promise.reject(new Error("AWS is not there"))));
  assert.deepEqual(latencies, [2_000]);
});

test("a look that was under way when a round began does not count for it", async () => {
  const { world, sync, latencies, join } = await bed(["a"]);
  const early = Promise.withResolvers<void>();
  const looking = sync.during("a", () => early.promise);
  join("first");
  await world.advance(1_000);
  early.resolve();
  await looking;
  assert.deepEqual(latencies, []);
  await sync.during("a", async () => {});
  assert.deepEqual(latencies, [1_000]);
});

test("where no Service has a load balancer a round is over as it begins", async () => {
  const { world, latencies, join } = await bed([]);
  join("first");
  await world.advance(5_000);
  assert.deepEqual(latencies, [1_000]);
});
