import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Budget, BudgetExhausted } from "./budget.ts";

const open = new AbortController().signal;

test("a burst goes at once, the rest at the rate", async () => {
  const world = virtualWorld(1);
  const budget = new Budget(world, { rate: 10, most: 10, burst: 5 });
  let done = 0;
  for (let n = 0; n < 25; n++) void budget.take("background", open).then(() => done++);
  await world.settle();
  assert.equal(done, 5);
  await world.advance(1_000);
  assert.ok(done >= 13 && done <= 15, `${done} after a second`);
  await world.advance(1_500);
  assert.equal(done, 25);
});

test("throttles of calls that were under way together halve the rate once, later ones again, and time raises it", async () => {
  const world = virtualWorld(1);
  const budget = new Budget(world, { rate: 16, most: 16, burst: 1 });
  const sentAt = world.clock.monotonic();
  await world.advance(100);
  for (let n = 0; n < 5; n++) budget.throttled(sentAt);
  assert.equal(budget.rate, 8);
  budget.throttled(world.clock.monotonic() + 1);
  assert.equal(budget.rate, 4);
  for (let n = 0; n < 50; n++) budget.throttled(Number.POSITIVE_INFINITY);
  assert.ok(budget.rate > 0);
  await world.advance(60_000);
  assert.equal(budget.rate, 16);
});

test("while calls wait and AWS has no objection the rate rises to its most, and returns when the line is empty", async () => {
  const world = virtualWorld(1);
  const budget = new Budget(world, { rate: 5, most: 20, burst: 10 });
  let done = 0;
  for (let n = 0; n < 300; n++) void budget.take("user", open).then(() => done++);
  await world.advance(5_000);
  assert.ok(budget.rate > 9 && budget.rate < 11, `${budget.rate} a second after five seconds`);
  await world.advance(15_000);
  assert.equal(budget.rate, 20);
  await world.advance(2_000);
  assert.equal(done, 300);
  assert.equal(budget.rate, 5, "nobody needs more than the ordinary rate now");
});

test("after a throttle a minute passes before more than the ordinary rate is tried", async () => {
  const world = virtualWorld(1);
  const budget = new Budget(world, { rate: 5, most: 20, burst: 1 });
  for (let n = 0; n < 1_000; n++) void budget.take("user", open);
  await world.advance(15_000);
  assert.equal(budget.rate, 20);
  budget.throttled(world.clock.monotonic());
  assert.equal(budget.rate, 10);
  await world.advance(59_000);
  assert.equal(budget.rate, 10);
  await world.advance(10_000);
  assert.ok(budget.rate > 15, `${budget.rate} a second`);
});

test("work a user waits for passes background work, which is late but never starved", async () => {
  const world = virtualWorld(1);
  const budget = new Budget(world, { rate: 10, most: 10, burst: 1 });
  await budget.take("user", open);
  const order: string[] = [];
  for (let n = 0; n < 20; n++) void budget.take("background", open).then(() => order.push("background"));
  for (let n = 0; n < 20; n++) void budget.take("user", open).then(() => order.push("user"));
  await world.advance(10_000);
  assert.equal(order.length, 40);
  const firstHalf = order.slice(0, 20).filter((lane) => lane === "user").length;
  assert.ok(firstHalf >= 17 && firstHalf < 20, `${firstHalf} of the first 20 were for users`);
});

test("who stops waiting gives its place up, and the line has an end", async () => {
  const world = virtualWorld(1);
  const budget = new Budget(world, { rate: 1, most: 1, burst: 1 });
  await budget.take("user", open);
  const stop = new AbortController();
  const waiting = budget.take("user", stop.signal);
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
  assert.equal(budget.waiting, 0);
  for (let n = 0; n < 10_000; n++) budget.take("background", open).catch(() => {});
  await assert.rejects(budget.take("user", open), BudgetExhausted);
});

test("replicas that wait for the same rate do not wake in the same moment", async () => {
  const wakings = await Promise.all(
    [1, 2].map(async (seed) => {
      const world = virtualWorld(seed);
      const budget = new Budget(world, { rate: 1, most: 1, burst: 1 });
      await budget.take("user", open);
      let at = 0;
      void budget.take("user", open).then(() => {
        at = world.clock.monotonic();
      });
      await world.advance(3_000);
      return at;
    }),
  );
  assert.notEqual(wakings[0], wakings[1]);
});
