/** What is fetched or built once and serves many builds and test runs. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { realWorld } from "../../src/runtime/world.ts";
import { cacheFolder } from "../../src/sandbox/cluster/assets/assets.ts";
import { withLock } from "../../src/sandbox/cluster/assets/lock.ts";

export interface CacheOptions {
  /** Told when another process is making the same thing. */
  readonly say?: (line: string) => void;
  /** Names the cache folder, and whether the tests are prepared; given by tests. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
}

/** Where something of this name is once it was made. */
export function cachedPath(name: string, environment: NonNullable<CacheOptions["environment"]> = process.env): string {
  return join(cacheFolder(environment), name);
}

/** What this process is making now, by path. */
const underWay = new Map<string, Promise<string>>();

/**
 * The path of a file in the project's cache folder, made first if it is not there. `make` writes to the path it is given,
 * which is moved into place when complete. Whoever asks for it meanwhile, here or in another process, waits for the same file.
 */
export function cached(name: string, make: (path: string) => Promise<void>, options: CacheOptions = {}): Promise<string> {
  const path = cachedPath(name, options.environment);
  const joined = underWay.get(path);
  if (joined) return joined;
  const made = obtain(path, make, options).finally(() => underWay.delete(path));
  underWay.set(path, made);
  return made;
}

async function obtain(path: string, make: (path: string) => Promise<void>, options: CacheOptions): Promise<string> {
  const { say = () => {}, environment = process.env } = options;
  if (existsSync(path)) return path;
  if (environment.FAIRLEAD_PREPARED) {
    throw new Error(`${path} is not there: obtain it in test/bed/prepare.ts, so that no test's time limit contains a build`);
  }
  return await withLock(`${path}.lock`, { world: realWorld(), say, what: basename(path) }, async () => {
    // Whoever held the lock before us may have made it meanwhile.
    if (existsSync(path)) return path;
    await removeUnfinished(path);
    const folder = await mkdtemp(`${path}.unfinished-`);
    try {
      await make(join(folder, basename(path)));
      await rename(join(folder, basename(path)), path);
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
    return path;
  });
}

/** Removes what a process that was killed half-way left beside the place. Only for the holder of the lock. */
async function removeUnfinished(path: string): Promise<void> {
  const names = await readdir(dirname(path));
  const unfinished = names.filter((name) => name.startsWith(`${basename(path)}.unfinished-`));
  await Promise.all(unfinished.map((name) => rm(join(dirname(path), name), { recursive: true, force: true })));
}

/** A short name for some content. */
export function contentKey(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 16);
}
