/**
 * The git-config flavour of INI that Kubernetes cloud providers are configured in: sections with quoted subsections,
 * quoting inside values, comments after `;` and `#`, backslash-newline. Refusals carry line and column, in gcfg's words.
 */

/** A section header (no `variable`), or one variable with the section it stands in. */
export interface IniEntry {
  /** As written; names compare without case. */
  readonly section: string;
  /** Empty when the header has none. Compares with case. */
  readonly subsection: string;
  readonly variable?: { readonly name: string; readonly value: IniValue };
  readonly line: number;
  readonly column: number;
}

/** `undefined` for a name without `=`, which is not the same as the empty value of `name =`. */
export type IniValue = string | undefined;

/** The file cannot be read. The message starts with line and column. */
export class IniError extends Error {
  override readonly name = "IniError";
  constructor(line: number, column: number, problem: string) {
    super(`${line}:${column}: ${problem}`);
  }
}

/** All headers and variables, in the order of the file. */
export function parseIni(content: Uint8Array): IniEntry[] {
  const scanner = new Scanner(decode(content));
  const entries: IniEntry[] = [];
  let current: IniEntry | undefined;
  for (let token = scanner.next(); token.kind !== "end"; token = scanner.next()) {
    if (token.kind === "newline") continue;
    if (token.kind === "[") {
      current = header(scanner, token);
      entries.push(current);
    } else if (!current) throw scanner.refuse(token.at, "expected section header");
    else if (token.kind === "name") entries.push(variable(scanner, token, current));
    else throw scanner.refuse(token.at, "expected section header or variable declaration");
  }
  return entries;
}

/** A boolean: true for a bare name, gcfg's words else. Throws with the reason. */
export function iniBool(value: IniValue): boolean {
  const word = value?.toLowerCase();
  if (word === undefined || ["true", "yes", "on", "1"].includes(word)) return true;
  if (["false", "no", "off", "0"].includes(word)) return false;
  throw new SyntaxError(`failed to parse bool \`${value}\``);
}

/** A text; a bare name is refused. */
export function iniString(value: IniValue): string {
  if (value === undefined) throw new SyntaxError("blank value not supported for type string");
  return value;
}

/** A 32-bit integer, decimal or `0x…`. */
export function iniInt32(value: IniValue): number {
  if (value === undefined) throw new SyntaxError("blank value not supported for type int32");
  const text = value.trim();
  const digits = /^[+-]?(?:0[xX][0-9a-fA-F]+|\d+)/.exec(text)?.[0];
  const refuse = (why: string) => new SyntaxError(`failed to parse ${JSON.stringify(value)} as int32: ${why}`);
  if (digits === undefined) throw refuse(text === "" ? "EOF" : "expected integer");
  if (digits.length < text.length) throw refuse(`extra characters ${JSON.stringify(text.slice(digits.length))}`);
  const number = Number(digits.replace(/^[+-]/, "")) * (digits.startsWith("-") ? -1 : 1);
  if (number < -(2 ** 31) || number >= 2 ** 31) throw refuse(`integer overflow on token ${text}`);
  return number;
}

/** Offsets into the text; line and column are worked out only for those that are reported. */
interface Token {
  readonly kind: "[" | "]" | "=" | "name" | "string" | "newline" | "end";
  readonly text: string;
  readonly at: number;
}

function header(scanner: Scanner, bracket: Token): IniEntry {
  const section = scanner.next();
  if (section.kind !== "name") throw scanner.refuse(section.at, "expected section name");
  let subsection = "";
  let close = scanner.next();
  if (close.kind === "string") {
    subsection = close.text;
    if (subsection === "") throw scanner.refuse(close.at, "empty subsection name");
    close = scanner.next();
  }
  if (close.kind !== "]") {
    throw scanner.refuse(close.at, subsection === "" ? "expected subsection name or right bracket" : "expected right bracket");
  }
  endOfLine(scanner);
  return { section: section.text, subsection, ...scanner.position(bracket.at) };
}

