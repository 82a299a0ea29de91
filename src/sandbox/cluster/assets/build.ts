/** Builds a program from its Go module: slow, once, and possible wherever modules can be fetched. */
import { mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { World } from "../../../runtime/world.ts";
import { go, goBuild } from "./go.ts";
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
  readonly stamps: string;
  /** What to expect, so that nobody gives up too early. */
  readonly takes: string;
}

function recipeFor({ name, version }: Program): Recipe {
  if (name === "etcd") {
    return { module: "go.etcd.io/etcd/server/v3", package: "go.etcd.io/etcd/server/v3", stamps: "", takes: "about a minute" };
  }
  const [major, minor] = version.split(".");
  const stamps = Object.entries({ gitVersion: `v${version}`, gitMajor: major, gitMinor: minor })
    .map(([field, value]) => `-X k8s.io/component-base/version.${field}=${value}`)
    .join(" ");
  return {
    module: "k8s.io/kubernetes",
    package: "k8s.io/kubernetes/cmd/kube-apiserver",
    stamps,
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
  const onLine = (line: string) => {
    if (line.startsWith("go: downloading ")) doing = line.slice("go: ".length);
    else doing = `${++compiled} packages compiled, now ${line}`;
  };
  const options = { environment: world.environment, onLine };
  try {
    const answer = await go(["mod", "download", "-json", `${recipe.module}@v${program.version}`], folder, options);
    const { GoMod } = JSON.parse(answer) as { GoMod: string };
    await writeFile(join(folder, "go.mod"), moduleFile(recipe.module, program.version, await readFile(GoMod, "utf8")));
    await goBuild({ folder, package: recipe.package, stamps: recipe.stamps, output }, options);
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
