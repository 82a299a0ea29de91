/** The kinds this API serves, as a table; custom resources join it while it runs. */

import type { JsonObject, KubeObject } from "./json.ts";
import type { MergeRules } from "./merge-rules.ts";
import type { FieldError } from "./status.ts";

/** What sets one kind apart from a plain bag of fields. Every part may be absent. */
export interface Behaviour {
  /** Fills in defaults, on create and on every update; `now` as timestamps are written. Changes the object it is given. */
  complete?(object: KubeObject, before: KubeObject | undefined, now: string): void;
  validate?(object: KubeObject, before: KubeObject | undefined): FieldError[];
  /** Undoes what a write through the main path may not touch, beyond `status`. */
  restrict?(object: KubeObject, before: KubeObject, subresource: string): void;
  /** Fields that a field selector may name, beyond metadata.name and metadata.namespace. */
  readonly selectable?: Readonly<Record<string, (object: KubeObject) => string>>;
  /** What the typed server writes even for an empty object; bookmarks carry it. */
  readonly empty?: JsonObject;
}

export interface Resource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  /** `all` is what `kubectl get all` lists. */
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly subresources: readonly string[];
  /** Whether metadata.generation counts changes of the spec. */
  readonly generation: boolean;
  /** Whether a PUT without resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean;
  /** Whether a PUT on a missing name creates. */
  readonly createOnUpdate: boolean;
  /** Whether a delete answers with the object rather than with a Status. */
  readonly returnsDeleted: boolean;
  readonly collectionDelete: boolean;
  /** Custom resources: no strategic merge patch, metadata untouched by status writes, pruning by schema. */
  readonly custom: boolean;
  readonly behaviour: Behaviour;
  readonly mergeRules: MergeRules;
  /** Where the `scale` subresource finds its numbers. */
  readonly scale?: { readonly spec: readonly string[]; readonly status: readonly string[]; readonly selector?: readonly string[] };
  readonly printerColumns?: readonly PrinterColumn[];
}

export interface PrinterColumn {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
  readonly jsonPath: string;
}

/** `group/plural`: the name under which objects of one kind are kept, whatever version they are asked in. */
export function storageKey(resource: Resource): string {
  return `${resource.group}/${resource.plural}`;
}

export function apiVersionOf(resource: Resource): string {
  return resource.group === "" ? resource.version : `${resource.group}/${resource.version}`;
}
