/** The forms in which objects and lists are answered: as they are, as a table, or as metadata alone. */
import type { Json, JsonObject, KubeObject } from "./json.ts";
import type { Form } from "./requests.ts";
import { apiVersionOf, type Resource } from "./resources.ts";
import { partialMetadata, tableOf } from "./tables.ts";

/** One object; a table describes its columns only when asked to, which a watch does once. */
export function objectIn(form: Form, resource: Resource, object: KubeObject, now: number, columns: boolean): JsonObject {
  const { resourceVersion } = object.metadata;
  if (form === "table") return tableOf(resource, [object], { resourceVersion }, now, columns);
  return form === "metadata" ? partialMetadata(object) : inVersion(object, resource);
}

/** A list of objects under the metadata of the list. */
export function listIn(form: Form, resource: Resource, items: readonly KubeObject[], metadata: JsonObject, now: number): JsonObject {
  if (form === "table") return tableOf(resource, items, metadata, now, true);
  if (form === "metadata") {
    return { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items: items.map(partialMetadata) };
  }
  const shown = items.map((object): Json => {
    if (resource.custom) return inVersion(object, resource);
    const { apiVersion: _, kind: __, ...rest } = object;
    return rest;
  });
  return { kind: resource.listKind, apiVersion: apiVersionOf(resource), metadata, items: shown };
}

/** The same object, told in the version it was asked in. */
function inVersion(object: KubeObject, resource: Resource): KubeObject {
  const apiVersion = apiVersionOf(resource);
  return object.apiVersion === apiVersion ? object : { ...object, apiVersion };
}
