/** Metrics of bindings, under the names the reference's dashboards know. */
import type { Registry } from "prom-client";
import { awsErrorIn } from "../../aws/errors.ts";
import { counter, gauge, histogram } from "../../runtime/metrics.ts";
import { reconcileErrors } from "../controller-metrics.ts";
import type { SeenBinding } from "./binding.ts";

const buckets = [10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600];

const categories: Readonly<Record<string, string>> = {
  DescribeTargetHealth: "list_targets_error",
  RegisterTargets: "register_pod_endpoint_error",
  DeregisterTargets: "deregister_targets_error",
};

/** Whoever makes a binding says for what. */
const isManaged = ({ metadata }: SeenBinding) => Object.keys(metadata.labels).some((key) => /\.k8s\.aws.*\/stack(-name)?$/.test(key));

export class BindingMetrics {
  readonly #ready;
  readonly #errors;
  readonly #withoutQuicId;

  constructor(metrics: Registry, bindings: () => readonly SeenBinding[]) {
    gauge(metrics, {
      name: "aws_target_group_info",
      help: "Target groups that were made for Ingresses and Services, by the Service behind them.",
      labels: ["namespace", "service", "target_group"],
      collect(made) {
        made.reset();
        for (const { metadata, spec } of bindings().filter(isManaged)) {
          const group = spec.targetGroupARN?.split(":").at(-1) ?? "";
          made.set({ namespace: metadata.namespace, service: spec.serviceRef.name, target_group: group }, 1);
        }
      },
    });
    this.#ready = histogram(metrics, {
      name: "awslbc_readiness_gate_ready_seconds",
      help: "Time from the last change of a pod's readiness gate until its target was healthy.",
      labels: ["namespace", "name"],
      buckets,
    });
    this.#errors = reconcileErrors(metrics);
    this.#withoutQuicId = counter(metrics, {
      name: "awslbc_quic_target_missing_server_id",
      help: "Pods that were not registered because no container has a QUIC server id, counted at every look.",
      labels: ["namespace", "name"],
    });
  }

  withoutQuicId(namespace: string, binding: string, pods: number): void {
    this.#withoutQuicId.inc({ namespace, name: binding }, pods);
  }

  /** A pod waited until now. */
  ready(namespace: string, binding: string, seconds: number): void {
    this.#ready.observe({ namespace, name: binding }, seconds);
  }

  /** Counted under what failed, where that has a name, and under the whole. */
  failed(error: unknown): void {
    const category = categories[awsErrorIn(error)?.action ?? ""];
    for (const each of [...(category ? [category] : []), "reconcile_targetgroupbinding_error"])
      this.#errors.inc({ controller: "targetGroupBinding", error_category: each });
  }
}
