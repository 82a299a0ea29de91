/**
 * Which storage class is the default of the cluster. Somebody's choice counts before ours; ours is marked as such and gives way, so that nobody who
 * moves the default, by hand or by the platform's own settings, has to fight for it. Pure.
 */
import type { Frozen, KubeObject } from "../../../kube/resource.ts";
import type { StorageClass } from "../../../kube/types.ts";
import { defaultClassAnnotation } from "../storage-classes.ts";
import { isOurs } from "./marks.ts";

/** On a class that is the default because nobody had chosen one. */
const ownChoiceAnnotation = "artifacts.fairlead.io/fallback-default";

/** Who says which class is the default: the settings, a mark in the cluster, or nobody. */
export type DefaultSaidBy = "settings" | "cluster" | "nobody";

type Annotated = Frozen<KubeObject>;

export function isDefault({ metadata }: Annotated): boolean {
  return metadata?.annotations?.[defaultClassAnnotation] === "true";
}

function isOwnChoice({ metadata }: Annotated): boolean {
  return metadata?.annotations?.[ownChoiceAnnotation] !== undefined;
}

/** The class that is the cluster's default already; empty: there is none. Of several, ours that was nobody's choice is the last, and one of others the first. */
export function defaultIn(classes: readonly Frozen<StorageClass>[]): string {
  const rank = (each: Frozen<StorageClass>) => Number(isOwnChoice(each)) * 2 + Number(isOurs(each));
  const [first] = classes
    .filter(isDefault)
    .map((each) => ({ name: each.metadata?.name ?? "", rank: rank(each) }))
    .sort((a, b) => a.rank - b.rank || (a.name < b.name ? -1 : 1));
  return first?.name ?? "";
}

/** The objects with the default as our own choice: marked so; not at all on classes that must wait for one. */
export function withOwnChoice(objects: readonly KubeObject[], waiting: ReadonlySet<string>): readonly KubeObject[] {
  return objects.map((object) => {
    if (object.kind !== "StorageClass" || !isDefault(object)) return object;
    const { [defaultClassAnnotation]: _, ...others } = object.metadata?.annotations ?? {};
    const own: Readonly<Record<string, string>> = { [defaultClassAnnotation]: "true", [ownChoiceAnnotation]: "true" };
    const annotations = waiting.has(object.metadata?.name ?? "") ? others : { ...others, ...own };
    return { ...object, metadata: { ...object.metadata, annotations } };
  });
}

/** The annotations that a class loses. Marks that others have put stay, unless the settings name another class. */
export function lostMarks(stored: Annotated, wanted: Annotated, saidBy: DefaultSaidBy): Readonly<Record<string, null>> | undefined {
  if (!isDefault(stored) || isDefault(wanted) || (saidBy !== "settings" && !isOwnChoice(stored))) return undefined;
  return { [defaultClassAnnotation]: null, ...(isOwnChoice(stored) && { [ownChoiceAnnotation]: null }) };
}
