import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "./eventually.ts";

test("what never comes about fails with its last reason", async () => {
  let calls = 0;
  const never = eventually(() => assert.equal(++calls, -1, `call ${calls}`), 60);
  await assert.rejects(
    never,
    (error: Error) => /^not within 60 ms: call \d+/.test(error.message) && error.message.includes(`call ${calls}`),
  );
});
