/** JSON patch (RFC 6902), with the two liberties of the library behind the real API. */
import { asObject, asText, copy, isObject, type Json, same } from "./json.ts";
import { badRequest, rejectedPatch } from "./status.ts";

/** The document after all operations. Rejected as a whole when one of them cannot be done. */
export function applyJsonPatch(document: Json, patch: Json): Json {
  if (!Array.isArray(patch))
    throw badRequest("error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp");
  const root: { value: Json } = { value: copy(document) };
  for (const operation of patch) perform(root, asObject(operation));
  return root.value;
}

function perform(root: { value: Json }, operation: { readonly [name: string]: Json | undefined }): void {
  const path = pointer(operation.path);
  switch (operation.op) {
    case "add":
      put(root, path, copy(operation.value ?? null), "insert");
      break;
    case "replace":
      put(root, path, copy(operation.value ?? null), "replace");
      break;
    case "remove":
      remove(root, path);
      break;
    case "move":
      put(root, path, remove(root, pointer(operation.from)), "insert");
      break;
    case "copy":
      put(root, path, copy(find(root, pointer(operation.from)) ?? null), "insert");
      break;
    case "test":
      // A missing field equals null.
      if (!same(find(root, path) ?? null, operation.value ?? null)) throw rejectedPatch();
      break;
    default:
      throw rejectedPatch();
  }
}

function pointer(text: Json | undefined): string[] {
  if (typeof text !== "string" || (text !== "" && !text.startsWith("/"))) throw rejectedPatch();
  return asText(text)
    .split("/")
    .slice(1)
    .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function find(root: { value: Json }, path: readonly string[]): Json | undefined {
  let current: Json | undefined = root.value;
  for (const part of path) {
    if (Array.isArray(current)) current = current[index(part, current.length - 1)];
    else if (isObject(current)) current = current[part];
    else throw rejectedPatch();
  }
  return current;
}

function put(root: { value: Json }, path: readonly string[], value: Json, how: "insert" | "replace"): void {
  const last = path.at(-1);
  if (last === undefined) {
    root.value = value;
    return;
  }
  const parent = find(root, path.slice(0, -1));
  if (Array.isArray(parent)) {
    if (how === "replace") parent[index(last, parent.length - 1)] = value;
    else parent.splice(last === "-" ? parent.length : index(last, parent.length), 0, value);
  } else if (isObject(parent)) {
    // Replacing a field that is not there adds it, as the real API does.
    parent[last] = value;
  } else throw rejectedPatch();
}

function remove(root: { value: Json }, path: readonly string[]): Json {
  const last = path.at(-1);
  const parent = find(root, path.slice(0, -1));
  if (last === undefined) throw rejectedPatch();
  if (Array.isArray(parent)) return parent.splice(index(last, parent.length - 1), 1)[0]!;
  if (!isObject(parent)) throw rejectedPatch();
  const value = parent[last];
  if (value === undefined) throw rejectedPatch();
  delete parent[last];
  return value;
}

function index(text: string, max: number): number {
  const value = Number(text);
  if (!/^(0|[1-9]\d*)$/.test(text) || value > max) throw rejectedPatch();
  return value;
}
