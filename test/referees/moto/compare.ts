/** Where two answers differ, field by field. */
import type { Value } from "./normal.ts";

/** What stands for a field that an answer does not have. */
export const absent = "(absent)";

export interface Difference {
  /** `Vpcs[].CidrBlock`: lists are sets here, so their items have no number. */
  readonly path: string;
  readonly ours: Value;
  readonly moto: Value;
}

/** Every field in which the two differ, each path and pair of values once. */
export function compare(ours: Value, moto: Value): readonly Difference[] {
  const found = between(ours, moto, "");
  return [...new Map(found.map((difference) => [JSON.stringify(difference), difference])).values()];
}

function between(ours: Value, moto: Value, path: string): readonly Difference[] {
  if (isList(ours) && isList(moto)) {
    const [mine, theirs] = [byKey(ours), byKey(moto)];
    return mine && theirs ? betweenMaps(mine, theirs, path) : betweenSets(ours, moto, `${path}[]`);
  }
  if (isStructure(ours) && isStructure(moto)) {
    const fields = [...new Set([...Object.keys(ours), ...Object.keys(moto)])];
    return fields.flatMap((field) => between(ours[field] ?? absent, moto[field] ?? absent, path === "" ? field : `${path}.${field}`));
  }
  return ours === moto ? [] : [{ path, ours, moto }];
}

/** A list of pairs (tags, attributes) by its keys; undefined if it is another list, or has a key twice. */
function byKey(list: readonly Value[]): ReadonlyMap<string, Value> | undefined {
  const pairs = list.map((item) => [isStructure(item) ? item.Key : undefined, item] as const);
  const map = new Map(pairs.filter((pair): pair is readonly [string, Value] => typeof pair[0] === "string"));
  return map.size === list.length ? map : undefined;
}

function betweenMaps(ours: ReadonlyMap<string, Value>, moto: ReadonlyMap<string, Value>, path: string): readonly Difference[] {
  const keys = [...new Set([...ours.keys(), ...moto.keys()])];
  return keys.flatMap((key) => between(ours.get(key) ?? absent, moto.get(key) ?? absent, `${path}[${key}]`));
}

/** Pairs each item with the one most like it. AWS promises no order in nearly all of its lists. */
function betweenSets(ours: readonly Value[], moto: readonly Value[], path: string): readonly Difference[] {
  const pairs = ours
    .flatMap((left, at) => moto.map((right, there) => ({ at, there, found: between(left, right, path) })))
    .sort((one, other) => one.found.length - other.found.length);
  const [mine, theirs] = [new Set(ours.keys()), new Set(moto.keys())];
  const differences: Difference[] = [];
  for (const { at, there, found } of pairs) {
    if (!mine.has(at) || !theirs.has(there)) continue;
    mine.delete(at);
    theirs.delete(there);
    differences.push(...found);
  }
  for (const at of mine) differences.push({ path, ours: ours[at]!, moto: absent });
  for (const at of theirs) differences.push({ path, ours: absent, moto: moto[at]! });
  return differences;
}

function isList(value: Value): value is readonly Value[] {
  return Array.isArray(value);
}

function isStructure(value: Value): value is { readonly [field: string]: Value } {
  return typeof value === "object" && !isList(value);
}
