/**
 * Command-line flags: declared once in a table that gives parsing, `--help`, the printed values and the docs page.
 *
 * The grammar is that of Go's pflag, because it is what the manifests of every Kubernetes cluster are written in:
 * `--x=v`, `--x v`, bare booleans, `-v=4`, `--` ends the flags; and so are the error texts.
 */
import { goQuote } from "./flags-go.ts";
import { nearest } from "./nearest.ts";

/** How values of one kind are read and shown. */
export interface Kind<T> {
  /** The word after the flag in `--help`; empty for booleans. */
  readonly type: string;
  /** What the flag means when given without a value. Flags without this need one. */
  readonly bare?: string;
  /** The only values there are, for shell completion. */
  readonly choices?: readonly string[];
  /** Default shown in quotes. */
  readonly quoted?: boolean;
  /** What it holds when it holds more than one thing: items, or names with a value each. */
  readonly holds?: "list" | "map";
  /** Throws with the reason. `before` is what earlier uses of the flag made, for kinds that add up. */
  parse(text: string, before: T | undefined): T;
  print(value: T): string;
}

/** One flag. `T` is the type of its value in the program. */
export interface Flag<T> {
  readonly kind: Kind<NonNullable<T>>;
  readonly default: T;
  readonly help: string;
  /** For flags whose default is undefined: what the program does when nobody says. Shown in place of the default. */
  readonly decided?: string;
  readonly shorthand?: string;
  /** Accepted, with this warning, and left out of `--help`. */
  readonly deprecated?: string;
  /** Its value is shown nowhere. */
  readonly secret?: true;
}

/** Flags by name, without the dashes. */
export type FlagTable = Readonly<Record<string, Flag<unknown>>>;

/** A titled group of flags, as `--help` shows them. */
export interface FlagSection {
  readonly title: string;
  readonly flags: FlagTable;
}

/** The value of every flag in a table. */
export type FlagValues<T extends FlagTable> = { readonly [Name in keyof T]: T[Name] extends Flag<infer Value> ? Value : never };

/** A command line that could be read. */
export interface ParsedFlags<T extends FlagTable> {
  readonly values: FlagValues<T>;
  /** Those the user gave, whatever the value. */
  readonly given: ReadonlySet<keyof T & string>;
  readonly args: readonly string[];
  /** One line each, for stderr: deprecated flags that were used. */
  readonly warnings: readonly string[];
}

/** The command line cannot be read. The message is pflag's; the hint, where there is one, is ours. */
export class FlagError extends Error {
  override readonly name = "FlagError";
  readonly hint: string | undefined;
  constructor(message: string, hint?: string, cause?: unknown) {
    super(message, { cause });
    this.hint = hint;
  }
}

/** A flag with a default. */
export function flag<T>(
  kind: Kind<T & {}>,
  initial: NoInfer<T>,
  help: string,
  more: Pick<Flag<T>, "shorthand" | "deprecated"> = {},
): Flag<T> {
  return { kind, default: initial, help, ...more };
}

/** A flag that is undefined until given, because the program then decides; `decided` says what it does. */
export function undecided<T extends {}>(kind: Kind<T>, decided: string, help: string): Flag<T | undefined> {
  return { kind, default: undefined, decided, help } as Flag<T | undefined>;
}

/** Reads a command line against a table. */
export function parseFlags<T extends FlagTable>(table: T, argv: readonly string[]): ParsedFlags<T> {
  const reading = new Reading(table);
  reading.read(argv);
  return {
    values: { ...defaults(table), ...Object.fromEntries(reading.set) } as FlagValues<T>,
    given: new Set(reading.set.keys()),
    args: reading.args,
    warnings: [...reading.warnings],
  };
}

/** The value of every flag nobody gave. */
export function defaults<T extends FlagTable>(table: T): FlagValues<T> {
  return Object.fromEntries(Object.entries(table).map(([name, { default: initial }]) => [name, initial])) as FlagValues<T>;
}

