/** What every part of the controller of Services with a load balancer class works with. */
import type { EventRecorder } from "../../identity/event-reasons.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Host } from "../../runtime/host.ts";
import type { CheckpointRecord } from "../checkpoints.ts";
import type { ControllerMetrics } from "../controller-metrics.ts";
import type { HandOver } from "../elbv2/replacement.ts";
import type { BackendGroup } from "../groups/backend-group.ts";
import type { ClaimBook } from "../groups/claim-book.ts";
import type { Inventory } from "../inventory.ts";
import type { SeenService, Services } from "../service-state.ts";
import type { Bindings } from "../targets/binding.ts";
import type { NewTargetGroups } from "../targets/new-groups.ts";
import type { Report } from "./report.ts";
import type { ClassSettings } from "./settings.ts";

/** What the controller is given. */
export interface ClassParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  readonly inventory: Inventory;
  readonly book: ClaimBook;
  /** Shared with whoever else makes load balancers for the cluster. */
  readonly backendGroup: BackendGroup;
  readonly newGroups: NewTargetGroups;
  readonly services: Services;
  readonly bindings: Bindings;
  readonly settings: ClassSettings;
  readonly concurrency: number;
  readonly syncPeriodMs: number;
}

/** What is remembered of a Service between two looks; everything of it can be found out again. */
export interface ServiceMemory {
  /** What it asked of the attributes of its target groups when these were last brought to it. */
  readonly attributesAsked: string;
  /** Whether its targets are opened for the group that load balancers share. */
  readonly usesBackendGroup: boolean;
  /** Whether everything was read: from then on everything always is. */
  readonly isRead: boolean;
}

/** That, and what the controller keeps. */
export interface ClassContext extends ClassParts {
  readonly report: Report;
  readonly metrics: ControllerMetrics;
  /** By `namespace/name`. */
  readonly memory: Map<string, ServiceMemory>;
  /** Services whose next look reads everything, because it was not read for long. */
  readonly due: Set<string>;
  /** Since when a Service's listeners wait for the targets of new groups, on the monotonic clock. */
  readonly moving: Map<string, number>;
  /** Services whose load balancer has taken the place of an old one that still stands. */
  readonly handedOver: Map<string, HandOver>;
  readonly checkpoints: CheckpointRecord<SeenService>;
}
