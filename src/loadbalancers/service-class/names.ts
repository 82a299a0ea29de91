/** Names, marks and parts of what is made for a Service: exactly the reference's, so that either finds what the other made. */
import { clusterTag, hash, isOfCluster, plain } from "../controller-names.ts";
import type { Tags } from "../model.ts";
import { keyOf, type ServiceView } from "./view.ts";

type ServiceRef = Pick<ServiceView, "namespace" | "name" | "uid">;

const readable = ({ namespace, name }: ServiceRef, digest: string) => `k8s-${plain(namespace, 8)}-${plain(name, 8)}-${digest}`;

export function loadBalancerName(cluster: string, service: ServiceRef, scheme: string): string {
  return readable(service, hash(cluster, service.uid, scheme));
}

export function managedGroupName(cluster: string, service: ServiceRef): string {
  return readable(service, hash(cluster, service.name, service.namespace, service.uid));
}

export interface TargetGroupIdentity {
  /** The Service whose endpoints are its targets. */
  readonly backing: ServiceRef;
  /** The Service that has the load balancer, where that is another. */
  readonly base?: ServiceRef;
  readonly targetPort: number;
  readonly servicePort: number;
  readonly targetType: string;
  readonly protocol: string;
  readonly healthCheckProtocol: string;
  readonly healthCheckInterval: number;
  /** Said where another one has the name that follows from the rest. */
  readonly apart?: string;
}

/** Also the name of its binding. The protocol and interval of health checks are in it because AWS could not change them once. */
export function targetGroupName(cluster: string, identity: TargetGroupIdentity): string {
  const { backing, base, targetPort, servicePort, targetType, protocol, healthCheckProtocol, healthCheckInterval, apart = "" } = identity;
  const what = [targetPort, servicePort, targetType, protocol, healthCheckProtocol, healthCheckInterval, apart];
  return readable(backing, hash(cluster, base?.uid ?? "", backing.uid, ...what));
}

export const parts = {
  loadBalancer: "LoadBalancer",
  securityGroup: "ManagedLBSecurityGroup",
  listener: (port: number) => String(port),
  targetGroup: (service: ServiceRef, port: number) => `${keyOf(service)}:${port}`,
} as const;

const stackTag = "service.k8s.aws/stack";
const resourceTag = "service.k8s.aws/resource";

/** Tags that say whose something is. */
export function trackingTags(cluster: string, service: ServiceRef, part: string): Tags {
  return { [clusterTag]: cluster, [stackTag]: keyOf(service), [resourceTag]: part };
}

export function hasMarks(tags: Tags, cluster: string, service: Pick<ServiceRef, "namespace" | "name">): boolean {
  return isOfCluster(tags, cluster) && tags[stackTag] === keyOf(service);
}

export const partOf = (tags: Tags): string | undefined => tags[resourceTag];

const namespaceLabel = "service.k8s.aws/stack-namespace";
const nameLabel = "service.k8s.aws/stack-name";

/** Labels of bindings. */
export function bindingLabels({ namespace, name }: Pick<ServiceRef, "namespace" | "name">): Readonly<Record<string, string>> {
  return { [namespaceLabel]: namespace, [nameLabel]: name };
}

/** The key of the Service for which a binding with these labels was made. */
export function serviceOfLabels(labels: Readonly<Record<string, string>>): string | undefined {
  const namespace = labels[namespaceLabel];
  const name = labels[nameLabel];
  return namespace !== undefined && name !== undefined ? `${namespace}/${name}` : undefined;
}
