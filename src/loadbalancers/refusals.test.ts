import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Refusals, triedAgainMs } from "./refusals.ts";

test("what was refused stays refused for a while, also when something else was asked for in between", async () => {
  const world = virtualWorld(1);
  const refusals = new Refusals<string>(world.clock, (wish) => wish);
  refusals.note("a", "this", "no");
  assert.equal(refusals.of("a", "that"), undefined);
  assert.equal(refusals.of("a", "this"), "no");
  assert.equal(refusals.of("b", "this"), undefined);
  await world.advance(triedAgainMs);
  assert.equal(refusals.of("a", "this"), undefined);
  assert.equal(refusals.has("a"), false);
});

test("what is forgotten is asked for again", () => {
  const refusals = new Refusals<string>(virtualWorld(1).clock, (wish) => wish);
  refusals.note("a", "this", "no");
  refusals.forget("a");
  assert.equal(refusals.of("a", "this"), undefined);
});
