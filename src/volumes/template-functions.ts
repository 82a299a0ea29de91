/** The functions that templates of tag values can call: those of text/template that make sense for texts, and the driver's own. */

export type Value = string | number | boolean;
/** An argument is worked out when it is needed: `and` and `or` stop early. */
type Argument = () => Value;

/** Whether there is a function of this name. */
export function isFunction(name: string): boolean {
  return Object.hasOwn(functions, name);
}

/** Calls a function; a piped value is the last argument. */
export function callFunction(name: string, args: readonly Argument[]): Value {
  const { least, most, call } = functions[name]!;
  if (args.length < least || args.length > most) throw new Error(`wrong number of arguments for ${name}: got ${args.length}`);
  return call(args);
}

/** Whether a condition holds. */
export function truth(value: Value): boolean {
  return Boolean(value);
}

/** As it stands in the text. */
export function shown(value: Value): string {
  return String(value);
}

interface TemplateFunction {
  readonly least: number;
  readonly most: number;
  call(args: readonly Argument[]): Value;
}

/** A function of exactly so many values. */
function of(count: number, call: (...values: Value[]) => Value): TemplateFunction {
  return { least: count, most: count, call: (args) => call(...args.map((each) => each())) };
}

function atLeast(least: number, call: (...values: Value[]) => Value): TemplateFunction {
  return { least, most: Number.POSITIVE_INFINITY, call: (args) => call(...args.map((each) => each())) };
}

function refusedFunction(name: string): TemplateFunction {
  return atLeast(0, () => {
    throw new Error(`function ${name} is disabled`);
  });
}

const functions: Readonly<Record<string, TemplateFunction>> = {
  and: { least: 1, most: Number.POSITIVE_INFINITY, call: (args) => firstWhere(args, (value) => !truth(value)) },
  or: { least: 1, most: Number.POSITIVE_INFINITY, call: (args) => firstWhere(args, truth) },
  not: of(1, (value) => !truth(value!)),
  eq: atLeast(2, (first, ...others) => others.some((each) => compare(first!, each) === 0)),
  ne: of(2, (a, b) => compare(a!, b!) !== 0),
  lt: of(2, (a, b) => compare(a!, b!) < 0),
  le: of(2, (a, b) => compare(a!, b!) <= 0),
  gt: of(2, (a, b) => compare(a!, b!) > 0),
  ge: of(2, (a, b) => compare(a!, b!) >= 0),
  len: of(1, (value) => Buffer.byteLength(text(value!))),
  slice: { least: 1, most: 3, call: (args) => slice(...(args.map((each) => each()) as [Value, Value?, Value?])) },
  print: atLeast(0, print),
  println: atLeast(0, (...values) => `${values.map(shown).join(" ")}\n`),
  printf: atLeast(1, (format, ...values) => printf(text(format!), values)),
  toUpper: of(1, (value) => text(value!).toUpperCase()),
  toLower: of(1, (value) => text(value!).toLowerCase()),
  contains: of(2, (part, value) => text(value!).includes(text(part!))),
  substring: of(3, (start, end, value) => substring(whole(start!), whole(end!), text(value!))),
  field: of(3, (delimiter, index, value) => field(text(delimiter!), whole(index!), text(value!))),
  index: of(2, (part, value) => byteIndex(text(value!), text(value!).indexOf(text(part!)))),
  lastIndex: of(2, (part, value) => byteIndex(text(value!), text(value!).lastIndexOf(text(part!)))),
  html: refusedFunction("html"),
  js: refusedFunction("js"),
  call: refusedFunction("call"),
  urlquery: refusedFunction("urlquery"),
};

/** The first value that decides, or the last of all. */
function firstWhere(args: readonly Argument[], decides: (value: Value) => boolean): Value {
  let value: Value = "";
  for (const each of args) {
    value = each();
    if (decides(value)) break;
  }
  return value;
}

function compare(a: Value, b: Value): number {
  if (typeof a !== typeof b) throw new Error("incompatible types for comparison");
  return a === b ? 0 : a < b ? -1 : 1;
}

/** Go counts bytes. */
function slice(value: Value, from: Value = 0, to?: Value): string {
  const bytes = Buffer.from(text(value));
  return part(bytes, whole(from), to === undefined ? bytes.length : whole(to));
}

function substring(start: number, end: number, value: string): string {
  const bytes = Buffer.from(value);
  if (start < 0) return part(bytes, 0, end);
  if (end < 0 || end > bytes.length) return part(bytes, start, bytes.length);
  return part(bytes, start, end);
}

function part(bytes: Buffer, from: number, to: number): string {
  if (from < 0 || from > to || to > bytes.length) throw new Error(`bounds out of range: [${from}:${to}] of ${bytes.length} bytes`);
  return bytes.subarray(from, to).toString();
}

function field(delimiter: string, index: number, value: string): string {
  const found = index < 0 ? undefined : value.split(delimiter)[index];
  if (found === undefined) throw new Error(`${JSON.stringify(value)} has no field ${index} between ${JSON.stringify(delimiter)}`);
  return found;
}

function byteIndex(value: string, index: number): number {
  return index < 0 ? -1 : Buffer.byteLength(value.slice(0, index));
}

/** As fmt.Sprint: a space between two values of which neither is a text. */
function print(...values: Value[]): string {
  return values
    .map((value, at) => (at > 0 && typeof value !== "string" && typeof values[at - 1] !== "string" ? ` ${shown(value)}` : shown(value)))
    .join("");
}

function printf(format: string, values: readonly Value[]): string {
  let next = 0;
  const made = format.replace(/%(-?)(0?)(\d*)([a-zA-Z%])/g, (all, left: string, zero: string, width: string, verb: string) => {
    if (verb === "%") return "%";
    if (next >= values.length) throw new Error(`printf: no value for ${all}`);
    const value = verbatim(verb, values[next++]!);
    return left ? value.padEnd(Number(width)) : value.padStart(Number(width), zero || " ");
  });
  if (next < values.length) throw new Error(`printf: ${values.length - next} values too many for ${JSON.stringify(format)}`);
  return made;
}

function verbatim(verb: string, value: Value): string {
  if (verb === "v" || (verb === "s" && typeof value === "string")) return shown(value);
  if (verb === "d") return shown(whole(value));
  if (verb === "q" && typeof value === "string") return JSON.stringify(value);
  if (verb === "t" && typeof value === "boolean") return shown(value);
  throw new Error(`printf: %${verb} does not fit ${JSON.stringify(value)}`);
}

function text(value: Value): string {
  if (typeof value !== "string") throw new Error(`expected a text, got ${JSON.stringify(value)}`);
  return value;
}

function whole(value: Value): number {
  if (typeof value !== "number") throw new Error(`expected an integer, got ${JSON.stringify(value)}`);
  return value;
}
