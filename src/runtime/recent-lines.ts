/** A log that also remembers its latest lines, to be asked for over HTTP. */
import type { Fields, Log } from "./log.ts";
import { redact, redactValue } from "./redact.ts";
import type { Clock } from "./world.ts";

export interface RecentLine {
  /** Counts up, so that who asks again knows what is new. */
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly level: "error" | "warn" | "info";
  readonly message: string;
  /** Masked as in the log. */
  readonly fields: Fields;
}

export interface RecentLines {
  readonly log: Log;
  latest(): readonly RecentLine[];
}

const kept = 200;

/** Remembers errors, warnings, and what is done and why: each step of a plan has the field `why`. */
export function rememberLines(clock: Clock, log: Log): RecentLines {
  const lines: RecentLine[] = [];
  let last = 0;
  const remember = (level: RecentLine["level"], message: string, fields: Fields) => {
    lines.push({ id: ++last, at: clock.now(), level, message: redact(message), fields: redactValue(fields) as Fields });
    if (lines.length > kept) lines.shift();
  };
  const wrap = (inner: Log, common: Fields): Log => ({
    error(message, fields) {
      inner.error(message, fields);
      remember("error", message, { ...common, ...fields });
    },
    warn(message, fields) {
      inner.warn(message, fields);
      remember("warn", message, { ...common, ...fields });
    },
    info(message, fields) {
      inner.info(message, fields);
      if (fields?.why !== undefined) remember("info", message, { ...common, ...fields });
    },
    v: (level) => inner.v(level),
    with: (fields) => wrap(inner.with(fields), { ...common, ...fields }),
  });
  return { log: wrap(log, {}), latest: () => lines };
}
