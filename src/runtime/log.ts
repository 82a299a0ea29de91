/** Structured logs, with the verbosity levels that users of klog know. */

export type Fields = Readonly<Record<string, unknown>>;

export interface Log {
  error(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  /** A log for `-v=level` and above, or undefined when that is not asked for: `log.v(4)?.info(...)` costs nothing then. */
  v(level: number): Log | undefined;
  /** The same log with these fields on every line. */
  with(fields: Fields): Log;
}

/** Says nothing. */
export const silentLog: Log = {
  error() {},
  warn() {},
  info() {},
  v: () => undefined,
  with: () => silentLog,
};
