/**
 * Runs test files in processes of their own, several at once, and those first that took longest the last time: a long one
 * that begins last keeps everybody waiting alone.
 */
import { run } from "node:test";
import { type Outcome, outcomeOf, type TestEvent } from "./outcome.ts";
import { keepTimes, longestFirst, readTimes, timekeeper } from "./times.ts";

interface ApartOptions {
  readonly atOnce: number;
  /** Node's options for their processes. */
  readonly execArgv: readonly string[];
}

export async function runApart(
  files: readonly string[],
  { atOnce, execArgv }: ApartOptions,
  note: (outcome: Outcome) => void,
): Promise<void> {
  const { took, keep } = timekeeper(files);
  const events = run({ files: longestFirst(files, readTimes()), concurrency: atOnce, execArgv });
  for (const kind of ["pass", "fail"] as const) {
    events.on(`test:${kind}`, (data) => {
      const outcome = outcomeOf(kind, data as TestEvent, files);
      if (outcome) note(outcome);
      keep(data as TestEvent);
    });
  }
  for (const stream of ["stderr", "stdout"] as const) {
    events.on(`test:${stream}`, ({ message }: { message: string }) => process.env.VERBOSE && process[stream].write(message));
  }
  for await (const _ of events);
  keepTimes(took);
}
