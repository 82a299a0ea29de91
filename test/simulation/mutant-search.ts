/**
 * Looks for the first seed whose history finds each mutant, from seed 1 on, and writes the seeds down: the tests begin there
 * instead of playing the histories before it again. A change to what is played may move a seed; the tests then search on from it.
 *
 *   node test/simulation/mutant-search.ts              all mutants
 *   node test/simulation/mutant-search.ts NAME...      some
 */
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
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

/** Plays histories until one breaks the rule that the mutant must be found by: another may be broken by it earlier. */
export async function searchFrom(mutant: Mutant, from: number): Promise<Search> {
  const { world, name, killedBy } = mutant;
  for (let next = from; ; ) {
    const left = from + histories - next;
    const { status, output } = await play(world, "--mutant", name, "--seed", `${next}`, "--runs", `${left}`, "--first");
    const seed = /^seed (\d+) broke/m.exec(output)?.[1];
    const isLast = seed === undefined || Number(seed) + 1 >= from + histories;
    if (isLast || breachesOf(output).some((breach) => breach.startsWith(killedBy))) return { status, output, seed };
    next = Number(seed) + 1;
  }
}

/** The rules that were broken, as the story tells them. */
export function breachesOf(output: string): string[] {
  return [...output.matchAll(/ BROKEN {5}(.*)$/gm)].map(([, breach]) => breach!);
}

/** Runs the simulation in a process of its own. */
export async function play(...args: string[]): Promise<{ status: number | null; output: string }> {
  const child = spawn(process.execPath, [main, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
  const status = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { status, output: Buffer.concat(chunks).toString("utf8") };
}

async function searchAll(names: readonly string[]): Promise<void> {
  const waiting = mutants.filter(({ name }) => names.length === 0 || names.includes(name));
  const found: Record<string, number> = Object.fromEntries(
    Object.entries(mutantSeeds).filter(([name]) => mutants.some((mutant) => mutant.name === name)),
  );
  const search = async () => {
    for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
      const { seed } = await searchFrom(mutant, 1);
      console.log(`${mutant.name}: ${seed ?? "not found within 100 seeds"}`);
      if (seed !== undefined) found[mutant.name] = Number(seed);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, search));
  const sorted = Object.fromEntries(Object.entries(found).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  writeFileSync(seedsFile, `${JSON.stringify(sorted, undefined, 2)}\n`);
}

if (import.meta.main) await searchAll(process.argv.slice(2));
