/** The file of a process that hosts programs: sections of flags, read as the command line of each program would be. */
import { type Document, parseDocument, visit } from "yaml";
import { ConfigurationFailed } from "../../process/errors.ts";
import { type Flag, type FlagTable, parseFlags, printValue } from "../../runtime/flags.ts";
import { csvLine } from "../../runtime/flags-go.ts";
import { messageOf } from "../../runtime/message-of.ts";
import { nearest } from "../../runtime/nearest.ts";

/** The section of the process itself. */
export const processSection = "process";

export type Entries = Readonly<Record<string, unknown>>;

/** Everything that is wrong with the file, each with file, section and key. */
export class ConfigFileInvalid extends ConfigurationFailed {
  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
  }
}

/** The sections of the file, by name; those of programs in the order of `programs`. */
export function readSections(file: string, text: string, programs: readonly string[]): ReadonlyMap<string, Entries> {
  const document = parseDocument(text, { uniqueKeys: true, prettyErrors: true });
  const [unreadable] = [...document.errors, ...document.warnings];
  if (unreadable !== undefined) throw new ConfigFileInvalid([`${file}: ${unreadable.message.split("\n")[0]}`]);
  const content = contentOf(file, document) ?? {};
  const known = [processSection, ...programs];
  if (!isEntries(content)) throw new ConfigFileInvalid([`${file}: must hold sections, which are ${known.join(", ")}`]);
  const problems = Object.entries(content).flatMap(([section, value]) => {
    if (!known.includes(section)) {
      const guess = nearest(section, known);
      return [`${file}: ${section}: there is no such section${guess ? `; did you mean ${guess}?` : ""} Sections are ${known.join(", ")}`];
    }
    return value === null || isEntries(value) ? [] : [`${file}: ${section}: must hold flags by name, but is ${shown(value)}`];
  });
  if (problems.length > 0) throw new ConfigFileInvalid(problems);
  return new Map(
    known.flatMap((section) => (Object.hasOwn(content, section) ? [[section, (content[section] ?? {}) as Entries] as const] : [])),
  );
}

/** What the file says, with numbers as they are written: a command line would not make 007 into 7. */
function contentOf(file: string, document: Document.Parsed): unknown {
  visit(document, {
    Scalar(_, scalar) {
      if (typeof scalar.value === "number" && String(scalar.value) !== scalar.source) scalar.value = scalar.source;
    },
  });
  try {
    return document.toJS();
  } catch (error) {
    throw new ConfigFileInvalid([`${file}: ${messageOf(error)}`]);
  }
}

/** Where a section stands, and what may be in it. */
export interface SectionRules {
  readonly file: string;
  readonly section: string;
  readonly flags: FlagTable;
  /** Why a flag that exists has no place here; undefined when it has. */
  misplaced(flag: string): string | undefined;
}

/** The command line that a section stands for, without the flags that another said already. Every problem of it is told at once. */
export function argvOfSection(
  entries: Entries,
  rules: SectionRules,
  said: ReadonlySet<string> = new Set(),
): { readonly argv: readonly string[]; readonly problems: string[] } {
  const argv: string[] = [];
  const problems: string[] = [];
  for (const [key, value] of Object.entries(entries)) {
    const words = wordsOf(key, value, rules);
    if (typeof words === "string") problems.push(`${rules.file}: ${rules.section}.${key}: ${words}`);
    else if (!said.has(key)) argv.push(...words);
  }
  return { argv, problems };
}

/** The words for one entry, or what is wrong with it. */
function wordsOf(key: string, value: unknown, { flags, misplaced }: SectionRules): readonly string[] | string {
  const declared = Object.hasOwn(flags, key) ? flags[key] : undefined;
  const elsewhere = misplaced(key);
  if (elsewhere !== undefined) return elsewhere;
  if (declared === undefined) {
    const guess = nearest(
      key.replace(/^-+/, ""),
      Object.keys(flags).filter((name) => misplaced(name) === undefined),
    );
    return `there is no such flag${guess ? `; did you mean ${guess}?` : ""}`;
  }
  const texts = textsOf(value, declared);
  if (typeof texts === "string") return texts;
  const words = texts.map((text) => `--${key}=${text}`);
  try {
    parseFlags(flags, words);
    return words;
  } catch (error) {
    return messageOf(error);
  }
}

/** One text per use of the flag, or what is wrong with the value. A list is a use per item; the pairs of a map are one use. */
function textsOf(value: unknown, { kind, default: initial }: Flag<unknown>): readonly string[] | string {
  if (isScalar(value)) return [String(value)];
  const { holds, type } = kind;
  const isList = Array.isArray(value) && value.every(isScalar);
  const isMap = isEntries(value) && Object.values(value).every(isScalar);
  if (!(isList && holds) && !(isMap && holds === "map")) return `cannot be ${shown(value)}: ${allowed[holds ?? "one"]}`;
  if (Object.keys(value).length === 0) return none(type === "strings", printValue({ kind, default: initial, help: "" }, initial));
  if (isList) return value.map((item) => (type === "strings" ? csvLine([String(item)]) : String(item)));
  return [pairsText(Object.entries(value).map(([name, item]) => `${name}=${item}`))];
}

const allowed = {
  one: "give one value",
  list: "give a value, or a list of values",
  map: "give a value, a list of values, or a map of names and values",
};

/** Nothing, where the command line has a way to say so or nothing is the default anyway. */
function none(sayable: boolean, initial: string): readonly string[] | string {
  if (sayable) return [""];
  return ["", "[]"].includes(initial) ? [] : `cannot be empty: leave it out for its default, which is ${initial}`;
}

/** Pairs as one use. A pair that stands alone is taken as it is, but for quotes at its ends; twice it is two, and those are CSV. */
function pairsText(pairs: readonly string[]): string {
  const [alone, ...more] = pairs;
  if (alone === undefined || more.length > 0) return csvLine(pairs);
  return /"|=.*=/s.test(alone) ? csvLine([alone, alone]) : alone;
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isEntries(value: unknown): value is Entries {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  if (value === null) return "empty";
  try {
    return JSON.stringify(value);
  } catch {
    return "part of itself";
  }
}
