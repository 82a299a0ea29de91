/** Metrics of the Ingress controller, under the names the reference's dashboards know. */
import type { Registry } from "prom-client";
import type { Clock } from "../../runtime/world.ts";
import { ControllerMetrics, exportCachedObjects } from "../controller-metrics.ts";
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

/** How many objects there are of each kind that is followed. */
export type CachedObjects = Readonly<Record<"ingress" | "service" | "targetgroupbinding", () => number>>;

export class IngressMetrics extends ControllerMetrics {
  constructor(metrics: Registry, clock: Clock, cached: CachedObjects) {
    super("ingress", metrics, clock);
    exportCachedObjects(metrics, cached);
  }

  /** Times one stage, and counts its failure. */
  during<T>(reason: FailureReason, work: () => Promise<T>): Promise<T> {
    return this.stage(stages[reason], work);
  }

  failed(reason: FailureReason): void {
    this.stageFailed(stages[reason]);
  }
}
