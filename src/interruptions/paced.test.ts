import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Paced } from "./paced.ts";

test("what is a little is done at once, what is much by and by, in its order and to the last", async () => {
  const world = virtualWorld(1);
  const paced = new Paced(world.clock);
  const done: number[] = [];
  for (let at = 0; at < 60; at++) paced.add(() => done.push(at));
  assert.equal(done.length, 25);
  await world.advance(500);
  assert.equal(done.length, 50);
  await world.advance(500);
  assert.deepEqual(
    done,
    Array.from({ length: 60 }, (_, at) => at),
  );
  await world.advance(500);
  paced.add(() => done.push(60));
  assert.equal(done.length, 61);
});
