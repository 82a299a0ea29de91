/**
 * The Python programs among the referees, in a virtual environment of our own: made once a machine, from pinned packages,
 * in the cache folder where the cluster's programs are too.
 */
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { access, mkdtemp, readdir, readFile, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { World } from "../../src/runtime/world.ts";
import { cacheFolder } from "../../src/sandbox/cluster/assets/assets.ts";
import { withLock } from "../../src/sandbox/cluster/assets/lock.ts";
import { sayProgress } from "../../src/sandbox/cluster/assets/progress.ts";

/** How to start one of the programs: `command` with `args`, and the caller's own after them. */
export interface PythonProgram {
  readonly command: string;
  readonly args: readonly string[];
}

/** The programs of the pinned packages. */
export interface Python {
  /** The AWS double, as a server. */
  readonly moto: PythonProgram;
  /** The `aws` command. */
  readonly aws: PythonProgram;
}

export interface PythonOptions {
  readonly world: World;
  /** Told what is going on while the slow preparation lasts. */
  readonly say: (line: string) => void;
}

/** There is no Python to run the referees with, or their packages cannot be had. */
export class PythonUnavailable extends Error {
  override readonly name = "PythonUnavailable";
  constructor(doing: string, cause: unknown) {
    super(
      [
        `cannot prepare the referees that are written in Python (moto, the aws command): ${doing}: ${reasonOf(cause)}`,
        "They need python3 (3.10 or newer) with its venv module (on Debian: apt install python3-venv) and a package index that pip reaches.",
      ].join("\n"),
      { cause },
    );
  }
}

const requirements = fileURLToPath(new URL("./requirements.txt", import.meta.url));
const what = "moto and the aws command";

/** Finds the virtual environment, or makes it. */
export async function obtainPython({ world, say }: PythonOptions): Promise<Python> {
  const version = await run(world, "ask for its version", "python3", ["-c", "import sys; print('%d.%d' % sys.version_info[:2])"]);
  // Another Python or other packages are another environment; neither spoils the other.
  const pinned = createHash("sha256")
    .update(await readFile(requirements))
    .digest("hex")
    .slice(0, 12);
  const folder = join(cacheFolder(world.environment), `referees-python${version.trim()}-${pinned}`);
  const command = join(folder, "bin", "python");
  if (!(await exists(command))) {
    await withLock(`${folder}.lock`, { world, say, what }, async () => {
      // Whoever held the lock before us may have made it meanwhile.
      if (!(await exists(command))) await make(folder, { world, say });
    });
  }
  // By module, not by the scripts beside the command: those name the folder in which they were made.
  return { moto: { command, args: ["-m", "moto.server"] }, aws: { command, args: ["-m", "awscli"] } };
}

async function make(folder: string, { world, say }: PythonOptions): Promise<void> {
  await removeLeftovers(folder);
  const building = await mkdtemp(`${folder}.build-`);
  const stop = sayProgress(world, say, (time) => `installing ${what} into ${folder} (about half a minute, once) (${time})`);
  try {
    await run(world, "make a virtual environment", "python3", ["-m", "venv", building]);
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--requirement", requirements];
    await run(world, "install the packages", join(building, "bin", "python"), pip);
    // One that is there leads to a Python that is gone.
    await rm(folder, { recursive: true, force: true });
    await rename(building, folder);
  } finally {
    stop();
    await rm(building, { recursive: true, force: true });
  }
}

/** What somebody who was killed half-way left beside the place. Only for who holds the lock. */
async function removeLeftovers(folder: string): Promise<void> {
  const names = await readdir(dirname(folder));
  const leftovers = names.filter((name) => name.startsWith(`${basename(folder)}.build-`));
  await Promise.all(leftovers.map((name) => rm(join(dirname(folder), name), { recursive: true, force: true })));
}

function run(world: World, doing: string, command: string, args: readonly string[]): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  execFile(command, args, { env: { ...world.environment }, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
    if (error) reject(new PythonUnavailable(doing, stderr.trim() === "" ? error : new Error(stderr.trim(), { cause: error })));
    else resolve(stdout);
  });
  return promise;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}

function reasonOf(cause: unknown): string {
  if ((cause as NodeJS.ErrnoException).code === "ENOENT") return "python3 is not on PATH";
  return cause instanceof Error ? cause.message : String(cause);
}
