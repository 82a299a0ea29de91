/** What is counted, under the names of the reference and with the labels its exporter adds. */
import type { Registry } from "prom-client";
import { counter, gauge, histogram } from "../runtime/metrics.ts";
import type { Phase } from "./plan.ts";

/** What the exporter of the reference puts on every series. */
export const scope = { otel_scope_name: "aws.node.termination.handler", otel_scope_version: "" } as const;
export const scopeLabels = ["otel_scope_name", "otel_scope_version"] as const;

export type ActionMetrics = ReturnType<typeof actionMetrics>;

/** The counters of a process. */
export function actionMetrics(registry: Registry) {
  const actions = counter(registry, {
    name: "actions_total",
    help: "Number of actions",
    labels: ["node_action", "node_status", ...scopeLabels],
  });
  const perNode = counter(registry, {
    name: "actions_node_total",
    help: "Number of actions per node (deprecated: one series for each node and event)",
    labels: ["node_action", "node_status", "node_name", "node_event_id", ...scopeLabels],
  });
  const errors = counter(registry, {
    name: "events_error_total",
    help: "Number of errors in events processing",
    labels: ["event_error_where", ...scopeLabels],
  });
  // The reference shows each of them from the beginning, as a series without labels of its own.
  actions.inc(scope, 0);
  perNode.inc(scope, 0);
  errors.inc(scope, 0);
  const messages = counter(registry, {
    name: "fairlead_interruption_messages_total",
    help: "Messages of the queue by outcome: events, ignored, foreign, unmanaged, unreadable.",
    labels: ["outcome"],
  });
  const age = histogram(registry, {
    name: "fairlead_interruption_notice_age_seconds",
    help: "How old a notice was when this process first saw it.",
    buckets: [1, 2, 5, 10, 20, 40, 80, 160, 320],
  });
  const nodes = gauge(registry, {
    name: "fairlead_interrupted_nodes",
    help: "Nodes whose interruption this process works on, by phase.",
    labels: ["phase"],
  });
  const held = gauge(registry, {
    name: "fairlead_interruption_messages_held",
    help: "Messages of the queue that this process hides from others while it handles them.",
  });
  const phases = new Map<string, Phase>();
  return {
    messages,
    age,
    held,
    /** The phase of a Node that this process works on; undefined when it does not. */
    phase(node: string, phase: Phase | undefined): void {
      const before = phases.get(node);
      if (before === phase) return;
      if (before !== undefined) nodes.dec({ phase: before });
      if (phase === undefined) phases.delete(node);
      else {
        phases.set(node, phase);
        nodes.inc({ phase });
      }
    },
    /** One action on one Node. `perNode` is kept for old dashboards. */
    action(name: string, ok: boolean, node: string, eventId: string): void {
      const labels = { node_action: name, node_status: ok ? "success" : "error", ...scope };
      actions.inc(labels);
      perNode.inc({ ...labels, node_name: node, node_event_id: eventId });
    },
    error(monitor: string): void {
      errors.inc({ event_error_where: monitor, ...scope });
    },
  };
}
