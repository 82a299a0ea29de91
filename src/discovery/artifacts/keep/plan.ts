/** From the objects that are wanted and those that are there to what is to be done. Pure. */
import { createHash } from "node:crypto";
import type { Frozen, KubeObject, Stored } from "../../../kube/resource.ts";
import type { StorageClass } from "../../../kube/types.ts";
import { scriptsAnnotation } from "../registration.ts";
import { builtInClasses } from "../storage-classes.ts";
import type { DefaultSaidBy } from "./default-class.ts";
import { contains, difference } from "./difference.ts";
import { isOurs } from "./marks.ts";

export type Step =
  | { readonly do: "create"; readonly object: KubeObject }
  | { readonly do: "patch"; readonly object: KubeObject; readonly stored: Stored<KubeObject>; readonly merge: object }
  /** Parameters of a storage class cannot be changed: it is deleted, and made anew. Volumes do not mind. */
  | { readonly do: "replace"; readonly object: KubeObject; readonly stored: Stored<KubeObject> }
  | { readonly do: "delete"; readonly stored: Stored<KubeObject> }
  /** Somebody else's object has the name, and is not as wanted; or it cannot be made so without a loss, which is told. */
  | { readonly do: "leave"; readonly object: KubeObject; readonly stored: Stored<KubeObject>; readonly loss?: string };

/** What the settings say of storage classes. */
export interface ClassSettings {
  /** Those that they name. */
  readonly provisioned: ReadonlySet<string>;
  readonly defaultSaidBy: DefaultSaidBy;
}

const noSettings: ClassSettings = { provisioned: new Set(), defaultSaidBy: "cluster" };

/** What is to be done about one object that is wanted; undefined: nothing. */
export function planObject(object: KubeObject, stored: Stored<KubeObject> | undefined, settings = noSettings): Step | undefined {
  if (stored === undefined) return { do: "create", object: marked(object) };
  if (staysAsFound(object, stored)) return undefined;
  if (!isOurs(stored)) return contains(specOf(stored), specOf(object)) ? undefined : { do: "leave", object, stored };
  if (object.kind === "StorageClass") return planClass(object as StorageClass, stored as Stored<StorageClass>, settings);
  if (object.kind === "CustomResourceDefinition") {
    return coversAll(object, stored) ? planPatch(marked(object), stored) : { do: "leave", object, stored, loss: lostFields };
  }
  return planPatch(object, stored);
}

function planPatch(object: KubeObject, stored: Stored<KubeObject>, saidBy?: DefaultSaidBy): Step | undefined {
  const merge = difference(stored, object, saidBy);
  return merge && { do: "patch", object, stored, merge };
}

function planClass(wanted: StorageClass, seen: Stored<StorageClass>, { provisioned, defaultSaidBy }: ClassSettings): Step | undefined {
  if (wanted.provisioner !== seen.provisioner) return { do: "leave", object: wanted, stored: seen };
  if (sameVolumes(wanted, seen)) return planPatch(wanted, seen, defaultSaidBy);
  // One that every cluster has and that is not ours was asked for with these parameters in the settings of the platform's module.
  const isTheirs = !provisioned.has(seen.metadata.name) && seen.metadata.annotations?.[makerAnnotation] === undefined;
  if (isTheirs && builtInClasses.includes(seen.metadata.name)) return planPatch(withoutParameters(wanted), seen, defaultSaidBy);
  return { do: "replace", object: marked(wanted), stored: seen };
}

function withoutParameters({ parameters: _, ...rest }: StorageClass): StorageClass {
  return rest;
}

/**
 * The network of pods cannot be exchanged under them. The platform's own scripts on nodes are as right as ours. And a definition that knows all
 * that ours does may know more: with a field or a version of it, what users have written there would go. One that an earlier release of ours
 * wrote is brought up to date, because it may differ in what it allows only.
 */
function staysAsFound(object: KubeObject, stored: Stored<KubeObject>): boolean {
  const made = (of: KubeObject) => of.metadata?.annotations?.[scriptsAnnotation];
  if (object.kind === "CustomResourceDefinition") {
    const written = stored.metadata.annotations?.[definitionAnnotation];
    return knowsAll(stored, object) && (written === undefined || written === digestOf(object));
  }
  return object.metadata?.name === cniSecretName || (made(object) !== undefined && made(stored) === undefined);
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly type?: string;
}

