/** The metrics of this domain, by the names that dashboards know. */
import type { Registry } from "prom-client";
import { counter, exponentialBuckets, histogram } from "../runtime/metrics.ts";

const delayBuckets = exponentialBuckets(1, 4, 6);

export function initialisationMetrics(registry: Registry) {
  return {
    taintRemoved: histogram(registry, {
      name: "node_controller_cloud_provider_taint_removal_delay_seconds",
      help: "Time from a Node's creation to the removal of its uninitialised taint.",
      buckets: delayBuckets,
    }),
    synced: histogram(registry, {
      name: "node_controller_initial_node_sync_delay_seconds",
      help: "Time from a Node's creation to the end of its initialisation.",
      buckets: delayBuckets,
    }),
  };
}

export function lifecycleMetrics(registry: Registry) {
  return {
    pass: histogram(registry, {
      name: "cloud_node_lifecycle_controller_monitor_nodes_duration_seconds",
      help: "Duration of one check of all Nodes that are not ready.",
      buckets: exponentialBuckets(0.001, 2, 15),
    }),
    questions: counter(registry, {
      name: "cloud_node_lifecycle_controller_cloud_provider_calls_total",
      help: "Look-ups in the cloud for Nodes that are not ready, by question and outcome.",
      labels: ["operation", "result"],
    }),
  };
}

export function taggingMetrics(registry: Registry) {
  return {
    firstTagged: histogram(registry, {
      name: "tagging_controller_inital_node_tagging_delay_seconds",
      help: "Time from a Node's creation to the first tagging of its instance.",
      buckets: delayBuckets,
    }),
    errors: counter(registry, {
      name: "cloudprovider_aws_tagging_controller_work_item_errors_total",
      help: "Failed attempts of the tagging controller, and items it gave up.",
      labels: ["error_type"],
    }),
  };
}
