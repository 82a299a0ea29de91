import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { Breath } from "./breath.ts";

test("many who go on in the same moment do so in groups, with a turn for everybody else in between, and in their order", async () => {
  const world = virtualWorld(1);
  const breath = new Breath(world.clock);
  const gone: number[] = [];
  for (let n = 0; n < 60; n++) void breath.take().then(() => gone.push(n));
  await Promise.resolve().then(() => {});
  await new Promise(process.nextTick);
  const before = gone.length;
  assert.ok(before > 0 && before < 60, `${before} went on before anybody else had a turn`);
  await world.advance(0);
  assert.deepEqual(
    gone,
    Array.from({ length: 60 }, (_, n) => n),
  );
});
