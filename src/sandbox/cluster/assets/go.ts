/** The go command, run so that nothing but its module cache and its build cache depends on who runs it. */
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { World } from "../../../runtime/world.ts";

export interface GoBuild {
  /** Where the module file is, in which the package is looked up. */
  readonly folder: string;
  readonly package: string;
  readonly output: string;
  /** Linker flags besides those that leave out symbols. */
  readonly stamps?: string;
  /** Fails when the module file would have to change, instead of changing it. */
  readonly modulesAreFixed?: boolean;
}

export interface GoOptions {
  readonly environment: World["environment"];
  /** Told every line that go prints on standard error. */
  readonly onLine?: (line: string) => void;
}

/** Builds a program. All builds use the same flags, so that they share what go keeps of each compiled package. */
export async function goBuild(build: GoBuild, options: GoOptions): Promise<void> {
  const mod = build.modulesAreFixed ? "-mod=readonly" : "-mod=mod";
  const linker = `-ldflags=${["-s -w", build.stamps ?? ""].join(" ").trim()}`;
  // No version control: git refuses to read a checkout that belongs to another user, and then go refuses to build in it.
  await go(["build", "-v", mod, "-trimpath", "-buildvcs=false", linker, "-o", build.output, build.package], build.folder, options);
}

/** Runs go and resolves with its standard output; rejects with the last lines of its standard error. */
export function go(args: readonly string[], folder: string, { environment, onLine = () => {} }: GoOptions): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  // A workspace of whoever runs us must not matter, nor whether there is a C compiler.
  const env = { ...environment, GOWORK: "off", GO111MODULE: "on", CGO_ENABLED: "0" };
  const child = spawn("go", args, { cwd: folder, env, stdio: ["ignore", "pipe", "pipe"] });
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
