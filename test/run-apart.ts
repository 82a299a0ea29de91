/**
 * Runs test files in processes of their own, several at once, and those first that took longest the last time: a long one
 * that begins last keeps everybody waiting alone. How long each took is kept in the cache folder.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { run } from "node:test";
import { pathToFileURL } from "node:url";
import { cacheFolder } from "../src/sandbox/cluster/assets/assets.ts";
import { type Outcome, outcomeOf, type TestEvent } from "./outcome.ts";

/** Milliseconds by file. */
export type Times = Readonly<Record<string, number>>;

const timesFile = () => join(cacheFolder(process.env), "test-times.json");

/** Node's options for a process that computes while others wait, and lets them go first when they do not. */
export const atLowPriority = ["--import", pathToFileURL(join(import.meta.dirname, "low-priority.ts")).href];

interface ApartOptions {
  readonly atOnce: number;
  readonly low: boolean;
}

export async function runApart(files: readonly string[], { atOnce, low }: ApartOptions, note: (outcome: Outcome) => void): Promise<void> {
  const before = readTimes();
  const took: Record<string, number> = {};
  const events = run({ files: longestFirst(files, before), concurrency: atOnce, execArgv: low ? atLowPriority : [] });
  for (const kind of ["pass", "fail"] as const) {
    events.on(`test:${kind}`, (data) => {
      const outcome = outcomeOf(kind, data as TestEvent, files);
      if (outcome) note(outcome);
      // The tests of a file follow one another, so its time is the sum of theirs.
      const file = data.nesting === 0 ? files.find((path) => data.file?.endsWith(path)) : undefined;
      if (file) took[file] = Math.round((took[file] ?? 0) + data.details.duration_ms);
    });
  }
  for (const stream of ["stderr", "stdout"] as const) {
    events.on(`test:${stream}`, ({ message }: { message: string }) => process.env.VERBOSE && process[stream].write(message));
  }
  for await (const _ of events);
  // Another suite may have ended meanwhile.
  writeTimes({ ...readTimes(), ...took });
}

/** The files in the order in which they are best begun. One that nobody has timed yet may be long. */
export function longestFirst(files: readonly string[], times: Times): string[] {
  return files.toSorted((a, b) => (times[b] ?? Number.MAX_VALUE) - (times[a] ?? Number.MAX_VALUE));
}

/** None when nothing was timed yet, or what was kept cannot be read: the order is only about time. */
function readTimes(): Times {
  try {
    return JSON.parse(readFileSync(timesFile(), "utf8")) as Times;
  } catch {
    return {};
  }
}

function writeTimes(times: Times): void {
  mkdirSync(dirname(timesFile()), { recursive: true });
  writeFileSync(timesFile(), `${JSON.stringify(times, undefined, 1)}\n`);
}
