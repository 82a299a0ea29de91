/** From the objects that are wanted and those that are there to what is to be done. Pure. */
import type { Frozen, KubeObject, Stored } from "../../../kube/resource.ts";
import type { StorageClass } from "../../../kube/types.ts";
import { scriptsAnnotation } from "../registration.ts";
import { contains, difference, isOurs } from "./difference.ts";

export type Step =
  | { readonly do: "create"; readonly object: KubeObject }
  | { readonly do: "patch"; readonly object: KubeObject; readonly stored: Stored<KubeObject>; readonly merge: object }
  /** Parameters of a storage class cannot be changed: it is deleted, and made anew. Volumes do not mind. */
  | { readonly do: "replace"; readonly object: KubeObject; readonly stored: Stored<KubeObject> }
  | { readonly do: "delete"; readonly stored: Stored<KubeObject> }
  /** Somebody else's object has the name, and is not as wanted. */
  | { readonly do: "leave"; readonly object: KubeObject; readonly stored: Stored<KubeObject> };

/** What is to be done about one object that is wanted; undefined: nothing. */
export function planObject(object: KubeObject, stored: Stored<KubeObject> | undefined): Step | undefined {
  if (stored === undefined) return { do: "create", object };
  if (staysAsFound(object, stored)) return undefined;
  if (!isOurs(stored)) return contains(specOf(stored), specOf(object)) ? undefined : { do: "leave", object, stored };
  if (object.kind === "StorageClass") {
    const [wanted, seen] = [object as StorageClass, stored as Stored<StorageClass>];
    if (wanted.provisioner !== seen.provisioner) return { do: "leave", object, stored };
    if (!sameVolumes(wanted, seen)) return { do: "replace", object, stored };
  }
  const merge = difference(stored, object);
  return merge && { do: "patch", object, stored, merge };
}

/** The network of pods cannot be exchanged under them; and the platform's own scripts on nodes are as right as ours. */
function staysAsFound(object: KubeObject, stored: Stored<KubeObject>): boolean {
  const made = (of: KubeObject) => of.metadata?.annotations?.[scriptsAnnotation];
  return object.metadata?.name === cniSecretName || (made(object) !== undefined && made(stored) === undefined);
}

export const cniSecretName = "d8-cni-configuration";

/** What volumes are made by; a parameter that is there and not wanted counts too. */
const comparedParameters = ["type", "iops", "iopsPerGB", "throughput"] as const;

function sameVolumes(a: StorageClass, b: Stored<StorageClass>): boolean {
  return comparedParameters.every((key) => a.parameters?.[key] === b.parameters?.[key]);
}

/** Storage classes of ours that are not wanted any more. */
export function unwantedClasses(
  wanted: readonly KubeObject[],
  seen: readonly Frozen<Stored<StorageClass>>[],
): readonly Frozen<Stored<StorageClass>>[] {
  const names = new Set(wanted.filter(({ kind }) => kind === "StorageClass").map(({ metadata }) => metadata?.name));
  return seen.filter(
    (each) =>
      isOurs(each as KubeObject) &&
      each.metadata.labels?.app === "ebs-csi-driver" &&
      each.provisioner === "ebs.csi.aws.com" &&
      !names.has(each.metadata.name),
  );
}

/** An object without what tells who keeps it. */
function specOf({ apiVersion: _apiVersion, kind: _kind, metadata: _metadata, ...rest }: KubeObject): object {
  return rest;
}
