import assert from "node:assert/strict";
import { test } from "node:test";
import { testWorld } from "./testing.ts";
import { Time } from "./time.ts";

test("what is due happens in order of its moment, then of the asking, and sees its own moment", () => {
  const world = testWorld(0);
  const time = new Time(world.clock);
  const story: [string, number][] = [];
  const tell = (name: string) => () => story.push([name, time.now()]);
  time.after(20, tell("c"));
  time.after(10, tell("a"));
  time.after(10, tell("b"));
  time.after(10, () => time.after(5, tell("brought about")));
  time.after(1000, tell("not yet"));
  time.settle();
  assert.deepEqual(story, []);
  world.pass(100);
  time.settle();
  assert.deepEqual(story, [
    ["a", 10],
    ["b", 10],
    ["brought about", 15],
    ["c", 20],
  ]);
  assert.equal(time.next(), 1000);
});

test("speed shortens what takes time and leaves dates alone", () => {
  const world = testWorld(0);
  const time = new Time(world.clock);
  time.speed = 10;
  let happened = false;
  time.after(1000, () => {
    happened = true;
  });
  world.pass(100);
  time.settle();
  assert.equal(happened, true);
  assert.equal(time.now(), 100);
});

test("unlimited speed changes states at once, and still remembers what has ended", () => {
  const world = testWorld(0);
  const time = new Time(world.clock);
  time.speed = Number.POSITIVE_INFINITY;
  const story: string[] = [];
  time.after(1000, () => story.push("changed"));
  time.forgetAfter(1000, () => story.push("forgotten"));
  time.settle();
  assert.deepEqual(story, ["changed"]);
  world.pass(1000);
  time.settle();
  assert.deepEqual(story, ["changed", "forgotten"]);
});
