/**
 * Runs the checks and the tests, and says at the end how many passed and failed.
 *
 *   node test/run.ts check         types, lint and format, house rules, unit tests, a few scenarios: seconds
 *   node test/run.ts all           the checks, then everything that needs a cluster, a cloud or a referee
 *   node test/run.ts all-referees  builds every referee, also those that are too large for `all`, and runs their tests
 *   node test/run.ts integration   one suite by name; further words choose files whose path contains one of them
 */
import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { globSync, readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Outcome } from "./outcome.ts";
import { notBuilt, referees } from "./referees/table.ts";
import { runApart } from "./run-apart.ts";
import { keepTimes, readTimes, sharesOf, type Times } from "./times.ts";

interface Suite {
  readonly name: string;
  readonly folder: string;
  /** Files in one process, a worker a core; or a process a file, so many at once. */
  readonly isolation: "together" | { readonly atOnce: number };
  /** It computes all the time: in a whole run it takes the time that others spend waiting, and lets them go first. */
  readonly lowPriority?: boolean;
  /** It awaits on virtual time, thousands of times a second: the test runner does not follow its promises. */
  readonly lightHooks?: boolean;
}

const cores = availableParallelism();
const slow: readonly Suite[] = [
  { name: "scenarios", folder: "test/scenarios", isolation: "together", lowPriority: true, lightHooks: true },
  // Much of their time these wait, for real programs and real clocks.
  { name: "integration", folder: "test/integration", isolation: { atOnce: 2 * cores } },
  { name: "simulation", folder: "test/simulation", isolation: { atOnce: cores }, lowPriority: true, lightHooks: true },
  { name: "referees", folder: "test/referees", isolation: { atOnce: 2 * cores } },
];
const suites: readonly Suite[] = [{ name: "unit", folder: "{src,test,bench,deploy}", isolation: "together", lightHooks: true }, ...slow];

const cache = join(import.meta.dirname, "../node_modules/.cache");
/** `check` looks only at what changed since the last time and at what depends on it. */
const types = (name: string) =>
  process.argv[2] === "check"
    ? ["tsc", "--noEmit", "--incremental", "--tsBuildInfoFile", join(cache, `types/${name}.json`)]
    : ["tsc", "--noEmit"];
const statics: readonly (readonly [string, readonly string[]])[] = [
  ["types", types("program")],
  ["types of the page", [...types("page"), "-p", "src/dashboard/page"]],
  ["lint and format", ["biome", "check", "--error-on-warnings", "."]],
  ["house rules", ["node", "test/rules.ts"]],
];

/** The scenarios that `check` plays: a few of every domain, seconds together. */
const inCheck = [
  "nodes-lifecycle",
  "routes-plan",
  "services-basic",
  "services-waiting",
  "interruptions-basic",
  "cluster-host",
  "found-settings",
];

const tally: Record<Outcome["kind"], number> = { pass: 0, fail: 0, skip: 0 };
const [mode = "all", ...only] = process.argv.slice(2);
const begun = performance.now();

// Each file is run by a process of its own: without this every one of them strips the types of the same thousand sources again.
process.env.NODE_COMPILE_CACHE ??= join(cache, "compiled");

const modes = ["check", "all", "all-referees", ...suites.map(({ name }) => name)];
if (!modes.includes(mode)) {
  // Else a word that is misspelt would pass for tests that passed.
  console.error(`${mode} is none of ${modes.join(", ")}`);
  process.exit(2);
}

const checked = mode === "check" || mode === "all" ? checkStatics() : undefined;
if (mode === "all-referees") await prepare("referees");
const asked = suites.filter(({ name }) => isAsked(name));
if (mode === "all") {
  const [unit, rest] = [asked.slice(0, 1), asked.slice(1)];
  await Promise.all([checked, runInTurn(unit)]);
  await prepare();
  await Promise.all([runInTurn(rest.filter(({ lowPriority }) => !lowPriority)), runInTurn(rest.filter(({ lowPriority }) => lowPriority))]);
} else await Promise.all([checked, runInTurn(asked)]);

const cpu = cpuSecondsOfChildren();
console.log(`\n${seconds(begun)} s${cpu === undefined ? "" : `, ${Math.round(cpu)} s of CPU`}`);
console.log(`${tally.pass} passed, ${tally.fail} failed${tally.skip > 0 ? `, ${tally.skip} skipped` : ""}`);
process.exitCode = tally.fail > 0 ? 1 : 0;

/** Beside the unit tests, some of which wait. */
async function checkStatics(): Promise<void> {
  const results = await Promise.all(statics.map(([name, command]) => runStatic(name, command)));
  tally.fail += results.filter((ok) => !ok).length;
}

async function runInTurn(several: readonly Suite[]): Promise<void> {
  for (const suite of several) {
    const files = filesOf(suite);
    await runSuite(suite, mode === "all" && suite.name === "referees" ? await withoutMissingReferees(files) : files);
  }
}

function isAsked(suite: string): boolean {
  if (mode === "check") return suite === "unit" || suite === "scenarios";
  if (mode === "all-referees") return suite === "referees";
  return mode === "all" || mode === suite;
}

