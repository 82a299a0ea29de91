/** Metrics of the load balancer controller, under the names the reference's dashboards know. */
import type { Registry } from "prom-client";
import { counter, gauge, histogram } from "../runtime/metrics.ts";
import type { Clock } from "../runtime/world.ts";

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const talkers = 3;
const talkersMs = 3 * 60_000;

/** Of one controller: how long the stages of its work take, which of them fail, and what is looked at most. */
export class ControllerMetrics {
  readonly #controller: string;
  readonly #clock: Clock;
  readonly #errors;
  readonly #durations;
  readonly #talkers;
  readonly #passes = new Map<string, number>();
  #told: readonly Readonly<Record<"controller" | "namespace" | "name", string>>[] = [];
  #since: number;

  constructor(controller: string, metrics: Registry, clock: Clock) {
    this.#controller = controller;
    this.#clock = clock;
    this.#since = clock.monotonic();
    this.#errors = reconcileErrors(metrics);
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
  }

  /** Times one stage, and counts its failure. */
  async stage<T>(name: string, work: () => Promise<T>): Promise<T> {
    const began = this.#clock.monotonic();
    try {
      return await work();
    } catch (error) {
      this.stageFailed(name);
      throw error;
    } finally {
      this.#durations.observe({ controller: this.#controller, reconcile_stage: name }, (this.#clock.monotonic() - began) / 1000);
    }
  }

  stageFailed(name: string): void {
    this.#errors.inc({ controller: this.#controller, error_category: `${name}_error` });
  }

  /** An object is looked at: `namespace/name`, or the name of what has no namespace. */
  passed(key: string): void {
    if (this.#clock.monotonic() - this.#since >= talkersMs) this.#tellTalkers();
    this.#passes.set(key, (this.#passes.get(key) ?? 0) + 1);
  }

  /** The controllers of a process share the metric: each takes back what it said itself. */
  #tellTalkers(): void {
    for (const labels of this.#told) this.#talkers.remove(labels);
    const most = [...this.#passes].toSorted(([, a], [, b]) => b - a).slice(0, talkers);
    this.#told = most.map(([key, count]) => {
      const [namespace = "", name = ""] = key.includes("/") ? key.split("/") : ["", key];
      const labels = { controller: this.#controller, namespace, name };
      this.#talkers.set(labels, count);
      return labels;
    });
    this.#passes.clear();
    this.#since = this.#clock.monotonic();
  }
}

/** Failures of all controllers of the process. */
export function reconcileErrors(metrics: Registry) {
  return counter(metrics, {
    name: "awslbc_controller_reconcile_errors_total",
    help: "Reconciles that failed, by controller and by what failed.",
    labels: ["controller", "error_category"],
  });
}

/** How many objects there are of each kind that is followed. The first controller of a process tells it. */
export function exportCachedObjects(metrics: Registry, cached: Readonly<Record<string, () => number>>): void {
  gauge(metrics, {
    name: "awslbc_controller_cache_object_total",
    help: "Objects that are followed, by kind.",
    labels: ["resource"],
    collect: (made) => {
      for (const [resource, count] of Object.entries(cached)) made.set({ resource }, count());
    },
  });
}
