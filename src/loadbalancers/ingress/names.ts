/** Names, marks and parts of what is made for an Ingress group: exactly the reference's, so that either finds what the other made. */
import { clusterTag, hash, isOfCluster, labelValue, plain } from "../controller-names.ts";
import type { Tags } from "../model.ts";
import { type GroupId, stackOf } from "./groups.ts";
import type { PortRef } from "./routing-json.ts";

const prefixOf = (group: GroupId) =>
  group.kind === "explicit" ? `k8s-${plain(group.name, 17)}` : `k8s-${plain(group.namespace, 8)}-${plain(group.name, 8)}`;

export function loadBalancerName(cluster: string, group: GroupId, scheme: string): string {
  return `${prefixOf(group)}-${hash(cluster, stackOf(group), scheme)}`;
}

export function managedGroupName(cluster: string, group: GroupId): string {
  return `${prefixOf(group)}-${hash(cluster, stackOf(group))}`;
}

export interface TargetGroupIdentity {
  readonly ingress: { readonly namespace: string; readonly name: string };
  readonly service: { readonly namespace: string; readonly name: string; readonly uid: string };
  /** As it is written in the backend. */
  readonly backendPort: PortRef;
  readonly port: number;
  readonly targetType: string;
  readonly protocol: string;
  readonly protocolVersion: string;
  readonly controlPort?: number;
  /** What tells it from another one that has its name. */
  readonly apart?: string;
}

/** Also the name of its binding. */
export function targetGroupName(cluster: string, group: GroupId, identity: TargetGroupIdentity): string {
  const { ingress, service, backendPort, port, targetType, protocol, protocolVersion, controlPort, apart } = identity;
  const backend = [service.uid, backendPort, port, targetType, protocol, protocolVersion, controlPort ?? "", apart ?? ""];
  const digest = hash(cluster, stackOf(group), ingress.namespace, ingress.name, ...backend);
  return `k8s-${plain(service.namespace, 8)}-${plain(service.name, 8)}-${digest}`;
}

/** The network load balancer in front of another. */
export const frontendName = (behind: string) => `${behind.slice(0, 28)}-nlb`;

export function frontendTargetGroupName(
  cluster: string,
  group: GroupId,
  port: number,
  healthCheck: { readonly port: string; readonly protocol: string },
): string {
  return `${prefixOf(group)}-${hash(cluster, stackOf(group), port, "alb", "TCP", healthCheck.port, healthCheck.protocol)}`;
}

export const parts = {
  frontend: "FrontendNlb",
  frontendListener: (port: number) => `FrontendNlb-ls-TCP-${port}`,
  frontendTargetGroup: (port: number) => `FrontendNlb-tg-TCP-${port}`,
  loadBalancer: "LoadBalancer",
  securityGroup: "ManagedLBSecurityGroup",
  listener: (port: number) => String(port),
  rule: (port: number, priority: number) => `${port}:${priority}`,
  targetGroup: ({ ingress, service, backendPort }: Pick<TargetGroupIdentity, "ingress" | "service" | "backendPort">) =>
    `${ingress.namespace}/${ingress.name}-${service.name}:${backendPort}`,
} as const;

const stackTag = "ingress.k8s.aws/stack";
const resourceTag = "ingress.k8s.aws/resource";

/** Tags that say whose something is. */
export function trackingTags(cluster: string, group: GroupId, part: string): Tags {
  return { [clusterTag]: cluster, [stackTag]: stackOf(group), [resourceTag]: part };
}

export function hasMarks(tags: Tags, cluster: string, group: GroupId): boolean {
  return isOfCluster(tags, cluster) && tags[stackTag] === stackOf(group);
}

/** Whether something was made for a group, of whichever cluster. */
export const hasStack = (tags: Tags) => stackTag in tags && resourceTag in tags;

/** Keys of the marks of every door: no user's tag may have one. */
export function isTrackingTag(key: string): boolean {
  const doors = ["ingress.k8s.aws", "service.k8s.aws", "gateway.k8s.aws.nlb", "gateway.k8s.aws.alb"];
  return [clusterTag, "elbv2.k8s.aws/resource", ...doors.flatMap((door) => [`${door}/stack`, `${door}/resource`])].includes(key);
}

export const partOf = (tags: Tags): string | undefined => tags[resourceTag];

/** Labels of bindings. */
export function bindingLabels(group: GroupId): Readonly<Record<string, string>> {
  if (group.kind === "explicit") return { [stackTag]: group.name };
  return { "ingress.k8s.aws/stack-namespace": group.namespace, "ingress.k8s.aws/stack-name": labelValue(group.name) };
}
