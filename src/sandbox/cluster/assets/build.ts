/** Builds a program from its Go module: slow, once, and possible wherever modules can be fetched. */
import { spawn } from "node:child_process";
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { World } from "../../../runtime/world.ts";
import type { Platform, Program } from "./programs.ts";
import { sayProgress } from "./progress.ts";

export interface BuildOptions {
  readonly world: World;
  readonly say: (line: string) => void;
}

/** Builds the program and leaves it at `target`. */
export async function buildWithGo(program: Program, _platform: Platform, target: string, options: BuildOptions): Promise<void> {
  const folder = await mkdtemp(`${target}.build-`);
  try {
    await build(program, folder, join(folder, "out"), options);
    await rename(join(folder, "out"), target);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Recipe {
  readonly module: string;
  readonly package: string;
  readonly linkerFlags: string;
  /** What to expect, so that nobody gives up too early. */
  readonly takes: string;
}

function recipeFor({ name, version }: Program): Recipe {
  if (name === "etcd") {
    return { module: "go.etcd.io/etcd/server/v3", package: "go.etcd.io/etcd/server/v3", linkerFlags: "-s -w", takes: "about a minute" };
  }
  const [major, minor] = version.split(".");
  const stamp = Object.entries({ gitVersion: `v${version}`, gitMajor: major, gitMinor: minor })
    .map(([field, value]) => `-X k8s.io/component-base/version.${field}=${value}`)
    .join(" ");
  return {
    module: "k8s.io/kubernetes",
    package: "k8s.io/kubernetes/cmd/kube-apiserver",
    linkerFlags: `-s -w ${stamp}`,
    takes: "about seven minutes on two cores",
  };
}

async function build(program: Program, folder: string, output: string, { world, say }: BuildOptions): Promise<void> {
  const recipe = recipeFor(program);
  let doing = "fetching its module";
  let compiled = 0;
  const stop = sayProgress(
    world,
    say,
    (time) => `building ${program.name} ${program.version} with Go (${recipe.takes}, once): ${doing} (${time})`,
  );
  const go = (...args: string[]) =>
    runGo(args, folder, world, (line) => {
      if (line.startsWith("go: downloading ")) doing = line.slice("go: ".length);
      else doing = `${++compiled} packages compiled, now ${line}`;
    });
  try {
    const modFile = JSON.parse(await go("mod", "download", "-json", `${recipe.module}@v${program.version}`)) as { GoMod: string };
    await writeFile(join(folder, "go.mod"), moduleFile(recipe.module, program.version, await readFile(modFile.GoMod, "utf8")));
    await go("build", "-v", "-mod=mod", "-trimpath", `-ldflags=${recipe.linkerFlags}`, "-o", output, recipe.package);
  } finally {
    stop();
  }
}

/**
 * A module that requires the program's. Kubernetes names its own parts by version v0.0.0 and finds them in its source
 * tree; seen from outside, each must be replaced by the release that was cut from that tree (v1.36.3 → v0.36.3).
 */
export function moduleFile(module: string, version: string, itsModFile: string): string {
  const goVersion = /^go (\S+)$/m.exec(itsModFile)?.[1] ?? "1.26";
  const parts = [...itsModFile.matchAll(/^\s*(?:require )?(\S+) v0\.0\.0\s*(?:\/\/.*)?$/gm)].map((match) => match[1]!);
  const release = `v0.${version.split(".").slice(1).join(".")}`;
  return [
    "module assets",
    `go ${goVersion}`,
    `require ${module} v${version}`,
    ...parts.map((part) => `replace ${part} => ${part} ${release}`),
    "",
  ].join("\n");
}

/** Runs go and gives its standard output; every line of its standard error goes to `onLine`, the last ones into the error. */
function runGo(args: readonly string[], folder: string, world: World, onLine: (line: string) => void): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // A go.mod or workspace of whoever runs us must not matter.
  const environment = { ...world.environment, GOWORK: "off", GO111MODULE: "on" };
  const child = spawn("go", args, { cwd: folder, env: environment, stdio: ["ignore", "pipe", "pipe"] });
  const last: string[] = [];
  let output = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  createInterface(child.stderr).on("line", (line) => {
    onLine(line);
    last.push(line);
    if (last.length > 5) last.shift();
  });
  child.once("error", (error: NodeJS.ErrnoException) => {
    reject(error.code === "ENOENT" ? new Error("the go command is not on PATH") : error);
  });
  child.once("close", (code) => {
    if (code === 0) resolve(output);
    else reject(new Error(`go ${args[0]} ended with status ${code}: ${(last.join(" | ") || output).trim()}`));
  });
  return promise;
}
