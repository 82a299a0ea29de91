import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventTable } from "./docs-events.ts";

const root = join(import.meta.dirname, "../..");
const sources = globSync("src/{nodes,routes,loadbalancers,process,commands/controller-manager}/**/*.ts", { cwd: root })
  .filter((file) => !/\.test\.ts$|fixture/.test(file))
  .map((file) => readFileSync(join(root, file), "utf8"));

test("every Event the code can send is explained", () => {
  const known = new Set(eventTable.map(({ reason }) => reason));
  const said = [/"(?:Normal|Warning)",\s*"(\w+)"/g, /^ {2}(\w+): \["(?:Normal|Warning)"/gm, /\.once\(node, "(\w+)"/g].flatMap((pattern) =>
    sources.flatMap((source) => [...source.matchAll(pattern)].map(([, reason]) => reason!)),
  );
  assert.ok(said.length > 10);
  assert.deepEqual(
    said.filter((reason) => !known.has(reason)),
    [],
  );
});

test("nothing is explained that the code cannot say", () => {
  const silent = eventTable.filter(
    ({ reason }) => !sources.some((source) => source.includes(`"${reason}"`) || source.includes(`${reason}: [`)),
  );
  assert.deepEqual(silent, []);
});
