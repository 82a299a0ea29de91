/**
 * Runs the checks and the tests, and says at the end how many passed and failed.
 *
 *   node test/run.ts check         types, lint and format, house rules, unit tests: seconds
 *   node test/run.ts all           the checks, then everything that needs a cluster, a cloud or a referee
 *   node test/run.ts integration   one suite by name
 */
import { type ChildProcess, spawn } from "node:child_process";
import { globSync } from "node:fs";
import type { EventData } from "node:test";
import { run } from "node:test";

interface Suite {
  readonly name: string;
  readonly files: string;
  readonly concurrency: number;
}

const suites: readonly Suite[] = [
  { name: "unit", files: "{src,test,bench,deploy}/**/*.test.ts", concurrency: 2 },
  { name: "integration", files: "test/integration/**/*.test.ts", concurrency: 2 },
  { name: "simulation", files: "test/simulation/**/*.test.ts", concurrency: 2 },
  { name: "referees", files: "test/referees/**/*.test.ts", concurrency: 1 },
];

interface Tally {
  passed: number;
  failed: number;
  skipped: number;
}

const statics: readonly (readonly [string, readonly string[]])[] = [
  ["types", ["tsc", "--noEmit"]],
  ["lint and format", ["biome", "check", "--error-on-warnings", "."]],
  ["house rules", ["node", "test/rules.ts"]],
];

const started = performance.now();
const [mode = "all", ...only] = process.argv.slice(2);
const tally: Tally = { passed: 0, failed: 0, skipped: 0 };

if (mode === "check" || mode === "all") {
  const results = await Promise.all(statics.map(([name, command]) => runStatic(name, command)));
  tally.failed += results.filter((ok) => !ok).length;
}
if (mode === "all" && tally.failed === 0) await prepare();
for (const suite of suites) {
  const wanted = mode === "all" || mode === suite.name || (mode === "check" && suite.name === "unit");
  if (wanted) add(await runSuite(suite, filesOf(suite)));
}

console.log(`\n${((performance.now() - started) / 1000).toFixed(1)} s`);
console.log(`${tally.passed} passed, ${tally.failed} failed${tally.skipped > 0 ? `, ${tally.skipped} skipped` : ""}`);
process.exitCode = tally.failed > 0 ? 1 : 0;

function add(result: Tally): void {
  tally.passed += result.passed;
  tally.failed += result.failed;
  tally.skipped += result.skipped;
}

function filesOf(suite: Suite): string[] {
  const others = suites.filter((other) => other !== suite && other.name !== "unit").map((other) => other.files.split("/**")[0] as string);
  return globSync(suite.files)
    .filter((file) => suite.name !== "unit" || !others.some((folder) => file.startsWith(`${folder}/`)))
    .filter((file) => !file.includes("node_modules") && (only.length === 0 || only.some((part) => file.includes(part))))
    .sort();
}

/** Obtains what the slow suites need before their clocks start, showing progress: the first time takes minutes. */
async function prepare(): Promise<void> {
  if ((await exit(spawn("node", ["test/bed/prepare.ts"], { stdio: "inherit" }))) !== 0) {
    console.error("preparing the test cluster failed: see above");
    tally.failed++;
  }
}

async function runStatic(name: string, [command, ...args]: readonly string[]): Promise<boolean> {
  const begun = performance.now();
  const child = spawn(command as string, args, { stdio: ["ignore", "pipe", "pipe"] });
  const chunks: Buffer[] = [];
  child.stdout.on("data", (chunk) => chunks.push(chunk));
  child.stderr.on("data", (chunk) => chunks.push(chunk));
  const ok = (await exit(child)) === 0;
  if (!ok) process.stdout.write(Buffer.concat(chunks));
  say(ok, name, ok ? "ok" : "failed", begun);
  return ok;
}

function exit(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", resolve);
  });
}

async function runSuite(suite: Suite, files: string[]): Promise<Tally> {
  const result: Tally = { passed: 0, failed: 0, skipped: 0 };
  if (files.length === 0) return result;
  const begun = performance.now();
  const events = run({ files, concurrency: suite.concurrency, forceExit: false });
  events.on("test:pass", (data) => {
    if (data.details.type === "suite" || isFile(data, files)) return;
    if (data.skip !== undefined) {
      result.skipped++;
      console.log(`  skipped: ${data.name}: ${data.skip === true || data.skip === "" ? "no reason given" : data.skip}`);
    } else result.passed++;
    progress(suite.name, result);
  });
  events.on("test:fail", (data) => {
    if (data.details.type === "suite") return;
    const cause: unknown = data.details.error.cause ?? data.details.error;
    // A file fails with its tests; it counts by itself only when it could not be run at all.
    if (isFile(data, files) && (data.details.error as { failureType?: string }).failureType === "subtestsFailed") return;
    result.failed++;
    console.log(`\n✗ ${data.name}  (${data.file ?? "?"}:${data.line ?? "?"})`);
    console.log(cause instanceof Error ? (cause.stack ?? String(cause)) : String(cause));
  });
  events.on("test:stderr", (data) => {
    if (process.env.VERBOSE) process.stderr.write(data.message);
  });
  events.on("test:stdout", (data) => {
    if (process.env.VERBOSE) process.stdout.write(data.message);
  });
  for await (const _ of events);
  say(result.failed === 0, suite.name, `${result.passed} passed, ${result.failed} failed`, begun);
  return result;
}

function isFile(data: EventData.TestPass | EventData.TestFail, files: readonly string[]): boolean {
  return data.nesting === 0 && files.some((file) => data.name.endsWith(file));
}

function progress(name: string, { passed, failed }: Tally): void {
  if (process.stdout.isTTY) process.stdout.write(`\r  ${name}: ${passed} passed, ${failed} failed `);
}

function say(ok: boolean, name: string, outcome: string, begun: number): void {
  const seconds = ((performance.now() - begun) / 1000).toFixed(1);
  if (process.stdout.isTTY) process.stdout.write("\r\x1b[K");
  console.log(`${ok ? "✓" : "✗"} ${name.padEnd(16)} ${outcome}  (${seconds} s)`);
}
