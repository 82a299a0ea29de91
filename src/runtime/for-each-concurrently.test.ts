import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { forEachConcurrently } from "./for-each-concurrently.ts";
import { sleep } from "./world.ts";

test("every item is worked on once, so many at a time, and the first failure is the caller's", async () => {
  const world = virtualWorld(1);
  const [seen, items] = [new Set<number>(), Array.from({ length: 25 }, (_, index) => index)];
  let [inWork, most] = [0, 0];
  const work = async (item: number) => {
    most = Math.max(most, ++inWork);
    await sleep(world.clock, 100);
    inWork--;
    seen.add(item);
  };
  const all = forEachConcurrently(world.clock, items, 10, work);
  await world.advance(1_000);
  await all;
  assert.deepEqual([seen.size, most], [25, 10]);
  const failing = forEachConcurrently(world.clock, items, 10, () => Promise.reject(new Error("boom")));
  await assert.rejects(failing, /boom/);
});

test("a thousand items that never wait give a timer its turn after two hundred", async () => {
  const world = virtualWorld(1);
  let [begun, begunAtTurn] = [0, 0];
  world.clock.after(0, () => {
    begunAtTurn = begun;
  });
  const all = forEachConcurrently(world.clock, Array.from({ length: 1_000 }), 1_000, async () => void begun++);
  await world.advance(1);
  await all;
  assert.deepEqual([begunAtTurn, begun], [200, 1_000]);
});
