/** What was measured, as it is kept between runs: one file, each scenario replaced when it is run again. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { EntrantName } from "../bed/entrants.ts";
import { type Figures, total } from "../bed/figures.ts";

/** Every scenario that was ever measured, by name. */
export interface Results {
  readonly machine: string;
  readonly scenarios: Readonly<Record<string, ScenarioResult>>;
}

export interface ScenarioResult {
  /** ISO 8601. */
  readonly date: string;
  readonly commit: string;
  readonly node: string;
  /** The mean length of the machine's run queue before each run. */
  readonly loads: readonly number[];
  /** Figures of every run, by entrant and step. */
  readonly entrants: Partial<Record<EntrantName, Readonly<Record<string, readonly Figures[]>>>>;
}

/** What is kept, or nothing yet. */
export async function readResults(path: string): Promise<Results> {
  try {
    return JSON.parse(await readFile(path, "utf8")) as Results;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { machine: "", scenarios: {} };
    throw error;
  }
}

export async function writeResults(path: string, results: Results): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, `${JSON.stringify(results, rounded, 1)}\n`);
}

/** The run in the middle by time, whole: its figures belong together. */
export function middle(runs: readonly Figures[]): Figures {
  const sorted = runs.toSorted((a, b) => a.seconds - b.seconds);
  return sorted[Math.floor((sorted.length - 1) / 2)]!;
}

/** How far runs of the same thing lie apart, as shares of the smallest; undefined for a single run. */
export function spread(runs: readonly Figures[]): { readonly time: number; readonly calls: number } | undefined {
  if (runs.length < 2) return undefined;
  return { time: apart(runs.map(({ seconds }) => seconds)), calls: apart(runs.map(({ calls }) => total(calls) ?? 0)) };
}

function apart(values: readonly number[]): number {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  return most === least ? 0 : (most - least) / Math.max(least, Number.MIN_VALUE);
}

/** More digits would only pretend. */
function rounded(_: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(5)) : value;
}
