import assert from "node:assert/strict";
import { test } from "node:test";
import type { Ask } from "../aws/ask.ts";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Listing } from "./listing.ts";

const ask: Ask = { cause: "test", signal: new AbortController().signal };
const ages = { absentMs: 600_000, presentMs: 60_000 };

function listingOf(contents: Map<string, number>) {
  const world = virtualWorld(1);
  const calls: string[] = [];
  const listing = new Listing<{ name: string; value: number }>({
    clock: world.clock,
    nameOf: ({ name }) => name,
    async list() {
      calls.push("list");
      return [...contents].map(([name, value]) => ({ name, value }));
    },
    async one(name) {
      calls.push(`one ${name}`);
      const value = contents.get(name);
      return value === undefined ? undefined : { name, value };
    },
  });
  return { world, calls, listing };
}

test("a hundred names asked for at once cost one list", async () => {
  const { calls, listing } = listingOf(new Map([["a", 1]]));
  await Promise.all(Array.from({ length: 100 }, (_, i) => listing.get(i === 0 ? "a" : `b${i}`, ages, ask)));
  assert.deepEqual(calls, ["list"]);
});

test("what was written is read by itself until a list begun later has it", async () => {
  const contents = new Map([["a", 1]]);
  const { world, calls, listing } = listingOf(contents);
  await listing.get("a", ages, ask);
  contents.set("a", 2);
  listing.touch("a");
  assert.equal((await listing.get("a", ages, ask))?.value, 2);
  await world.advance(700_000);
  await listing.get("c", ages, ask);
  assert.equal((await listing.get("a", ages, ask))?.value, 2);
  assert.deepEqual(calls, ["list", "one a", "list"]);
});

test("what was read by itself is in the list from then on", async () => {
  const contents = new Map([["a", 1]]);
  const { calls, listing } = listingOf(contents);
  await listing.get("a", ages, ask);
  contents.set("b", 2);
  listing.touch("b");
  assert.equal((await listing.get("b", ages, ask))?.value, 2);
  assert.deepEqual(await listing.all(ages.presentMs, ask), [
    { name: "a", value: 1 },
    { name: "b", value: 2 },
  ]);
  assert.deepEqual(calls, ["list", "one b"]);
});

test("what is there is read again sooner than what is not", async () => {
  const { world, calls, listing } = listingOf(new Map([["a", 1]]));
  await listing.get("a", ages, ask);
  await world.advance(120_000);
  await listing.get("a", ages, ask);
  await listing.get("b", ages, ask);
  assert.deepEqual(calls, ["list", "one a"]);
});

test("many that were written to are read together in one list", async () => {
  const contents = new Map(Array.from({ length: 100 }, (_, i) => [`n${i}`, i]));
  const { calls, listing } = listingOf(contents);
  await listing.get("n0", ages, ask);
  for (const name of contents.keys()) listing.touch(name);
  const values = await Promise.all([...contents.keys()].map(async (name) => (await listing.get(name, ages, ask))?.value));
  assert.deepEqual(values, [...contents.values()]);
  assert.deepEqual(calls, ["list", "list"]);
});

test("after a few single reads within a minute the rest comes from a list", async () => {
  const contents = new Map(Array.from({ length: 100 }, (_, i) => [`n${i}`, i]));
  const { world, calls, listing } = listingOf(contents);
  await listing.get("n0", ages, ask);
  await world.advance(120_000);
  for (const name of contents.keys()) await listing.get(name, ages, ask);
  assert.deepEqual(calls, ["list", "one n0", "one n1", "one n2", "one n3", "one n4", "list"]);
});

test("those who ask for the same thing in the same moment share one read of it", async () => {
  const { calls, listing } = listingOf(new Map([["a", 1]]));
  await listing.get("a", ages, ask);
  listing.touch("a");
  await Promise.all([listing.get("a", ages, ask), listing.get("a", ages, ask), listing.all(ages.presentMs, ask)]);
  assert.deepEqual(calls, ["list", "one a"]);
});

test("what was written for one is read anew for that one, and for nobody else", async () => {
  const contents = new Map([["a", 1]]);
  const { calls, listing } = listingOf(contents);
  await listing.get("a", ages, ask);
  contents.set("b", 2);
  listing.touch("b", "first");
  assert.deepEqual((await listing.all(ages.presentMs, ask, "second")).length, 1);
  assert.deepEqual(calls, ["list"]);
  assert.deepEqual((await listing.all(ages.presentMs, ask, "first")).length, 2);
  assert.deepEqual(calls, ["list", "one b"]);
});

test("what was written for nobody in particular concerns everybody", async () => {
  const { calls, listing } = listingOf(new Map([["a", 1]]));
  await listing.get("a", ages, ask);
  listing.touch("a");
  await listing.all(ages.presentMs, ask, "somebody");
  assert.deepEqual(calls, ["list", "one a"]);
});

test("an answer from before a write never takes the place of one from after it", async () => {
  const world = virtualWorld(1);
  const answers: ((value: number) => void)[] = [];
  const item = (value: number) => ({ name: "a", value });
  const listing = new Listing<{ name: string; value: number }>({
    clock: world.clock,
    nameOf: ({ name }) => name,
    list: async () => [item(answers.length === 0 ? 1 : 3)],
    one: () => new Promise((resolve) => answers.push((value) => resolve(item(value)))),
  });
  await listing.get("a", ages, ask);
  listing.touch("a");
  const early = listing.get("a", ages, ask);
  listing.touch("a");
  await listing.all(-1, ask);
  answers[0]?.(2);
  await early;
  assert.equal((await listing.get("a", ages, ask))?.value, 3);
});
