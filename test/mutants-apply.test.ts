import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { mutants } from "./simulation/mutants.ts";

test("every mutant of the simulation still finds the text that it changes", () => {
  const lost = mutants.flatMap(({ name, file, changes }) => {
    const source = readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
    return changes.filter(([from]) => !source.includes(from)).map(([from]) => `${name}: ${file} no longer holds ${JSON.stringify(from)}`);
  });
  assert.deepEqual(lost, []);
});
