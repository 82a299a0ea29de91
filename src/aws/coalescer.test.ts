import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Coalescer, type FetchOptions } from "./coalescer.ts";
import { eventual } from "./testing/eventual.ts";

const open = new AbortController().signal;

function bed(fetch: (items: readonly string[], options: FetchOptions) => Promise<ReadonlyMap<string, string>>, most = 3) {
  const world = virtualWorld(1);
  const calls: (readonly string[])[] = [];
  const urgencies: string[] = [];
  const coalescer = new Coalescer<string, string>({
    clock: world.clock,
    most,
    keyOf: (item) => item,
    groupOf: (item) => item[0] ?? "",
    fetch(items, options) {
      calls.push(items);
      urgencies.push(options.urgency);
      return fetch(items, options);
    },
    keysInError: (error, keys) => keys.filter((key) => (error as Error).message.includes(key)),
  });
  return { world, calls, urgencies, coalescer };
}

const echo = async (items: readonly string[]) => new Map(items.map((item) => [item, item.toUpperCase()]));

test("the same item asked for twice is fetched once, and items of two groups never share a call", async () => {
  const { world, calls, coalescer } = bed(echo);
  const asked = ["a1", "b1", "a1", "a2"].map((item) => coalescer.get(item, "background", open));
  assert.deepEqual(await eventual(world, Promise.all(asked)), ["A1", "B1", "A1", "A2"]);
  assert.deepEqual(calls, [["a1", "a2"], ["b1"]]);
});

test("a full batch leaves at once, a lone item after two milliseconds", async () => {
  const { world, calls, coalescer } = bed(echo);
  for (const item of ["a1", "a2", "a3"]) void coalescer.get(item, "background", open);
  assert.deepEqual(calls, [["a1", "a2", "a3"]]);
  void coalescer.get("a4", "background", open);
  await world.settle();
  assert.equal(calls.length, 1);
  await world.advance(2);
  assert.deepEqual(calls[1], ["a4"]);
});

test("background calls that all wait leave a place for what a user asks, before any group that came earlier", async () => {
  const { world, calls, coalescer } = bed(
    async (items) => (items.some((item) => item.startsWith("u")) ? echo(items) : new Promise(() => {})),
    2,
  );
  for (let n = 0; n < 20; n++) void coalescer.get(`a${n}`, "background", open);
  await world.advance(10);
  assert.equal(await eventual(world, coalescer.get("u1", "user", open), 1_000), "U1");
  assert.equal(await eventual(world, coalescer.get("u2", "user", open), 1_000), "U2");
  assert.equal(calls.length, 5);
});

test("a background question that a user asks too takes the user's place", async () => {
  const { world, coalescer } = bed(async (items) => (items.includes("a9") ? echo(items) : new Promise(() => {})), 2);
  for (let n = 0; n < 10; n++) void coalescer.get(`a${n}`, "background", open);
  await world.advance(10);
  assert.equal(await eventual(world, coalescer.get("a9", "user", open), 1_000), "A9");
});

test("while four calls are under way the rest gathers, users' items first", async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { world, calls, urgencies, coalescer } = bed(async (items) => {
    await promise;
    return echo(items);
  }, 2);
  const asked = Array.from({ length: 8 }, (_, n) => coalescer.get(`a${n}`, n < 2 ? "user" : "background", open));
  const later = ["x1", "x2"].map((item) => coalescer.get(item, "background", open));
  const user = coalescer.get("x3", "user", open);
  await world.advance(10);
  assert.equal(calls.length, 4);
  resolve();
  await eventual(world, Promise.all([...asked, ...later, user]));
  assert.deepEqual(calls.slice(4), [["x3", "x1"], ["x2"]]);
  assert.deepEqual(urgencies.slice(4), ["user", "background"]);
});

test("an error that names its item reaches that item alone; one that names none is found by halves", async () => {
  for (const named of [true, false]) {
    const { world, coalescer } = bed(async (items) => {
      if (!items.includes("a3")) return echo(items);
      throw new Error(named || items.length === 1 ? "bad a3" : "one of them is bad");
    }, 10);
    const asked = ["a1", "a2", "a3", "a4"].map((item) => coalescer.get(item, "background", open));
    const outcomes = await eventual(world, Promise.allSettled(asked));
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "fulfilled", "rejected", "fulfilled"],
    );
  }
});

test("errors that name one item after the other do not cost a call for each", async () => {
  const bad = new Set(Array.from({ length: 64 }, (_, n) => `a${n}.`));
  const { world, calls, coalescer } = bed(async (items) => {
    const first = items.find((item) => bad.has(item));
    if (first !== undefined) throw new Error(`bad ${first}`);
    return echo(items);
  }, 200);
  const items = [...[...bad].slice(0, 4), ...Array.from({ length: 96 }, (_, n) => `ag${n}.`)];
  const outcomes = await eventual(world, Promise.allSettled(items.map((item) => coalescer.get(item, "background", open))));
  assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 96);
  assert.ok(calls.length <= 25, `${calls.length} calls`);
});

test("a call is aborted when the last who waits for it has gone, not before", async () => {
  let signal: AbortSignal | undefined;
  const { world, coalescer } = bed((_, options) => {
    signal = options.signal;
    return new Promise(() => {});
  });
  const [first, second] = [new AbortController(), new AbortController()];
  const asked = [coalescer.get("a1", "user", first.signal), coalescer.get("a2", "user", second.signal)];
  for (const each of asked) each.catch(() => {});
  await world.advance(5);
  first.abort(new Error("first"));
  assert.equal(signal?.aborted, false);
  second.abort(new Error("second"));
  assert.equal(signal?.aborted, true);
  await assert.rejects(asked[1]!, /second/);
});
