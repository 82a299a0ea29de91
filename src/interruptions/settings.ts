/** What a user decides about interruptions. */
import type { EventKind, EventPolicy } from "./event.ts";
import type { DrainSettings } from "./pods.ts";

export interface InterruptionSettings {
  readonly policies: Readonly<Record<EventKind, EventPolicy>>;
  readonly drain: DrainSettings;
  /** Draining begins so long before an event's start, and is overdue when it takes longer. 0: never overdue. */
  readonly graceMs: number;
  /** Maintenance is drained for at its own time less the grace period, not when it is announced. */
  readonly scheduleMaintenance: boolean;
  /** The effect of the taint of each kind; undefined: no taints. */
  readonly taintEffect: "NoSchedule" | "PreferNoSchedule" | "NoExecute" | undefined;
  /** Load balancers are told to leave the Node out. */
  readonly excludeFromLoadBalancers: boolean;
  /** How long load balancers get before the first pod goes. */
  readonly loadBalancerWaitMs: number;
  /** A Node that is drained, or whose instance is gone, is marked so that its volumes are detached at once. */
  readonly outOfServiceTaint: boolean;
  /** Undefined: none are sent. */
  readonly heartbeat: { readonly intervalMs: number; readonly untilMs: number } | undefined;
  /** Between the end of a drain and the completion of its hook. */
  readonly completionDelayMs: number;
  /** Labels by which a restart is recognised: only where the handler runs on the Node itself. */
  readonly restartLabels: boolean;
  readonly webhook: boolean;
  /** Each pod of a Node that is drained is told of in an Event of its own. */
  readonly podEvents: boolean;
}
