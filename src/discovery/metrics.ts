/** What discovery tells Prometheus. A series appears when it is first set. */
import type { Registry } from "prom-client";
import { gauge } from "../runtime/metrics.ts";
import type { CloudCondition } from "./conditions.ts";
import type { OrphanedDisk } from "./disks.ts";

/** The kinds of data, in the labels of both gauges of errors. */
export type DataKind = "cloud_conditions" | "instance_types" | "discovery_data" | "disks_meta";

export class DiscoveryMetrics {
  readonly #requestError;
  readonly #updateError;
  readonly #conditions;
  readonly #disks;
  readonly #skippedTypes;

  constructor(registry: Registry) {
    this.#requestError = gauge(registry, {
      name: "cloud_data_discovery_cloud_request_error",
      help: "1 when the last read of this kind from AWS failed.",
      labels: ["type"],
    });
    this.#updateError = gauge(registry, {
      name: "cloud_data_discovery_update_resource_error",
      help: "1 when the last write of this kind to the cluster failed.",
      labels: ["resource"],
    });
    this.#conditions = gauge(registry, {
      name: "cloud_data_discovery_cloud_conditions_error",
      help: "1 for each condition of the account that is not met.",
      labels: ["name", "message"],
    });
    this.#disks = gauge(registry, {
      name: "cloud_data_discovery_orphaned_disk_info",
      help: "1 for each disk of this cluster that no PersistentVolume knows.",
      labels: ["id", "name"],
    });
    this.#skippedTypes = gauge(registry, {
      name: "cloud_data_discovery_skipped_instance_types",
      help: "Instance types that AWS describes in part only, and that are not in the catalogue.",
    });
  }

  /** The outcome of a read from AWS. */
  read(type: DataKind, failed: boolean): void {
    this.#requestError.set({ type }, failed ? 1 : 0);
  }

  /** The outcome of a write to the cluster. */
  written(resource: DataKind, failed: boolean): void {
    this.#updateError.set({ resource }, failed ? 1 : 0);
  }

  unmet(conditions: readonly CloudCondition[]): void {
    this.#conditions.reset();
    for (const { name, message } of conditions) this.#conditions.set({ name, message }, 1);
  }

  orphans(disks: readonly OrphanedDisk[]): void {
    this.#disks.reset();
    for (const { id, name } of disks) this.#disks.set({ id, name }, 1);
  }

  skippedTypes(count: number): void {
    this.#skippedTypes.set(count);
  }
}
