import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import type { Backoff } from "./back-off.ts";
import { newRegistry } from "./metrics.ts";
import { WorkQueue } from "./queue.ts";
import { QueueMetrics } from "./queue-metrics.ts";

function queueIn(world = virtualWorld(1), backoff: Backoff = { baseMs: 5, maxMs: 1_000 }) {
  const registry = newRegistry();
  const queue = new WorkQueue({ name: "Nodes", clock: world.clock, random: world.random, metrics: new QueueMetrics(registry), backoff });
  const value = async (metric: string) => (await registry.getSingleMetric(metric)!.get()).values[0]?.value;
  return { world, queue, registry, value };
}

test("a key added many times while it waits is handed out once", async () => {
  const { queue, value } = queueIn();
  for (let i = 0; i < 5; i++) queue.add("a");
  queue.add("b");
  assert.equal(queue.depth(), 2);
  assert.equal((await queue.next())?.key, "a");
  assert.equal((await queue.next())?.key, "b");
  assert.equal(queue.depth(), 0);
  assert.equal(await value("workqueue_adds_total"), 2);
});

test("a key added while in work is not handed out again until it is finished, then once", async () => {
  const { queue, world } = queueIn();
  queue.add("a");
  const first = (await queue.next())!;
  queue.add("a");
  queue.add("a");
  let second: string | undefined;
  const taking = queue.next().then((work) => {
    second = work?.key;
    return work;
  });
  await world.settle();
  assert.equal(second, undefined);
  queue.finish(first);
  const again = (await taking)!;
  assert.equal(again.key, "a");
  queue.finish(again);
  assert.equal(queue.depth(), 0);
});

test("of two planned times the earlier one counts", async () => {
  const { queue, world } = queueIn();
  queue.addAfter("a", 1_000);
  queue.addAfter("a", 100);
  queue.addAfter("a", 5_000);
  await world.advance(99);
  assert.equal(queue.depth(), 0);
  await world.advance(1);
  assert.equal(queue.depth(), 1);
  queue.finish((await queue.next())!);
  await world.advance(10_000);
  assert.equal(queue.depth(), 0, "the later times are void");
});

test("a key that is worked on now makes its planned time void", async () => {
  const { queue, world } = queueIn();
  queue.addAfter("a", 1_000);
  queue.add("a");
  queue.finish((await queue.next())!);
  await world.advance(2_000);
  assert.equal(queue.depth(), 0);
});

test("back-off doubles per key up to the maximum, never exceeds it, and starts anew after success", () => {
  const { queue } = queueIn();
  const waits = Array.from({ length: 12 }, () => queue.retry("a").afterMs);
  let full = 5;
  for (const wait of waits) {
    assert.ok(wait >= full * 0.8 && wait <= full, `${wait} is within 80 % and all of ${full}`);
    full = Math.min(full * 2, 1_000);
  }
  assert.equal(queue.retry("b").failures, 1, "another key has its own count");
  queue.forget("a");
  assert.ok(queue.retry("a").afterMs <= 5);
});

test("user keys pass background keys, yet a background key is never more than four user keys away", async () => {
  const { queue } = queueIn();
  queue.add("background", "background");
  for (let i = 0; i < 20; i++) queue.add(`user-${i}`, "user");
  const order: string[] = [];
  for (let i = 0; i < 21; i++) order.push((await queue.next())!.key);
  assert.equal(order[0], "user-0");
  assert.equal(order.indexOf("background"), 4);
});

test("a waiting background key that a user asks for moves up", async () => {
  const { queue } = queueIn();
  queue.add("a", "background");
  queue.add("b", "background");
  queue.add("b", "user");
  assert.deepEqual([(await queue.next())?.key, (await queue.next())?.key], ["b", "a"]);
});

test("closing hands out nothing more, frees waiting workers and resolves when work in hand is finished", async () => {
  const { queue, world } = queueIn();
  queue.add("a");
  queue.add("b");
  queue.addAfter("c", 10);
  const work = (await queue.next())!;
  let drained = false;
  const closing = queue.close().then(() => {
    drained = true;
  });
  assert.equal(await queue.next(), undefined);
  queue.add("d");
  await world.advance(1_000);
  assert.equal(queue.depth(), 0);
  assert.equal(drained, false);
  queue.finish(work);
  await closing;
});

