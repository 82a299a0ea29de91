import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { notBuilt, type Referee, referees } from "./referees/table.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

/** They test the files beside them and need no referee. */
const ofOurOwn = ["test/referees/python.test.ts", "test/referees/moto/accepted.test.ts"];

test("every test of a referee belongs to a row of the table, and every row has tests", () => {
  const files = globSync("test/referees/**/*.test.ts", { cwd: root }).filter((file) => !ofOurOwn.includes(file));
  const rows = referees.flatMap(({ tests }) => tests);
  assert.deepEqual(
    files.filter((file) => !rows.some((start) => file.startsWith(start))),
    [],
  );
  assert.deepEqual(
    rows.filter((start) => !files.some((file) => file.startsWith(start))),
    [],
  );
});

test("only a referee that is built on demand and is not there is left out", async () => {
  const row = (name: string, builtOnDemand?: string): Referee => ({
    name,
    tests: [],
    obtain: async () => {},
    ...(builtOnDemand ? { builtOnDemand: async () => builtOnDemand } : {}),
  });
  const all = [row("usual"), row("large, built", import.meta.filename), row("large, missing", "/nowhere/at/all")];
  assert.deepEqual(
    (await notBuilt(all)).map(({ name }) => name),
    ["large, missing"],
  );
});
