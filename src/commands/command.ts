import type { TellCrash } from "../process/exit.ts";
import type { World } from "../runtime/world.ts";

/** Where a command's words go. */
export interface Console {
  out(text: string): void;
  err(text: string): void;
  /** Width of the terminal; 0 when `out` is none. */
  readonly columns: number;
  /** Whether somebody looks at `err` on a terminal. */
  readonly watched: boolean;
  /** A file descriptor for the log, so that writing it need not wait. Without one the log goes through `err`. */
  readonly logDescriptor?: number;
}

/** One call of the program. */
export interface Invocation {
  /** The words after the command's name. */
  readonly argv: readonly string[];
  readonly world: World;
  readonly console: Console;
  /** Takes SIGTERM and SIGINT over: from the call on they abort this signal, and only a second one ends the process at once. */
  stopSignal(): AbortSignal;
  /** Says by whom a crash is told from now on; without it, it is told on `err`. */
  onCrash?(tell: TellCrash): void;
}

/** A command: resolves with the process's exit status. */
export type Command = (invocation: Invocation) => Promise<number>;
