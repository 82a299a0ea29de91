/** Answers without what every cloud makes up for itself: ids, addresses, times and wordings. */
import type { Answer, Transcript } from "./script.ts";

export type Value = string | number | boolean | readonly Value[] | { readonly [field: string]: Value };

/**
 * The transcript in a form that two clouds can agree on. An id that the script kept becomes the name it was kept under, any
 * other the kind of thing it names. Of a refusal, its words are left out but for the things they name.
 */
export function normalised({ answers, names }: Transcript): readonly Value[] {
  // The longest first: an ARN before the id that it ends in. Whole ones only: an address may begin another.
  const known = [...names]
    .sort(([left], [right]) => right.length - left.length)
    .map(([id, name]) => [new RegExp(`(?<![\\w.])${RegExp.escape(id)}(?!\\w|\\.\\d)`, "g"), `(${name})`] as const);
  const text = (value: string) => {
    let result = value;
    for (const [pattern, name] of known) result = result.replace(pattern, name);
    return madeUp.reduce((rest, [pattern, kind]) => rest.replace(pattern, kind), result);
  };
  return answers.map((answer) => ("output" in answer ? (normal(answer.output, text) ?? {}) : { error: refusal(answer.error, text) }));
}

/** What a cloud makes up, by its looks. */
const madeUp: readonly (readonly [RegExp, string])[] = [
  [/\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g, "(uuid)"],
  [/\b([a-z]+(?:-[a-z]+)*)-[0-9a-f]{8}(?:[0-9a-f]{9})?\b/g, "($1)"],
  [/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "(time)"],
  [/\b(?:[0-9a-f]{2}:){5}[0-9a-f]{2}\b/g, "(mac)"],
  [/\b[a-z]{3}\d-az\d\b/g, "(zone id)"],
  [/(?<=\bec2-|\bip-)(?!10-)\d+-\d+-\d+-\d+(?=\.compute-1\.|\.ec2\.)/g, "(public address)"],
  [/\b(?!10\.|0\.|192\.168\.|172\.16\.|255\.|203\.0\.113\.|198\.51\.100\.)\d+\.\d+\.\d+\.\d+\b(?!\/)/g, "(public address)"],
];

/** Where the next page begins: said in each cloud's own words. */
export const pageMarks: ReadonlySet<string> = new Set(["NextToken", "NextMarker"]);

/** What is empty and what is not there look the same to whoever reads an answer. */
function normal(value: unknown, text: (value: string) => string): Value | undefined {
  if (value instanceof Date) return "(time)";
  if (typeof value === "string") return value === "" ? undefined : text(value);
  if (Array.isArray(value)) {
    const items = value.map((item) => normal(item, text)).filter((item) => item !== undefined);
    return items.length === 0 ? undefined : items;
  }
  if (value === null || value === undefined) return undefined;
  if (typeof value !== "object") return value as number | boolean;
  const fields = Object.entries(value).flatMap(([field, item]) => {
    const result = pageMarks.has(field) && item ? "(page)" : normal(item, text);
    return result === undefined ? [] : [[field, result] as const];
  });
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}

function refusal({ code, status, message }: Extract<Answer, { error: unknown }>["error"], text: (value: string) => string): Value {
  const named = [...new Set([...text(message).matchAll(/\([a-z][\w -]*\)/gi)].map(([name]) => name))].sort();
  return { code, status: status ?? "(none)", ...(named.length === 0 ? {} : { names: named }) };
}
