/** Who owns which field: kept in `metadata.managedFields` on every write, and what server-side apply is decided by. */
import { asFieldsV1, type FieldPath, type Fields, fieldsOf, fromFieldsV1, itemElement, spelled } from "./field-paths.ts";
import { asList, asObject, asText, copy, isObject, type Json, type JsonObject, same } from "./json.ts";
import type { MergeRule, MergeRules } from "./merge-rules.ts";
import { ApiFailure } from "./status.ts";

export interface Writer {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion: string;
  readonly subresource: string;
}

interface Owner extends Writer {
  readonly time: string;
  readonly paths: Map<string, FieldPath>;
}

/** `managedFields` after a write that was not an apply: what changed belongs to the writer, and to nobody else. */
export function ownAfterUpdate(before: JsonObject | undefined, after: JsonObject, writer: Writer, now: string, rules: MergeRules): Json[] {
  const old: Fields = before === undefined ? new Map() : fieldsOf(before, rules);
  const fresh = fieldsOf(after, rules);
  const owners = ownersOf(before);
  const changed = [...fresh].filter(([text, field]) => !old.has(text) || !same(old.get(text)!.value, field.value));
  for (const owner of owners) {
    for (const [text] of changed) owner.paths.delete(text);
    for (const text of owner.paths.keys()) if (!fresh.has(text) && old.has(text)) owner.paths.delete(text);
  }
  if (changed.length > 0) {
    const mine = entryOf(owners, writer, now);
    for (const [text, { path }] of changed) mine.paths.set(text, path);
  }
  return encoded(owners);
}

/** The live object with an applied configuration merged in, and who owns what then; rejects on conflicts unless forced. */
export function applied(
  live: JsonObject,
  configuration: JsonObject,
  writer: Writer,
  force: boolean,
  now: string,
  rules: MergeRules,
): JsonObject {
  const wanted = fieldsOf(configuration, rules);
  const current = fieldsOf(live, rules);
  const owners = ownersOf(live);
  const others = owners.filter((owner) => !sameWriter(owner, writer));

  const conflicts = others.flatMap((owner) =>
    [...wanted]
      .filter(([text, { value }]) => owner.paths.has(text) && current.has(text) && !same(current.get(text)!.value, value))
      .map(([text, { path }]) => ({ owner, text, path })),
  );
  if (conflicts.length > 0 && !force) throw conflictOf(conflicts);
  for (const { owner, text } of conflicts) owner.paths.delete(text);

  const merged = merge(live, configuration, "", rules) as JsonObject;
  const before = owners.find((owner) => sameWriter(owner, writer))?.paths ?? new Map<string, FieldPath>();
  const dropped = [...before].filter(([text]) => !wanted.has(text) && !others.some((owner) => owner.paths.has(text)));
  for (const [, path] of dropped) removeAt(merged, path, "", rules);

  const mine = entryOf(owners, writer, now, true);
  for (const [text, { path }] of wanted) mine.paths.set(text, path);
  merged.metadata = { ...asObject(merged.metadata), managedFields: encoded(owners) };
  return merged;
}

function sameWriter(a: Writer, b: Writer): boolean {
  return a.manager === b.manager && a.operation === b.operation && a.apiVersion === b.apiVersion && a.subresource === b.subresource;
}

function ownersOf(object: JsonObject | undefined): Owner[] {
  return asList(asObject(object?.metadata).managedFields).map((entry) => {
    const { manager, operation, apiVersion, subresource, time, fieldsV1 } = asObject(entry);
    return {
      manager: asText(manager),
      operation: operation === "Apply" ? "Apply" : "Update",
      apiVersion: asText(apiVersion),
      subresource: asText(subresource),
      time: asText(time),
      paths: new Map(fromFieldsV1(asObject(fieldsV1)).map((path) => [path.join("\n"), path])),
    };
  });
}

/** The writer's entry with the time of this write; `anew` forgets what it owned before. */
function entryOf(owners: Owner[], writer: Writer, now: string, anew = false): Owner {
  const found = owners.findIndex((owner) => sameWriter(owner, writer));
  const entry: Owner = { ...writer, time: now, paths: new Map(anew || found < 0 ? [] : owners[found]!.paths) };
  if (found < 0) owners.push(entry);
  else owners[found] = entry;
  return entry;
}

