/**
 * Tables of annotations: a row per annotation, which tells what it means and holds the parser of its value. The options of
 * a door, the check for typos and the reference pages come from the rows.
 */
import { nearest } from "../runtime/nearest.ts";
import type { Problem } from "./model.ts";

/** What is wrong with a value, in the words that its author reads; all of it at once. */
export class Fault {
  readonly messages: readonly string[];

  constructor(...messages: readonly string[]) {
    this.messages = messages;
  }
}

/** What a parser may name when a value is wrong. */
export interface Given {
  /** As it was written, with its prefix. */
  readonly key: string;
  /** The row's own words. */
  readonly takes: string;
}

export interface ParsingRow<Context = object> {
  /** What is allowed, in words that fit behind "takes". */
  readonly takes: string;
  readonly unset: string;
  readonly meaning: string;
  readonly parse: (text: string, given: Given & Context) => unknown;
}

/** The values that a table's rows read, by the names of the rows; those that are not given are absent. */
export type ValuesOf<Table> = {
  readonly [Name in keyof Table]?: Table[Name] extends { readonly parse: (...given: never[]) => infer Value }
    ? Exclude<Value, Fault>
    : never;
};

export interface Read<Table> {
  readonly values: ValuesOf<Table>;
  readonly problems: readonly Problem[];
}

/** Reads every row that `textOf` has a text for. */
export function readRows<Context, Table extends Readonly<Record<string, ParsingRow<Context>>>>(
  table: Table,
  keyOf: (name: keyof Table & string) => string,
  textOf: (name: keyof Table & string) => string | undefined,
  context: Context,
): Read<Table> {
  const problems: Problem[] = [];
  const values: Record<string, unknown> = {};
  for (const [name, { parse, takes }] of Object.entries(table)) {
    const text = textOf(name);
    if (text === undefined) continue;
    const key = keyOf(name);
    const value = parse(text, { ...context, key, takes });
    if (value instanceof Fault) problems.push(...value.messages.map((message) => ({ annotation: key, message })));
    else values[name] = value;
  }
  return { values: values as ValuesOf<Table>, problems };
}

/** Keys that look like a door's and are not: a typo would otherwise be silence. */
export function unknownKeys(
  annotations: Readonly<Record<string, string>>,
  prefix: string,
  known: readonly string[],
  isElsewhere: (name: string) => boolean = () => false,
): Problem[] {
  return Object.keys(annotations).flatMap((key) => {
    const name = key.startsWith(prefix) ? key.slice(prefix.length) : undefined;
    if (name === undefined || known.includes(name) || isElsewhere(name)) return [];
    const meant = nearest(name, known);
    const hint = meant ? `: did you mean ${prefix}${meant}?` : "";
    return [{ annotation: key, message: `annotation ${key} is not known and has no effect${hint}` }];
  });
}
