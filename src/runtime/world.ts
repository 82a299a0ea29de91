/**
 * Everything a process takes from the machine it runs on: time, chance, files, environment.
 *
 * This is the only file that may reach for what the machine has. Everybody else is handed a `World`, so that a whole cluster
 * and its cloud can run in one process on virtual time, from one seed.
 *
 * Modules are loaded when they are first needed: a program that lives for ten milliseconds stands on this file too.
 */
export interface Clock {
  /** Wall-clock milliseconds since the epoch. It may jump: never measure a span with it. */
  now(): number;
  /** Milliseconds on a clock that never goes back. */
  monotonic(): number;
  /** Calls back once, `ms` from now. Returns the function that calls it off. */
  after(ms: number, callback: () => void): () => void;
}

export interface Random {
  /** Uniform in [0, 1). */
  number(): number;
  bytes(length: number): Uint8Array;
}

export interface Files {
  read(path: string): Promise<Uint8Array>;
  /** The names in a folder. */
  list(path: string): Promise<readonly string[]>;
  /** Replaces the file in one step (write beside it, rename over it), with the given permission bits. */
  write(path: string, content: Uint8Array | string, mode: number): Promise<void>;
}

export interface World {
  readonly clock: Clock;
  readonly random: Random;
  readonly files: Files;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly hostname: string;
}

/** The machine as it is. */
export function realWorld(): World {
  return {
    clock: {
      now: () => Date.now(),
      monotonic: () => performance.now(),
      after(ms, callback) {
        // Node fires at once what is further away than it can count: 24 days. Then it is those days instead.
        const timer = setTimeout(callback, Math.min(ms, 2 ** 31 - 1));
        return () => clearTimeout(timer);
      },
    },
    random: {
      number: () => Math.random(),
      bytes: randomBytes,
    },
    files: {
      read: async (path) => (await import("node:fs/promises")).readFile(path),
      list: async (path) => (await import("node:fs/promises")).readdir(path),
      async write(path, content, mode) {
        const { mkdir, rename, writeFile } = await import("node:fs/promises");
        const { dirname } = await import("node:path");
        await mkdir(dirname(path), { recursive: true });
        const beside = `${path}.${randomBytes(6).toString("hex")}`;
        await writeFile(beside, content, { mode });
        await rename(beside, path);
      },
    },
    environment: process.env,
    get hostname() {
      return process.getBuiltinModule("node:os").hostname();
    },
  };
}

/** By the global object, because `node:crypto` is slow to load. */
function randomBytes(length: number): Buffer {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(length)).buffer);
}

/** Resolves after `ms`; rejects with the signal's reason as soon as it aborts. */
export function sleep(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const onAbort = () => {
      cancel();
      reject(signal?.reason);
    };
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}

/** A time limit ran out. Names what was being done, because "timed out" alone helps nobody. */
export class TimedOut extends Error {
  override readonly name = "TimedOut";
  readonly limitMs: number;
  constructor(what: string, limitMs: number) {
    super(`${what}: no answer within ${limitMs} ms`);
    this.limitMs = limitMs;
  }
}

/**
 * Runs `work` under a time limit: when the limit passes, or the outer signal aborts, its signal aborts and this rejects
 * with the same reason, at once. Work that never notices its signal (an answer whose body stalls, a file system that
 * hangs) cannot hold up whoever waits. The timer is gone when the work is.
 */
export async function within<T>(
  clock: Clock,
  limitMs: number,
  what: string,
  outer: AbortSignal | undefined,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  outer?.throwIfAborted();
  const inner = new AbortController();
  const onOuter = () => inner.abort(outer?.reason);
  outer?.addEventListener("abort", onOuter, { once: true });
  const cancel = clock.after(limitMs, () => inner.abort(new TimedOut(what, limitMs)));
  try {
    return await unlessAborted(inner.signal, work(inner.signal));
  } finally {
    cancel();
    outer?.removeEventListener("abort", onOuter);
  }
}

/** The work's outcome, or the abort's reason as soon as it is aborted: whoever does the work may not notice. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(signal.reason);
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** `base`, stretched by up to `factor` of itself, so that many who wait for the same thing do not come back as one. */
export function jittered(random: Random, base: number, factor: number): number {
  return base * (1 + factor * random.number());
}

/** A random (version 4) UUID. */
export function uuid(random: Random): string {
  const bytes = random.bytes(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
