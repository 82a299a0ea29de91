/** JSON values, and the few total functions that walk them. Stored objects are never changed in place: change a `copy`. */

export type Json = null | boolean | number | string | Json[] | JsonObject;
export interface JsonObject {
  [name: string]: Json | undefined;
}

/** The metadata every stored object has. */
export interface Meta extends JsonObject {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  creationTimestamp: string;
}

/** An object as the API stores it. */
export interface KubeObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: Meta;
}

/** The value as an object; an empty one when it is anything else. */
export function asObject(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The value as a list; an empty one when it is anything else. */
export function asList(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

/** The value as text; empty when it is anything else. */
export function asText(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path of field names; undefined where the path ends early. */
export function at(value: Json | undefined, ...path: readonly string[]): Json | undefined {
  let current = value;
  for (const name of path) {
    if (!isObject(current)) return undefined;
    current = current[name];
  }
  return current;
}

/** A copy that shares nothing with the original. */
export function copy<T extends Json>(value: T): T {
  if (Array.isArray(value)) return value.map((item) => copy(item)) as T;
  if (isObject(value)) {
    const result: JsonObject = {};
    for (const name in value) {
      const field = value[name];
      if (field !== undefined) result[name] = copy(field);
    }
    return result as T;
  }
  return value;
}

/** Whether two values are the same, whatever the order of their fields. */
export function same(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => same(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  for (const name in a) if (!same(a[name], b[name])) return false;
  for (const name in b) if (b[name] !== undefined && a[name] === undefined) return false;
  return true;
}
