/** The lines on standard error, which kubelet puts into its log when the plugin fails. */
import type { Clock } from "../runtime/world.ts";
import type { FailureCode } from "./errors.ts";

export type Level = "error" | "warn" | "info";
export type LogFormat = "text" | "json";

export interface Journal {
  info(message: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(message: string, fields?: Readonly<Record<string, unknown>>): void;
  error(message: string, code: FailureCode, hint: string | undefined): void;
  /** From now on this text appears in no line, whatever message it may have got into. */
  hide(secret: string | undefined): void;
}

export interface JournalOptions {
  readonly level: Level;
  readonly format: LogFormat;
  readonly clock: Clock;
  readonly pid: number;
  readonly write: (line: string) => void;
}

const rank: Readonly<Record<Level, number>> = { error: 0, warn: 1, info: 2 };

/** A journal that writes klog's line format, or one JSON object a line. */
export function openJournal(options: JournalOptions): Journal {
  const secrets: string[] = [];
  const write = (level: Level, message: string, fields: Readonly<Record<string, unknown>>) => {
    if (rank[level] > rank[options.level]) return;
    const time = new Date(options.clock.now());
    let line = options.format === "json" ? jsonLine(level, time, message, fields) : textLine(level, time, options.pid, message, fields);
    for (const secret of secrets) line = line.replaceAll(secret, "[hidden]");
    options.write(`${line}\n`);
  };
  return {
    info: (message, fields = {}) => write("info", message, fields),
    warn: (message, fields = {}) => write("warn", message, fields),
    error: (message, code, hint) => write("error", message, hint === undefined ? { code } : { code, hint }),
    hide(secret) {
      // Shorter ones would turn harmless lines into riddles, and no credential is that short.
      if (secret !== undefined && secret.length >= 8) secrets.push(secret);
    },
  };
}

function jsonLine(level: Level, time: Date, message: string, fields: Readonly<Record<string, unknown>>): string {
  return JSON.stringify({ time: time.toISOString(), level, message, ...fields });
}

/** `I1115 04:04:42.531000    6298 plugin:1] message`. Parsers of klog's format insist on a line number; the
 * time is UTC, because asking for the local one loads the time zones, at a quarter of the program's run time. */
function textLine(level: Level, time: Date, pid: number, message: string, fields: Readonly<Record<string, unknown>>): string {
  const two = (value: number) => String(value).padStart(2, "0");
  const day = `${two(time.getUTCMonth() + 1)}${two(time.getUTCDate())}`;
  const clock = `${two(time.getUTCHours())}:${two(time.getUTCMinutes())}:${two(time.getUTCSeconds())}.${String(time.getUTCMilliseconds()).padStart(3, "0")}000`;
  const head = `${level[0]!.toUpperCase()}${day} ${clock} ${String(pid).padStart(7)} plugin:1] `;
  const tail = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${JSON.stringify(value)}`);
  return head + message + tail.join("");
}
