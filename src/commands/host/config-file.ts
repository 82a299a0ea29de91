/** The file of a process that hosts programs: sections of flags, read as the command line of each program would be. */
import { parseDocument } from "yaml";
import { ConfigurationFailed } from "../../process/errors.ts";
import { type FlagTable, parseFlags } from "../../runtime/flags.ts";
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
  const [unreadable] = document.errors;
  if (unreadable !== undefined) throw new ConfigFileInvalid([`${file}: ${unreadable.message.split("\n")[0]}`]);
  const content: unknown = document.toJS() ?? {};
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
  const texts = textsOf(value, declared.kind.type === "strings");
  if (texts === undefined) return `cannot be ${shown(value)}: give a value, a list of values, or a map of names and values`;
  const words = texts.map((text) => `--${key}=${text}`);
  try {
    parseFlags(flags, words);
    return words;
  } catch (error) {
    return messageOf(error);
  }
}

/** One text per use of the flag. A list is a use per item, a map one per pair. */
function textsOf(value: unknown, commaSeparated: boolean): readonly string[] | undefined {
  if (isScalar(value)) return [String(value)];
  if (Array.isArray(value)) {
    return value.every(isScalar) ? value.map((item) => (commaSeparated ? csvLine([String(item)]) : String(item))) : undefined;
  }
  if (!isEntries(value)) return undefined;
  const pairs = Object.entries(value);
  return pairs.every(([, item]) => isScalar(item)) ? pairs.map(([name, item]) => csvLine([`${name}=${item}`])) : undefined;
}

function isScalar(value: unknown): value is string | number | boolean {
  return ["string", "number", "boolean"].includes(typeof value);
}

function isEntries(value: unknown): value is Entries {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === null ? "empty" : JSON.stringify(value);
}
