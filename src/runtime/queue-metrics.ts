import type { Counter, Gauge, Histogram, Registry } from "prom-client";
import { counter, exponentialBuckets, gauge, histogram } from "./metrics.ts";

/** What a scrape asks of every live queue. */
export interface Measured {
  readonly name: string;
  depth(): number;
  /** How long each key now in work has been so, in milliseconds. */
  runningForMs(): readonly number[];
  /** How long the key that has failed longest has done so. */
  failingForMs(): number;
}

/** The `workqueue_*` series of one process, under the names and labels that dashboards know. */
export class QueueMetrics {
  readonly adds: Counter<"name">;
  readonly retries: Counter<"name">;
  readonly queueDuration: Histogram<"name">;
  readonly workDuration: Histogram<"name">;
  readonly #queues = new Set<Measured>();

  constructor(registry: Registry) {
    const labels = ["name"] as const;
    // From 10 ns, as the reference has it: a dashboard that sums over both must find equal buckets.
    const buckets = exponentialBuckets(10e-9, 10, 12);
    this.adds = counter(registry, { name: "workqueue_adds_total", help: "Total number of adds handled by workqueue", labels });
    this.retries = counter(registry, { name: "workqueue_retries_total", help: "Total number of retries handled by workqueue", labels });
    this.queueDuration = histogram(registry, {
      name: "workqueue_queue_duration_seconds",
      help: "How long in seconds an item stays in workqueue before being requested.",
      labels,
      buckets,
    });
    this.workDuration = histogram(registry, {
      name: "workqueue_work_duration_seconds",
      help: "How long in seconds processing an item from workqueue takes.",
      labels,
      buckets,
    });
    const fresh = (name: string, help: string, read: (queues: readonly Measured[]) => number) =>
      gauge(registry, { name, help, labels, collect: (series) => this.#collect(series, read) });
    fresh("workqueue_depth", "Current depth of workqueue", (queues) => sum(queues.map((queue) => queue.depth())));
    fresh(
      "workqueue_unfinished_work_seconds",
      "How many seconds of work are in progress and not yet observed by work_duration. Large values mean stuck workers.",
      (queues) => sum(queues.flatMap((queue) => queue.runningForMs())) / 1000,
    );
    fresh(
      "workqueue_longest_running_processor_seconds",
      "How many seconds the longest running worker of workqueue has been running.",
      (queues) => Math.max(0, ...queues.flatMap((queue) => queue.runningForMs())) / 1000,
    );
    fresh(
      "fairlead_workqueue_longest_failing_seconds",
      "How many seconds the longest-failing key has been failing without a success.",
      (queues) => Math.max(0, ...queues.map((queue) => queue.failingForMs())) / 1000,
    );
  }

  /** Has every scrape include this queue. */
  watch(queue: Measured): void {
    this.#queues.add(queue);
  }

  /** Queues may share a name, when one name of `--controllers` stands for several controllers. */
  #collect(series: Gauge<"name">, read: (queues: readonly Measured[]) => number): void {
    for (const [name, queues] of Map.groupBy(this.#queues, (queue) => queue.name)) series.set({ name }, read(queues));
  }
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