function filesOf({ folder, name }: Suite): string[] {
  const elsewhere = name === "unit" ? slow.map((suite) => `${suite.folder}/`) : [];
  return globSync(`${folder}/**/*.test.ts`)
    .filter((file) => !elsewhere.some((other) => file.startsWith(other)) && !file.includes("node_modules"))
    .filter((file) => only.length === 0 || only.some((part) => file.includes(part)))
    .filter((file) => name !== "scenarios" || mode !== "check" || inCheck.some((part) => file.endsWith(`/${part}.test.ts`)))
    .sort();
}

/** Obtains what the slow suites need before any test's clock starts, showing progress: the first time takes many minutes. */
async function prepare(...what: readonly string[]): Promise<void> {
  const status = await exit(spawn("node", ["test/bed/prepare.ts", ...what], { stdio: "inherit" }));
  // From here on a test that would build something fails instead (deploy/build/cache.ts).
  process.env.FAIRLEAD_PREPARED = "1";
  if (status === 0) return;
  console.error("preparing the tests failed: see above");
  tally.fail++;
}

/** The files whose referees are there; names the referees that are not. */
async function withoutMissingReferees(files: readonly string[]): Promise<readonly string[]> {
  const missing = await notBuilt(referees);
  for (const { name } of missing)
    console.log(`  skipped: the tests of ${name}: it is not built on this machine; \`npm run referees\` builds it`);
  tally.skip += missing.length;
  return files.filter((file) => !missing.some(({ tests }) => tests.some((start) => file.startsWith(start))));
}

async function runStatic(name: string, [command, ...args]: readonly string[]): Promise<boolean> {
  const started = performance.now();
  const child = spawn(command as string, args, { stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk) => chunks.push(chunk));
  child.stderr.on("data", (chunk) => chunks.push(chunk));
  const ok = (await exit(child)) === 0;
  if (!ok) process.stdout.write(Buffer.concat(chunks));
  say(ok, name, ok ? "ok" : "failed", started);
  return ok;
}

function exit(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
  });
}

async function runSuite({ name, isolation, lowPriority = false, lightHooks = false }: Suite, files: readonly string[]): Promise<void> {
  if (files.length === 0) return;
  const started = performance.now();
  const own: Record<Outcome["kind"], number> = { pass: 0, fail: 0, skip: 0 };
  const byFile = new Map<string, number>();
  const note = (outcome: Outcome) => {
    tally[outcome.kind]++;
    own[outcome.kind]++;
    const file = basename(outcome.where).replace(/\.test\.ts:.*$/, "");
    byFile.set(file, (byFile.get(file) ?? 0) + outcome.ms);
    if (outcome.kind === "fail") console.log(`\n✗ ${outcome.name}  (${outcome.where})\n${outcome.why}`);
    if (outcome.kind === "skip") console.log(`  skipped: ${outcome.name}: ${outcome.why}`);
    if (process.stdout.isTTY) process.stdout.write(`\r\x1b[K  ${name}: ${own.pass} passed `);
  };
  const execArgv = [
    ...(lowPriority && mode === "all" ? imported("low-priority.ts") : []),
    ...(lightHooks ? imported("light-hooks.ts") : []),
  ];
  if (isolation === "together") await Promise.all(sharesOf(files, cores, readTimes()).map((share) => runTogether(share, execArgv, note)));
  else await runApart(files, { atOnce: isolation.atOnce, execArgv }, note);
  say(own.fail === 0, name, `${own.pass} passed, ${own.fail} failed`, started);
  if (files.length > 8) console.log(`  longest: ${longest(byFile)}`);
}

/** The CPU time of all processes that the tests had and that have ended, undefined where the system does not tell: the rest was waiting. */
function cpuSecondsOfChildren(): number | undefined {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(13, 15)
      .map(Number);
    return (user + system) / 100;
  } catch {
    return undefined;
  }
}

/** The files whose tests take longest: where to look when the suite grows too slow. */
function longest(byFile: ReadonlyMap<string, number>): string {
  const files = [...byFile].sort(([, a], [, b]) => b - a).slice(0, 12);
  return files.map(([file, ms]) => `${file} ${Math.round(ms / 1000)} s`).join(", ");
}

async function runTogether(files: readonly string[], execArgv: string[], note: (outcome: Outcome) => void): Promise<void> {
  const silent = process.env.VERBOSE ? "inherit" : "ignore";
  const child = fork("test/run-together.ts", files, { execArgv, stdio: ["ignore", silent, silent, "ipc"] });
  child.on("message", (told: Outcome | { readonly took: Times }) => ("took" in told ? keepTimes(told.took) : note(told)));
  // Whatever it told has arrived when it has disconnected.
  const [status] = await Promise.all([exit(child), once(child, "disconnect")]);
  if (status === 0) return;
  const why = `it ended with ${status === null ? "a signal" : `status ${status}`}: not all of ${files.length} files were run`;
  note({ kind: "fail", name: "a worker of the unit tests", where: "test/run-together.ts", ms: 0, why });
}

/** Node's options to import one of these files before anything else. */
function imported(file: string): string[] {
  return ["--import", pathToFileURL(join(import.meta.dirname, file)).href];
}

function say(ok: boolean, name: string, outcome: string, started: number): void {
  if (process.stdout.isTTY) process.stdout.write("\r\x1b[K");
  console.log(`${ok ? "✓" : "✗"} ${name.padEnd(16)} ${outcome}  (${seconds(started)} s)`);
}

function seconds(started: number): string {
  return ((performance.now() - started) / 1000).toFixed(1);
}
