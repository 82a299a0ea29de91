import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../sandbox/virtual-clock.ts";
import { leaderWatch, nodeHolder, PatientWatch } from "./holders.ts";

const { signal } = new AbortController();

test("a holder without a Lease counts for as long as its plan changes, and five minutes more", async () => {
  const world = virtualWorld(1);
  const watch = new PatientWatch(world.clock);
  const alive = (revision: number) => watch.isAlive(nodeHolder("a"), revision);
  assert.equal(await alive(1), "perhaps");
  await world.advance(299_000);
  assert.equal(await alive(2), "perhaps");
  await world.advance(299_000);
  assert.equal(await alive(2), "perhaps");
  await world.advance(1_000);
  assert.equal(await alive(2), false);
});

test("to the leader only handlers of single nodes may be there", async () => {
  const world = virtualWorld(1);
  const watch = leaderWatch(world.clock);
  assert.equal(await watch.isAlive(nodeHolder("a"), 1, signal), "perhaps");
  assert.equal(await watch.isAlive("handler-a_1", 1, signal), false);
});
