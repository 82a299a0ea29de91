/** Services as the informer keeps them, nothing else of them, and what there is to do for each. */
import { services } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { type Informer, informer } from "../../kube/informer.ts";
import type { Frozen, Stored } from "../../kube/resource.ts";
import type { Service } from "../../kube/types.ts";
import { annotationKey } from "./annotations.ts";
import { type WantedKind, wantedKindOf } from "./type-annotation.ts";
import type { ServiceView } from "./view.ts";

/** Guards a Service until nothing in AWS is left of its load balancer. */
export const cleanupFinalizer = "service.kubernetes.io/load-balancer-cleanup";

export interface ServiceCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

/** As much of a Service as is read here. */
export interface ServiceState {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly finalizers: readonly string[];
  };
  readonly type: string;
  readonly loadBalancerClass: string | undefined;
  /** What a load balancer follows from: any change of it is a reason to look again. */
  readonly view: Omit<ServiceView, "hostname">;
  readonly hostname: string;
  /** Whether the status names any address, by host name or not. */
  readonly published: boolean;
  readonly conditions: readonly ServiceCondition[];
  /** All that may make a difference to the reference's controller too, as text to compare. */
  readonly fingerprint: string;
}

export type SeenService = Frozen<ServiceState>;
export type Services = Informer<ServiceState>;

/** The one informer of Services. */
export const serviceInformer = {
  name: "services",
  make: (client: KubeClient): Services => informer({ client, of: services, project: serviceState }),
};

/** What is kept of a Service. */
export function serviceState({ metadata, spec = {}, status = {} }: Stored<Service>): ServiceState {
  const { name, namespace = "", uid, resourceVersion, deletionTimestamp, finalizers = [], annotations = {} } = metadata;
  const { "kubectl.kubernetes.io/last-applied-configuration": _applied, ...own } = annotations;
  const ingress = status.loadBalancer?.ingress ?? [];
  const ports = (spec.ports ?? []).map((port) => ({
    name: port.name ?? "",
    protocol: port.protocol ?? "TCP",
    port: port.port,
    nodePort: port.nodePort ?? 0,
  }));
  const local = spec.externalTrafficPolicy === "Local";
  return {
    metadata: { name, namespace, uid, resourceVersion, ...(deletionTimestamp && { deletionTimestamp }), finalizers },
    type: spec.type ?? "ClusterIP",
    loadBalancerClass: spec.loadBalancerClass,
    view: {
      namespace,
      name,
      uid,
      annotations: own,
      ports,
      sourceRanges: spec.loadBalancerSourceRanges ?? [],
      sessionAffinity: spec.sessionAffinity ?? "None",
      loadBalancerIP: spec.loadBalancerIP ?? "",
      local,
      healthCheckNodePort: spec.healthCheckNodePort ?? 0,
      ipFamilies: spec.ipFamilies ?? [],
    },
    hostname: ingress[0]?.hostname ?? "",
    published: ingress.length > 0,
    conditions: (status.conditions ?? []).map(({ type, status: is, reason = "", message = "", lastTransitionTime }) => ({
      type,
      status: is,
      reason,
      message,
      lastTransitionTime: String(lastTransitionTime),
    })),
    fingerprint: JSON.stringify([
      uid,
      own,
      spec.loadBalancerSourceRanges ?? [],
      (spec.ports ?? []).map((port) => [port.name, port.protocol, port.port, port.nodePort, port.targetPort, port.appProtocol]),
      spec.sessionAffinity,
      spec.sessionAffinityConfig,
      spec.loadBalancerIP ?? "",
      spec.externalIPs ?? [],
      spec.externalTrafficPolicy,
      spec.healthCheckNodePort,
      spec.ipFamilies?.length ?? 0,
    ]),
  };
}

export function hasFinalizer({ metadata }: SeenService): boolean {
  return metadata.finalizers.includes(cleanupFinalizer);
}

/**
 * Decided once: the controller, its dry run, `plan` and `explain` all ask here.
 *
 *     the Service is …                              without our finalizer   with it
 *     being deleted, or of another type             none                    clean-up
 *     given to another controller by its class      none                    leave-to-others
 *     given to another controller by its annotation leave-to-others         leave-to-others
 *     of load balancer type none                    targets-only            targets-only
 *     anything else of type LoadBalancer            ensure                  ensure
 */
export type Task =
  | { readonly kind: "ensure"; readonly of: WantedKind }
  /** Target groups are made, and whatever forwards to them is not ours. */
  | { readonly kind: "targets-only" }
  /** What we made for it goes. Our finalizer stays until the Service goes, its status is theirs. */
  | { readonly kind: "leave-to-others" }
  /** What we made for it goes, and then our finalizer. */
  | { readonly kind: "clean-up" }
  | { readonly kind: "none" };

export function taskOf(service: SeenService): Task {
  const { metadata, type, loadBalancerClass, view } = service;
  const ifGuarded = (kind: "clean-up" | "leave-to-others"): Task => ({ kind: hasFinalizer(service) ? kind : "none" });
  if (metadata.deletionTimestamp !== undefined || type !== "LoadBalancer") return ifGuarded("clean-up");
  if (loadBalancerClass !== undefined) return ifGuarded("leave-to-others");
  const kind = wantedKindOf(view.annotations);
  if (kind === "targets") return { kind: "targets-only" };
  return kind === "foreign" ? { kind: "leave-to-others" } : { kind: "ensure", of: kind };
}

/** Who else serves a Service, in words; undefined when nobody else does. Then nothing of its status is ours. */
export function otherServer({ loadBalancerClass, view }: SeenService): string | undefined {
  if (loadBalancerClass !== undefined) {
    const known = classes.get(loadBalancerClass);
    return `${known ?? "another controller"}, by loadBalancerClass ${loadBalancerClass}`;
  }
  if (wantedKindOf(view.annotations) !== "foreign") return undefined;
  const key = annotationKey("type");
  return `the AWS Load Balancer Controller, by annotation ${key}: ${view.annotations[key]}`;
}

const classes: ReadonlyMap<string, string> = new Map([
  ["service.k8s.aws/nlb", "the AWS Load Balancer Controller"],
  ["eks.amazonaws.com/nlb", "EKS Auto Mode"],
]);

/** Whether a change of a Service is a reason to look at its load balancer. Labels, selectors and status are not. */
export function concernsLoadBalancer(before: SeenService | undefined, after: SeenService): boolean {
  const task = taskOf(after);
  if (task.kind === "clean-up") return true;
  if (before === undefined) return task.kind !== "none";
  if (taskOf(before).kind !== task.kind) return true;
  // Without its finalizer what stands would be left behind.
  if (hasFinalizer(before) && !hasFinalizer(after)) return true;
  return task.kind !== "none" && before.fingerprint !== after.fingerprint;
}
