/** From what was sent to an object of its kind, as decoding into Go types and writing again makes it. */
import { asObject, asText, isObject, type Json, type JsonObject, type KubeObject } from "./json.ts";
import { requireTexts } from "./metadata.ts";
import { apiVersionOf, type Resource } from "./resources.ts";
import { type ApiFailure, badRequest, fieldErrors, invalid } from "./status.ts";

/** What was sent, as an object of its kind: of the right kind, version and namespace, or refused. */
export function decode(resource: Resource, namespace: string | undefined, sent: JsonObject): KubeObject {
  const apiVersion = apiVersionOf(resource);
  if (resource.custom && asText(sent.kind) === "") {
    const text = JSON.stringify(sent);
    throw badRequest(
      `the object provided is unrecognized (must be of type ${resource.kind}): Object 'Kind' is missing in '${text}' (${text})`,
    );
  }
  if (sent.apiVersion !== undefined && sent.apiVersion !== apiVersion) {
    throw badRequest(`the API version in the data (${asText(sent.apiVersion)}) does not match the expected API version (${apiVersion})`);
  }
  if (sent.kind !== undefined && sent.kind !== resource.kind) throw wrongKind(resource, sent);
  const object = tidy({ ...sent, apiVersion, kind: resource.kind, metadata: { ...asObject(sent.metadata) } } as KubeObject);
  requireTexts(resource.kind, object);
  const given = asText(object.metadata.namespace);
  if (given !== "" && given !== (namespace ?? "")) {
    throw badRequest("the namespace of the provided object does not match the namespace sent on the request");
  }
  if (namespace !== undefined) object.metadata.namespace = namespace;
  return object;
}

function wrongKind(resource: Resource, sent: JsonObject): ApiFailure {
  const found = asText(sent.kind);
  if (resource.custom) {
    return invalid(resource.group, found, asText(asObject(sent.metadata).name), [
      fieldErrors.invalid("kind", found, `must be ${resource.kind}`),
    ]);
  }
  return badRequest(
    `${found} in version "${resource.version}" cannot be handled as a ${resource.kind}: converting (${resource.version}.${found}) to (core.${resource.kind}): unknown conversion`,
  );
}

/** Nulls and empty metadata fall away, as they do when decoded into Go types and written again. */
function tidy(object: KubeObject): KubeObject {
  const result = withoutNulls(object) as KubeObject;
  for (const name of ["labels", "annotations", "finalizers", "ownerReferences"]) {
    const value = result.metadata[name];
    if (value !== undefined && Object.keys(value as object).length === 0) delete result.metadata[name];
  }
  if (!isObject(result.metadata)) throw badRequest("metadata must be an object");
  return result;
}

function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const result: JsonObject = {};
  for (const [name, field] of Object.entries(value)) if (field !== null && field !== undefined) result[name] = withoutNulls(field);
  return result;
}
