/** What every part of the binding controller works with. */
import type { Ask } from "../../aws/ask.ts";
import type { Cloud } from "../../aws/cloud.ts";
import type { EventRecorder } from "../../identity/event-reasons.ts";
import type { Nodes } from "../../identity/node-view.ts";
import type { KubeClient } from "../../kube/client.ts";
import { again } from "../../runtime/controller.ts";
import type { Host } from "../../runtime/host.ts";
import type { EndpointRules } from "../groups/endpoint-rules-writer.ts";
import type { Services } from "../service-state.ts";
import type { Bindings, SeenBinding } from "./binding.ts";
import type { BindingMetrics } from "./binding-metrics.ts";
import type { BindingReport } from "./binding-report.ts";
import type { GroupTargets } from "./group-targets.ts";
import type { TargetRecords } from "./multi-cluster.ts";
import type { NewTargetGroups } from "./new-groups.ts";
import type { Pods } from "./pods.ts";
import type { Slices } from "./slices.ts";

export interface BindingSettings {
  /** Bindings reconciled at the same time. */
  readonly concurrency: number;
  readonly maxBackoffMs: number;
  /** How soon targets that are not healthy yet are looked at again; undefined: as soon as is worth it. */
  readonly pollMs: number | undefined;
  /** 0: as many as AWS takes. */
  readonly maxTargets: number;
  /** Whether nodes that are not heard of count where there are no others. */
  readonly failOpen: boolean;
  /** Whether Endpoints are followed, in the place of EndpointSlices. */
  readonly readsEndpoints: boolean;
  /** Write rules of security groups one by one, and join none. */
  readonly exactRules: boolean;
  /** Tags by which the group to write to is chosen, where an interface has several. */
  readonly groupTags: Readonly<Record<string, string>>;
  /** Every binding is read fully once in this time, whether or not anything changed. */
  readonly syncPeriodMs: number;
}

/** What the controller is given. */
export interface BindingParts {
  readonly host: Host;
  readonly kube: KubeClient;
  readonly recorder: EventRecorder;
  readonly bindings: Bindings;
  readonly services: Services;
  readonly slices: Slices;
  readonly pods: Pods;
  readonly nodes: Nodes;
  readonly cloud: Cloud;
  /** The account of a target group, as the role that its binding names. */
  cloudAs(role: { readonly arn: string; readonly externalId?: string }): Cloud;
  /** Target groups that other controllers of the process have just made. */
  readonly newGroups: NewTargetGroups;
  /** The cluster's own VPC, and the key of the tag that its security groups carry. */
  readonly vpc: string;
  readonly clusterTag: string;
  readonly settings: BindingSettings;
}

/** What is remembered of a binding between two looks. Losing it costs a look at AWS, never a mistake. */
export interface RememberedBinding {
  /** What was written last; the informer may not have seen it yet. */
  checkpoint?: string;
  /** Read everything, whatever the checkpoint says. */
  force: boolean;
  /** The generation whose target group was seen to be as the binding says. */
  verified?: number;
  /** The generation for which the drain of its target group was compared with the grace of its pods. */
  drainChecked?: number;
  /** Monotonic time of the next look that nobody asked for. */
  driftAt?: number;
  /** Monotonic time since when targets are on their way to being healthy. */
  waitsSince?: number;
  /** What was said last, so that it is not said twice. */
  told?: string;
  /** What kept rules of security groups from being as asked for. */
  networking?: string;
  toldNetworking?: string;
  /** Monotonic time at which they were last tried. */
  networkingAt?: number;
  /** The generation that they were last looked at for. */
  networkingFor?: number;
  /** Monotonic time until which addresses outside the VPC are registered for the zone of their node. */
  zonesNamedUntil?: number;
  /** Monotonic time since when each target waits for those in its place, by its identity. */
  heldSince?: ReadonlyMap<string, number>;
}

/** That, and what the controller keeps. */
export interface BindingContext extends BindingParts {
  readonly report: BindingReport;
  readonly groups: GroupTargets;
  readonly records: TargetRecords;
  readonly rules: EndpointRules;
  readonly metrics: BindingMetrics;
  memoryOf(binding: SeenBinding): RememberedBinding;
}

/** One binding being worked on. */
export interface BindingJob {
  readonly key: string;
  readonly binding: SeenBinding;
  readonly remembered: RememberedBinding;
  readonly ask: Ask;
}

/** Where a binding's target group is. Everything else, networks above all, is looked at as ourselves. */
export function groupCloud({ spec }: SeenBinding, { cloud, cloudAs }: Pick<BindingContext, "cloud" | "cloudAs">): Cloud {
  const { iamRoleArnToAssume: arn, assumeRoleExternalId: externalId } = spec;
  return arn ? cloudAs({ arn, ...(externalId && { externalId }) }) : cloud;
}

/** The binding was not as it was seen. That we have changed it ourselves a moment ago wakes nobody, so it is looked at again. */
export const stale = again(1_000, "the binding has changed in the meantime");
