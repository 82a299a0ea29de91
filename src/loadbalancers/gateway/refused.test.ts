import assert from "node:assert/strict";
import { test } from "node:test";
import { virtualWorld } from "../../sandbox/virtual-clock.ts";
import { triedAgainMs } from "../refusals.ts";
import { GatewayRefusals } from "./refused.ts";

test("what AWS has refused is remembered of that Gateway, for as long as it asks for the same, and not of another of its name", async () => {
  const world = virtualWorld(1);
  const refusals = new GatewayRefusals(world.clock);
  const [before, after] = [{ uid: "before" }, { uid: "after" }];
  refusals.note(before, "port 80", "wish", "no");
  assert.deepEqual(
    [refusals.of(before, "port 80", "wish"), refusals.of(after, "port 80", "wish"), refusals.of(before, "port 81", "wish")],
    ["no", undefined, undefined],
  );
  refusals.note(after, "port 80", "wish", "never");
  refusals.forget(before);
  assert.deepEqual([refusals.of(before, "port 80", "wish"), refusals.of(after, "port 80", "wish")], [undefined, "never"]);
  await world.advance(triedAgainMs);
  assert.equal(refusals.of(after, "port 80", "wish"), undefined, "it is tried again");
});
