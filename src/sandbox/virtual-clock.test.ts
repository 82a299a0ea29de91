import assert from "node:assert/strict";
import { test } from "node:test";
import { sleep } from "../runtime/world.ts";
import { NeverHappened, virtualWorld } from "./virtual-clock.ts";

test("timers run in order of their due time, equal ones in the order they were set, and see the time they were due", async () => {
  const world = virtualWorld(1);
  const seen: string[] = [];
  const note = (name: string) => () => seen.push(`${name}@${world.clock.monotonic()}`);
  world.clock.after(30, note("c"));
  world.clock.after(10, note("a"));
  world.clock.after(30, note("d"));
  world.clock.after(20, note("b"));
  world.clock.after(31, note("late"));

  await world.advance(30);

  assert.deepEqual(seen, ["a@10", "b@20", "c@30", "d@30"]);
  assert.equal(world.clock.monotonic(), 30);
});

test("a timer called off never runs", async () => {
  const world = virtualWorld(1);
  let ran = false;
  const cancel = world.clock.after(5, () => {
    ran = true;
  });
  cancel();
  await world.advance(100);
  assert.equal(ran, false);
});

test("promises that a timer sets off run before the next timer does", async () => {
  const world = virtualWorld(1);
  const seen: string[] = [];
  const worker = async (name: string, ms: number) => {
    await sleep(world.clock, ms);
    for (let i = 0; i < 5; i++) await Promise.resolve();
    seen.push(`${name}@${world.clock.monotonic()}`);
    await sleep(world.clock, 10);
    seen.push(`${name}@${world.clock.monotonic()}`);
  };
  void worker("a", 1);
  void worker("b", 2);
  await world.advance(12);
  assert.deepEqual(seen, ["a@1", "b@2", "a@11", "b@12"]);
});

test("time does not pass while work on behalf of the world is held", async () => {
  const world = virtualWorld(1);
  const real = Promise.withResolvers<void>();
  let at = -1;
  void world.holding(real.promise).then(() => {
    at = world.clock.monotonic();
  });
  const advancing = world.advance(1000);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(world.clock.monotonic(), 0);
  real.resolve();
  await advancing;
  assert.equal(at, 0);
  assert.equal(world.clock.monotonic(), 1000);
});

test("runUntil stops at the first moment the predicate holds, and says what never happened", async () => {
  const world = virtualWorld(1);
  let count = 0;
  const tick = () => {
    count++;
    world.clock.after(100, tick);
  };
  tick();
  await world.runUntil(() => count === 4, 1000);
  assert.equal(world.clock.monotonic(), 300);
  await assert.rejects(
    world.runUntil(() => count < 0, 500, "a negative count"),
    (error: Error) => error instanceof NeverHappened && /a negative count/.test(error.message),
  );
});

test("the wall clock can jump while spans and timers do not notice", async () => {
  const world = virtualWorld(1, { startMs: 1_000_000 });
  let ran = false;
  world.clock.after(50, () => {
    ran = true;
  });
  world.clock.jump(-500_000);
  assert.equal(world.clock.now(), 500_000);
  await world.advance(49);
  assert.equal(ran, false);
  await world.advance(1);
  assert.equal(ran, true);
  assert.equal(world.clock.monotonic(), 50);
});

test("the same seed gives the same numbers and bytes; another seed gives others; numbers stay in [0, 1) and spread evenly", () => {
  const draw = (seed: number) => {
    const { random } = virtualWorld(seed);
    return [random.number(), random.number(), Buffer.from(random.bytes(8)).toString("hex")];
  };
  assert.deepEqual(draw(7), draw(7));
  assert.notDeepEqual(draw(7), draw(8));
  const { random } = virtualWorld(3);
  const buckets = new Array<number>(10).fill(0);
  for (let i = 0; i < 10_000; i++) {
    const value = random.number();
    assert.ok(value >= 0 && value < 1);
    buckets[Math.floor(value * 10)]!++;
  }
  for (const count of buckets) assert.ok(count > 850 && count < 1150, `${buckets}`);
});

test("files live in memory and a missing one is ENOENT", async () => {
  const world = virtualWorld(1, { files: { "/etc/a": "one" } });
  assert.equal(Buffer.from(await world.files.read("/etc/a")).toString(), "one");
  await world.files.write("/etc/b", "two", 0o600);
  assert.equal(Buffer.from(await world.files.read("/etc/b")).toString(), "two");
  await assert.rejects(world.files.read("/etc/c"), { code: "ENOENT" });
});
