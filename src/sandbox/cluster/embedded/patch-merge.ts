/** JSON merge patch (RFC 7386). */
import { copy, isObject, type Json, type JsonObject } from "./json.ts";

/** The document with the patch laid over it: null removes a field, a list is replaced whole. */
export function applyMergePatch(document: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return copy(patch);
  const result: JsonObject = isObject(document) ? copy(document) : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null || value === undefined) delete result[name];
    else result[name] = applyMergePatch(result[name], value);
  }
  return result;
}
