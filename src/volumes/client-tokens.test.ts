import assert from "node:assert/strict";
import test from "node:test";
import { testWorld } from "../sandbox/cloud/testing.ts";
import { ClientTokens } from "./client-tokens.ts";

const name = "test-vol-client-token";
const tokens = [
  "6a1b29bd7c5c5541d9d6baa2938e954fc5739dc77e97facf23590bd13f8582c2",
  "21465f5586388bb8804d0cec2df13c00f9a975c8cddec4bc35e964cdce59015b",
  "1bee5a79d83981c0041df2c414bb02e0c10aeb49343b63f50f71470edbaa736b",
];

test("a name has the tokens of the reference, one after the other", () => {
  const { clock } = testWorld();
  const memory = new ClientTokens(clock);
  for (const [index, token] of tokens.entries()) {
    assert.deepEqual(memory.tokenFor(name), { token, isFirst: index === 0 });
    memory.rotate(name);
  }
});

test("a refused token is given up only when its volume is still missing some time later", () => {
  const world = testWorld();
  const memory = new ClientTokens(world.clock);
  assert.equal(memory.refused(name, 10_000), false);
  world.pass(5_000);
  assert.equal(memory.refused(name, 10_000), false);
  assert.equal(memory.tokenFor(name).token, tokens[0]);
  world.pass(5_000);
  assert.equal(memory.refused(name, 10_000), true);
  assert.equal(memory.tokenFor(name).token, tokens[1]);
});

test("a volume that is found after all ends the suspicion against its token", () => {
  const world = testWorld();
  const memory = new ClientTokens(world.clock);
  memory.refused(name, 10_000);
  memory.accepted(name);
  world.pass(20_000);
  assert.equal(memory.refused(name, 10_000), false);
});

test("a name is forgotten an hour after it was last asked for", () => {
  const world = testWorld();
  const memory = new ClientTokens(world.clock);
  memory.rotate(name);
  world.pass(59 * 60_000);
  assert.equal(memory.tokenFor(name).isFirst, false);
  world.pass(59 * 60_000);
  assert.equal(memory.tokenFor(name).isFirst, false);
  world.pass(60 * 60_000);
  memory.rotate("another");
  assert.equal(memory.tokenFor(name).isFirst, true);
});
