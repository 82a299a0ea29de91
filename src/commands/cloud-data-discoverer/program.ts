/** The discoverer beside other programs: its cycles are one key that comes back a period later. It elects no leader of its own. */
import { Discoverer } from "../../discovery/discoverer.ts";
import { DiscoveryMetrics } from "../../discovery/metrics.ts";
import type { ProcessContext, Program } from "../../process/program.ts";
import { again, type Controller } from "../../runtime/controller.ts";

const component = "cloud-data-discoverer";

export function programOf(periodMs: number, clusterId: string): Program {
  return {
    component,
    controllers: [
      {
        name: component,
        client: component,
        eventSource: component,
        metric: undefined,
        queue: component,
        make: async (context) => {
          const discoverer = discovererIn(context, clusterId);
          return { kind: "run", controllers: [{ controller: cycles(context, discoverer, periodMs) }], problem: () => discoverer.problem() };
        },
      },
    ],
    migrated: [],
    startIntervalMs: 0,
  };
}

function discovererIn({ host, kube, cloud }: ProcessContext, clusterId: string): Discoverer {
  if (clusterId === "") host.log.warn("CLUSTER_UUID is not set: subnets and orphaned disks of the cluster are not discovered");
  const metrics = new DiscoveryMetrics(host.metrics);
  return new Discoverer({ host, kube, cloud, clusterId: clusterId === "" ? undefined : clusterId, metrics });
}

function cycles({ host: { world } }: ProcessContext, discoverer: Discoverer, periodMs: number): Controller {
  return {
    name: component,
    concurrency: 1,
    sources: [{ name: "start", start: async (enqueue) => enqueue(component) }],
    async reconcile(_, signal) {
      const started = world.clock.monotonic();
      await discoverer.cycle(signal);
      return again(Math.max(0, started + periodMs - world.clock.monotonic()), "the next cycle");
    },
  };
}
