/**
 * Runs the given test files in this one process and tells its parent what came of each test. A process a file costs more
 * than most unit tests do; those that touch nothing outside of them can share one.
 */
import { run } from "node:test";
import { type Outcome, outcomeOf, type TestEvent } from "./outcome.ts";
import { timekeeper } from "./times.ts";

if (import.meta.main) {
  const files = process.argv.slice(2);
  const events = run({ files, isolation: "none" });
  const tell = (outcome: Outcome | undefined) => outcome && process.send?.(outcome);
  const { took, keep } = timekeeper(files);
  const errors: string[] = [];
  for (const kind of ["pass", "fail"] as const) {
    events.on(`test:${kind}`, (data) => {
      keep(data as TestEvent);
      tell(outcomeOf(kind, data as TestEvent, files));
    });
  }
  // What the runner says of an error that belongs to no test.
  events.on(
    "test:diagnostic",
    ({ message }) => /^Error: .* asynchronous activity after the test ended/.test(message) && errors.push(message),
  );
  for await (const _ of events);
  for (const why of errors) tell({ kind: "fail", name: "an error outside of any test", where: "test/run-together.ts", ms: 0, why });
  process.send?.({ took });
  // What failed has been told; any other status than 0 now means that this process did not come to its end.
  process.exitCode = 0;
  process.disconnect?.();
}
