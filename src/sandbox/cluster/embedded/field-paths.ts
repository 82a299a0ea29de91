/**
 * The fields of an object as server-side apply counts them: one path per plain value, per item of a keyed list and
 * per member of a set, spelt in the elements of FieldsV1 (`f:name`, `k:{"type":"Ready"}`, `v:"value"`).
 */
import { asObject, isObject, type Json, type JsonObject } from "./json.ts";
import type { MergeRule, MergeRules } from "./merge-rules.ts";

export type FieldPath = readonly string[];

/** Path (as text, unique) → where it leads and what stands there; an item of a keyed list stands as `itemMark`. */
export type Fields = Map<string, { readonly path: FieldPath; readonly value: Json }>;

/** Stands for "there is such an item", whatever its fields hold. */
export const itemMark = "(item)";

const ownedByNobody = new Set([
  "name",
  "namespace",
  "generateName",
  "uid",
  "resourceVersion",
  "generation",
  "creationTimestamp",
  "deletionTimestamp",
  "deletionGracePeriodSeconds",
  "managedFields",
  "selfLink",
]);

/** Every field that somebody can own. */
export function fieldsOf(object: JsonObject, rules: MergeRules): Fields {
  const fields: Fields = new Map();
  for (const [name, value] of Object.entries(object)) {
    if (name === "apiVersion" || name === "kind" || value === undefined) continue;
    if (name === "metadata") {
      for (const [inner, field] of Object.entries(asObject(value))) {
        if (!ownedByNobody.has(inner) && field !== undefined) {
          collect(field, ["f:metadata", `f:${inner}`], `metadata.${inner}`, rules, fields);
        }
      }
    } else collect(value, [`f:${name}`], name, rules, fields);
  }
  return fields;
}

function collect(value: Json, path: FieldPath, place: string, rules: MergeRules, fields: Fields): void {
  const rule = rules.get(place);
  if (Array.isArray(value)) {
    collectList(value, path, place, rule, rules, fields);
    return;
  }
  if (isObject(value) && rule?.apply !== "atomic") {
    const entries = Object.entries(value).filter(([, field]) => field !== undefined);
    if (entries.length > 0) {
      for (const [name, field] of entries) collect(field!, [...path, `f:${name}`], `${place}.${name}`, rules, fields);
      return;
    }
  }
  add(fields, path, value);
}

function collectList(list: Json[], path: FieldPath, place: string, rule: MergeRule | undefined, rules: MergeRules, fields: Fields): void {
  if (rule === undefined || rule.apply === "atomic") {
    add(fields, path, list);
    return;
  }
  if (rule.apply === "set") {
    for (const value of list) add(fields, [...path, `v:${JSON.stringify(value)}`], value);
    return;
  }
  const items = Map.groupBy(list, (item) => itemElement(item, rule));
  for (const [element, sharing] of items) {
    const item = sharing[0];
    // Items that share a key cannot be told apart: they are owned as one.
    if (sharing.length > 1 || !isObject(item)) add(fields, [...path, element], sharing);
    else {
      add(fields, [...path, element], itemMark);
      for (const [name, field] of Object.entries(item)) {
        if (field !== undefined) collect(field, [...path, element, `f:${name}`], `${place}[].${name}`, rules, fields);
      }
    }
  }
}

function add(fields: Fields, path: FieldPath, value: Json): void {
  fields.set(path.join("\n"), { path, value });
}

/** `k:{"port":80,"protocol":"TCP"}`: what an item of a keyed list is known by. */
export function itemElement(item: Json, rule: MergeRule): string {
  if (rule.apply === "set" || rule.apply === "atomic") return `v:${JSON.stringify(item)}`;
  const key: JsonObject = {};
  for (const name of [...rule.apply.keys].sort()) {
    const value = asObject(item)[name] ?? rule.apply.defaults?.[name];
    if (value !== undefined) key[name] = value;
  }
  return `k:${JSON.stringify(key)}`;
}

/** The path as messages show it: `.spec.ports[port=80,protocol="TCP"].name`. */
export function spelled(path: FieldPath): string {
  return path
    .map((element) => {
      const body = element.slice(2);
      if (element.startsWith("f:")) return `.${body}`;
      if (element.startsWith("v:")) return `[=${body}]`;
      const key = JSON.parse(body) as Record<string, Json>;
      return `[${Object.entries(key)
        .map(([name, value]) => `${name}=${JSON.stringify(value)}`)
        .join(",")}]`;
    })
    .join("");
}

/** Paths as the nested object that `managedFields` shows. */
export function asFieldsV1(paths: Iterable<FieldPath>): JsonObject {
  const root: JsonObject = {};
  const all = [...paths];
  const withChildren = new Set(all.flatMap((path) => path.slice(0, -1).map((_, i) => path.slice(0, i + 1).join("\n"))));
  for (const path of all) {
    let node = root;
    for (const element of path) {
      node[element] ??= {};
      node = node[element] as JsonObject;
    }
    if (withChildren.has(path.join("\n"))) node["."] = {};
  }
  return root;
}

/** The paths of a `managedFields` entry; the inverse of `asFieldsV1`. */
export function fromFieldsV1(node: JsonObject, path: FieldPath = []): FieldPath[] {
  const elements = Object.entries(node).filter(([element]) => element !== ".");
  const inner = elements.flatMap(([element, child]) => fromFieldsV1(asObject(child), [...path, element]));
  return (elements.length === 0 || node["."] !== undefined) && path.length > 0 ? [path, ...inner] : inner;
}
