/**
 * Values as Go programs read and write them, with Go's own error texts: operators have these texts in their notes and
 * search engines know them.
 */

/** A text in double quotes with escapes, as Go's `%q` prints it. */
export function goQuote(text: string): string {
  return JSON.stringify(text)
    .replace(/\\u00([0-9a-f]{2})/g, "\\x$1")
    .replaceAll("\\x07", "\\a")
    .replaceAll("\\x0b", "\\v");
}

/** A list as Go's `%q` prints it: `["a" "b"]`. */
export function goQuoteList(texts: readonly string[]): string {
  return `[${texts.map(goQuote).join(" ")}]`;
}

const booleans: Readonly<Record<string, boolean>> = {
  "1": true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  "0": false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};

/** What `strconv.ParseBool` takes for true or false; undefined otherwise. */
export function goBool(text: string): boolean | undefined {
  return Object.hasOwn(booleans, text) ? booleans[text] : undefined;
}

/** `strconv.ParseBool`, with its error. */
export function parseGoBool(text: string): boolean {
  const value = goBool(text);
  if (value === undefined) throw new SyntaxError(`strconv.ParseBool: parsing ${goQuote(text)}: invalid syntax`);
  return value;
}

/** `strconv.ParseInt` (or `ParseUint`) with base 0: decimal, `0x`, `0o`, `0b`, a leading zero for octal, `_` between digits. */
export function parseGoInt(text: string, low: bigint, high: bigint, call: "ParseInt" | "ParseUint" = "ParseInt", base: 0 | 10 = 0): number {
  const sign = call === "ParseInt" ? "[+-]?" : "";
  const prefixed = "(?:0[xX](?:_?[0-9a-fA-F])+|0[bB](?:_?[01])+|0[oO](?:_?[0-7])+|0(?:_?[0-7])*|[1-9](?:_?[0-9])*)";
  const form = new RegExp(`^(${sign})(${base === 0 ? prefixed : "[0-9]+"})$`);
  const match = form.exec(text);
  if (!match) throw new SyntaxError(`strconv.${call}: parsing ${goQuote(text)}: invalid syntax`);
  const digits = match[2]!.replaceAll("_", "");
  const octal = base === 0 && /^0[0-7]+$/.test(digits);
  const magnitude = BigInt(octal ? `0o${digits.slice(1)}` : digits);
  const value = match[1] === "-" ? -magnitude : magnitude;
  if (value < low || value > high) throw new RangeError(`strconv.${call}: parsing ${goQuote(text)}: value out of range`);
  return Number(value);
}

/** `strconv.ParseFloat`. Infinities and NaN are refused although Go takes them: no flag here has a use for them. */
export function parseGoFloat(text: string, largest: number): number {
  const digits = text.replace(/(?<=\d)_(?=\d)/g, "");
  if (!/^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/.test(digits)) {
    throw new SyntaxError(`strconv.ParseFloat: parsing ${goQuote(text)}: invalid syntax`);
  }
  // Not the negative zero, which no flag means.
  const value = Number(digits) + 0;
  if (Math.abs(value) > largest) throw new RangeError(`strconv.ParseFloat: parsing ${goQuote(text)}: value out of range`);
  return value;
}

/** In milliseconds. */
const durationUnits: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  "\u00b5s": 1e-3,
  "\u03bcs": 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};

/** Go counts nanoseconds in 63 bits. */
const maxDurationMs = 9_223_372_036_854.775;

/** `time.ParseDuration`, in milliseconds: `1h2m3.5s`, `100ms`, `0`. */
export function parseGoDuration(text: string): number {
  const invalid = () => new SyntaxError(`time: invalid duration ${goQuote(text)}`);
  const [, sign, body] = /^([+-]?)(.*)$/s.exec(text) as unknown as [string, string, string];
  if (body === "0") return 0;
  if (body === "") throw invalid();
  let total = 0;
  let rest = body;
  while (rest !== "") {
    const number = /^(\d+(?:\.\d*)?|\.\d+)/.exec(rest)?.[0];
    if (number === undefined || Number(number) > 2 ** 63) throw invalid();
    rest = rest.slice(number.length);
    const unit = /^[^.\d]*/.exec(rest)![0];
    if (unit === "") throw new SyntaxError(`time: missing unit in duration ${goQuote(text)}`);
    const scale = Object.hasOwn(durationUnits, unit) ? durationUnits[unit] : undefined;
    if (scale === undefined) throw new SyntaxError(`time: unknown unit ${goQuote(unit)} in duration ${goQuote(text)}`);
    total += Number(number) * scale;
    rest = rest.slice(unit.length);
  }
  if (total > maxDurationMs) throw invalid();
  return sign === "-" ? -total : total;
}

/** Milliseconds as Go prints a `time.Duration`: `12h0m0s`, `3.5s`, `100ms`, `0s`. */
export function goDuration(ms: number): string {
  if (ms < 0) return `-${goDuration(-ms)}`;
  if (ms === 0) return "0s";
  if (ms < 1e-3) return `${trimmed(ms * 1e6)}ns`;
  if (ms < 1) return `${trimmed(ms * 1e3)}\u00b5s`;
  if (ms < 1000) return `${trimmed(ms)}ms`;
  const hours = Math.floor(ms / 3_600_000);
  const minutes = Math.floor((ms % 3_600_000) / 60_000);
  const seconds = `${trimmed((ms % 60_000) / 1000)}s`;
  if (hours > 0) return `${hours}h${minutes}m${seconds}`;
  return minutes > 0 ? `${minutes}m${seconds}` : seconds;
}

function trimmed(number: number): string {
  return String(Number(number.toFixed(9)));
}

/** The first line of comma-separated values as Go's `encoding/csv` reads it: a value from a manifest may end in a line break. */
export function parseCsvLine(given: string): string[] {
  if (given === "") return [];
  const text = given.replaceAll("\r\n", "\n").replace(/^\n+/, "");
  if (text === "") throw new SyntaxError("EOF");
  const fields: string[] = [];
  let at = 0;
  for (;;) {
    if (text[at] === '"') {
      const { field, end } = quotedField(text, at);
      fields.push(field);
      at = end;
    } else {
      const end = at + /^[^,\n]*/.exec(text.slice(at))![0].length;
      const bare = text.slice(at, end).indexOf('"');
      if (bare >= 0) throw new SyntaxError(`parse error on line 1, column ${at + bare + 1}: bare " in non-quoted-field`);
      fields.push(text.slice(at, end));
      at = end;
    }
    if (at >= text.length || text[at] === "\n") return fields;
    at += 1;
  }
}

function quotedField(text: string, start: number): { field: string; end: number } {
  let field = "";
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    const after = quote < 0 ? undefined : (text[quote + 1] ?? ",");
    if (quote < 0 || (after !== '"' && after !== "," && after !== "\n")) {
      const column = (quote < 0 ? text.length : quote) + 1;
      throw new SyntaxError(`parse error on line 1, column ${column}: extraneous or missing " in quoted-field`);
    }
    field += text.slice(at, quote);
    if (after !== '"') return { field, end: quote + 1 };
    field += '"';
    at = quote + 2;
  }
}

/** The inverse of `parseCsvLine`. */
export function csvLine(fields: readonly string[]): string {
  return fields.map((field) => (/[",\r\n]|^\s/.test(field) ? `"${field.replaceAll('"', '""')}"` : field)).join(",");
}
