/**
 * Runs the given test files in this one process and tells its parent what came of each test. A process a file costs more
 * than most unit tests do; those that touch nothing outside of them can share one.
 */
import { run } from "node:test";
import { type Outcome, outcomeOf, type TestEvent } from "./outcome.ts";

if (import.meta.main) {
  const files = process.argv.slice(2);
  const events = run({ files, isolation: "none" });
  const tell = (outcome: Outcome | undefined) => outcome && process.send?.(outcome);
  events.on("test:pass", (data) => tell(outcomeOf("pass", data as TestEvent, files)));
  events.on("test:fail", (data) => tell(outcomeOf("fail", data as TestEvent, files)));
  for await (const _ of events);
  // What failed has been told; any other status than 0 now means that this process did not come to its end.
  process.exitCode = 0;
  process.disconnect?.();
}
