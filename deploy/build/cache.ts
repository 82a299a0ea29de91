/** What is fetched or built once and serves many builds and test runs. */
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { cacheFolder } from "../../src/sandbox/cluster/assets/assets.ts";

/**
 * The path of a file in the project's cache folder, made first if it is not there. `make` writes to the path it is given,
 * which is moved into place when complete: two who make it at once both end up with a whole file.
 */
export async function cached(name: string, make: (path: string) => Promise<void>): Promise<string> {
  const path = join(cacheFolder(process.env), name);
  if (existsSync(path)) return path;
  const beside = join(dirname(path), `.${process.pid}-${basename(path)}`);
  await mkdir(dirname(path), { recursive: true });
  try {
    await make(beside);
    await rename(beside, path);
  } finally {
    await rm(beside, { force: true });
  }
  return path;
}

/** A short name for some content. */
export function contentKey(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part).update("\0");
  return hash.digest("hex").slice(0, 16);
}
