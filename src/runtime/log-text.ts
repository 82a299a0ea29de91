/** A log line for eyes, on a terminal: `04:05:06.789 INFO  acquired the leader lease  lease=kube-system/x`. */

const styles: Readonly<Record<string, readonly [label: string, colour: string]>> = {
  error: ["ERROR", "\x1b[31m"],
  warn: ["WARN ", "\x1b[33m"],
  info: ["INFO ", "\x1b[36m"],
};
const dim = "\x1b[2m";
const bold = "\x1b[1m";
const reset = "\x1b[0m";

/** Turns one JSON line of the log into text with colours. */
export function prettyLine(json: string): string {
  const { level, ts, msg, v, err: _, ...fields } = JSON.parse(json) as Record<string, unknown>;
  const paint = (style: string, text: string) => `${style}${text}${reset}`;
  const [label, hue] = styles[String(level)] ?? [String(level), ""];
  const clock = new Date(Number(ts) * 1000).toISOString().slice(11, 23);
  const pairs = Object.entries(fields).flatMap(([name, value]) =>
    pair(name, value).map(([key, text]) => `${paint(dim, `${key}=`)}${text}`),
  );
  const head = `${paint(dim, clock)} ${paint(hue, v === undefined || v === 0 ? label : `V${v}   `.slice(0, 5))} ${paint(bold, oneLine(String(msg)))}`;
  return `${[head, ...pairs].join("  ")}\n`;
}

/** An error reads as its message and, after arrows, those of its causes; everything else as one word or as JSON. */
function pair(name: string, value: unknown): [string, string][] {
  if (isPlainError(value)) {
    const pairs: [string, string][] = [[name, JSON.stringify(errorChain(value))]];
    for (const key of ["code", "requestId"] as const) if (value[key] !== undefined) pairs.push([`${name}.${key}`, String(value[key])]);
    if (value.stack !== undefined) pairs.push(["stack", `\n${value.stack}`]);
    return pairs;
  }
  if (typeof value === "string") return [[name, /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)]];
  return [[name, JSON.stringify(value) ?? ""]];
}

/** The message of an error and, after arrows, those of its causes. */
export function errorChain(error: PlainError): string {
  const chain: string[] = [];
  for (let at: unknown = error; isPlainError(at); at = at.cause)
    if (!chain.some((said) => said.includes(at.message))) chain.push(at.message);
  return chain.join(" ← ");
}

/** An error as it is in a JSON line. */
export interface PlainError {
  readonly name: string;
  readonly message: string;
  readonly stack?: string;
  readonly code?: unknown;
  readonly requestId?: unknown;
  readonly cause?: unknown;
}

export function isPlainError(value: unknown): value is PlainError {
  return typeof value === "object" && value !== null && "message" in value && "name" in value && typeof value.message === "string";
}

/** A message must not be able to fake a second line. */
function oneLine(text: string): string {
  return text.replaceAll("\n", "⏎ ");
}
