import { nodeInformer } from "../../identity/node-view.ts";
import type { ControllerContext, ControllerTable } from "./context.ts";

/** The controllers this build carries. Each loads its domain only when it runs. */
export const controllerTable: ControllerTable = {
  "cloud-node-controller": async (context) => {
    const { cloudNodeControllers } = await import("../../nodes/cloud-node.ts");
    const { options, config } = context;
    const { initialisation, addresses } = cloudNodeControllers(nodeParts(context), {
      ...config.nodes,
      byNameTag: options["identify-nodes-by-name-tag"],
      refreshMs: options["node-status-update-frequency"],
      concurrentSyncs: options["concurrent-node-syncs"],
      concurrentStatusUpdates: options["concurrent-node-status-updates"],
    });
    return { kind: "run", controllers: [{ controller: initialisation }, { controller: addresses, names: { queue: "node-addresses" } }] };
  },
};

function nodeParts({ host, kube, recorder, cloud, self, informers }: ControllerContext) {
  return { host, kube, recorder, cloud, self, nodes: informers.shared(nodeInformer) };
}
