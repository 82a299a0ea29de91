import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Cache } from "./cache.ts";

function bed() {
  const world = virtualWorld(1);
  const cache = new Cache<string | undefined>({
    clock: world.clock,
    most: 2,
    absent: { is: (value) => value === undefined, ageMs: 1_000 },
  });
  let loads = 0;
  const load = (value: string | undefined) => async () => {
    loads++;
    return value;
  };
  return { world, cache, load, loads: () => loads };
}

test("each asker decides how old an answer may be", async () => {
  const { world, cache, load } = bed();
  assert.equal(await cache.get("k", 60_000, load("one")), "one");
  await world.advance(10_000);
  assert.equal(await cache.get("k", 60_000, load("two")), "one");
  assert.equal(await cache.get("k", 5_000, load("two")), "two");
  assert.equal(await cache.get("k", 0, load("three")), "three");
});

test("those who ask while an answer is on its way share it, and a failure is not kept", async () => {
  const { cache, load, loads } = bed();
  await Promise.all([1, 2, 3].map(() => cache.get("k", 1_000, load("one"))));
  assert.equal(loads(), 1);
  await assert.rejects(cache.get("bad", 1_000, () => Promise.reject(new Error("no"))));
  assert.equal(await cache.get("bad", 1_000, load("yes")), "yes");
});

test("that there is no such thing is believed for a short while only", async () => {
  const { world, cache, load } = bed();
  assert.equal(await cache.get("k", 60_000, load(undefined)), undefined);
  assert.equal(await cache.get("k", 60_000, load("made")), undefined);
  await world.advance(1_000);
  assert.equal(await cache.get("k", 60_000, load("made")), "made");
});

test("an answer to a question put before a write is not kept after it", async () => {
  const { cache, load } = bed();
  const { promise, resolve } = Promise.withResolvers<string>();
  const early = cache.get("k", 60_000, () => promise);
  cache.invalidate("k");
  const late = cache.get("k", 60_000, load("new"));
  resolve("old");
  assert.deepEqual(await Promise.all([early, late]), ["old", "new"]);
  assert.equal(await cache.get("k", 60_000, load("never")), "new");
});

test("the oldest entries make room", async () => {
  const { cache, load, loads } = bed();
  for (const key of ["a", "b", "c"]) await cache.get(key, 60_000, load(key));
  await cache.get("c", 60_000, load("c"));
  assert.equal(loads(), 3);
  await cache.get("a", 60_000, load("a"));
  assert.equal(loads(), 4);
});
