/**
 * The pre-stop hook of the node's pod: on a node that is drained the driver stays until the node's volumes are detached, so
 * that they can be unmounted, and pods find them elsewhere at once.
 */
import { nodes } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import { sleep } from "../../runtime/world.ts";
import { driverName } from "../names.ts";
import { volumeAttachments } from "../storage-resources.ts";

const drainTaints: ReadonlySet<string> = new Set([
  "node.kubernetes.io/unschedulable",
  "ToBeDeletedByClusterAutoscaler",
  "karpenter.sh/disrupted",
  "karpenter.sh/disruption",
]);

const pauseMs = 1_000;

/** Returns when the node is not being drained, or has no volume of this driver any more. */
export async function awaitDetachments(kube: KubeClient, nodeName: string | undefined, signal: AbortSignal): Promise<void> {
  if (!nodeName) throw new Error("CSI_NODE_NAME is not set");
  if (!(await isDrained(kube, nodeName, signal))) return;
  for (;;) {
    const { items } = await kube.list(volumeAttachments, { signal });
    if (!items.some(({ spec }) => spec?.nodeName === nodeName && spec.attacher === driverName)) return;
    await sleep(kube.host.world.clock, pauseMs, signal);
  }
}

/** A Node that is gone already counts too. */
async function isDrained(kube: KubeClient, nodeName: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { spec } = await kube.get(nodes, { name: nodeName }, { signal });
    return spec?.taints?.some(({ key }) => drainTaints.has(key)) ?? false;
  } catch (error) {
    if (isApiError(error, "not-found")) return true;
    throw error;
  }
}
