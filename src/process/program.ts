/**
 * What a process runs: programs, each a list of controllers, and what every controller is given.
 *
 * A domain does not know these types: it exports a function of the plain parts it needs, and a command hands it those.
 */
import type { Cloud, Clouds } from "../aws/cloud.ts";
import type { EventRecorder } from "../identity/event-reasons.ts";
import type { Self } from "../identity/self.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ObjectRef } from "../kube/event-correlator.ts";
import type { Controller } from "../runtime/controller.ts";
import type { MetricNames } from "../runtime/controllers.ts";
import type { WriteGate } from "../runtime/gate.ts";
import type { HealthChecks } from "../runtime/health.ts";
import type { Host } from "../runtime/host.ts";
import type { Serving } from "../runtime/serving.ts";
import type { Informers } from "./informers.ts";

/** Everything a command may hand to a domain. */
export interface ProcessContext {
  /** Its log names the controller. */
  readonly host: Host;
  /** Named for the controller, with its own share of the calls in work and, if asked for, its own service account. Writes pass the gate. */
  readonly kube: KubeClient;
  /** Shared by all controllers; they read as the process itself. */
  readonly informers: Informers;
  /** Events in the controller's name. */
  readonly recorder: EventRecorder;
  /** The Lease of the process, for Events that concern no other object. */
  readonly home: ObjectRef;
  /** AWS in the region the process works in. Writes pass the gate. */
  readonly cloud: Cloud;
  /** AWS in other regions and as other roles. */
  readonly clouds: Clouds;
  /** Every write passes it, by itself; for plans that want to ask before they start. */
  readonly gate: WriteGate;
  /** Where the process runs, and the cluster's id and network. */
  readonly self: Self;
  /** How often everything is looked at again, whether or not something changed. Drawn once per process. */
  readonly resyncMs: number;
}

/** What runs under one name. */
export type Enabled =
  | {
      readonly kind: "run";
      readonly controllers: readonly { readonly controller: Controller; readonly names?: MetricNames }[];
      /** Why they cannot do their work at the moment, for `/readyz`. */
      problem?(): string | undefined;
    }
  /** There is nothing to do for it; the reason is logged. */
  | { readonly kind: "skip"; readonly why: string };

/** The controllers under one name of `--controllers`, and the names by which flags, health checks, logs and metrics know them. */
export interface ControllerEntry {
  /** In flags, health checks and logs. */
  readonly name: string;
  /** The client's name: in the user agent, and the service account if each controller has its own. */
  readonly client: string;
  /** The source of its Events. */
  readonly eventSource: string;
  /** In `running_managed_controllers`; undefined when not reported there. */
  readonly metric: string | undefined;
  /** The queue's name in `workqueue_*`. */
  readonly queue: string;
  /** Makes them. Called after leadership is won, before anything starts. */
  make(context: ProcessContext): Promise<Enabled>;
}

/** What a part is given that works on every replica, whether or not it leads. */
export interface StandbyContext extends Pick<ProcessContext, "host" | "kube" | "informers" | "cloud" | "clouds" | "self"> {
  readonly health: HealthChecks;
  /** Aborts when the process ends. */
  readonly signal: AbortSignal;
}

/** A program that this process takes the place of. */
export interface Program {
  /** In Events, metrics and the user agent: `cloud-controller-manager`. */
  readonly component: string;
  readonly controllers: readonly ControllerEntry[];
  /** Those that also need the lease of leader migration. */
  readonly migrated: readonly ControllerEntry[];
  /** Pause between the starts of two controllers. */
  readonly startIntervalMs: number;
  /** Starts what every replica does, before it leads: to answer webhooks. Its writes are refused until it does. */
  standby?(context: StandbyContext): Promise<Pick<Serving, "stop">>;
}
