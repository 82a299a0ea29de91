/** The small grammars annotation values are written in. */

/** Exactly what Go's strconv.ParseBool takes; undefined otherwise. */
export function parseGoBool(text: string): boolean | undefined {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return true;
  if (["0", "f", "F", "FALSE", "false", "False"].includes(text)) return false;
  return undefined;
}

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
