/**
 * `npm run bench` measures Fairlead beside the reference and writes docs/benchmarks.md; with names, only those scenarios.
 *
 *     npm run bench -- [--full] [--once | --try] [scenario …]
 *     npm run bench -- --page        writes the page anew from the results that are kept
 *     npm run bench part [args]      a part on its own: what it prints is not on the page
 *
 * `--full` adds the scenarios that take long. `--once` repeats nothing. `--try` takes a tenth of everything, once, and writes nothing: to see that it runs.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildEntrants, type EntrantName, type Entrants, entrantTitles } from "./bed/entrants.ts";
import type { Figures } from "./bed/figures.ts";
import { load, machineName } from "./bed/machine.ts";
import { writePage } from "./report/page.ts";
import { readResults, type ScenarioResult, writeResults } from "./report/results.ts";
import { heads, plain, rows } from "./report/table.ts";
import { scenarios } from "./scenarios/index.ts";
import type { Scenario, Size } from "./scenarios/scenario.ts";

const parts = ["credential-provider", "dashboard", "informer-memory", "interruptions", "rolling-update", "simulated-cloud"];
const docs = join(import.meta.dirname, "../docs");
const resultsFile = join(docs, "benchmarks/results.json");

const whole: Size = { count: (number) => number, seconds: (number) => number };
const tenth: Size = { count: (number) => Math.ceil(number / 10), seconds: (number) => number / 10 };

/** A run that takes longer than this, with all that it needs, is not repeated. */
const longMs = 120_000;

interface Effort {
  readonly repeats: number;
  readonly onlyTry: boolean;
}

await main(process.argv.slice(2));

async function main(argv: readonly string[]): Promise<void> {
  const [part, ...rest] = argv;
  if (part !== undefined && parts.includes(part)) {
    process.exitCode = spawnSync(process.execPath, [join(import.meta.dirname, `${part}.ts`), ...rest], { stdio: "inherit" }).status ?? 1;
    return;
  }
  const { values, positionals } = parseArgs({
    args: [...argv],
    options: {
      full: { type: "boolean", default: false },
      once: { type: "boolean", default: false },
      page: { type: "boolean", default: false },
      try: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const unknown = positionals.find((name) => !scenarios.some((scenario) => scenario.name === name));
  if (unknown !== undefined) {
    console.error(`there is no scenario ${JSON.stringify(unknown)}; there are ${scenarios.map(({ name }) => name).join(", ")}`);
    console.error(`and the parts ${parts.join(", ")}`);
    process.exitCode = 2;
    return;
  }
  if (values.page) return writePage(docs, scenarios, await readResults(resultsFile));
  const asked = scenarios.filter(({ name, onlyFull }) => (positionals.length > 0 ? positionals.includes(name) : values.full || !onlyFull));
  await using entrants = await buildEntrants(console.error);
  for (const scenario of asked) {
    try {
      await measure(scenario, entrants, { repeats: values.once || values.try ? 1 : 3, onlyTry: values.try });
    } catch (error) {
      console.error(`${scenario.title}: given up`, error);
      process.exitCode = 1;
    }
  }
}

/** Runs a scenario as often as it deserves, shows it, and keeps it. */
async function measure(scenario: Scenario, entrants: Entrants, { repeats, onlyTry }: Effort): Promise<void> {
  const runs: Partial<Record<EntrantName, Readonly<Record<string, readonly Figures[]>>>> = {};
  const loads: number[] = [];
  const wanted = new Map<EntrantName, number>(scenario.entrants.map((name) => [name, name === "reference-defaults" ? 1 : repeats]));
  for (let round = 1; round <= repeats; round++) {
    for (const name of scenario.entrants) {
      const of = wanted.get(name) ?? 0;
      if (round > of) continue;
      loads.push(load());
      console.error(`${new Date().toTimeString().slice(0, 8)} ${scenario.title}: ${entrantTitles[name]}, run ${round} of ${of} …`);
      const began = performance.now();
      const steps = await scenario.run(entrants.byName[name], onlyTry ? tenth : whole);
      const before = runs[name];
      runs[name] = Object.fromEntries(Object.entries(steps).map(([step, figures]) => [step, [...(before?.[step] ?? []), figures]]));
      if (performance.now() - began > longMs) wanted.set(name, 1);
    }
  }
  const result: ScenarioResult = { date: new Date().toISOString(), commit: commit(), node: process.version, loads, entrants: runs };
  console.log(`\n${scenario.title}\n${plain([heads, ...rows(result)])}\n`);
  if (onlyTry) return;
  const kept = await readResults(resultsFile);
  const results = { machine: machineName(), scenarios: { ...kept.scenarios, [scenario.name]: result } };
  await writeResults(resultsFile, results);
  await writePage(docs, scenarios, results);
}

function commit(): string {
  return execFileSync("git", ["rev-parse", "HEAD"], { cwd: import.meta.dirname, encoding: "utf8" }).trim();
}
