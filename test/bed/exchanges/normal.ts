/** Transcripts without what differs from run to run: identities become the order in which they were first seen. */
import type { Talk, Value } from "./talk.ts";

const uuids = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const times = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g;

/** The transcript in a form that two APIs can agree on. */
export function normalised(transcript: Talk["transcript"]): Value {
  const names = new Map<string, string>();
  const alias = (kind: string, value: Value): string => {
    const known = `${kind} ${value}`;
    if (!names.has(known)) names.set(known, `(${kind} ${[...names.keys()].filter((key) => key.startsWith(`${kind} `)).length + 1})`);
    return names.get(known)!;
  };

  const text = (value: string) =>
    value
      .replace(uuids, (uid) => alias("uid", uid))
      .replace(times, "(time)")
      .replace(/\bgen-[a-z0-9]{5}\b/g, (name) => alias("generated", name))
      .replace(/(resource version: \d+) \(\d+\)/, "$1 (…)")
      .replace(/current: \d+/, "current: …")
      .replace(/ResourceVersion in record \(\d+\)/, "ResourceVersion in record (…)")
      // Go and JavaScript word these in their own ways.
      .replace(/(json parse error|continue key is not valid): .*$/s, "$1")
      // Go walks maps in no order; the causes say the same, sorted.
      .replace(/is invalid: \[.*\]$/s, "is invalid: (see causes)");

  const walk = (value: Value, name: string, wholeList: boolean): Value => {
    if (Array.isArray(value)) {
      const items = value.map((item) => walk(item, "", false));
      // A rejected patch is tried again by the real API, and complains anew each time.
      return name === "causes" ? [...new Set(items.map((item) => JSON.stringify(item)))].sort().map((item) => JSON.parse(item)) : items;
    }
    if (value !== null && typeof value === "object") {
      const isList = typeof value.kind === "string" && /List$|^Table$/.test(value.kind);
      const result: { [name: string]: Value } = {};
      for (const field of Object.keys(value).sort()) {
        if (field === "managedFields" || (field === "continue" && value[field] === "") || (field === "description" && "priority" in value))
          continue;
        result[field] = walk(value[field]!, field, name === "metadata" ? wholeList : isList || value.type === "BOOKMARK" || wholeList);
      }
      return result;
    }
    if (name === "resourceVersion") return wholeList ? "(version of the whole)" : alias("version", value);
    if (name === "continue") return "(continue)";
    if (name === "token" && String(value).startsWith("ey")) return "(token)";
    if (name === "nodePort" || name === "healthCheckNodePort") return alias("port", value);
    if (name === "serverAddress") return "(address)";
    if (name === "clusterIP" && value !== "None") return alias("address", value);
    return typeof value === "string" ? text(value).replace(/\b10\.96\.\d+\.\d+\b/g, (ip) => alias("address", ip)) : value;
  };
  return transcript.map(({ said, status, answer }) => ({ said: text(said), status, answer: walk(answer, "", false) }));
}
