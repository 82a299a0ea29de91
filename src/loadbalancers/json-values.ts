/**
 * Annotations that hold JSON. Keys count in any case, because users of old wrote them in several; unknown ones are ignored;
 * the types of values are strict; `null` is absent.
 */

/** Throws a `Mismatch` where a value is of another type. */
export type Decoder<T> = (value: unknown, path: string) => T;

export class Mismatch extends Error {
  override readonly name = "Mismatch";
}

const expect = (what: string, path: string): never => {
  throw new Mismatch(`${path || "the value"} takes ${what}`);
};

export const string: Decoder<string> = (value, path) => (typeof value === "string" ? value : expect("a text in quotes", path));
export const integer: Decoder<number> = (value, path) =>
  typeof value === "number" && Number.isSafeInteger(value) ? value : expect("a whole number without quotes", path);
export const boolean: Decoder<boolean> = (value, path) =>
  typeof value === "boolean" ? value : expect("true or false without quotes", path);

export function list<T>(of: Decoder<T>): Decoder<readonly T[]> {
  return (value, path) => (Array.isArray(value) ? value.map((item, i) => of(item, `${path}[${i}]`)) : expect("a list", path));
}

export function record<T>(of: Decoder<T>): Decoder<Readonly<Record<string, T>>> {
  return (value, path) =>
    isObject(value)
      ? Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, of(inner, join(path, key))]))
      : expect("an object", path);
}

type Decoded<Shape> = { readonly [Key in keyof Shape]?: Shape[Key] extends Decoder<infer T> ? T : never };

/** Every field may be absent: which must be there is said by whoever checks it, in its own words. */
export function object<Shape extends Readonly<Record<string, Decoder<unknown>>>>(shape: Shape): Decoder<Decoded<Shape>> {
  const names = new Map(Object.keys(shape).map((name) => [name.toLowerCase(), name]));
  return (value, path) => {
    if (!isObject(value)) return expect("an object", path);
    const decoded: Record<string, unknown> = {};
    for (const [key, inner] of Object.entries(value)) {
      const name = names.get(key.toLowerCase());
      if (name === undefined || inner === null) continue;
      decoded[name] = shape[name]!(inner, join(path, name));
    }
    return decoded as Decoded<Shape>;
  };
}

/** The value of a JSON text; a text says what is wrong with it. */
export function decodeJson<T>(text: string, decoder: Decoder<T>): { readonly value: T } | { readonly fault: string } {
  try {
    return { value: decoder(JSON.parse(text), "") };
  } catch (error) {
    if (error instanceof Mismatch || error instanceof SyntaxError) return { fault: error.message };
    throw error;
  }
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const join = (path: string, key: string) => (path === "" ? key : `${path}.${key}`);
