/** The two taints that stand between a Node and its pods on the cloud's behalf. Pure. */
import type { SeenNode } from "../identity/node-view.ts";
import type { Taint } from "../kube/types.ts";

/** Set by a kubelet with `--cloud-provider=external`; whatever its value and effect, the key counts. */
export const uninitializedTaint = "node.cloudprovider.kubernetes.io/uninitialized";

/** On Nodes whose instance is stopped. */
export const shutdownTaint: Taint = { key: "node.cloudprovider.kubernetes.io/shutdown", effect: "NoSchedule" };

/** Whether the cloud's part of a Node is still to be done. */
export function isUninitialized(node: Pick<SeenNode, "taints">): boolean {
  return node.taints.some(({ key }) => key === uninitializedTaint);
}

/** Whether a Node is marked as shut down. */
export function isShutDown(node: Pick<SeenNode, "taints">): boolean {
  return node.taints.some(isShutdownTaint);
}

/** The merge patch of `spec` that takes the uninitialised taint away and leaves all others. */
export function withoutUninitialized(node: Pick<SeenNode, "taints">): { readonly taints: readonly Taint[] | null } {
  return { taints: listOrNone(node.taints.filter(({ key }) => key !== uninitializedTaint)) };
}

/** The conditional merge patch that adds or removes the shutdown taint; undefined when the Node is as wanted. */
export function shutdownPatch(node: SeenNode, shutDown: boolean): object | undefined {
  if (isShutDown(node) === shutDown) return undefined;
  const others = node.taints.filter((taint) => !isShutdownTaint(taint));
  return {
    metadata: { resourceVersion: node.metadata.resourceVersion },
    spec: { taints: listOrNone(shutDown ? [...others, shutdownTaint] : others) },
  };
}

function isShutdownTaint({ key, effect }: Pick<Taint, "key" | "effect">): boolean {
  return key === shutdownTaint.key && effect === shutdownTaint.effect;
}

/** A merge patch with null leaves the field out, as whoever wrote the Node first would have. */
function listOrNone(taints: readonly Taint[]): readonly Taint[] | null {
  return taints.length > 0 ? taints : null;
}
