/** `scale`: an object seen as a number of replicas, and a number of replicas written into it. */
import { asObject, asText, at, copy, type Json, type JsonObject, type KubeObject } from "./json.ts";
import type { Resource } from "./resources.ts";

type Paths = NonNullable<Resource["scale"]>;

/** The object's Scale. */
export function scaleOf(object: KubeObject, paths: Paths): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const replicas = at(object, ...paths.spec);
  return {
    kind: "Scale",
    apiVersion: "autoscaling/v1",
    metadata: { name, ...(namespace !== undefined && { namespace }), uid, resourceVersion, creationTimestamp },
    spec: typeof replicas === "number" ? { replicas } : {},
    status: { replicas: Number(at(object, ...paths.status) ?? 0) },
  };
}

/** The object, changed to what a Scale says. */
export function scaled(object: KubeObject, wanted: JsonObject, paths: Paths): KubeObject {
  const version = asText(at(wanted, "metadata", "resourceVersion"));
  if (version !== "") object.metadata.resourceVersion = version;
  setAt(object, paths.spec, at(wanted, "spec", "replicas") ?? 0);
  return object;
}

function setAt(object: JsonObject, path: readonly string[], value: Json): void {
  const [first, ...rest] = path;
  if (first === undefined) return;
  if (rest.length === 0) object[first] = copy(value);
  else {
    const inner = asObject(object[first]);
    object[first] = inner;
    setAt(inner, rest, value);
  }
}
