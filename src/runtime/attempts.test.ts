import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Attempts } from "./attempts.ts";

test("tries come ever later up to a limit, and at once when the circumstances change", async () => {
  const world = virtualWorld(1);
  const attempts = new Attempts(world.clock, world.random, { baseMs: 1_000, maxMs: 10_000 });
  const pauses = Array.from({ length: 6 }, () => attempts.failed("n", "a"));
  for (const [index, pause] of pauses.entries()) {
    const base = Math.min(10_000, 1_000 * 2 ** index);
    assert.ok(pause >= base && pause <= 1.2 * base, `${pause} after ${index} failures`);
  }
  assert.ok(attempts.waitMs("n", "a") > 0);
  assert.equal(attempts.waitMs("n", "b"), 0);
  assert.ok(attempts.failed("n", "b") <= 1_200);
  await world.advance(2_000);
  assert.equal(attempts.waitMs("n", "b"), 0);
});

test("the first that is due is known, and what nobody asks for any more is forgotten", async () => {
  const world = virtualWorld(1);
  const attempts = new Attempts(world.clock, world.random, { baseMs: 1_000, maxMs: 10_000 });
  assert.equal(attempts.dueInMs(), undefined);
  const late = attempts.failed("late", "", { baseMs: 60_000, maxMs: 600_000 });
  assert.ok(late >= 60_000);
  const soon = attempts.failed("soon");
  assert.equal(attempts.dueInMs(), soon);
  attempts.keepOnly(new Set(["late"]));
  assert.equal(attempts.dueInMs(), late);
  assert.equal(attempts.count("soon"), 0);
});
