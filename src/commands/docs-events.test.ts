import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventReasons } from "../identity/event-reasons.ts";
import { eventTable } from "./docs-events.ts";

const root = join(import.meta.dirname, "../..");
const sources = globSync(
  "src/{nodes,routes,loadbalancers,interruptions,volumes,discovery,process,commands/controller-manager,commands/node-termination-handler}/**/*.ts",
  { cwd: root },
)
  .filter((file) => !/\.test\.ts$|fixture/.test(file))
  .map((file) => readFileSync(join(root, file), "utf8"));

// That no other reason is recorded, in a literal or in a variable, is the type of the recorder.
test("every reason of an Event is explained, once", () => {
  const explained = eventTable.map(({ reason }) => reason);
  assert.deepEqual(explained.toSorted(), eventReasons.toSorted());
});

test("nothing is explained that the code cannot say", () => {
  const silent = eventReasons.filter((reason) => !sources.some((source) => new RegExp(`\\b${reason}\\b`).test(source)));
  assert.deepEqual(silent, []);
});
