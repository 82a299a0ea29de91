/** Names, marks and parts of what is made for a Gateway: exactly the reference's, so that either finds what the other made. */
import { clusterTag, hash, isOfCluster, labelValue, plain } from "../controller-names.ts";
import type { Tags } from "../model.ts";
import type { Flavour } from "./flavours.ts";
import { keyOf, type ObjectName, type RouteKind } from "./view.ts";

type GatewayRef = ObjectName & { readonly uid: string };

const readable = ({ namespace, name }: ObjectName, digest: string) => `k8s-${plain(namespace, 8)}-${plain(name, 8)}-${digest}`;

export function loadBalancerName(cluster: string, gateway: GatewayRef, scheme: string): string {
  return readable(gateway, hash(cluster, gateway.uid, scheme));
}

export function managedGroupName(cluster: string, gateway: GatewayRef): string {
  return readable(gateway, hash(cluster, gateway.name, gateway.namespace, gateway.uid));
}

/** Whose a target group is: a route's or, where the routes of a Gateway share it, its Service's own. */
export interface GroupOwner extends ObjectName {
  readonly kind: RouteKind | "Service";
}

export interface TargetGroupIdentity {
  readonly gateway: ObjectName;
  readonly route: GroupOwner;
  readonly backend: ObjectName;
  /** The node port of instances, else the target port as it is written; of a shared one its part, too. */
  readonly port: number | string;
  readonly targetType: string;
  readonly protocol: string;
  /** Behind an application load balancer. */
  readonly protocolVersion?: string;
  readonly controlPort?: number;
  /** What tells it from another one that has its name. */
  readonly apart?: string;
}

/** Also the name of its binding. */
export function targetGroupName(cluster: string, identity: TargetGroupIdentity): string {
  const { gateway, route, backend, port, targetType, protocol, protocolVersion = "", controlPort = "", apart = "" } = identity;
  const of = [cluster, gateway.namespace, gateway.name, route.namespace, route.name, route.kind, backend.namespace, backend.name];
  return readable(route, hash(...of, port, targetType, protocol, protocolVersion, controlPort, apart));
}

export const parts = {
  loadBalancer: "LoadBalancer",
  securityGroup: "ManagedLBSecurityGroup",
  listener: (port: number) => String(port),
  rule: (port: number, priority: number) => `${port}:${priority}`,
  /**
   * How those of a route's target groups begin, or those of a Service that routes share. The hyphen is the reference's; two Services of
   * different namespaces must never be taken for one.
   */
  ofOwner: (gateway: ObjectName, { kind, namespace, name }: GroupOwner) =>
    `${keyOf(gateway)}:${namespace}${kind === "Service" ? "/" : "-"}${name}:${kind}-`,
  /** The port is the target's, as it is written. One that routes share names its Service once: AWS takes 256 characters. */
  targetGroup: ({ gateway, route, backend }: Pick<TargetGroupIdentity, "gateway" | "route" | "backend">, port: number | string): string =>
    `${parts.ofOwner(gateway, route)}${route.kind === "Service" ? "" : `${backend.namespace}-${backend.name}:`}${port}`,
  /** Whether it is a target group's that routes share. */
  isShared: (part: string): boolean => part.split(":")[2]?.startsWith("Service-") ?? false,
} as const;

const stackTag = ({ prefix }: Flavour) => `${prefix}/stack`;
const resourceTag = ({ prefix }: Flavour) => `${prefix}/resource`;

/** Tags that say whose something is. */
export function trackingTags(cluster: string, flavour: Flavour, gateway: ObjectName, part: string): Tags {
  return { [clusterTag]: cluster, [stackTag(flavour)]: keyOf(gateway), [resourceTag(flavour)]: part };
}

export function hasMarks(tags: Tags, cluster: string, flavour: Flavour, gateway: ObjectName): boolean {
  return isOfCluster(tags, cluster) && tags[stackTag(flavour)] === keyOf(gateway);
}

export const partOf = (tags: Tags, flavour: Flavour): string | undefined => tags[resourceTag(flavour)];

/** Labels of bindings. */
export function bindingLabels(flavour: Flavour, { namespace, name }: ObjectName): Readonly<Record<string, string>> {
  return { [`${flavour.prefix}/stack-namespace`]: namespace, [`${flavour.prefix}/stack-name`]: labelValue(name) };
}
