/** Services as the informer keeps them: followed once per process, whichever doors read them, and nothing else of them. */
import { services } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Informer, informer } from "../kube/informer.ts";
import type { Frozen, Stored } from "../kube/resource.ts";
import type { Service } from "../kube/types.ts";

export interface ServicePortView {
  readonly name: string;
  readonly protocol: string;
  readonly port: number;
  /** The name of a port of pods, or its number. */
  readonly targetPort: number | string;
  /** 0 when none is allocated. */
  readonly nodePort: number;
  /** What its pods speak, where its author says it: `kubernetes.io/h2c`. */
  readonly appProtocol?: string;
}

/** What load balancers follow from. Each door reads a part of it. */
export interface ServiceView {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly annotations: Readonly<Record<string, string>>;
  readonly finalizers: readonly string[];
  readonly type: string;
  readonly loadBalancerClass?: string;
  readonly isDeleted: boolean;
  readonly ports: readonly ServicePortView[];
  /** Labels of its pods; empty where somebody else keeps its endpoints. */
  readonly selector: Readonly<Record<string, string>>;
  readonly ipFamilies: readonly string[];
  readonly sourceRanges: readonly string[];
  readonly sessionAffinity: string;
  readonly loadBalancerIP: string;
  /** Only nodes that run a pod take traffic, and a port of its own tells which do. */
  readonly local: boolean;
  readonly healthCheckNodePort: number;
  readonly allocatesNodePorts: boolean;
}

export interface ServiceCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export interface PublishedAddress {
  readonly hostname: string;
  readonly ip: string;
  readonly ports: readonly number[];
}

export interface ServiceState {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly deletionTimestamp?: string;
    readonly finalizers: readonly string[];
  };
  readonly view: ServiceView;
  /** What the status names, and the first host name of it; empty when there is none. */
  readonly published: readonly PublishedAddress[];
  readonly hostname: string;
  readonly conditions: readonly ServiceCondition[];
  /** What its load balancer was when all of it was as wanted; empty where nobody has said so. */
  readonly checkpoint: string;
  /** All that may make a difference to the reference's controller manager too, as text to compare. */
  readonly fingerprint: string;
}

export type SeenService = Frozen<ServiceState>;
export type Services = Informer<ServiceState>;

/** Where the controller of Services with a load balancer class notes that all is as wanted. It is nothing that a Service asks for. */
export const checkpointAnnotation = "service.fairlead.io/checkpoint";

/** Those of all namespaces. */
export const allServices = {
  name: "services",
  make: (client: KubeClient): Services => informer({ client, of: services, project: serviceState }),
};

/** Those of one namespace, or of all where it is empty. To be called once per process for a namespace: every call gives a key of its own. */
export function servicesIn(namespace: string): typeof allServices {
  if (namespace === "") return allServices;
  return {
    name: `services of ${namespace}`,
    make: (client) => informer({ client, of: services, namespace, name: `services of ${namespace}`, project: serviceState }),
  };
}

export function serviceState({ metadata, spec = {}, status = {} }: Stored<Service>): ServiceState {
  const { name, namespace = "", uid, resourceVersion, deletionTimestamp, finalizers = [], annotations = {} } = metadata;
  const { "kubectl.kubernetes.io/last-applied-configuration": _applied, [checkpointAnnotation]: checkpoint = "", ...own } = annotations;
  return {
    metadata: { name, namespace, uid, resourceVersion, ...(deletionTimestamp && { deletionTimestamp }), finalizers },
    view: {
      namespace,
      name,
      uid,
      annotations: own,
      finalizers,
      type: spec.type ?? "ClusterIP",
      ...(spec.loadBalancerClass !== undefined && { loadBalancerClass: spec.loadBalancerClass }),
      isDeleted: deletionTimestamp !== undefined,
      ports: (spec.ports ?? []).map((port) => ({
        name: port.name ?? "",
        protocol: port.protocol ?? "TCP",
        port: port.port,
        targetPort: port.targetPort ?? port.port,
        nodePort: port.nodePort ?? 0,
        ...(port.appProtocol && { appProtocol: port.appProtocol }),
      })),
      selector: spec.selector ?? {},
      ipFamilies: spec.ipFamilies ?? [],
      sourceRanges: spec.loadBalancerSourceRanges ?? [],
      sessionAffinity: spec.sessionAffinity ?? "None",
      loadBalancerIP: spec.loadBalancerIP ?? "",
      local: spec.externalTrafficPolicy === "Local",
      healthCheckNodePort: spec.healthCheckNodePort ?? 0,
      allocatesNodePorts: spec.allocateLoadBalancerNodePorts !== false,
    },
    published: (status.loadBalancer?.ingress ?? []).map(({ hostname = "", ip = "", ports = [] }) => ({
      hostname,
      ip,
      ports: ports.map(({ port }) => port),
    })),
    hostname: status.loadBalancer?.ingress?.[0]?.hostname ?? "",
    conditions: (status.conditions ?? []).map(({ type, status: is, reason = "", message = "", lastTransitionTime }) => ({
      type,
      status: is,
      reason,
      message,
      lastTransitionTime: String(lastTransitionTime),
    })),
    checkpoint,
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
