/** Services as the informer keeps them, and nothing else of them. */
import { services } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { type Informer, informer } from "../../kube/informer.ts";
import type { Frozen, Stored } from "../../kube/resource.ts";
import type { Service } from "../../kube/types.ts";
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
