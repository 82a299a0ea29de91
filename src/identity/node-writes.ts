/** Writes to Nodes: patches that name the state they were made for, made anew when that state is gone. */

import { nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { isApiError } from "../kube/errors.ts";
import { nodeView, type SeenNode } from "./node-view.ts";

const maxTries = 8;

/**
 * Sends the merge patch that `make` gives for the newest state; on a conflict the Node is read again and the patch made
 * again. Returns the state that the patch was made for; undefined when the Node, or this incarnation of it, is gone.
 */
export async function patchNode(
  kube: KubeClient,
  seen: SeenNode,
  make: (node: SeenNode) => object | undefined,
  signal: AbortSignal,
): Promise<SeenNode | undefined> {
  const { name, uid } = seen.metadata;
  let node = seen;
  for (let tries = 1; ; tries++) {
    const merge = make(node);
    if (merge === undefined) return node;
    try {
      await kube.patch(nodes, { name }, { merge, uid }, { signal });
      return node;
    } catch (error) {
      if (isApiError(error, "not-found")) return undefined;
      if (!isApiError(error, "conflict") || tries === maxTries) throw error;
    }
    const fresh = await currentNode(kube, name, signal);
    if (fresh?.metadata.uid !== uid) return undefined;
    node = fresh;
  }
}

/** Changes a Node's status by strategic merge; false when the Node, or this incarnation of it, is gone. */
export async function patchNodeStatus(kube: KubeClient, { metadata }: SeenNode, status: object, signal: AbortSignal): Promise<boolean> {
  const { name, uid } = metadata;
  try {
    await kube.patch(nodes, { name, subresource: "status" }, { strategic: { status }, uid }, { signal });
    return true;
  } catch (error) {
    if (isApiError(error, "not-found")) return false;
    throw error;
  }
}

async function currentNode(kube: KubeClient, name: string, signal: AbortSignal): Promise<SeenNode | undefined> {
  try {
    return nodeView(await kube.get(nodes, { name }, { signal }));
  } catch (error) {
    if (isApiError(error, "not-found")) return undefined;
    throw error;
  }
}
