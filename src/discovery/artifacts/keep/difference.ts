/** What has to be changed in an object of ours, so that it is as wanted. What others have added to it stays. */
import type { KubeObject } from "../../../kube/resource.ts";
import { type DefaultSaidBy, lostMarks } from "./default-class.ts";

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
export function difference(stored: KubeObject, wanted: KubeObject, saidBy: DefaultSaidBy = "cluster"): object | undefined {
  const { apiVersion: _apiVersion, kind: _kind, metadata = {}, ...body } = wanted;
  const gone = surplus(stored, wanted, saidBy);
  if (gone === undefined && contains(stored, { ...body, metadata })) return undefined;
  const { name: _name, namespace: _namespace, ...meta } = metadata;
  return joined({ ...body, metadata: meta }, gone ?? {});
}

type WithData = KubeObject & { readonly data?: object };

/** What is there and must not be: readers of a Secret read every key, and a cluster has one default class. */
function surplus(stored: WithData, wanted: WithData, saidBy: DefaultSaidBy): object | undefined {
  if (wanted.kind === "Secret") {
    const keys = Object.keys(stored.data ?? {}).filter((key) => !(key in (wanted.data ?? {})));
    return keys.length === 0 ? undefined : { data: Object.fromEntries(keys.map((key) => [key, null])) };
  }
  const annotations = wanted.kind === "StorageClass" ? lostMarks(stored, wanted, saidBy) : undefined;
  return annotations && { metadata: { annotations } };
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
