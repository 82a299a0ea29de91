/**
 * The start-up taint: nodes may be born with `ebs.csi.aws.com/agent-not-ready`, so that no pod with a volume comes before the
 * driver is registered. It is removed when kubelet knows the driver and its limit, whenever it appears.
 */
import { nodes } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { Node, Taint } from "../../kube/types.ts";
import type { Host } from "../../runtime/host.ts";
import { sleep } from "../../runtime/world.ts";
import { driverName } from "../names.ts";
import { csiNodes } from "../storage-resources.ts";

export const startupTaint = `${driverName}/agent-not-ready`;

/** How often the Node is looked at: often while it is young, later in case another controller adds the taint late. */
const youngMs = 10 * 60_000;
const pauseMs = { young: 2_000, old: 60_000 } as const;

/** Looks after the taint until asked to stop. Ends quietly where the driver may not read its Node. */
export async function removeStartupTaint(kube: KubeClient, nodeName: string, host: Host, signal: AbortSignal): Promise<void> {
  const { clock } = host.world;
  const since = clock.monotonic();
  for (;;) {
    try {
      const node = await kube.get(nodes, { name: nodeName }, { signal });
      if (hasTaint(node) && (await isRegistered(kube, nodeName, signal))) {
        await removeTaint(kube, node, signal);
        host.log.info("removed the start-up taint", { node: nodeName, taint: startupTaint });
      }
    } catch (error) {
      signal.throwIfAborted();
      if (isApiError(error, "forbidden", "unauthorized")) {
        host.log.v(2)?.info("may not look after the start-up taint", { error });
        return;
      }
      host.log.warn("the start-up taint is still there", { node: nodeName, error });
    }
    await sleep(clock, clock.monotonic() - since < youngMs ? pauseMs.young : pauseMs.old, signal);
  }
}

function taintsOf(node: Node): readonly Taint[] {
  return node.spec?.taints ?? [];
}

function hasTaint(node: Node): boolean {
  return taintsOf(node).some(({ key }) => key === startupTaint);
}

/** Whether kubelet knows the driver, and how many volumes the node takes. */
async function isRegistered(kube: KubeClient, nodeName: string, signal: AbortSignal): Promise<boolean> {
  try {
    const { spec } = await kube.get(csiNodes, { name: nodeName }, { signal });
    return spec?.drivers?.some(({ name, allocatable }) => name === driverName && allocatable?.count !== undefined) ?? false;
  } catch (error) {
    if (isApiError(error, "not-found")) return false;
    throw error;
  }
}

/** Others' taints stay as they are: where somebody changed them meanwhile, the patch is refused and tried again. */
async function removeTaint(kube: KubeClient, node: Node, signal: AbortSignal): Promise<void> {
  const seen = taintsOf(node);
  const kept = seen.filter(({ key }) => key !== startupTaint);
  const path = "/spec/taints";
  await kube.patch(
    nodes,
    { name: node.metadata?.name ?? "" },
    {
      json: [
        { op: "test", path, value: seen },
        { op: "replace", path, value: kept.length === 0 ? null : kept },
      ],
    },
    { signal },
  );
}
