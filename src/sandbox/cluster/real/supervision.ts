/** The owner's end of the supervisor: start processes that end when this one does. */
import { fork } from "node:child_process";
import { once } from "node:events";
import { supervisorFile } from "../../program-files.ts";
import type { Exit, Order, Report, StartOptions } from "./supervisor.ts";

export type { Exit } from "./supervisor.ts";

/** A process that runs under the supervisor. */
export interface Supervised {
  readonly pid: number;
  /** How it ended; undefined while it runs. */
  readonly ended: Exit | undefined;
  signal(signal: NodeJS.Signals): void;
  /** Resolves when it has ended. */
  exit(): Promise<Exit>;
}

export interface Supervision {
  start(command: string, args: readonly string[], options: StartOptions): Promise<Supervised>;
  /** Kills what still runs, removes the folder, and resolves when both are done. */
  close(): Promise<void>;
}

/** Starts a supervisor that owns `folder`: the folder goes when the supervisor does. */
export async function supervise(folder: string): Promise<Supervision> {
  const supervisor = fork(supervisorFile, [folder], {
    detached: true,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    execArgv: [],
  });
  await once(supervisor, "spawn");
  const gone = once(supervisor, "exit");
  const processes = new Map<number, Entry>();
  let nextId = 0;
  // Only somebody who waits for an answer keeps this process alive; a test that is done must be able to end.
  let waiting = 0;
  supervisor.unref();
  supervisor.channel?.unref();

  supervisor.on("message", (message: Report) => {
    const entry = processes.get(message.id);
    if (message.kind === "started") entry?.started.resolve(message.pid);
    else if (message.kind === "failed") entry?.started.reject(new Error(message.reason));
    else entry?.finish(message.exit);
  });
  supervisor.once("exit", () => {
    for (const entry of processes.values()) entry.abandon();
  });

  async function awaiting<T>(answer: Promise<T>): Promise<T> {
    if (waiting++ === 0) supervisor.channel?.ref();
    try {
      return await answer;
    } finally {
      if (--waiting === 0) supervisor.channel?.unref();
    }
  }

  return {
    async start(command, args, options) {
      const id = nextId++;
      const entry = new Entry();
      processes.set(id, entry);
      const send = (order: Order) => {
        if (supervisor.connected) supervisor.send(order);
      };
      send({ kind: "start", id, command, args, options });
      const pid = await awaiting(entry.started.promise).catch((cause) => {
        throw new Error(`start ${command}: ${cause.message}`, { cause });
      });
      entry.pid = pid;
      return {
        pid,
        get ended() {
          return entry.ended;
        },
        signal: (signal) => send({ kind: "signal", id, signal }),
        exit: () => awaiting(entry.exit.promise),
      };
    },
    async close() {
      supervisor.ref();
      if (supervisor.connected) supervisor.disconnect();
      await gone;
    },
  };
}

class Entry {
  readonly started = Promise.withResolvers<number>();
  readonly exit = Promise.withResolvers<Exit>();
  pid: number | undefined;
  ended: Exit | undefined;

  finish(exit: Exit): void {
    this.ended = exit;
    this.exit.resolve(exit);
  }

  /** The supervisor ended before its child: by our own `close`, which has killed the child, or by somebody's hand. */
  abandon(): void {
    if (this.ended) return;
    try {
      if (this.pid) process.kill(this.pid, "SIGKILL");
    } catch {
      // It is gone, as it should be.
    }
    this.started.reject(new Error("the supervisor has ended"));
    this.finish({ code: null, signal: "SIGKILL" });
  }
}
