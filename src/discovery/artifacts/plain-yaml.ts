/** YAML as Go's library writes it: what is hashed must be the same to the last byte, whoever writes it. */

type Value = string | number | boolean | null | readonly Value[] | Map;
interface Map {
  readonly [key: string]: Value;
}

/** A map in block style with sorted keys and lists that are not indented, and one newline at its end. */
export function plainYaml(value: Map): string {
  return isEmpty(value) ? "{}\n" : `${mapLines(value, "").join("\n")}\n`;
}

function mapLines(map: Map, indent: string): string[] {
  return Object.keys(map)
    .sort(inOrder)
    .flatMap((key) => entryLines(`${indent}${scalar(key)}:`, map[key]!, indent));
}

/** The library's order of keys: numbers in them by their value (`a-2` before `a-10`), letters after everything else. */
function inOrder(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  const at = left.findIndex((character, index) => character !== right[index]);
  if (at < 0 || at >= right.length) return left.length - right.length;
  const [one, two] = [left[at]!, right[at]!];
  const [isLetter, isOtherLetter] = [letter.test(one), letter.test(two)];
  if (isLetter && isOtherLetter) return byCode(one, two);
  if (isLetter || isOtherLetter) return isLetter ? 1 : -1;
  // A zero counts as a digit of the number that it stands in, and else for nothing.
  const prefix = (one === "0" || two === "0") && /[1-9]\d*$/.test(left.slice(0, at).join("")) ? "1" : "";
  const [first, second] = [digitsAt(left, at), digitsAt(right, at)];
  return Number(prefix + first) - Number(prefix + second) || first.length - second.length || byCode(one, two);
}

const letter = /\p{L}/u;

function digitsAt(characters: readonly string[], at: number): string {
  return /^\d*/.exec(characters.slice(at).join(""))![0];
}

function byCode(a: string, b: string): number {
  return a.codePointAt(0)! - b.codePointAt(0)!;
}

function entryLines(head: string, value: Value, indent: string): string[] {
  if (Array.isArray(value)) {
    return value.length === 0 ? [`${head} []`] : [head, ...value.flatMap((item) => scalarLines(`${indent}-`, item as string, indent))];
  }
  if (typeof value === "object" && value !== null) {
    return isEmpty(value) ? [`${head} {}`] : [head, ...mapLines(value as Map, `${indent}  `)];
  }
  return scalarLines(head, value as string, indent);
}

function scalarLines(head: string, value: string | number | boolean | null, indent: string): string[] {
  if (typeof value === "string" && /^\S[^\r\t]*\n[^\r\t]*\S$/.test(value)) {
    return [`${head} |-`, ...value.split("\n").map((line) => (line === "" ? "" : `${indent}  ${line}`))];
  }
  const text = scalar(value);
  return text.startsWith('"') ? [`${head} ${text}`] : folded(`${head} ${text}`, head.length + 1, `${indent}  `);
}

const bestWidth = 80;

/** A line that is longer than the library likes is broken at the next single space; what comes before `from` is no part of the text. */
function folded(line: string, from: number, indent: string): string[] {
  const lines: string[] = [];
  let rest = line;
  for (let at = from; at < rest.length - 1; at++) {
    const isSingle = rest[at] === " " && rest[at - 1] !== " " && rest[at + 1] !== " ";
    if (at <= bestWidth || at <= from || !isSingle) continue;
    lines.push(rest.slice(0, at));
    rest = `${indent}${rest.slice(at + 1)}`;
    at = indent.length;
  }
  return [...lines, rest];
}

function isEmpty(map: object): boolean {
  return Object.keys(map).length === 0;
}

function scalar(value: string | number | boolean | null): string {
  if (typeof value !== "string") return String(value);
  if (readsAsOther.test(value) || /\p{Cc}/u.test(value)) return JSON.stringify(value);
  return needsQuotes.test(value) ? `'${value.replaceAll("'", "''")}'` : value;
}

/** Strings that YAML 1.1 would read as nothing, a boolean, a number or a time. */
const readsAsOther =
  /^(|~|null|Null|NULL|y|Y|n|N|yes|Yes|YES|no|No|NO|on|On|ON|off|Off|OFF|true|True|TRUE|false|False|FALSE|[-+]?(0b[01_]+|0o?[0-7_]+|0x[0-9a-fA-F_]+|[0-9][0-9_]*)|[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|\d{4}-\d{1,2}-\d{1,2}([Tt ].*)?|[-+]?[0-9]+(:[0-5]?[0-9])+(\.[0-9]*)?)$/;

/** Strings that would be taken for syntax. */
const needsQuotes = /^(---|\.\.\.)|^[-?:](\s|$)|^[,[\]{}#&*!|>'"%@`]|:(\s|$)|\s#|^\s|\s$/;