function encoded(owners: readonly Owner[]): Json[] {
  return owners
    .filter((owner) => owner.paths.size > 0)
    .map((owner) => ({
      manager: owner.manager,
      operation: owner.operation,
      apiVersion: owner.apiVersion,
      time: owner.time,
      fieldsType: "FieldsV1",
      fieldsV1: asFieldsV1(owner.paths.values()),
      ...(owner.subresource === "" ? {} : { subresource: owner.subresource }),
    }));
}

function conflictOf(conflicts: readonly { readonly owner: Owner; readonly path: FieldPath }[]): ApiFailure {
  const named = (owner: Owner) =>
    `"${owner.manager}"${owner.subresource === "" ? "" : ` with subresource "${owner.subresource}"`}${owner.operation === "Update" ? ` using ${owner.apiVersion}` : ""}`;
  const groups = [...Map.groupBy(conflicts, ({ owner }) => owner)].map(([owner, of]) => {
    const paths = of.map(({ path }) => spelled(path));
    return conflicts.length === 1
      ? `conflict with ${named(owner)}: ${paths[0]}`
      : `conflicts with ${named(owner)}:\n${paths.map((path) => `- ${path}`).join("\n")}`;
  });
  const count = `${conflicts.length} conflict${conflicts.length === 1 ? "" : "s"}`;
  return new ApiFailure(409, `Apply failed with ${count}: ${groups.join("\n")}`, {
    reason: "Conflict",
    details: {
      causes: conflicts.map(({ owner, path }) => ({
        reason: "FieldManagerConflict",
        message: `conflict with ${named(owner)}`,
        field: spelled(path),
      })),
    },
  });
}

function merge(live: Json | undefined, patch: Json, place: string, rules: MergeRules): Json {
  const rule = rules.get(place);
  if (isObject(patch) && isObject(live) && rule?.apply !== "atomic") {
    const result = copy(live);
    for (const [name, value] of Object.entries(patch)) {
      if (value === null) delete result[name];
      else if (value !== undefined) result[name] = merge(result[name], value, place === "" ? name : `${place}.${name}`, rules);
    }
    return result;
  }
  if (!Array.isArray(patch) || rule === undefined || rule.apply === "atomic") return copy(patch);
  const items = Array.isArray(live) ? copy(live) : [];
  const elements = patch.map((item) => itemElement(item, rule));
  const twice = elements.find((element, i) => elements.indexOf(element) !== i);
  if (twice !== undefined) throw duplicateKey(place, twice);
  for (const [i, item] of patch.entries()) {
    const found = items.findIndex((one) => itemElement(one, rule) === elements[i]);
    if (found < 0) items.push(copy(item));
    else items[found] = merge(items[found], item, `${place}[]`, rules);
  }
  return items;
}

function duplicateKey(place: string, element: string): ApiFailure {
  return new ApiFailure(500, `failed to create typed patch object: .${place}: duplicate entries for key ${spelled([element])}`);
}

/** Takes out what stands at the path, and what is left empty by that. */
function removeAt(node: Json | undefined, path: FieldPath, place: string, rules: MergeRules): void {
  const [element, ...rest] = path;
  if (element === undefined) return;
  if (element.startsWith("f:") && isObject(node)) {
    const name = element.slice(2);
    const inner = place === "" ? name : `${place}.${name}`;
    if (rest.length === 0) delete node[name];
    else {
      removeAt(node[name], rest, inner, rules);
      if (isEmpty(node[name])) delete node[name];
    }
  } else if (Array.isArray(node)) {
    const rule: MergeRule | undefined = rules.get(place);
    const found = rule === undefined ? -1 : node.findIndex((item) => itemElement(item, rule) === element);
    if (found < 0) return;
    if (rest.length === 0) node.splice(found, 1);
    else removeAt(node[found], rest, `${place}[]`, rules);
  }
}

function isEmpty(value: Json | undefined): boolean {
  return Array.isArray(value) ? value.length === 0 : isObject(value) && Object.keys(value).length === 0;
}