test("only a failure counts as a retry: a key that comes back by itself does not", async () => {
  const { queue, world, value } = queueIn();
  for (let i = 0; i < 3; i++) {
    queue.addAfter("a", 1_000);
    await world.advance(1_000);
    queue.finish((await queue.next())!);
  }
  assert.equal((await value("workqueue_retries_total")) ?? 0, 0);
  queue.retry("a");
  assert.equal(await value("workqueue_retries_total"), 1);
});

test("metrics say how long keys wait, how long they are worked on, and what is stuck right now", async () => {
  const { queue, world, value, registry } = queueIn();
  queue.add("a");
  await world.advance(2_000);
  const work = (await queue.next())!;
  await world.advance(3_000);
  assert.equal(await value("workqueue_unfinished_work_seconds"), 3);
  assert.equal(await value("workqueue_longest_running_processor_seconds"), 3);
  queue.finish(work);
  queue.retry("a");
  assert.equal(await value("workqueue_unfinished_work_seconds"), 0);
  assert.equal(await value("workqueue_retries_total"), 1);
  const text = await registry.metrics();
  assert.match(text, /workqueue_queue_duration_seconds_sum\{name="Nodes"\} 2\n/);
  assert.match(text, /workqueue_work_duration_seconds_sum\{name="Nodes"\} 3\n/);
  assert.match(text, /workqueue_work_duration_seconds_bucket\{le="1e-8",name="Nodes"\}/);
});

test("queues of one name are counted together", async () => {
  const { clock, random } = virtualWorld(1);
  const registry = newRegistry();
  const metrics = new QueueMetrics(registry);
  for (const key of ["a", "b"]) new WorkQueue({ name: "node", clock, random, metrics }).add(key);
  assert.match(await registry.metrics(), /workqueue_depth\{name="node"\} 2\n/);
});

test("no key is ever in work twice at once and every add is followed by a run that started after it", async () => {
  const { queue, world } = queueIn(virtualWorld(7));
  const keys = ["a", "b", "c"];
  const inWork = new Set<string>();
  const addedAt = new Map<string, number>();
  const startedAt = new Map<string, number>();
  let tick = 0;
  const worker = async () => {
    for (let work = await queue.next(); work !== undefined; work = await queue.next()) {
      assert.ok(!inWork.has(work.key), `${work.key} is in work once`);
      inWork.add(work.key);
      startedAt.set(work.key, tick++);
      await new Promise<void>((resolve) => world.clock.after(world.random.number() * 30, resolve));
      inWork.delete(work.key);
      if (world.random.number() < 0.3) queue.retry(work.key);
      queue.finish(work);
    }
  };
  const workers = [worker(), worker(), worker(), worker()];
  for (let i = 0; i < 500; i++) {
    const key = keys[Math.floor(world.random.number() * keys.length)]!;
    addedAt.set(key, tick++);
    queue.add(key, world.random.number() < 0.5 ? "user" : "background");
    await world.advance(world.random.number() * 10);
  }
  await world.advance(5_000);
  for (const key of keys) assert.ok(startedAt.get(key)! > addedAt.get(key)!, `${key} ran after it was last added`);
  await queue.close();
  await Promise.all(workers);
});

test("the key that has failed longest is told by how long, until it does well", async () => {
  const { queue, world, value } = queueIn();
  const failing = () => value("fairlead_workqueue_longest_failing_seconds");
  assert.equal(await failing(), 0);
  queue.retry("a");
  await world.advance(60_000);
  queue.retry("b");
  queue.retry("a");
  await world.advance(60_000);
  assert.equal(await failing(), 120, "a further failure does not start it over");
  queue.forget("a");
  assert.equal(await failing(), 60);
  queue.forget("b");
  assert.equal(await failing(), 0);
});
