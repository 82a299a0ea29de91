/** A log that leaves out what is less important than a level, for programs whose flag goes that way too. */
import { type Log, silentLog } from "../../runtime/log.ts";

/** Lines of errors alone, of errors and warnings, or all. */
export type Importance = "info" | "warn" | "error" | "none";

/** The log without what is less important. */
export function atLeast(log: Log, importance: Importance): Log {
  if (importance === "info") return log;
  return {
    error: importance === "none" ? silentLog.error : log.error,
    warn: importance === "warn" ? log.warn : silentLog.warn,
    info: silentLog.info,
    v: () => undefined,
    with: (fields) => atLeast(log.with(fields), importance),
  };
}
