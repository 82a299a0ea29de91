/** One process at a time prepares a program; the others wait and say so. */
import { mkdir, open, rm, stat, utimes } from "node:fs/promises";
import { dirname } from "node:path";
import { sleep, type World } from "../../../runtime/world.ts";
import { elapsed } from "./progress.ts";

export interface LockOptions {
  readonly world: World;
  readonly say: (line: string) => void;
  /** `etcd 3.7.3` */
  readonly what: string;
}

const heartbeatMs = 2_000;
/** A holder that has not touched its lock for so long is dead. Not its process id: it may live in another container. */
const staleMs = 15_000;
const saidEveryMs = 15_000;

/**
 * Runs `work` while holding the lock file. Should two processes ever both take a dead holder's lock, the work is done
 * twice and nothing is damaged, because its result is moved into place in one step.
 */
export async function withLock<T>(path: string, options: LockOptions, work: () => Promise<T>): Promise<T> {
  const { world, say, what } = options;
  const began = world.clock.monotonic();
  let nextSay = 0;
  await mkdir(dirname(path), { recursive: true });
  while (!(await take(path))) {
    if (await isStale(path, world)) {
      await rm(path, { force: true });
      continue;
    }
    const waited = world.clock.monotonic() - began;
    if (waited >= nextSay) {
      say(`another process is preparing ${what}; waiting for it (${elapsed(waited)} so far)`);
      nextSay = waited + saidEveryMs;
    }
    await sleep(world.clock, 250);
  }
  const stopHeartbeat = keepFresh(path, world);
  try {
    return await work();
  } finally {
    stopHeartbeat();
    await rm(path, { force: true });
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await (await open(path, "wx")).close();
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw new Error(`lock ${path}: ${(error as Error).message}; is the cache folder writable? FAIRLEAD_CACHE names another`, {
      cause: error,
    });
  }
}

async function isStale(path: string, world: World): Promise<boolean> {
  try {
    return world.clock.now() - (await stat(path)).mtimeMs > staleMs;
  } catch {
    return false; // Released meanwhile.
  }
}

function keepFresh(path: string, world: World): () => void {
  let cancel = () => {};
  const beat = () => {
    const now = new Date(world.clock.now());
    void utimes(path, now, now).catch(() => {});
    cancel = world.clock.after(heartbeatMs, beat);
  };
  beat();
  return () => cancel();
}
