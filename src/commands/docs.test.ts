import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { realWorld } from "../runtime/world.ts";
import { pages } from "./docs.ts";

for (const [path, page] of Object.entries(pages())) {
  test(`${path} is what the tables say; run "npm run docs" when it is not`, async () => {
    const stored = await realWorld().files.read(fileURLToPath(new URL(`../../${path}`, import.meta.url)));
    assert.equal(Buffer.from(stored).toString("utf8"), page);
  });
}