function variable(scanner: Scanner, name: Token, { section, subsection }: IniEntry): IniEntry {
  const assign = scanner.next();
  const blank = assign.kind === "newline" || assign.kind === "end";
  if (!blank && assign.kind !== "=") throw scanner.refuse(assign.at, "expected '='");
  const value = blank ? undefined : scanner.value();
  if (!blank) endOfLine(scanner);
  return { section, subsection, variable: { name: name.text, value }, ...scanner.position(name.at) };
}

function endOfLine(scanner: Scanner): void {
  const token = scanner.next();
  if (token.kind !== "newline" && token.kind !== "end") throw scanner.refuse(token.at, "expected EOL, EOF, or comment");
}

class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
    const nul = text.indexOf("\0");
    if (nul >= 0) throw this.refuse(nul, "illegal character NUL");
  }

  /** The next token outside of values; comments are skipped. */
  next(): Token {
    this.#skip(/[ \t\r]*(?:[;#][^\n]*)?/y);
    const at = this.#at;
    const character = this.#text[at];
    if (character === undefined) return { kind: "end", text: "", at };
    const name = this.#skip(/\p{L}[\p{L}\p{Nd}-]*/uy);
    if (name !== "") return { kind: "name", text: name, at };
    if (character === '"') return { kind: "string", text: this.#quoted(), at };
    this.#at += 1;
    if (character === "\n") return { kind: "newline", text: character, at };
    if (character === "[" || character === "]" || character === "=") return { kind: character, text: character, at };
    throw this.refuse(at, illegal(this.#text.codePointAt(at)!));
  }

  /** The value after `=`, up to the end of the line or a comment, without its quotes and outer blanks. */
  value(): string {
    this.#skip(/[ \t\r]*/y);
    const start = this.#at;
    let value = "";
    let kept = 0;
    let quoted = false;
    for (;;) {
      const character = this.#text[this.#at];
      if (!quoted && (character === undefined || /[\n;#]/.test(character))) return value.slice(0, kept);
      if (character === undefined || character === "\n") throw this.refuse(start, "string not terminated");
      this.#at += 1;
      if (character === "\r") continue;
      if (character === '"') quoted = !quoted;
      else if (character === "\\") value += quoted ? this.#escape({ n: "\n", t: "\t" }) : this.#continuation(start);
      else value += character;
      if (quoted || !/[ \t]/.test(character)) kept = value.length;
    }
  }

  refuse(at: number, problem: string): IniError {
    const { line, column } = this.position(at);
    return new IniError(line, column, problem);
  }

  position(at: number): { line: number; column: number } {
    const before = this.#text.slice(0, at);
    return { line: before.split("\n").length, column: at - before.lastIndexOf("\n") };
  }

  #quoted(): string {
    const start = this.#at++;
    let text = "";
    for (;;) {
      const character = this.#text[this.#at++];
      if (character === undefined || character === "\n") throw this.refuse(start, "string not terminated");
      if (character === '"') return text;
      text += character === "\\" ? this.#escape({}) : character;
    }
  }

  #escape(more: Readonly<Record<string, string>>): string {
    const character = this.#text[this.#at] ?? "";
    const meant = { "\\": "\\", '"': '"', ...more }[character];
    if (meant === undefined) throw this.refuse(this.#at, "unknown escape sequence");
    this.#at += 1;
    return meant;
  }

  #continuation(start: number): string {
    const next = this.#skip(/\r?\n|"/y);
    if (next === "") throw this.refuse(start, "unquoted '\\' must be followed by new line or double quote");
    return next === '"' ? '"' : "";
  }

  #skip(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }
}

function illegal(codePoint: number): string {
  const shown = String.fromCodePoint(codePoint);
  const code = `U+${codePoint.toString(16).toUpperCase().padStart(4, "0")}`;
  if (codePoint === 0xfeff) return `illegal character ${code}: save the file without a byte order mark`;
  return /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(shown) ? `illegal character ${code} '${shown}'` : `illegal character ${code}`;
}

function decode(content: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    const lines = new TextDecoder("utf-8", { ignoreBOM: true }).decode(content).split("\n");
    const line = lines.findIndex((text) => text.includes("\ufffd"));
    throw new IniError(line + 1, (lines[line] ?? "").indexOf("\ufffd") + 1, "illegal UTF-8 encoding");
  }
}
