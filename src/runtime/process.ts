/** The edge between a program and the operating system: signals in, one exit status out. */
import { LeadershipLost } from "./election.ts";
import { redact } from "./redact.ts";

/** What a program needs of its process; another one in tests and in simulation. */
export interface ProcessEdge {
  /** Tells each SIGTERM and SIGINT. */
  onSignal(tell: (signal: "SIGTERM" | "SIGINT") => void): void;
  /** Tells of exceptions that nobody caught and rejections that nobody handled. */
  onCrash(tell: (error: unknown) => void): void;
  exit(status: number): void;
}

/** Exit statuses that users of the reference know. */
export const exitStatus = { done: 0, leadershipLost: 1, fatal: 255, SIGINT: 130, SIGTERM: 143 } as const;

/** The status that says what this error means. */
export function statusOf(error: unknown): number {
  return error instanceof LeadershipLost ? exitStatus.leadershipLost : exitStatus.fatal;
}

/**
 * Runs a program to its exit. The first signal asks it to end in order, the second ends it at once; what nobody caught
 * is said in one message without secrets and ends it with 255. `fatal` must have written its message when it returns.
 */
export async function runProcess(
  edge: ProcessEdge,
  program: (stop: AbortSignal) => Promise<number>,
  fatal: (message: string, error: unknown) => void,
): Promise<void> {
  const stop = new AbortController();
  let exited = false;
  const exit = (status: number) => {
    if (exited) return;
    exited = true;
    edge.exit(status);
  };
  const crash = (error: unknown) => {
    if (exited) return;
    fatal(redact(error instanceof Error ? `${error.name}: ${error.message}` : String(error)), error);
    exit(exitStatus.fatal);
  };
  edge.onSignal((signal) => {
    if (stop.signal.aborted) exit(exitStatus[signal]);
    else stop.abort(new Error(`received ${signal}`));
  });
  edge.onCrash(crash);
  try {
    exit(await program(stop.signal));
  } catch (error) {
    crash(error);
  }
}

/** This process. */
export function realEdge(): ProcessEdge {
  return {
    onSignal(tell) {
      process.on("SIGTERM", () => tell("SIGTERM"));
      process.on("SIGINT", () => tell("SIGINT"));
    },
    onCrash(tell) {
      process.on("uncaughtException", tell);
      process.on("unhandledRejection", tell);
    },
    // Whatever was printed leaves before the process does; whatever else is still open does not hold it.
    exit: (status) => void process.stdout.write("", () => process.exit(status)),
  };
}
