/**
 * What a controller of this process is given, and what it gives back.
 *
 * A domain does not know this type: it exports a function of the plain parts it needs, and the table of controllers
 * hands it those.
 */
import type { Cloud, Clouds } from "../../aws/cloud.ts";
import type { Self } from "../../identity/self.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { ObjectRef } from "../../kube/event-correlator.ts";
import type { EventRecorder } from "../../kube/event-recorder.ts";
import type { Controller } from "../../runtime/controller.ts";
import type { MetricNames } from "../../runtime/controllers.ts";
import type { WriteGate } from "../../runtime/gate.ts";
import type { Host } from "../../runtime/host.ts";
import type { CloudConfig } from "./cloud-config.ts";
import type { CanonicalName } from "./controller-names.ts";
import type { Options } from "./flags.ts";
import type { Informers } from "./informers.ts";

/** Everything a factory in the table may hand to its domain. */
export interface ControllerContext {
  /** Its log names the controller. */
  readonly host: Host;
  /** Named for the controller, with its own rate limit and, if asked for, its own service account. Writes pass the gate. */
  readonly kube: KubeClient;
  /** Shared by all controllers; they read as the process itself. */
  readonly informers: Informers;
  /** Events in the controller's name. */
  readonly recorder: EventRecorder;
  /** Events in the name of the cloud provider, as the reference has some. */
  readonly providerRecorder: EventRecorder;
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
  readonly config: CloudConfig;
  /** `undefined` where nobody said: the controller decides. */
  readonly options: Options;
  /** How often everything is looked at again, whether or not something changed. Drawn once a process. */
  readonly resyncMs: number;
}

/** What runs under one name of `--controllers`. */
export type Enabled =
  | { readonly kind: "run"; readonly controllers: readonly { readonly controller: Controller; readonly names?: MetricNames }[] }
  /** There is nothing to do for it; the reason is logged. */
  | { readonly kind: "skip"; readonly why: string };

/** Makes the controllers of one name. Runs after leadership is won, before anything starts. */
export type ControllerFactory = (context: ControllerContext) => Promise<Enabled>;

/** What this build carries. */
export type ControllerTable = Readonly<Partial<Record<CanonicalName, ControllerFactory>>>;
