/** The log of a process: JSON lines, klog's form, or text for eyes on a terminal; verbosity that can be changed while it runs. */
import { type DestinationStream, type Logger, pino } from "pino";
import type { Fields, Log } from "./log.ts";
import { klogLine } from "./log-klog.ts";
import { errorChain, isPlainError, prettyLine } from "./log-text.ts";
import { redact, redactValue } from "./redact.ts";
import type { Clock } from "./world.ts";

export interface LogsOptions {
  readonly format: "json" | "text";
  /** klog's `-v`. */
  readonly verbosity: number;
  /** `pattern=level,…`: levels of their own for logs whose field `logger` matches (`*` stands for anything). */
  readonly vmodule?: string;
  /** For text: for eyes on a terminal, not in klog's form. */
  readonly colour?: boolean;
  readonly destination: LogDestination;
}

/** Where lines go. */
export interface LogDestination {
  write(line: string): void;
  /** Returns when everything written so far has left the process. */
  flush(): void;
}

export interface Logs {
  readonly log: Log;
  verbosity(): number;
  /** Takes effect at once, also in logs handed out before. */
  setVerbosity(level: number): void;
  /** Writes out what is buffered. To be called before the process ends. */
  flush(): void;
}

/** `--vmodule` that cannot be read. */
export class InvalidVmodule extends Error {
  override readonly name = "InvalidVmodule";
}

/** Opens the log. Every line is masked before it is written: see `redact`. */
export function openLogs(clock: Clock, options: LogsOptions): Logs {
  const modules = parseVmodule(options.vmodule ?? "");
  const state = { verbosity: options.verbosity };
  const writer = pino(
    {
      base: null,
      // The names that Kubernetes' own programs use: https://kubernetes.io/docs/concepts/cluster-administration/system-logs/#json-log-format
      messageKey: "msg",
      level: "info",
      timestamp: () => `,"ts":${clock.now() / 1000}`,
      formatters: { level: (level) => ({ level }) },
    },
    options.format === "json" ? options.destination : pretty(options.destination, options.colour ?? false),
  );
  return {
    log: makeLog(writer, state, modules, {}, undefined),
    verbosity: () => state.verbosity,
    setVerbosity(level) {
      state.verbosity = level;
    },
    flush: () => options.destination.flush(),
  };
}

interface ModuleLevel {
  readonly pattern: RegExp;
  readonly level: number;
}

function parseVmodule(text: string): readonly ModuleLevel[] {
  return text
    .split(",")
    .filter((item) => item !== "")
    .map((item) => {
      const [, glob, level] = /^([^=]+)=(\d+)$/.exec(item.trim()) ?? [];
      if (glob === undefined) throw new InvalidVmodule(`"${item}" is not of the form pattern=N`);
      const pattern = glob
        .split("*")
        .map((part) => RegExp.escape(part).replaceAll("\\?", "."))
        .join(".*");
      return { pattern: new RegExp(`^${pattern}$`), level: Number(level) };
    });
}

function makeLog(
  writer: Logger,
  state: { readonly verbosity: number },
  modules: readonly ModuleLevel[],
  bound: Fields,
  at: number | undefined,
): Log {
  const own = typeof bound.logger === "string" ? modules.find(({ pattern }) => pattern.test(bound.logger as string))?.level : undefined;
  const allows = (level: number) => level <= Math.max(state.verbosity, own ?? 0);
  const write = (level: "error" | "warn" | "info") => (message: string, fields?: Fields) => {
    const masked = redactValue({ ...bound, ...fields }, { stacks: allows(4) }) as Fields;
    const err = isPlainError(masked.error) && { err: errorChain(masked.error) };
    writer[level]({ ...(level === "info" && { v: at ?? 0 }), ...err, ...masked }, redact(message));
  };
  return {
    error: write("error"),
    warn: write("warn"),
    info: write("info"),
    v: (level) => (allows(level) ? makeLog(writer, state, modules, bound, level) : undefined),
    with: (fields) => makeLog(writer, state, modules, { ...bound, ...fields }, at),
  };
}

function pretty(out: LogDestination, colour: boolean): DestinationStream {
  return { write: (line) => out.write(colour ? prettyLine(line) : klogLine(line, process.pid)) };
}
