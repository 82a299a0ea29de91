/** Finalizers, added and removed without touching those of others. */
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { KubeObject, Resource } from "../../kube/resource.ts";

/** One incarnation of a cluster-wide object. */
export interface Incarnation {
  readonly name: string;
  readonly uid: string;
}

/** Sees to it that the object has the finalizer. */
export function addFinalizer(kube: KubeClient, of: Resource<KubeObject>, object: Incarnation, finalizer: string, signal: AbortSignal) {
  return changeFinalizers(kube, of, object, signal, (present) => (present.includes(finalizer) ? present : [...present, finalizer]));
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
  { name, uid }: Incarnation,
  signal: AbortSignal,
  change: (present: readonly string[]) => readonly string[],
): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    const { metadata } = await kube.get(of, { name }, { signal });
    const present = metadata.finalizers ?? [];
    const wanted = change(present);
    if (wanted.length === present.length) return;
    try {
      const merge = { metadata: { finalizers: wanted, resourceVersion: metadata.resourceVersion } };
      await kube.patch(of, { name }, { merge, uid }, { signal });
      return;
    } catch (error) {
      if (!isApiError(error, "conflict") || attempt === tries) throw error;
    }
  }
}
