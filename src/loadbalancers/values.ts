/** The small grammars annotation values are written in. */
export { goBool as parseGoBool } from "../runtime/flags-go.ts";

/** A decimal integer, sign allowed; undefined otherwise. */
export function parseInteger(text: string): number | undefined {
  return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** `a, b,,c`: trimmed, blanks dropped. */
export function parseList(text: string): string[] {
  return text
    .split(",")
    .map((entry) => entry.trim())
    .filter((entry) => entry !== "");
}

/**
 * `Key=Value,Key2=,Key3`: entries are trimmed, keys and values are not; a missing value is empty, an empty key is
 * skipped, what follows a second `=` is dropped, the last of equal keys wins.
 */
export function parseKeyValues(text: string): Record<string, string> {
  const pairs = new Map<string, string>();
  for (const entry of text.trim().split(",")) {
    const [key = "", value = ""] = entry.trim().split("=");
    if (key !== "") pairs.set(key, value);
  }
  return Object.fromEntries(pairs);
}
