/** Documents that AWS sends, read field by field: nothing about their types is taken for granted. */

export type Fields = Readonly<Record<string, unknown>>;

/** The object that a text holds; undefined when it holds none. */
export function objectOf(body: string): Fields | undefined {
  try {
    const parsed: unknown = JSON.parse(body);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

export function isRecord(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field in whichever letter case it comes, as Go's decoder takes it. */
export function field(fields: Fields, name: string): unknown {
  if (Object.hasOwn(fields, name)) return fields[name];
  const wanted = name.toLowerCase();
  const key = Object.keys(fields).find((each) => each.toLowerCase() === wanted);
  return key === undefined ? undefined : fields[key];
}

/** A field that is a text; empty when it is none. */
export function text(fields: Fields, name: string): string {
  const value = field(fields, name);
  return typeof value === "string" ? value : "";
}

/** A time in milliseconds; undefined when it cannot be read. */
export function timeOf(value: string): number | undefined {
  const ms = Date.parse(value);
  return Number.isNaN(ms) ? undefined : ms;
}
