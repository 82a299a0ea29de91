/**
 * Strategic merge patch: lists of objects join by a merge key, with directives (`$patch`, `$setElementOrder/…`,
 * `$deleteFromPrimitiveList/…`, `$retainKeys`). The order of a joined list follows the real API: items of the patch in
 * the patch's order, the server's own items kept where they stood relative to them, equal keys side by side.
 */
import { asList, asText, copy, isObject, type Json, type JsonObject, same } from "./json.ts";
import type { MergeRules } from "./merge-rules.ts";
import { badRequest } from "./status.ts";

const orderDirective = "$setElementOrder/";
const deleteDirective = "$deleteFromPrimitiveList/";

/** The document with a strategic merge patch laid over it. */
export function applyStrategicPatch(document: JsonObject, patch: JsonObject, rules: MergeRules): JsonObject {
  return mergeObject(copy(document), patch, "", rules);
}

function mergeObject(original: JsonObject, patch: JsonObject, path: string, rules: MergeRules): JsonObject {
  if (patch.$patch === "replace") return cleaned(patch);
  if (patch.$patch === "delete") return {};
  if (patch.$patch !== undefined && patch.$patch !== "merge")
    throw badRequest(`invalid patch: unknown patch type: ${asText(patch.$patch)}`);

  const result = original;
  if (Array.isArray(patch.$retainKeys)) {
    for (const name of Object.keys(result)) if (!patch.$retainKeys.includes(name)) delete result[name];
  }
  for (const name of fieldsNamedBy(patch)) {
    const value = patch[name];
    const inner = path === "" ? name : `${path}.${name}`;
    const order = patch[orderDirective + name];
    const doomed = asList(patch[deleteDirective + name]);
    if (value === null) delete result[name];
    else if (Array.isArray(value) || order !== undefined || doomed.length > 0) {
      const key = rules.get(inner)?.patchKey;
      if (key === undefined && value !== undefined) result[name] = copy(value);
      else if (key !== undefined) {
        // A list that was not there is taken as it was sent, without regard to its keys.
        if (result[name] === undefined && Array.isArray(value)) {
          result[name] = plain(value);
          continue;
        }
        const kept = asList(result[name]).filter((item) => !doomed.some((one) => same(one, item)));
        result[name] = mergeList(kept, asList(value), key, Array.isArray(order) ? order : undefined, inner, rules);
      }
    } else if (isObject(value)) {
      const before = result[name];
      result[name] = mergeObject(isObject(before) ? before : {}, value, inner, rules);
    } else if (value !== undefined) result[name] = copy(value);
  }
  return result;
}

/** Every field a patch speaks of, also those it names only in a directive. */
function fieldsNamedBy(patch: JsonObject): Set<string> {
  const names = new Set<string>();
  for (const name of Object.keys(patch)) {
    if (name === "$patch" || name === "$retainKeys") continue;
    if (name.startsWith(orderDirective)) names.add(name.slice(orderDirective.length));
    else if (name.startsWith(deleteDirective)) names.add(name.slice(deleteDirective.length));
    else names.add(name);
  }
  return names;
}

function mergeList(original: Json[], patch: Json[], key: string, order: Json[] | undefined, path: string, rules: MergeRules): Json[] {
  let base = original;
  const items: Json[] = [];
  for (const item of patch) {
    const directive = isObject(item) ? item.$patch : undefined;
    if (directive === "replace") return normalised(plain(patch), plain(patch), key);
    if (directive === "delete") base = base.filter((one) => !sameKey(one, item, key));
    else items.push(item);
  }

  const merged = [...base];
  for (const item of items) {
    const found = merged.findIndex((one) => sameKey(one, item, key));
    if (found < 0) merged.push(isObject(item) ? cleaned(item) : item);
    else if (isObject(item)) merged[found] = mergeObject(copy(merged[found] as JsonObject), item, `${path}[]`, rules);
  }

  const spoken = order ?? items;
  const ours = merged.filter((one) => spoken.some((other) => sameKey(one, other, key)));
  const theirs = merged.filter((one) => !spoken.some((other) => sameKey(one, other, key)));
  return interleaved(normalised(theirs, original, key), normalised(ours, spoken, key), original, key);
}

function plain(patch: readonly Json[]): Json[] {
  return patch.filter((item) => !isObject(item) || item.$patch === undefined).map((item) => (isObject(item) ? cleaned(item) : item));
}

/** Stable, by the place where each item's key first appears in `order`. */
function normalised(items: readonly Json[], order: readonly Json[], key: string): Json[] {
  return [...items].sort((a, b) => place(a, order, key) - place(b, order, key));
}

/** The server's own items stay in front of those of the patch that they stood in front of. */
function interleaved(theirs: Json[], ours: Json[], serverOrder: readonly Json[], key: string): Json[] {
  const result: Json[] = [];
  while (theirs.length > 0 && ours.length > 0) {
    const left = place(theirs[0]!, serverOrder, key);
    const right = place(ours[0]!, serverOrder, key);
    result.push(left >= 0 && right >= 0 && left < right ? theirs.shift()! : ours.shift()!);
  }
  return [...result, ...theirs, ...ours];
}

function place(item: Json, order: readonly Json[], key: string): number {
  return order.findIndex((other) => sameKey(item, other, key));
}

function sameKey(a: Json | undefined, b: Json | undefined, key: string): boolean {
  if (key === "") return same(a, b);
  return isObject(a) && isObject(b) && a[key] !== undefined && same(a[key], b[key]);
}

/** A patch's value where there is nothing to merge it with: directives and nulls fall away. */
function cleaned(value: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [name, field] of Object.entries(value)) {
    if (name.startsWith("$") || field === null || field === undefined) continue;
    if (isObject(field)) result[name] = cleaned(field);
    else if (Array.isArray(field)) result[name] = plain(field);
    else result[name] = field;
  }
  return result;
}
