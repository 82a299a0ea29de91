/**
 * Runs the integration core on API servers of several Kubernetes minors, and writes the outcome to
 * src/process/kubernetes-runs.json, from which the documentation, the doctor and the chart's check come.
 *
 *     npm run versions              every minor of the table
 *     npm run versions -- 1.34.4    some of them
 *
 * The first time each API server is downloaded, or built with Go (seven minutes on two cores). Not part of `npm test`.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { cached } from "../deploy/build/cache.ts";
import type { KubernetesRun } from "../src/process/tested.ts";
import { minorOf } from "../src/process/tested.ts";
import { realWorld } from "../src/runtime/world.ts";
import { buildWithGo } from "../src/sandbox/cluster/assets/build.ts";
import { kubeApiserver, thisPlatform } from "../src/sandbox/cluster/assets/programs.ts";
import { downloadRelease } from "../src/sandbox/cluster/assets/release.ts";

/** One of each minor. 1.33.5 cannot be built from Go's module proxy, which lacks parts of it. */
export const versions: readonly string[] = ["1.33.4", "1.34.4", "1.35.4", "1.36.3", "1.37.1"];

/**
 * Files of test/integration that show what differs between API servers: admission, patches, watches, roles, definitions,
 * the chart, and the suite for real accounts. None of them measures time, so that a busy machine does not matter.
 */
const core = [
  "custom-resources",
  "e2e",
  "informer-restart",
  "install-chart",
  "node-life",
  "service-load-balancers",
  "target-group-binding",
];

const root = fileURLToPath(new URL("../", import.meta.url));
const results = join(root, "src/process/kubernetes-runs.json");
const say = (line: string) => console.log(line);

/** The API server of a version, made first if it is not there. */
async function apiserver(version: string): Promise<string> {
  const { os, arch } = thisPlatform();
  const program = { ...kubeApiserver, version, minimum: version };
  const make = async (path: string) => {
    const options = { world: realWorld(), say };
    await downloadRelease(program, { os, arch }, path, options).catch(() => buildWithGo(program, { os, arch }, path, options));
  };
  return await cached(`${program.name}-${version}-${os}-${arch}`, make, { say });
}

async function runCore(version: string): Promise<KubernetesRun> {
  const path = await apiserver(version);
  say(`the integration core on Kubernetes ${version}`);
  const env = { ...process.env, FAIRLEAD_KUBE_APISERVER: path, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
  // One after the other: an API server and its etcd are enough for two cores, and leases are about time.
  const files = core.map((name) => `test/integration/${name}.test.ts`);
  const child = spawn(process.execPath, ["--test", "--test-concurrency=1", ...files], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    process.stdout.write(text);
  });
  await new Promise((resolve) => child.on("close", resolve));
  const count = (of: string) => /\d+/.exec(new RegExp(`^(?:ℹ|#) ${of} \\d+$`, "m").exec(output)?.[0] ?? "")?.[0];
  const [passed, failed, cancelled, skipped] = ["pass", "fail", "cancelled", "skipped"].map((of) => Number(count(of) ?? Number.NaN));
  if (Number.isNaN(passed)) throw new Error(`the tests on ${version} did not come to their end`);
  // What was not run proves nothing.
  const notPassed = failed! + cancelled! + skipped!;
  return { kubernetes: version, date: new Date().toISOString().slice(0, 10), passed: passed!, failed: notPassed };
}

if (import.meta.main) {
  const asked = process.argv.slice(2);
  const strange = asked.filter((version) => !versions.includes(version));
  if (strange.length > 0) throw new Error(`${strange.join(", ")}: none of ${versions.join(", ")}`);
  for (const version of asked.length > 0 ? asked : versions) {
    const run = await runCore(version);
    const before = existsSync(results) ? (JSON.parse(await readFile(results, "utf8")) as KubernetesRun[]) : [];
    const others = before.filter(({ kubernetes }) => minorOf(kubernetes) !== minorOf(version));
    const sorted = [...others, run].sort((a, b) => minorOf(a.kubernetes) - minorOf(b.kubernetes));
    await writeFile(results, `${JSON.stringify(sorted, undefined, 2)}\n`);
    if (run.failed > 0) process.exitCode = 1;
  }
  say("Run `npm run docs`, and look at docs/versions.md, Chart.yaml and the README: a check holds them to this.");
}
