/** Finalizers, added and removed without touching those of others. */
import type { KubeClient } from "../../kube/client.ts";
import { ApiError, isApiError } from "../../kube/errors.ts";
import type { KubeObject, Resource } from "../../kube/resource.ts";

/** One incarnation of an object. */
export interface Incarnation {
  readonly name: string;
  /** Undefined of one that is cluster-wide. */
  readonly namespace?: string;
  readonly uid: string;
}

/** Sees to it that the object has the finalizer. Throws when it is gone or going: then it is too late. */
export async function addFinalizer(
  kube: KubeClient,
  of: Resource<KubeObject>,
  object: Incarnation,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  await changeFinalizers(kube, of, object, signal, (present, isLeaving) => {
    if (isLeaving) throw new Error(`${of.kind} ${object.name} is being deleted`);
    if (present.includes(finalizer)) return present;
    return [...present, finalizer];
  });
}

/** Sees to it that the object has the finalizer no more; done when the object is gone. */
export async function removeFinalizer(
  kube: KubeClient,
  of: Resource<KubeObject>,
  object: Incarnation,
  finalizer: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    await changeFinalizers(kube, of, object, signal, (present) => present.filter((each) => each !== finalizer));
  } catch (error) {
    if (!isApiError(error, "not-found")) throw error;
  }
}

const tries = 5;

/** On a fresh reading, refused when somebody else changes the object at the same moment, and then tried again. */
async function changeFinalizers(
  kube: KubeClient,
  of: Resource<KubeObject>,
  { name, namespace, uid }: Incarnation,
  signal: AbortSignal,
  change: (present: readonly string[], isLeaving: boolean) => readonly string[],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const place = { name, ...(namespace !== undefined && { namespace }) };
    const { metadata } = await kube.get(of, place, { signal });
    const present = metadata.finalizers ?? [];
    if (metadata.uid !== uid)
      throw new ApiError({ reason: "not-found", status: 404, asked: `get ${of.plural}/${name}`, said: "it is another one" });
    const wanted = change(present, metadata.deletionTimestamp !== undefined);
    if (wanted.length === present.length) return;
    try {
      const merge = { metadata: { finalizers: wanted, resourceVersion: metadata.resourceVersion } };
      await kube.patch(of, place, { merge, uid }, { signal });
      return;
    } catch (error) {
      if (!isApiError(error, "conflict") || attempt === tries) throw error;
    }
  }
}
