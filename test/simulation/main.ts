/**
 * Plays many histories of one of the worlds, one a seed, and says at the end how many broke a rule and how to see it again.
 *
 *   node test/simulation/main.ts                          one history of the kits' own world
 *   node test/simulation/main.ts nodes --runs 500         so many, of nodes and routes
 *   node test/simulation/main.ts services --runs 2000     of Services, nodes and routes
 *   node test/simulation/main.ts volumes --runs 2000      of volumes
 *   node test/simulation/main.ts interruptions --runs 500 of nodes that are about to go
 *   node test/simulation/main.ts bindings --runs 500      of pods behind target groups
 *   node test/simulation/main.ts ingresses --runs 500     of Ingresses that share load balancers
 *   node test/simulation/main.ts gateways --runs 500      of Gateways and the routes that share them
 *   node test/simulation/main.ts classes --runs 500       of Services with a load balancer class, and pods behind them
 *
 *   --seed 1          from this seed on
 *   --processes 2     in so many processes at once
 *   --twice           each played twice, which must be the same history
 *   --first           until one breaks a rule, whose story is told
 *   --until RULE      until one breaks this rule, whose story is told up to there
 *   --story           the story is told even if all goes well
 *   --mutant NAME      with a known fault in the code (mutants.ts)
 */
import { type ChildProcess, fork } from "node:child_process";
import { parseArgs } from "node:util";
import { endHistoriesWith } from "./history.ts";
import { loadMutant } from "./mutants.ts";
import type { Outcome } from "./outcome.ts";

/** Loaded only after a mutant was chosen, and where histories are played. */
const worlds: Readonly<Record<string, () => Promise<Simulate>>> = {
  kits: async () => (await import("./simulate.ts")).simulate,
  bindings: async () => (await import("./bindings-simulate.ts")).simulateBindings,
  classes: async () => (await import("./classes-simulate.ts")).simulateClasses,
  gateways: async () => (await import("./gateways-simulate.ts")).simulateGateways,
  nodes: async () => (await import("./nodes-simulate.ts")).simulateNodes,
  interruptions: async () => (await import("./interruptions-simulate.ts")).simulateInterruptions,
  ingresses: async () => (await import("./ingresses-simulate.ts")).simulateIngresses,
  services: async () => (await import("./services-simulate.ts")).simulateServices,
  volumes: async () => (await import("./volumes-simulate.ts")).simulateVolumes,
};
/** A process plays so many and ends: what a world leaves in memory goes with it. */
const chunk = 100;

type Simulate = (seed: number) => Promise<Outcome>;

interface Verdict {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly story?: string;
  /** The rule was broken that was waited for. */
  readonly isLast: boolean;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: "string", default: "1" },
    runs: { type: "string", default: "1" },
    processes: { type: "string", default: "1" },
    twice: { type: "boolean", default: false },
    first: { type: "boolean", default: false },
    until: { type: "string" },
    story: { type: "boolean", default: false },
    mutant: { type: "string" },
  },
});
const [world = "kits"] = positionals;
const [first, runs, processes] = [Number(values.seed), Number(values.runs), Number(values.processes)];
if (process.send === undefined) await tellAll();
else await playThem((verdict) => process.send?.(verdict) ?? true);

/** Plays what was asked for, here or in processes, and tells what came of it. */
async function tellAll(): Promise<void> {
  const started = performance.now();
  const seconds = () => `${((performance.now() - started) / 1000).toFixed(1)} s`;
  const broken: number[] = [];
  let done = 0;
  const note = (verdict: Verdict): boolean => {
    done++;
    if (verdict.violations.length > 0) broken.push(verdict.seed);
    tell(verdict);
    if (done % chunk === 0 && done < runs) console.log(`${done} of ${runs} histories, ${broken.length} broken, after ${seconds()}`);
    return !verdict.isLast;
  };
  if (runs <= chunk && processes === 1) await playThem(note);
  else await inProcesses(note);
  const outcome =
    broken.length === 0
      ? "no rule was broken"
      : `${broken.length} broke a rule, of seed${broken.length > 1 ? "s" : ""} ${broken.join(", ")}`;
  console.log(`${done} histories from seed ${first} in ${seconds()}: ${outcome}`);
  process.exitCode = broken.length > 0 ? 1 : 0;
  // A history that was not played to its end would go on.
  if (values.until !== undefined) process.stdout.write("", () => process.exit());
}

function tell({ seed, violations, story, isLast }: Verdict): void {
  if (story !== undefined) console.log(story);
  if (violations.length === 0 || (values.until !== undefined && !isLast)) return;
  console.log(`\nseed ${seed} broke ${violations.length === 1 ? "a rule" : `${violations.length} rules`}:`);
  for (const violation of violations.slice(0, 8)) console.log(`  ${violation}`);
  const mutant = values.mutant === undefined ? "" : ` --mutant ${values.mutant}`;
  console.log(`replay: node test/simulation/main.ts ${world} --seed ${seed} --story${mutant}\n`);
}

async function playThem(note: (verdict: Verdict) => boolean): Promise<void> {
  if (values.mutant !== undefined) loadMutant(values.mutant);
  if (values.until !== undefined) endHistoriesWith(values.until);
  const load = worlds[world];
  if (load === undefined) throw new Error(`there is no world named ${world}; there are ${Object.keys(worlds).join(", ")}`);
  const simulate = await load();
  for (let seed = first; seed < first + runs; seed++) if (!note(await verdictOn(seed, simulate))) return;
}

async function verdictOn(seed: number, simulate: Simulate): Promise<Verdict> {
  const { violations: broken, hash, story, isOver } = await simulate(seed);
  const same = !values.twice || (await simulate(seed)).hash === hash;
  const violations = [...new Set([...broken, ...(same ? [] : ["played twice, it is not the same history"])])];
  const isLast = isOver || (values.first && violations.length > 0);
  return { seed, violations, isLast, ...((values.story || isLast) && { story: story() }) };
}

async function inProcesses(note: (verdict: Verdict) => boolean): Promise<void> {
  const size = Math.min(chunk, Math.ceil(runs / processes));
  const starts = Array.from({ length: Math.ceil(runs / size) }, (_, i) => first + i * size);
  const children = new Set<ChildProcess>();
  let over = false;
  const playChunk = async (from: number): Promise<void> => {
    const count = Math.min(size, first + runs - from);
    const child = fork(import.meta.filename, [...process.argv.slice(2), "--seed", String(from), "--runs", String(count)], {
      stdio: "inherit",
    });
    children.add(child);
    let next = from;
    child.on("message", (verdict: Verdict) => {
      next = verdict.seed + 1;
      if (over || note(verdict)) return;
      over = true;
      for (const other of children) other.kill();
    });
    const status = await new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
    children.delete(child);
    if (!over && next < from + count)
      note({ seed: next, violations: [`the process that played it ended with ${status ?? "a signal"}`], isLast: values.first });
  };
  const worker = async () => {
    for (let from = starts.shift(); from !== undefined && !over; from = starts.shift()) await playChunk(from);
  };
  await Promise.all(Array.from({ length: processes }, worker));
}
