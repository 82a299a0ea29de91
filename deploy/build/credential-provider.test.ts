import assert from "node:assert/strict";
import { test } from "node:test";
import { providerScripts } from "./credential-provider.ts";

test("the executable is made of the program, and apart from it the AWS SDK, which few need", async () => {
  const scripts = await providerScripts();
  assert.deepEqual(
    scripts.map(({ name }) => name),
    ["entry.js", "profile-credentials.js"],
  );
  const [program, apart] = scripts.map(({ text }) => text) as [string, string];
  assert.match(program, /require\("\.\/profile-credentials\.js"\)/);
  assert.ok(program.length < 200_000, `the program has grown to ${program.length} bytes: is the SDK in it?`);
  assert.match(apart, /credentialsOfProfile/);
});
