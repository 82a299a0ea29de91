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

/**
 * `k=v, k2=v2` as the AWS Load Balancer Controller reads it; undefined where it cannot be. A backslash makes the next character
 * plain text, so that `\\,` ends no pair. A comma ends a pair only if some `=` comes after it: a last one is text of the value.
 */
export function parseStringMap(text: string): Record<string, string> | undefined {
  const pairs: string[] = [];
  let pair = "";
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === "\\" && i + 1 < text.length) pair += text[++i];
    else if (char === "," && endsPair(text.slice(i + 1))) {
      pairs.push(pair);
      pair = "";
    } else pair += char;
  }
  if (text !== "") pairs.push(pair);
  const map: Record<string, string> = {};
  for (const each of pairs) {
    const at = each.indexOf("=");
    const key = each.slice(0, at).trim();
    if (at < 0 || key === "") return undefined;
    map[key] = each.slice(at + 1).trim();
  }
  return map;
}

/** What follows a comma is another pair, or a part that is none and cannot be read, unless it is blank. */
const endsPair = (rest: string) => rest.trim() !== "";