interface Definition extends KubeObject {
  readonly spec?: {
    readonly versions?: readonly {
      readonly name?: string;
      readonly served?: boolean;
      readonly storage?: boolean;
      readonly schema?: { readonly openAPIV3Schema?: Schema };
    }[];
  };
}

/** Whether a definition serves and stores the versions of another, and has every field of theirs. Descriptions do not count. */
function knowsAll(stored: Definition, wanted: Definition): boolean {
  return (wanted.spec?.versions ?? []).every((version) => {
    const own = stored.spec?.versions?.find(({ name }) => name === version.name);
    const [has, needs] = [own?.schema?.openAPIV3Schema, version.schema?.openAPIV3Schema];
    return own?.served === true && own.storage === version.storage && has !== undefined && hasFields(has, needs ?? {});
  });
}

const lostFields = "it lacks versions or fields of ours and has others: with ours in its place, what users have written there would go";

/** Whether a definition has every version and field of another, so that nothing is lost when it takes its place. */
function coversAll(wanted: Definition, stored: Definition): boolean {
  return (stored.spec?.versions ?? []).every((version) => {
    const own = wanted.spec?.versions?.find(({ name }) => name === version.name)?.schema?.openAPIV3Schema;
    return own !== undefined && hasFields(own, version.schema?.openAPIV3Schema ?? {});
  });
}

function hasFields(has: Schema, needs: Schema): boolean {
  return Object.entries(needs.properties ?? {}).every(([name, inner]) => {
    const own = has.properties?.[name];
    return own !== undefined && own.type === inner.type && hasFields(own, inner);
  });
}

export const cniSecretName = "d8-cni-configuration";

/** What volumes are made by; a parameter that is there and not wanted counts too. */
const comparedParameters = ["type", "iops", "iopsPerGB", "throughput"] as const;

function sameVolumes(a: StorageClass, b: Stored<StorageClass>): boolean {
  return comparedParameters.every((key) => a.parameters?.[key] === b.parameters?.[key]);
}

/** Who made a storage class. Those that are there already do not get it: to be as wanted they need not be written. */
const makerAnnotation = "artifacts.fairlead.io/made-by";
/** A digest of the definition as we wrote it last: with another one it was an earlier release; with the same one, what differs is somebody's change. */
const definitionAnnotation = "artifacts.fairlead.io/definition";

function marked(object: KubeObject): KubeObject {
  const mark = markOf(object);
  if (mark === undefined) return object;
  const { metadata = {} } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...mark } } };
}

function markOf(object: KubeObject): Readonly<Record<string, string>> | undefined {
  if (object.kind === "StorageClass") return { [makerAnnotation]: "fairlead" };
  return object.kind === "CustomResourceDefinition" ? { [definitionAnnotation]: digestOf(object) } : undefined;
}

function digestOf(object: KubeObject): string {
  return createHash("sha256")
    .update(JSON.stringify(specOf(object)))
    .digest("hex")
    .slice(0, 16);
}

/**
 * Storage classes that we made, or that every cluster has, and that are not wanted any more. Others of the platform's module were asked for in
 * its settings: that ours do not name them is no reason to delete them.
 */
export function unwantedClasses(
  wanted: readonly KubeObject[],
  seen: readonly Frozen<Stored<StorageClass>>[],
): readonly Frozen<Stored<StorageClass>>[] {
  const names = new Set(wanted.filter(({ kind }) => kind === "StorageClass").map(({ metadata }) => metadata?.name));
  return seen.filter(
    (each) =>
      isOurs(each as KubeObject) &&
      each.metadata.deletionTimestamp === undefined &&
      each.metadata.labels?.app === "ebs-csi-driver" &&
      each.provisioner === "ebs.csi.aws.com" &&
      (each.metadata.annotations?.[makerAnnotation] !== undefined || builtInClasses.includes(each.metadata.name)) &&
      !names.has(each.metadata.name),
  );
}

/** An object without what tells who keeps it. */
function specOf({ apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest }: KubeObject): object {
  return rest;
}
