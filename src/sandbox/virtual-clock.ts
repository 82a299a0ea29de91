/**
 * A world on virtual time: nothing in it waits for real, and the same seed gives the same history.
 *
 * Time stands still until it is advanced. Between two timers everything that can run without time passing is run:
 * microtasks, ticks, and work handed to `holding` (real input and output on behalf of the world).
 */
import { setImmediate as macrotask } from "node:timers/promises";
import type { Clock, Files, World } from "../runtime/world.ts";
import { seededRandom } from "./seeded-random.ts";

export interface VirtualClock extends Clock {
  /** Moves the wall clock alone, as an operator or NTP would; spans and timers do not notice. */
  jump(ms: number): void;
}

export interface VirtualWorld extends World {
  readonly clock: VirtualClock;
  /** Lets `ms` of virtual time pass: runs every timer due by then, in order, and what each sets off. */
  advance(ms: number): Promise<void>;
  /** Advances, timer by timer, until the predicate holds; rejects with `NeverHappened` when `limitMs` passes first. */
  runUntil(predicate: () => boolean, limitMs: number, what?: string): Promise<void>;
  /** Runs everything that needs no time to pass. */
  settle(): Promise<void>;
  /** Keeps time from passing until the work settles. For real input and output inside the world. */
  holding<T>(work: Promise<T>): Promise<T>;
}

export interface VirtualWorldOptions {
  /** Wall-clock time at the start, in milliseconds since the epoch. */
  readonly startMs?: number;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly files?: Readonly<Record<string, string>>;
  readonly hostname?: string;
}

/** What `runUntil` waited for did not come about. */
export class NeverHappened extends Error {
  override readonly name = "NeverHappened";
}

/** A world of its own, from one seed. */
export function virtualWorld(seed: number, options: VirtualWorldOptions = {}): VirtualWorld {
  const timers = new Timers();
  const startMs = options.startMs ?? Date.UTC(2026, 0, 1);
  let elapsed = 0;
  let jumped = 0;
  let held = 0;

  const settle = async () => {
    do await macrotask();
    while (held > 0);
  };

  /** Runs the next timer due by `until`; says whether there was one. */
  const step = async (until: number): Promise<boolean> => {
    const timer = timers.takeDueBy(until);
    if (timer === undefined) return false;
    elapsed = Math.max(elapsed, timer.due);
    timer.callback();
    await settle();
    return true;
  };

  return {
    clock: {
      now: () => Math.floor(startMs + elapsed + jumped),
      monotonic: () => elapsed,
      after: (ms, callback) => timers.add(elapsed + Math.max(ms, 0), callback),
      jump(ms) {
        jumped += ms;
      },
    },
    random: seededRandom(seed),
    files: memoryFiles(options.files ?? {}),
    environment: options.environment ?? {},
    hostname: options.hostname ?? "virtual",
    settle,
    async advance(ms) {
      const until = elapsed + ms;
      await settle();
      while (await step(until));
      elapsed = Math.max(elapsed, until);
    },
    async runUntil(predicate, limitMs, what = "the awaited condition") {
      const until = elapsed + limitMs;
      await settle();
      while (!predicate()) {
        if (!(await step(until))) throw new NeverHappened(`${what}: not within ${limitMs} ms of virtual time`);
      }
    },
    async holding(work) {
      held++;
      try {
        return await work;
      } finally {
        held--;
      }
    },
  };
}

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly callback: () => void;
  cancelled: boolean;
}

/** A binary heap by due time, then by order of setting. */
class Timers {
  readonly #heap: Timer[] = [];
  #set = 0;

  add(due: number, callback: () => void): () => void {
    const timer: Timer = { due, order: this.#set++, callback, cancelled: false };
    const heap = this.#heap;
    let at = heap.push(timer) - 1;
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!before(timer, heap[parent]!)) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = timer;
    return () => {
      timer.cancelled = true;
    };
  }

  takeDueBy(until: number): Timer | undefined {
    for (;;) {
      const first = this.#heap[0];
      if (first === undefined) return undefined;
      if (!first.cancelled && first.due > until) return undefined;
      this.#removeFirst();
      if (!first.cancelled) return first;
    }
  }

  #removeFirst(): void {
    const heap = this.#heap;
    const last = heap.pop()!;
    if (heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++;
      if (!before(heap[child]!, last)) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = last;
  }
}

function before(a: Timer, b: Timer): boolean {
  return a.due < b.due || (a.due === b.due && a.order < b.order);
}

function memoryFiles(initial: Readonly<Record<string, string>>): Files {
  const contents = new Map<string, Uint8Array>(Object.entries(initial).map(([path, text]) => [path, Buffer.from(text)]));
  return {
    async read(path) {
      const content = contents.get(path);
      if (content !== undefined) return content;
      const paths = [...contents.keys()];
      if (paths.some((other) => other.startsWith(`${path}/`))) throw refused("EISDIR", "illegal operation on a directory, read");
      if (paths.some((other) => path.startsWith(`${other}/`))) throw refused("ENOTDIR", `not a directory, open '${path}'`);
      throw refused("ENOENT", `no such file or directory, open '${path}'`);
    },
    async list(path) {
      const below = [...contents.keys()].filter((other) => other.startsWith(`${path}/`));
      if (below.length === 0) throw refused("ENOENT", `no such file or directory, scandir '${path}'`);
      return [...new Set(below.map((other) => other.slice(path.length + 1).split("/", 1)[0]!))];
    },
    async write(path, content) {
      contents.set(path, typeof content === "string" ? Buffer.from(content) : content.slice());
    },
  };
}

function refused(code: string, why: string): Error {
  return Object.assign(new Error(`${code}: ${why}`), { code });
}
