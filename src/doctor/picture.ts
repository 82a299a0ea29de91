/** Everything the checks look at, gathered before any of them runs: they are plain functions of it. */
import type { EventRule } from "../aws/event-rules.ts";
import type { Instance, Tags } from "../aws/instance.ts";
import type { InstanceLookup } from "../aws/instances.ts";
import type { RouteTable } from "../aws/route-tables.ts";
import type { ClusterId } from "../identity/cluster-id.ts";
import type { NodeView } from "../identity/node-view.ts";
import type { AccessNeed } from "./access.ts";
import type { BalancerFacts } from "./balancer-questions.ts";
import type { ControlPlanePod } from "./control-plane.ts";
import type { DiscoveryFacts } from "./discovery-questions.ts";
import type { GatewayFacts } from "./gateway-facts.ts";
import type { IngressFacts } from "./ingress-questions.ts";
import type { QueueFacts, GroupFacts as ScalingGroup } from "./interruption-questions.ts";
import type { Feature } from "./permissions.ts";
import type { Answer } from "./probes.ts";
import type { Subject } from "./subject.ts";
import type { VolumeFacts } from "./volume-questions.ts";

/** What was asked for, or why it is not known. */
export type Known<T> =
  | { readonly known: true; readonly value: T }
  /** `denied`: for want of a permission, which is a finding of its own. `missing`: something it builds on is not known. */
  | { readonly known: false; readonly why: string; readonly kind: "denied" | "missing" | "failed" };

export interface Picture {
  readonly features: readonly Feature[];
  readonly caller: Known<Caller>;
  /** How far AWS's clock is ahead of ours; undefined when AWS never answered. */
  readonly skewMs: number | undefined;
  /** Per principal that the programs run as. */
  readonly permissions: Known<readonly Permissions[]>;
  readonly cluster: Known<ClusterId>;
  readonly vpc: string | undefined;
  readonly nodes: Known<readonly NodeView[]>;
  /** By instance id. */
  readonly instances: Known<ReadonlyMap<string, InstanceLookup>>;
  readonly subnets: Known<readonly SubnetFacts[]>;
  readonly groups: Known<readonly GroupFacts[]>;
  readonly routeTables: Known<readonly RouteTable[]>;
  /** Those that the cloud config names. */
  readonly routeTableIds: readonly string[];
  readonly metadata: Known<readonly MetadataFacts[]>;
  readonly hostNetwork: boolean;
  readonly access: Known<readonly ProgramAccess[]>;
  /** Where the programs run. */
  readonly namespace: string;
  readonly server: Known<string>;
  readonly lease: Known<LeaseFacts | undefined>;
  /** That the termination handler reads; empty: none. */
  readonly queueUrl: string;
  readonly queue: Known<QueueFacts>;
  /** Rules of EventBridge that deliver to it. */
  readonly rules: Known<readonly EventRule[]>;
  /** Groups that instances of the cluster belong to. */
  readonly scalingGroups: Known<readonly ScalingGroup[]>;
  /** Controller managers that run as pods. */
  readonly controllers: Known<readonly ControllerPod[]>;
  /** Components of the control plane that run as pods. */
  readonly controlPlane?: Known<readonly ControlPlanePod[]>;
  /** Where Ingresses are asked about. */
  readonly ingress?: Known<IngressFacts>;
  /** Where anything of the load balancer controller is asked about. */
  readonly gateways?: Known<GatewayFacts>;
  /** Where bindings or Services with a class are asked about. */
  readonly balancer?: Known<BalancerFacts>;
  /** Where volumes are asked about. */
  readonly volumes?: Known<VolumeFacts>;
  /** Where the discoverer is asked about. */
  readonly discovery?: Known<DiscoveryFacts>;
  readonly now: number;
}

export interface Caller {
  readonly arn: string;
  readonly region: string;
}

/** What somebody may do to AWS. */
export interface Permissions {
  readonly subject: Subject;
  readonly answers: readonly PermissionAnswer[];
  /** Why the policy simulator did not answer. */
  readonly objection?: string;
}

export interface PermissionAnswer extends Answer {
  readonly feature: Feature;
  readonly action: string;
  /** What is left out without it, when the rest works. */
  readonly optional?: string;
}

export interface SubnetFacts {
  readonly id: string;
  readonly zone: string;
  readonly freeAddresses: number;
  readonly tags: Tags;
  /** Whether its default route leads to an internet gateway. */
  readonly public: boolean;
}

export interface GroupFacts {
  readonly id: string;
  readonly tags: Tags;
}

export interface MetadataFacts {
  readonly instanceId: string;
  readonly hopLimit: number;
  readonly enabled: boolean;
}

/** What a program may do in the cluster. */
export interface ProgramAccess {
  /** The service account that it runs as, `namespace/name`. */
  readonly account: string;
  readonly answers: readonly AccessAnswer[];
}

export interface AccessAnswer {
  readonly need: AccessNeed;
  readonly allowed: boolean;
}

export interface LeaseFacts {
  readonly holder: string;
  /** The program that wrote it last, by its user agent. */
  readonly writer: string;
  readonly fresh: boolean;
}

/** A pod of a controller manager, ours or the reference's. */
export interface ControllerPod {
  /** `namespace/name` */
  readonly pod: string;
  /** The Lease that it leads by, `namespace/name`; undefined when it leads without asking anybody. */
  readonly lease: string | undefined;
  /** Of `fairlead cluster`: the Lease of the process itself. */
  readonly hostLease?: string;
}

/** The value, or undefined when it is not known. */
export function valueIn<T>(known: Known<T>): T | undefined {
  return known.known ? known.value : undefined;
}

/** The live instances of Nodes. */
export function liveInstances(picture: Picture): readonly Instance[] {
  const found = [...(valueIn(picture.instances)?.values() ?? [])];
  return found.flatMap((lookup) => (lookup.kind === "found" && lookup.instance.state !== "terminated" ? [lookup.instance] : []));
}
