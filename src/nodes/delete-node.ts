import { nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import type { ConfirmedGone } from "./gone.ts";

/**
 * Deletes the Node that was proven to have lost its instance: this incarnation, in the state that was judged. False when
 * it has changed since, or is gone.
 */
export async function deleteNode(kube: KubeClient, { case: proven }: ConfirmedGone, signal: AbortSignal): Promise<boolean> {
  const { nodeName: name, nodeUid: uid, resourceVersion } = proven;
  try {
    await kube.delete(nodes, { name }, { uid, resourceVersion, signal });
    return true;
  } catch (error) {
    if (isApiError(error, "conflict", "not-found")) return false;
    throw error;
  }
}
