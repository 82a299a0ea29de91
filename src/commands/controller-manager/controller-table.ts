import { nodeInformer } from "../../identity/node-view.ts";
import type { ControllerContext, ControllerTable } from "./context.ts";
import { clusterCidrs } from "./validate.ts";

/** Changes are seen at once; reading the tables again is for what others change in them by hand. */
const routeDriftMs = 5 * 60_000;

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
  "cloud-node-lifecycle-controller": async (context) => {
    const { nodeLifecycle } = await import("../../nodes/lifecycle.ts");
    const { options } = context;
    const controller = nodeLifecycle({
      ...nodeParts(context),
      periodMs: options["node-monitor-period"],
      concurrency: options["concurrent-node-lifecycle-syncs"],
    });
    return { kind: "run", controllers: [{ controller }] };
  },
  "node-route-controller": async (context) => {
    const { host, kube, recorder, cloud, self, informers, options, config } = context;
    const { routeController } = await import("../../routes/controller.ts");
    const controller = routeController({
      host,
      kube,
      recorder,
      cloud,
      nodes: informers.shared(nodeInformer),
      where: {
        cluster: self.cluster,
        clusterName: options["cluster-name"],
        vpc: self.vpc,
        routeTableId: config.aws.routeTableId,
      },
      clusterCidrs: clusterCidrs(options),
      driftMs: options["route-reconciliation-period"] ?? routeDriftMs,
    });
    return { kind: "run", controllers: [{ controller }] };
  },
  tagging: async (context) => {
    const { nodeTagging } = await import("../../nodes/tagging.ts");
    const { options } = context;
    const [perSecond, burst] = [options["tagging-controller-rate-limit"], options["tagging-controller-burst-limit"]];
    const controller = nodeTagging({
      ...nodeParts(context),
      tags: options.tags,
      concurrency: options["tagging-controller-concurrent-node-syncs"],
      limit: perSecond > 0 && burst > 0 ? { perSecond, burst } : undefined,
    });
    return { kind: "run", controllers: [{ controller }] };
  },
};

function nodeParts({ host, kube, recorder, cloud, self, informers }: ControllerContext) {
  return { host, kube, recorder, cloud, self, nodes: informers.shared(nodeInformer) };
}
