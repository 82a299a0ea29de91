import { describeInstances } from "../../aws/ec2-actions.ts";
import { nodeInformer } from "../../identity/node-view.ts";
import type { ControllerContext, ControllerTable } from "./context.ts";
import { loadBalancerSettings } from "./load-balancer-settings.ts";
import { clusterCidrs } from "./validate.ts";

/** Changes are seen at once; reading the tables again is for what others change in them by hand. */
const routeDriftMs = 5 * 60_000;

/** Waiting for AWS is most of a Service's time, and the budget of calls keeps many from being too many. */
const concurrentServices = 20;

/** The controllers this build carries. Each loads its domain only when it runs. */
export const controllerTable: ControllerTable = {
  "cloud-node-controller": async (context) => {
    const { cloudNodeControllers } = await import("../../nodes/cloud-node.ts");
    const { options, config } = context;
    const { initialisation, addresses } = cloudNodeControllers(await nodeParts(context), {
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
      ...(await nodeParts(context)),
      periodMs: options["node-monitor-period"],
      concurrency: options["concurrent-node-lifecycle-syncs"],
    });
    return { kind: "run", controllers: [{ controller }] };
  },
  "node-route-controller": async (context) => {
    const { host, kube, recorder, home, cloud, self, informers, options, config } = context;
    const { routeController } = await import("../../routes/controller.ts");
    const controller = routeController({
      host,
      kube,
      recorder,
      home,
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
  "service-lb-controller": async (context) => {
    const { host, kube, recorder, cloud, self, informers, options, config } = context;
    if (self.vpc === undefined) return { kind: "skip", why: "the VPC of the cluster is not known: set VPC in the cloud config" };
    const [{ serviceControllers }, { Inventory }, { ClaimBook }, { rulesController }, { allServices }] = await Promise.all([
      import("../../loadbalancers/service/controller.ts"),
      import("../../loadbalancers/inventory.ts"),
      import("../../loadbalancers/groups/claim-book.ts"),
      import("../../loadbalancers/groups/rules-controller.ts"),
      import("../../loadbalancers/service-state.ts"),
    ]);
    const scope = { vpc: self.vpc, cluster: self.cluster, ...(self.subnet && { ownSubnetId: self.subnet }) };
    const concurrency = options["concurrent-service-syncs"] ?? concurrentServices;
    if (concurrency < 1) host.log.warn(`--concurrent-service-syncs=${concurrency} would stop all work: ${concurrentServices} is used`);
    const inventory = new Inventory(cloud, host.world.clock, scope);
    // The rules of node security groups are the union over all doors: one book and one writer for the process.
    const book = new ClaimBook();
    const rules = rulesController({ host, inventory, book });
    const { services, targets, nodes } = serviceControllers({
      host,
      kube,
      recorder,
      services: informers.shared(allServices),
      nodes: informers.shared(nodeInformer),
      inventory,
      book,
      settings: loadBalancerSettings(config, options["cluster-name"], self.cluster.id),
      concurrency: concurrency < 1 ? concurrentServices : concurrency,
      dryRun: options["dry-run"],
    });
    return {
      kind: "run",
      controllers: [
        { controller: services },
        { controller: targets, names: { managed: null, queue: targets.name } },
        { controller: nodes, names: { managed: null, queue: "node" } },
        { controller: rules, names: { managed: null, queue: rules.name } },
      ],
    };
  },
  tagging: async (context) => {
    const { nodeTagging } = await import("../../nodes/tagging.ts");
    const { options } = context;
    const [perSecond, burst] = [options["tagging-controller-rate-limit"], options["tagging-controller-burst-limit"]];
    const controller = nodeTagging({
      ...(await nodeParts(context)),
      tags: options.tags,
      concurrency: options["tagging-controller-concurrent-node-syncs"],
      limit: perSecond > 0 && burst > 0 ? { perSecond, burst } : undefined,
    });
    return { kind: "run", controllers: [{ controller }] };
  },
};

async function nodeParts({ host, kube, recorder, cloud, self, informers }: ControllerContext) {
  // Loading the SDK holds everything up for a moment: better now than when a thousand nodes wait.
  await cloud.preload(describeInstances);
  return { host, kube, recorder, cloud, self, nodes: informers.shared(nodeInformer) };
}
