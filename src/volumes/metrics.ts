/** The driver's metrics, under the names that dashboards of its reference know. */
import type { Registry } from "prom-client";
import type { AttemptRecord, Ledger } from "../aws/ledger.ts";
import { counter, gauge, histogram } from "../runtime/metrics.ts";
import type { DetachPending } from "./controller/detach-pending.ts";

const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Requests that are there from the start, at zero. */
const requests = [
  "CreateVolume",
  "DeleteVolume",
  "AttachVolume",
  "DetachVolume",
  "ModifyVolume",
  "DescribeVolumes",
  "DescribeVolumesModifications",
  "CreateSnapshot",
  "DeleteSnapshot",
  "DescribeSnapshots",
  "DescribeInstances",
  "DescribeAvailabilityZones",
  "DescribeTags",
  "CreateTags",
  "DeleteTags",
  "EnableFastSnapshotRestores",
];

/** Counts every request to EC2, each attempt by itself. */
export function exportApiMetrics(registry: Registry, ledger: Ledger): void {
  const duration = histogram(registry, {
    name: "aws_ebs_csi_api_request_duration_seconds",
    help: "Latency of successful requests to AWS",
    labels: ["request"],
    buckets,
  });
  const errors = counter(registry, {
    name: "aws_ebs_csi_api_request_errors_total",
    help: "Requests that AWS refused, throttled ones left out",
    labels: ["request", "code", "error"],
  });
  const throttles = counter(registry, {
    name: "aws_ebs_csi_api_request_throttles_total",
    help: "Requests that AWS throttled",
    labels: ["operation_name", "request"],
  });
  for (const request of requests) duration.zero({ request });
  const attempted = ({ service, action: request, durationMs, failure }: AttemptRecord) => {
    if (service !== "ec2") return;
    if (failure === undefined) duration.observe({ request }, durationMs / 1000);
    else if (failure.class === "throttled") throttles.inc({ operation_name: request, request });
    // A dry run is answered with an error that means that all is well.
    else if (failure.status !== undefined && failure.code !== "DryRunOperation")
      errors.inc({ request, code: failure.code, error: failure.code });
  };
  ledger.follow({ attempted });
}

/** Shows volumes that take too long to come off their instance. */
export function exportDetachMetrics(registry: Registry, pending: DetachPending): void {
  gauge(registry, {
    name: "aws_ebs_csi_ec2_detach_pending_seconds_total",
    help: "How long a volume has been detaching from an instance, once that is longer than a minute",
    labels: ["volume_id", "instance_id", "attachment_state"],
    collect: (metric) => {
      metric.reset();
      for (const { volumeId, instanceId, state, seconds } of pending.late()) {
        metric.set({ volume_id: volumeId, instance_id: instanceId, attachment_state: state }, seconds);
      }
    },
  });
}
