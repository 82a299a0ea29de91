/** Metrics of target updates, under the names the reference's dashboards know. */
import type { Host } from "../../runtime/host.ts";
import { counter, exponentialBuckets, histogram } from "../../runtime/metrics.ts";

const buckets = exponentialBuckets(1, 2, 15);

export class SyncMetrics {
  readonly #host: Host;
  readonly #syncs;
  readonly #errors;
  readonly #latency;
  readonly #round;

  constructor(host: Host) {
    this.#host = host;
    const { metrics } = host;
    this.#syncs = counter(metrics, {
      name: "service_controller_loadbalancer_sync_total",
      help: "A metric counting the amount of times any load balancer has been configured, as an effect of service/node changes on the cluster",
    });
    this.#errors = counter(metrics, {
      name: "service_controller_nodesync_error_total",
      help: "A metric counting the amount of times any load balancer has been configured and errored, as an effect of node changes on the cluster",
    });
    this.#latency = histogram(metrics, {
      name: "service_controller_update_loadbalancer_host_latency_seconds",
      help: "A metric measuring the latency for updating each load balancer hosts.",
      buckets,
    });
    this.#round = histogram(metrics, {
      name: "service_controller_nodesync_latency_seconds",
      help: "A metric measuring the latency for nodesync which updates loadbalancer hosts on cluster node updates.",
      buckets,
    });
  }

  /** How long it took until a change of Nodes had reached every load balancer. */
  synced(ms: number): void {
    this.#round.observe(ms / 1000);
  }

  /** Counts and times one update of targets. */
  async update<T>(work: () => Promise<T>): Promise<T> {
    const { clock } = this.#host.world;
    const since = clock.monotonic();
    this.#syncs.inc();
    try {
      return await work();
    } catch (error) {
      this.#errors.inc();
      throw error;
    } finally {
      this.#latency.observe((clock.monotonic() - since) / 1000);
    }
  }
}
