/** What the keeper tells Prometheus. */
import type { Registry } from "prom-client";
import { gauge } from "../../../runtime/metrics.ts";

export class ArtifactsMetrics {
  readonly #usable;
  readonly #objects;
  readonly #invalidClasses;

  constructor(registry: Registry) {
    this.#usable = gauge(registry, {
      name: "fairlead_artifacts_configuration_usable",
      help: "1 when artifacts can be made from the cluster's configuration, 0 when they stay as they are.",
    });
    this.#objects = gauge(registry, {
      name: "fairlead_artifacts_objects",
      help: "Objects that the provider keeps in the cluster: as wanted, failed, or left alone because they are somebody else's.",
      labels: ["state"],
    });
    this.#invalidClasses = gauge(registry, {
      name: "fairlead_artifacts_invalid_instance_classes",
      help: "AWSInstanceClasses from which no machine can be made.",
    });
  }

  usable(is: boolean): void {
    this.#usable.set(is ? 1 : 0);
  }

  kept(all: number, failed: number, foreign: number): void {
    this.#objects.set({ state: "kept" }, all - failed - foreign);
    this.#objects.set({ state: "failed" }, failed);
    this.#objects.set({ state: "foreign" }, foreign);
  }

  invalidClasses(count: number): void {
    this.#invalidClasses.set(count);
  }
}
