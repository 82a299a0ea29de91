/**
 * Looks for the first seed whose history finds each mutant, from seed 1 on, and writes the seeds down: the tests begin there
 * instead of playing the histories before it again. A change to what is played may move a seed; the tests then search on from it.
 *
 *   node test/simulation/mutant-search.ts              those that have no seed yet
 *   node test/simulation/mutant-search.ts NAME...      these, anew
 *   node test/simulation/mutant-search.ts --all        all, anew
 *
 *   --processes 2     so many at once
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { type Mutant, mutants } from "./mutants.ts";

const main = fileURLToPath(new URL("./main.ts", import.meta.url));
const seedsFile = new URL("./mutant-seeds.json", import.meta.url);

/** The seed at which each mutant was found last. */
export const mutantSeeds = JSON.parse(readFileSync(seedsFile, "utf8")) as Readonly<Record<string, number>>;

export interface Search {
  readonly status: number | null;
  readonly output: string;
  /** Undefined when no history broke a rule. */
  readonly seed: string | undefined;
}

/** So many histories are played at most. */
const histories = 100;

/** Plays histories until one breaks the rule that the mutant must be found by: others may be broken by it earlier. */
export async function searchFrom(mutant: Mutant, from: number): Promise<Search> {
  const { status, output } = await playMutant(mutant, from, histories);
  return { status, output, seed: /^seed (\d+) broke/m.exec(output)?.[1] };
}

/** Plays histories with the mutant in a process of its own, up to the breach that gives it away. */
export async function playMutant(
  { world, name, killedBy }: Mutant,
  seed: number,
  runs: number,
): Promise<{ status: number | null; output: string }> {
  const args = [world, "--mutant", name, "--seed", `${seed}`, "--runs", `${runs}`, "--until", killedBy];
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, output: Buffer.concat(chunks).toString("utf8") };
}

/** The rules that were broken, as the story tells them. */
export function breachesOf(output: string): string[] {
  return [...output.matchAll(/ BROKEN {5}(.*)$/gm)].map(([, breach]) => breach!);
}

async function searchAll(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { all: { type: "boolean", default: false }, processes: { type: "string", default: String(availableParallelism()) } },
  });
  const isAsked = ({ name }: Mutant) => (positionals.length > 0 ? positionals.includes(name) : values.all || !(name in mutantSeeds));
  const waiting = mutants.filter(isAsked);
  const found: Record<string, number> = { ...mutantSeeds };
  const search = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const { seed } = await searchFrom(mutant, 1);
      console.log(`${mutant.name}: ${seed ?? `not found within ${histories} seeds`}`);
      if (seed === undefined) continue;
      found[mutant.name] = Number(seed);
      write(found);
    }
  };
  await Promise.all(Array.from({ length: Number(values.processes) }, search));
}

/** Those of mutants that are still there, by name. */
function write(found: Readonly<Record<string, number>>): void {
  const known = Object.entries(found).filter(([name]) => mutants.some((mutant) => mutant.name === name));
  const sorted = Object.fromEntries(known.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(seedsFile, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

if (import.meta.main) await searchAll();
