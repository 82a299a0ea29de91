/**
 * A log line in the form of klog, which every Kubernetes program writes and every collector of its logs reads:
 *
 *     I1115 22:21:17.219000       1 election] "acquired the leader lease" lease="kube-system/x"
 *     ^severity, month and day     ^process ^logger, where klog has file and line
 *
 * https://kubernetes.io/docs/concepts/cluster-administration/system-logs/
 */
import { errorChain, isPlainError } from "./log-text.ts";

const severities: Readonly<Record<string, string>> = { error: "E", warn: "W", info: "I", fatal: "F" };

/** Turns one JSON line of the log into klog's form. Times are in UTC. */
export function klogLine(json: string, pid: number): string {
  const { level, ts, msg, v: _, err: __, logger = "fairlead", controller, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const at = new Date(Number(ts) * 1000).toISOString();
  const day = at.slice(5, 10).replace("-", "");
  const clock = `${at.slice(11, 23)}000`;
  const head = `${severities[String(level)] ?? "I"}${day} ${clock} ${String(pid).padStart(7)} ${logger}]`;
  const pairs = Object.entries({ ...(controller === undefined ? {} : { controller }), ...fields }).flatMap(([name, value]) =>
    pair(name, value),
  );
  return `${[head, JSON.stringify(String(msg)), ...pairs].join(" ")}\n`;
}

/** Text is quoted, numbers and booleans are not; an error is `err`, as klog names it. */
function pair(name: string, value: unknown): readonly string[] {
  if (isPlainError(value)) {
    const key = name === "error" ? "err" : name;
    const { code, requestId, stack } = value;
    const more = Object.entries({ code, requestId }).flatMap(([part, text]) =>
      text === undefined ? [] : [`${key}.${part}=${JSON.stringify(text)}`],
    );
    return [`${key}=${JSON.stringify(errorChain(value))}`, ...more, ...(stack === undefined ? [] : [`stack=${JSON.stringify(stack)}`])];
  }
  if (typeof value === "object" && value !== null) return [`${name}=${JSON.stringify(JSON.stringify(value))}`];
  return [`${name}=${JSON.stringify(value)}`];
}
