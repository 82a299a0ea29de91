/** What processes of Fairlead are about to do to AWS, as they log it: every step of a plan with its reason. */
import { type Clock, sleep } from "../runtime/world.ts";
import { LogTail } from "./log-tail.ts";

/** Something that a process is about to do to AWS, in its own words. */
export interface StepTaken {
  /** Unlike any other's. */
  readonly id: string;
  readonly at: number;
  readonly what: string;
  readonly why: string;
}

/** The parts of a line of a log that are read here. */
export interface LogEntry {
  readonly level?: string;
  /** In seconds. */
  readonly ts?: number;
  readonly msg?: string;
  readonly identity?: string;
  readonly why?: string;
  /** The Node that it is about. */
  readonly node?: string;
}

/** A line that is none of ours (a crash has its own form) says nothing. */
export function entryOf(logged: string): LogEntry {
  try {
    return JSON.parse(logged) as LogEntry;
  } catch {
    return {};
  }
}

const kept = 100;
const lookEveryMs = 100;

/** The latest steps of a process, through all its restarts. */
export class StepLog {
  readonly #name: string;
  #seen = 0;
  #taken: readonly StepTaken[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  /** The newest last. */
  get taken(): readonly StepTaken[] {
    return this.#taken;
  }

  /** Takes note of a line if it tells of a step. What becomes of Nodes is seen in the cluster. */
  read({ level, ts = 0, msg, why, node }: LogEntry): void {
    if (msg === undefined || why === undefined || level !== "info" || node !== undefined) return;
    const step = { id: `${this.#name}.${++this.#seen}`, at: ts * 1000, what: msg, why };
    this.#taken = [...this.#taken.slice(1 - kept), step];
  }

  /** Reads a file that a process writes, until the signal aborts. */
  async follow(path: string, clock: Clock, signal: AbortSignal): Promise<void> {
    const tail = new LogTail(path);
    while (!signal.aborted) {
      for (const each of await tail.lines()) this.read(entryOf(each));
      await sleep(clock, lookEveryMs, signal).catch(() => {});
    }
  }
}
