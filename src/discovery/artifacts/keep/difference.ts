/** What has to be changed in an object of ours, so that it is as wanted. What others have added to it stays. */
import type { KubeObject } from "../../../kube/resource.ts";

const marks = { heritage: "deckhouse", module: "cloud-provider-aws" };
export const defaultClassAnnotation = "storageclass.kubernetes.io/is-default-class";

/** Whether an object is one that the provider's module keeps. */
export function isOurs({ metadata }: KubeObject): boolean {
  return metadata?.labels?.heritage === marks.heritage && metadata.labels.module === marks.module;
}

/** Whether everything that is wanted is there; lists must be the same, of maps the rest does not count. */
export function contains(stored: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return Array.isArray(stored) && stored.length === wanted.length && wanted.every((each, index) => contains(stored[index], each));
  }
  if (typeof wanted !== "object" || wanted === null) return stored === wanted;
  if (typeof stored !== "object" || stored === null) return false;
  return Object.entries(wanted).every(([key, value]) => value === undefined || contains((stored as Record<string, unknown>)[key], value));
}

/** The body of the merge patch; undefined when nothing is to be changed. */
export function difference(stored: KubeObject, wanted: KubeObject): object | undefined {
  const { apiVersion: _apiVersion, kind: _kind, metadata = {}, ...body } = wanted;
  const gone = surplus(stored, wanted);
  if (gone === undefined && contains(stored, { ...body, metadata })) return undefined;
  const { name: _name, namespace: _namespace, ...meta } = metadata;
  return joined({ ...body, metadata: meta }, gone ?? {});
}

/** What is there and must not be: readers of a Secret read every key, and a cluster has one default class. */
function surplus(stored: KubeObject & { readonly data?: object }, wanted: KubeObject & { readonly data?: object }): object | undefined {
  if (wanted.kind === "Secret") {
    const keys = Object.keys(stored.data ?? {}).filter((key) => !(key in (wanted.data ?? {})));
    return keys.length === 0 ? undefined : { data: Object.fromEntries(keys.map((key) => [key, null])) };
  }
  const isDefault = (object: KubeObject) => object.metadata?.annotations?.[defaultClassAnnotation] === "true";
  if (wanted.kind !== "StorageClass" || !isDefault(stored) || isDefault(wanted)) return undefined;
  return { metadata: { annotations: { [defaultClassAnnotation]: null } } };
}

function joined(one: object, other: object): object {
  const entries = Object.entries(other).map(([key, value]) => {
    const before = (one as Record<string, unknown>)[key];
    return [key, isMap(before) && isMap(value) ? joined(before, value) : value];
  });
  return { ...one, ...Object.fromEntries(entries) };
}

function isMap(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
