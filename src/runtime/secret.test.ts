import assert from "node:assert/strict";
import { test } from "node:test";
import { inspect } from "node:util";
import { Secret } from "./secret.ts";

test("a secret shows itself in no form but the one that is asked for", () => {
  const secret = new Secret("hunter2");
  const shown = [JSON.stringify({ secret }), `${secret}`, inspect(secret), inspect({ deep: { secret } }), Object.values(secret).join()];
  for (const text of shown) assert.doesNotMatch(text, /hunter2/);
  assert.equal(secret.reveal(), "hunter2");
  assert.ok(secret.equals(new Secret("hunter2")));
  assert.ok(!secret.equals(new Secret("hunter3")));
});
