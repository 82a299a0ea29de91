/** How long each test file took the last time, kept in the cache folder: what takes long begins first, and shares are as long as one another. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { cacheFolder } from "../src/sandbox/cluster/assets/assets.ts";
import type { TestEvent } from "./outcome.ts";

/** Milliseconds by file. */
export type Times = Readonly<Record<string, number>>;

const timesFile = () => join(cacheFolder(process.env), "test-times.json");

/** Adds up what the tests of each file take: they follow one another. */
export function timekeeper(files: readonly string[]): { readonly took: Times; readonly keep: (data: TestEvent) => void } {
  const took: Record<string, number> = {};
  const keep = ({ nesting, file: path, details }: TestEvent) => {
    const file = nesting === 0 ? files.find((one) => path?.endsWith(`/${one}`)) : undefined;
    if (file) took[file] = Math.round((took[file] ?? 0) + (details.duration_ms ?? 0));
  };
  return { took, keep };
}

/** The files in the order in which they are best begun. One that nobody has timed yet may be long. */
export function longestFirst(files: readonly string[], times: Times): string[] {
  return files.toSorted((a, b) => (times[b] ?? Number.MAX_VALUE) - (times[a] ?? Number.MAX_VALUE));
}

/** The files dealt out so that every share takes about as long, the longest first. One that nobody has timed yet counts as an average one. */
export function sharesOf(files: readonly string[], count: number, times: Times): string[][] {
  const timed = files.flatMap((file) => times[file] ?? []);
  const average = timed.reduce((sum, ms) => sum + ms, 0) / (timed.length || 1);
  const weight = (file: string) => (times[file] ?? average) + 1;
  const shares = Array.from({ length: Math.min(count, files.length) }, () => ({ files: [] as string[], ms: 0 }));
  for (const file of files.toSorted((a, b) => weight(b) - weight(a))) {
    const shortest = shares.reduce((least, share) => (share.ms < least.ms ? share : least));
    shortest.files.push(file);
    shortest.ms += weight(file);
  }
  return shares.map((share) => share.files);
}

/** None when nothing was timed yet, or what was kept cannot be read: the order is only about time. */
export function readTimes(): Times {
  try {
    return JSON.parse(readFileSync(timesFile(), "utf8")) as Times;
  } catch {
    return {};
  }
}

/** Adds to what is kept: another suite may have ended meanwhile. */
export function keepTimes(times: Times): void {
  mkdirSync(dirname(timesFile()), { recursive: true });
  writeFileSync(timesFile(), `${JSON.stringify({ ...readTimes(), ...times }, undefined, 1)}\n`);
}
