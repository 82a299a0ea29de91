/**
 * The package's `fairlead`: starts the program on the Node that the package brings. It is what the Node of the machine
 * runs, which may be as old as 20, so it is built on its own and uses nothing newer.
 *
 * Installed under three names: `fairlead`; `kubectl-fairlead`, by which kubectl finds its plugins; and
 * `kubectl_complete-fairlead`, which kubectl asks for completions of that plugin.
 */
import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { isLibraryMissing, libraryRemedy } from "./node-library.ts";
import { nodePackages } from "./node-packages.ts";

/** What those packages for Linux are started by; systems without glibc do not have it. */
const loaders: Readonly<Record<string, string>> = {
  "linux-x64": "/lib64/ld-linux-x86-64.so.2",
  "linux-arm64": "/lib/ld-linux-aarch64.so.1",
};
const neededMajor = 26;

const platform = `${process.platform}-${process.arch}`;
const program = fileURLToPath(new URL("../dist/fairlead.js", import.meta.url));
const given = process.argv.slice(2);
const args = basename(process.argv[1] ?? "").startsWith("kubectl_complete") ? ["__complete", ...given] : given;

const installed = installedNode();
const starts = (path: string) => spawnSync(path, ["--version"], { stdio: "ignore" }).status === 0;
const lacking = installed !== undefined && isLibraryMissing(process.platform, existsSync, () => starts(installed));
const node = (lacking ? undefined : installed) ?? ownNode();
if (node === undefined && lacking) {
  fail(libraryRemedy);
} else if (node === undefined) {
  const remedy = usable() ? "install the package again, without --omit=optional" : `install Node ${neededMajor} or newer`;
  fail(`it needs Node ${neededMajor}, and there is none for this machine (${platform}) beside it: ${remedy}`);
} else if (typeof process.execve === "function") {
  // From Node 22.15 on: the program takes this process's place, so that nothing stands between it and its signals.
  process.execve(node, [node, program, ...args]);
} else start(node);

function usable(): boolean {
  const loader = loaders[platform];
  return nodePackages[platform] !== undefined && (loader === undefined || existsSync(loader));
}

function installedNode(): string | undefined {
  try {
    return usable() ? createRequire(import.meta.url).resolve(`${nodePackages[platform]}/bin/node`) : undefined;
  } catch {
    return undefined;
  }
}

/** The one that runs this, where it is new enough. */
function ownNode(): string | undefined {
  return Number.parseInt(process.versions.node, 10) >= neededMajor ? process.execPath : undefined;
}

function start(path: string): void {
  const child = spawn(path, [program, ...args], { stdio: "inherit" });
  // A terminal sends what is typed to both of us; passed on, the program would take it for the second, which ends it at once.
  const passedOn = process.stdin.isTTY ? ["SIGTERM", "SIGHUP"] : ["SIGTERM", "SIGHUP", "SIGINT"];
  for (const signal of ["SIGTERM", "SIGHUP", "SIGINT"] as const) {
    process.on(signal, () => {
      if (passedOn.includes(signal)) child.kill(signal);
    });
  }
  child.on("error", (error) => fail(`${path} cannot be started: ${error.message}`));
  child.on("exit", (status, signal) => {
    if (signal === null) process.exit(status ?? 1);
    // Whoever started us sees the same end.
    for (const name of ["SIGTERM", "SIGHUP", "SIGINT"]) process.removeAllListeners(name);
    process.kill(process.pid, signal);
  });
}

function fail(why: string): void {
  process.stderr.write(`fairlead: ${why}\n`);
  process.exitCode = 1;
}
