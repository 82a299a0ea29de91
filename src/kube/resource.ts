/** What kind of object a verb is about, and the types of objects as they come from the server. */
import type { ObjectMeta } from "./types.ts";

/** What every object of the API has in common. */
export interface KubeObject {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata?: ObjectMeta;
}

/** What the server has filled in on every object it returns. */
export interface StoredMeta extends ObjectMeta {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

/** An object as the server returned it. */
export type Stored<T extends KubeObject> = Omit<T, "metadata"> & { readonly metadata: StoredMeta };

/** Everything in it readonly, all the way down. */
export type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T;

/** One resource of the API, built-in or custom. Made by `resource`. */
export interface Resource<T extends KubeObject> {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Only carries the type; never there. */
  readonly shape?: T;
}

/** Describes a resource: `resource<Node>({ group: "", version: "v1", plural: "nodes", kind: "Node", namespaced: false })`. */
export function resource<T extends KubeObject>(description: Omit<Resource<T>, "shape">): Resource<T> {
  return description;
}

/** `v1`, `coordination.k8s.io/v1`. */
export function apiVersion(of: Resource<KubeObject>): string {
  return of.group === "" ? of.version : `${of.group}/${of.version}`;
}

/** Which object, or which collection when there is no name, and which part of it. */
export interface Target {
  readonly namespace?: string;
  readonly name?: string;
  readonly subresource?: string;
}

/** The URL path of an object, a subresource or a collection. */
export function pathOf(of: Resource<KubeObject>, target: Target): string {
  if (of.namespaced && target.name !== undefined && !target.namespace)
    throw new TypeError(`${of.plural}/${target.name}: a namespace is needed`);
  const segments = of.group === "" ? ["api", of.version] : ["apis", of.group, of.version];
  if (of.namespaced && target.namespace) segments.push("namespaces", target.namespace);
  segments.push(of.plural);
  if (target.name !== undefined) segments.push(target.name);
  if (target.subresource !== undefined) segments.push(target.subresource);
  return `/${segments.map(encodeURIComponent).join("/")}`;
}

/** The same for people: `nodes/ip-10-0-0-1/status`, `services/default/web`. */
export function nameOf(of: Resource<KubeObject>, target: Target): string {
  const plural = of.group === "" ? of.plural : `${of.plural}.${of.group}`;
  const namespace = of.namespaced ? target.namespace : undefined;
  return [plural, namespace, target.name, target.subresource].filter(Boolean).join("/");
}
