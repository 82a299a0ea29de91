/** The edge between a program and the operating system: crashes and signals in, exit statuses out. */
import { redact } from "../runtime/redact.ts";

/**
 * Exit statuses: each number means one thing in every command of ours. `usage` and `crashed` are EX_USAGE and EX_SOFTWARE of
 * sysexits.h. Programs that stand for others keep theirs: `leadershipLost` and `fatal`.
 */
export const exitStatus = {
  done: 0,
  /** Something is wrong with what was looked at, or it could not be done. */
  failed: 1,
  /** `plan`: something would change, as with `terraform plan -detailed-exitcode`. `migrate`: something would be other than it is. */
  changes: 2,
  /** The command line cannot be understood. */
  usage: 64,
  /** A defect of this program. */
  crashed: 70,
  SIGINT: 130,
  SIGPIPE: 141,
  SIGTERM: 143,
  leadershipLost: 1,
  fatal: 255,
} as const;

/** What nobody caught, without secrets. */
export interface Crash {
  /** `TypeError: x is not a function` */
  readonly message: string;
  readonly stack: string;
}

/** Tells of a crash. It must have written what it has to say when it returns: the process ends then. */
export type TellCrash = (crash: Crash) => void;

/**
 * From now on an exception that nobody caught, and a rejection that nobody handled, is told and ends the process with a
 * status of its own. Nothing is put in order first: what the process would do next cannot be trusted, and a successor takes
 * the lease when it runs out. Returns the function that says by whom it is told from then on.
 */
export function endOnCrash(): (tell: TellCrash) => void {
  let tell: TellCrash = ({ stack }) => void process.stderr.write(`fairlead crashed: ${stack}\n`);
  const crash = (error: unknown) => {
    try {
      tell(crashOf(error));
    } finally {
      process.exit(exitStatus.crashed);
    }
  };
  process.on("uncaughtException", crash);
  process.on("unhandledRejection", crash);
  return (other) => {
    tell = other;
  };
}

/** The crash that this error is. */
export function crashOf(error: unknown): Crash {
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  const stack = error instanceof Error && error.stack ? error.stack : message;
  return { message: redact(message), stack: redact(stack) };
}

/** A closed pipe ends a program that prints, as everywhere; one that only logs goes on without its log. */
export function bearClosedPipes(): void {
  process.stdout.on("error", () => process.exit(exitStatus.SIGPIPE));
  process.stderr.on("error", () => {});
}

/** A signal asked for the end. */
export class Stopped extends Error {
  override readonly name = "Stopped";
  readonly signal: "SIGTERM" | "SIGINT";
  constructor(signal: "SIGTERM" | "SIGINT") {
    super(`received ${signal}`);
    this.signal = signal;
  }
}

/** Takes SIGTERM and SIGINT over: the first asks, the second ends the process at once. */
export function stopSignal(): AbortSignal {
  const asked = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (asked.signal.aborted) process.exit(exitStatus[signal]);
      asked.abort(new Stopped(signal));
    });
  }
  return asked.signal;
}
