/**
 * Templates of webhook bodies, in the language of Go's text/template as far as such bodies use it: fields, texts and
 * numbers, pipelines of functions, and `if`/`else`. What is not understood is refused when the process starts.
 */

/** The template cannot be read. Says where and why. */
export class TemplateInvalid extends Error {
  override readonly name = "TemplateInvalid";
}

/** What a template is filled with. */
export type TemplateData = Readonly<Record<string, unknown>>;

/** A template that was read. */
export type Template = (data: TemplateData) => string;

type Part = (data: TemplateData) => unknown;
type Token = { readonly text: string } | { readonly action: string };

/** Functions of templates; the value before a `|` comes last. */
const functions: Readonly<Record<string, (...values: unknown[]) => unknown>> = {
  lower: (value) => shown(value).toLowerCase(),
  upper: (value) => shown(value).toUpperCase(),
  trim: (value) => shown(value).trim(),
  trimPrefix: (prefix, value) => (shown(value).startsWith(shown(prefix)) ? shown(value).slice(shown(prefix).length) : value),
  trimSuffix: (suffix, value) =>
    shown(suffix) !== "" && shown(value).endsWith(shown(suffix)) ? shown(value).slice(0, -shown(suffix).length) : value,
  replace: (from, to, value) => shown(value).replaceAll(shown(from), shown(to)),
  default: (fallback, value) => (isEmpty(value) ? fallback : value),
  quote: (value) => JSON.stringify(shown(value)),
  squote: (value) => `'${shown(value)}'`,
  toJson: (value) => JSON.stringify(value ?? null),
  toString: (value: unknown) => shown(value),
  join: (separator, value) => (Array.isArray(value) ? value.map(shown).join(shown(separator)) : shown(value)),
  trunc: (length, value) => shown(value).slice(0, Number(length)),
  eq: (a, b) => a === b,
  ne: (a, b) => a !== b,
  not: (value) => isEmpty(value),
};

/** Reads a template that may use these fields. */
export function readTemplate(source: string, fields: readonly string[]): Template {
  const tokens = tokensOf(source);
  const { parts, rest } = readParts(tokens, 0, new Set(fields), []);
  if (rest < tokens.length) throw new TemplateInvalid(`unexpected {{${(tokens[rest] as { action: string }).action}}}`);
  return (data) => parts.map((part) => shown(part(data))).join("");
}

function tokensOf(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (const match of source.matchAll(/\{\{(-\s)?([\s\S]*?)(\s-)?\}\}/g)) {
    const before = source.slice(at, match.index);
    tokens.push({ text: match[1] ? before.trimEnd() : before }, { action: match[2]!.trim() });
    at = match.index + match[0].length;
    if (match[3]) at += /^\s*/.exec(source.slice(at))![0].length;
  }
  const rest = source.slice(at);
  if (rest.includes("{{")) throw new TemplateInvalid("an action is not closed: }} is missing");
  return [...tokens, { text: rest }];
}

function readParts(tokens: readonly Token[], from: number, fields: ReadonlySet<string>, ends: readonly string[]) {
  const parts: Part[] = [];
  let at = from;
  for (; at < tokens.length; at++) {
    const token = tokens[at]!;
    if ("text" in token) {
      parts.push(() => token.text);
      continue;
    }
    const [word = "", ...others] = token.action.split(/\s+/);
    if (word === "end" || word === "else") {
      if (ends.includes(word)) return { parts, rest: at };
      throw new TemplateInvalid(`unexpected {{${token.action}}}`);
    }
    if (word.startsWith("/*")) continue;
    if (word === "range" || word === "with" || word === "define" || word === "template" || word === "block") {
      throw new TemplateInvalid(`{{${word}}} is not supported; supported are fields, functions, if and else`);
    }
    if (word !== "if") {
      parts.push(pipeline(token.action, fields));
      continue;
    }
    const condition = pipeline(others.join(" "), fields);
    const then = readParts(tokens, at + 1, fields, ["else", "end"]);
    at = then.rest;
    let otherwise: readonly Part[] = [];
    if (isAction(tokens[at], "else")) {
      const read = readParts(tokens, at + 1, fields, ["end"]);
      otherwise = read.parts;
      at = read.rest;
    }
    if (!isAction(tokens[at], "end")) throw new TemplateInvalid("{{if}} is not closed: {{end}} is missing");
    parts.push((data) => (isEmpty(condition(data)) ? otherwise : then.parts).map((part) => shown(part(data))).join(""));
  }
  return { parts, rest: at };
}

function isAction(token: Token | undefined, word: string): boolean {
  return token !== undefined && "action" in token && token.action === word;
}

/** `.Field | lower | replace "a" "b"`. */
function pipeline(text: string, fields: ReadonlySet<string>): Part {
  const [first, ...more] = splitOutsideTexts(text, "|").map((stage) => splitOutsideTexts(stage.trim(), " ").filter((word) => word !== ""));
  if (first === undefined || first.length === 0) throw new TemplateInvalid("an empty action");
  return more.reduce<Part>((before, stage) => call(stage, fields, before), call(first, fields, undefined));
}

function call([head = "", ...args]: readonly string[], fields: ReadonlySet<string>, piped: Part | undefined): Part {
  const named = functions[head];
  if (named === undefined || !Object.hasOwn(functions, head)) {
    if (args.length > 0 || piped !== undefined) {
      throw new TemplateInvalid(`function "${head}" is not supported; supported are ${Object.keys(functions).join(", ")}`);
    }
    return operand(head, fields);
  }
  const values = [...args.map((arg) => operand(arg, fields)), ...(piped === undefined ? [] : [piped])];
  return (data) => named(...values.map((value) => value(data)));
}

function operand(word: string, fields: ReadonlySet<string>): Part {
  if (/^"|^`/.test(word)) {
    const text = word.startsWith("`") ? word.slice(1, -1) : (JSON.parse(word) as string);
    return () => text;
  }
  if (/^-?\d+(\.\d+)?$/.test(word)) return () => Number(word);
  if (word === "true" || word === "false") return () => word === "true";
  const [field = "", ...more] = word.slice(1).split(".");
  if (!word.startsWith(".") || (field !== "" && !fields.has(field))) {
    throw new TemplateInvalid(
      `"${word}" is not a field of an interruption; the fields are ${[...fields].map((each) => `.${each}`).join(", ")}`,
    );
  }
  return (data) =>
    more.reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined)?.[key], field === "" ? data : data[field]);
}

function splitOutsideTexts(text: string, separator: string): string[] {
  const parts = [""];
  let quote = "";
  for (let at = 0; at < text.length; at++) {
    const letter = text[at]!;
    if (quote === "" && letter === separator) {
      parts.push("");
      continue;
    }
    if (quote === "" && (letter === '"' || letter === "`")) quote = letter;
    else if (letter === quote && !(quote === '"' && text[at - 1] === "\\")) quote = "";
    parts[parts.length - 1] += letter;
  }
  return parts;
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === "" || value === false || value === 0 || (Array.isArray(value) && value.length === 0)
  );
}

function shown(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (Array.isArray(value)) return `[${value.map(shown).join(" ")}]`;
  if (typeof value === "object") {
    return `map[${Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => `${key}:${shown(each)}`)
      .join(" ")}]`;
  }
  return String(value);
}
