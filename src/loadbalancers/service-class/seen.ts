/** Services as the informer keeps them, as much of them as a load balancer of their class follows from. */
import { services } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { type Informer, informer } from "../../kube/informer.ts";
import type { Frozen, Stored } from "../../kube/resource.ts";
import type { Service } from "../../kube/types.ts";
import type { ServiceView } from "./view.ts";

/** Guards a Service until nothing in AWS is left of its load balancer. */
export const classFinalizer = "service.k8s.aws/resources";

export interface PublishedAddress {
  readonly hostname: string;
  readonly ip: string;
  readonly ports: readonly number[];
}

export interface ServiceState {
  readonly metadata: { readonly name: string; readonly namespace: string; readonly uid: string; readonly resourceVersion: string };
  readonly view: ServiceView & { readonly finalizers: readonly string[] };
  /** What the status names. */
  readonly published: readonly PublishedAddress[];
}

export type SeenService = Frozen<ServiceState>;
export type Services = Informer<ServiceState>;

/** Those of one namespace, or of all where it is empty. */
export function classInformer(namespace: string) {
  const scope = namespace === "" ? {} : { namespace };
  return {
    name: "services of a class",
    make: (client: KubeClient): Services =>
      informer({ client, of: services, ...scope, name: "services of a class", project: classServiceState }),
  };
}

export function classServiceState({ metadata, spec = {}, status = {} }: Stored<Service>): ServiceState {
  const { name, namespace = "", uid, resourceVersion, deletionTimestamp, finalizers = [], annotations = {} } = metadata;
  const { "kubectl.kubernetes.io/last-applied-configuration": _applied, ...own } = annotations;
  return {
    metadata: { name, namespace, uid, resourceVersion },
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
      })),
      ipFamilies: spec.ipFamilies ?? [],
      sourceRanges: spec.loadBalancerSourceRanges ?? [],
      local: spec.externalTrafficPolicy === "Local",
      healthCheckNodePort: spec.healthCheckNodePort ?? 0,
      allocatesNodePorts: spec.allocateLoadBalancerNodePorts !== false,
    },
    published: (status.loadBalancer?.ingress ?? []).map(({ hostname = "", ip = "", ports = [] }) => ({
      hostname,
      ip,
      ports: ports.map(({ port }) => port),
    })),
  };
}

export const isGuarded = ({ view }: SeenService) => view.finalizers.includes(classFinalizer);
