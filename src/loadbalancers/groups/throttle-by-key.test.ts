import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { throttleByKey } from "./throttle-by-key.ts";

test("the first word is told at once, what follows soon together at the end of the time, and keys do not wait for each other", async () => {
  const world = virtualWorld(1);
  const told: string[] = [];
  const say = throttleByKey(world.clock, 1_000, (key) => told.push(`${key} ${world.clock.monotonic() - start}`));
  const start = world.clock.monotonic();
  say("a");
  await world.advance(300);
  say("a");
  say("a");
  say("b");
  await world.advance(2_000);
  say("a");
  assert.deepEqual(told, ["a 0", "b 300", "a 1000", "a 2300"]);
});
