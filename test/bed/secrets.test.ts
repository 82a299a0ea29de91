import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNoSecrets, plant } from "./secrets.ts";

test("a secret in a log is found in plain form and in base64, and the message does not repeat it", () => {
  const secret = plant("s3cr3t-of-the-bed");
  for (const text of [`token=${secret}`, `{"data":"${Buffer.from(secret).toString("base64")}"}`]) {
    assert.throws(
      () => assertNoSecrets([{ name: "log of x", text }]),
      (error: Error) => error.message.includes("log of x holds a planted secret") && !error.message.includes(secret),
    );
  }
  assert.throws(() => assertNoSecrets([{ name: "Event e", text: "-----BEGIN EC PRIVATE KEY-----" }]), /Event e holds a private key/);
  assertNoSecrets([{ name: "log of x", text: "nothing here" }]);
});