/** One `--name="value"` a flag, sorted by name, for the log. */
export function flagLines<T extends FlagTable>(table: T, values: FlagValues<T>): string[] {
  return Object.keys(table)
    .sort()
    .map((name) => `--${name}=${goQuote(shownValue(table[name]!, values[name]))}`);
}

function shownValue(declared: Flag<unknown>, value: unknown): string {
  return declared.secret && value !== declared.default ? "<not-displayed>" : printValue(declared, value);
}

/** The value as text; empty for one the program decides. */
export function printValue(declared: Flag<unknown>, value: unknown): string {
  return value === undefined ? "" : declared.kind.print(value as NonNullable<unknown>);
}

class Reading {
  readonly set = new Map<string, unknown>();
  readonly args: string[] = [];
  readonly warnings = new Set<string>();
  readonly #table: FlagTable;
  readonly #shorthands: ReadonlyMap<string, string>;

  constructor(table: FlagTable) {
    this.#table = table;
    this.#shorthands = new Map(Object.entries(table).flatMap(([name, { shorthand }]) => (shorthand ? [[shorthand, name]] : [])));
  }

  read(argv: readonly string[]): void {
    const rest = [...argv];
    for (let word = rest.shift(); word !== undefined; word = rest.shift()) {
      if (word === "--") {
        this.args.push(...rest);
        return;
      }
      if (word.startsWith("--")) this.#long(word, rest);
      else if (word.startsWith("-") && word.length > 1) this.#short(word.slice(1), rest);
      else this.args.push(word);
    }
  }

  #long(word: string, rest: string[]): void {
    const equals = word.indexOf("=");
    const typed = word.slice(2, equals < 0 ? undefined : equals);
    if (typed === "" || typed.startsWith("-")) throw new FlagError(`bad flag syntax: ${word}`);
    const name = typed.replaceAll("_", "-");
    const declared = this.#declared(name);
    if (!declared) {
      const guess = nearest(name, visibleNames(this.#table));
      throw new FlagError(`unknown flag: --${typed}`, guess && `did you mean --${guess}?`);
    }
    const text = equals >= 0 ? word.slice(equals + 1) : (declared.kind.bare ?? rest.shift());
    if (text === undefined) throw new FlagError(`flag needs an argument: --${typed}`);
    this.#use(name, declared, text);
  }

  /** `-v4`, `-v=4`, `-v 4`, and several bare ones in a row. */
  #short(letters: string, rest: string[]): void {
    const letter = letters[0]!;
    const name = this.#shorthands.get(letter);
    const declared = name === undefined ? undefined : this.#declared(name);
    if (name === undefined || !declared) throw new FlagError(`unknown shorthand flag: '${letter}' in -${letters}`);
    const assigned = letters.length > 2 && letters[1] === "=";
    if (!assigned && declared.kind.bare !== undefined) {
      this.#use(name, declared, declared.kind.bare);
      if (letters.length > 1) this.#short(letters.slice(1), rest);
      return;
    }
    const attached = letters.slice(assigned ? 2 : 1);
    const text = attached === "" ? rest.shift() : attached;
    if (text === undefined) throw new FlagError(`flag needs an argument: '${letter}' in -${letters}`);
    this.#use(name, declared, text);
  }

  #declared(name: string): Flag<unknown> | undefined {
    return Object.hasOwn(this.#table, name) ? this.#table[name] : undefined;
  }

  #use(name: string, declared: Flag<unknown>, text: string): void {
    try {
      this.set.set(name, declared.kind.parse(text, this.set.get(name) as NonNullable<unknown> | undefined));
    } catch (cause) {
      const shown = declared.shorthand ? `-${declared.shorthand}, --${name}` : `--${name}`;
      throw new FlagError(`invalid argument ${goQuote(text)} for "${shown}" flag: ${(cause as Error).message}`, undefined, cause);
    }
    if (declared.deprecated) this.warnings.add(`Flag --${name} has been deprecated, ${declared.deprecated}`);
  }
}

function visibleNames(table: FlagTable): string[] {
  return Object.keys(table).filter((name) => !table[name]!.deprecated);
}
