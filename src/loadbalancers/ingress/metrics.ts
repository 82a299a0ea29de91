/** Metrics of the Ingress controller, under the names the reference's dashboards know. */
import type { Registry } from "prom-client";
import { counter, gauge, histogram } from "../../runtime/metrics.ts";
import type { Clock } from "../../runtime/world.ts";
import type { FailureReason } from "./report.ts";

/** What the reference calls the work that a reason tells the failure of. */
const stages: Readonly<Record<FailureReason, string>> = {
  FailedLoadGroupID: "fetch_ingress",
  FailedAddFinalizer: "add_group_finalizer",
  FailedBuildModel: "build_model",
  FailedDeployModel: "deploy_model",
  FailedUpdateStatus: "dns_resolve_and_update_status",
  FailedRemoveFinalizer: "remove_group_finalizer",
};

const controller = "ingress";
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const talkers = 3;
const talkersMs = 3 * 60_000;

/** How many objects there are of each kind that is followed. */
export type CachedObjects = Readonly<Record<"ingress" | "service" | "targetgroupbinding", () => number>>;

export class IngressMetrics {
  readonly #clock: Clock;
  readonly #errors;
  readonly #durations;
  readonly #talkers;
  readonly #passes = new Map<string, number>();
  #since: number;

  constructor(metrics: Registry, clock: Clock, cached: CachedObjects) {
    this.#clock = clock;
    this.#since = clock.monotonic();
    this.#errors = counter(metrics, {
      name: "awslbc_controller_reconcile_errors_total",
      help: "Reconciles that failed, by controller and by what failed.",
      labels: ["controller", "error_category"],
    });
    this.#durations = histogram(metrics, {
      name: "awslbc_controller_reconcile_stage_duration",
      help: "How long each stage of a reconcile took, in seconds.",
      labels: ["controller", "reconcile_stage"],
      buckets,
    });
    this.#talkers = gauge(metrics, {
      name: "awslbc_controller_top_talkers",
      help: "The objects reconciled most often in the last three minutes, and how often.",
      labels: ["controller", "namespace", "name"],
    });
    gauge(metrics, {
      name: "awslbc_controller_cache_object_total",
      help: "Objects that are followed, by kind.",
      labels: ["resource"],
      collect: (made) => {
        for (const [resource, count] of Object.entries(cached)) made.set({ resource }, count());
      },
    });
  }

  /** Times one stage, and counts its failure. */
  async during<T>(reason: FailureReason, work: () => Promise<T>): Promise<T> {
    const began = this.#clock.monotonic();
    try {
      return await work();
    } catch (error) {
      this.failed(reason);
      throw error;
    } finally {
      this.#durations.observe({ controller, reconcile_stage: stages[reason] }, (this.#clock.monotonic() - began) / 1000);
    }
  }

  failed(reason: FailureReason): void {
    this.#errors.inc({ controller, error_category: `${stages[reason]}_error` });
  }

  /** A group is looked at. */
  passed(group: string): void {
    if (this.#clock.monotonic() - this.#since >= talkersMs) this.#tellTalkers();
    this.#passes.set(group, (this.#passes.get(group) ?? 0) + 1);
  }

  #tellTalkers(): void {
    this.#talkers.reset();
    const most = [...this.#passes].toSorted(([, a], [, b]) => b - a).slice(0, talkers);
    for (const [group, count] of most) {
      const [namespace, name] = group.includes("/") ? group.split("/") : ["", group];
      this.#talkers.set({ controller, namespace: namespace ?? "", name: name ?? "" }, count);
    }
    this.#passes.clear();
    this.#since = this.#clock.monotonic();
  }
}
