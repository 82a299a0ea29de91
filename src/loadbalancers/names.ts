/** Names of what a load balancer is made of. They are the only link to what exists, so they never change. */
import { createHash } from "node:crypto";

/** `a` and the UID without dashes, 32 characters: classic and network load balancers of a Service. */
export function loadBalancerName(uid: string): string {
  return `a${uid.replaceAll("-", "")}`.slice(0, 32);
}

/** How the names of all security groups begin that Fairlead makes. */
export const ownGroupPrefix = "k8s-";

/** The security group Fairlead makes for a classic load balancer. */
export function classicSecurityGroupName(loadBalancer: string): string {
  return `k8s-elb-${loadBalancer}`;
}

export interface ServiceRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/** The security group Fairlead makes for a network load balancer. */
export function networkSecurityGroupName(clusterName: string, service: ServiceRef): string {
  return readable(service, createHash("sha256").update(clusterName + service.name + service.namespace + service.uid));
}

export interface TargetGroupIdentity {
  readonly servicePort: number;
  readonly nodePort: number;
  readonly protocol: string;
  readonly healthCheckProtocol: string;
  readonly healthCheckInterval: number;
}

/** A target group's name holds all that cannot be changed in it, so that a new one can stand beside the old one. */
export function targetGroupName(clusterId: string, service: ServiceRef, group: TargetGroupIdentity): string {
  const { servicePort, nodePort, protocol, healthCheckProtocol, healthCheckInterval } = group;
  const identity = [clusterId, service.namespace, service.name, servicePort, nodePort, protocol, "instance", healthCheckProtocol];
  return readable(service, createHash("sha1").update(identity.join("") + healthCheckInterval));
}

/** How the names of all target groups of a Service begin; those of others may begin the same. */
export function targetGroupPrefix(service: Pick<ServiceRef, "namespace" | "name">): string {
  return `k8s-${short(service.namespace)}-${short(service.name)}-`;
}

/** A target group of a Service that has no load balancer of ours: the one of its port with this number. */
export function numberedTargetGroupName(uid: string, index: number): string {
  return `${loadBalancerName(uid).slice(0, 31 - String(index).length)}-${index}`;
}

/** Whether it is the name of one of them, whichever its number. */
export function isNumberedTargetGroup(name: string, uid: string): boolean {
  return name === numberedTargetGroupName(uid, Number(/-(\d{1,4})$/.exec(name)?.[1]));
}

/** Names of the two policies a classic load balancer may carry. */
export const proxyProtocolPolicyName = "k8s-proxyprotocol-enabled";
export const sslPolicyName = (reference: string) => `k8s-SSLNegotiationPolicy-${reference}`;

/** Descriptions of the rules that let a load balancer's traffic reach the nodes. */
export const nodeRuleDescription = {
  client: (loadBalancer: string) => `kubernetes.io/rule/nlb/client=${loadBalancer}`,
  health: (loadBalancer: string) => `kubernetes.io/rule/nlb/health=${loadBalancer}`,
  /** Shared by every network load balancer whose clients come through this group. */
  mtu: "kubernetes.io/rule/nlb/mtu",
  /** Of a classic load balancer whose group was lent to us. */
  source: (loadBalancer: string) => `kubernetes.io/rule/elb/source=${loadBalancer}`,
} as const;

/** `k8s-<namespace>-<name>-<hash>`: readable in the console, unique by its hash, within 32 characters. */
function readable(service: ServiceRef, hash: ReturnType<typeof createHash>): string {
  return targetGroupPrefix(service) + hash.digest("hex").slice(0, 10);
}

const short = (text: string) => text.replace(/[^a-zA-Z0-9]/g, "").slice(0, 8);
