/**
 * What names and marks of the load balancer controller have in common, for Ingresses and Services alike: exactly the
 * reference's, so that either finds what the other made.
 */
import { createHash } from "node:crypto";

/** Ten letters that tell apart what is named after the same. */
export const hash = (...texts: readonly (string | number)[]) => createHash("sha256").update(texts.join("")).digest("hex").slice(0, 10);

/** The first letters and digits of a text. */
export const plain = (text: string, length: number) => text.replace(/[^A-Za-z0-9]/g, "").slice(0, length);

export const clusterTag = "elbv2.k8s.aws/cluster";
const legacyClusterTag = "ingress.k8s.aws/cluster";

/** Whether these are tags of something that the controller of a cluster made. */
export function isOfCluster(tags: Readonly<Record<string, string>>, cluster: string): boolean {
  return tags[clusterTag] === cluster || tags[legacyClusterTag] === cluster;
}

/** The security group that all load balancers of a cluster share towards their targets. */
export function backendGroupName(cluster: string): string {
  return `k8s-traffic-${plain(cluster, 232)}-${hash(cluster)}`;
}

/** Written by predecessors of the reference on load balancers, target groups and security groups, and left alone. */
export function isLegacyTag(key: string, cluster: string): boolean {
  return [
    `kubernetes.io/cluster/${cluster}`,
    "kubernetes.io/cluster-name",
    "kubernetes.io/namespace",
    "kubernetes.io/ingress-name",
    "kubernetes.io/service-name",
    "kubernetes.io/service-port",
    legacyClusterTag,
  ].includes(key);
}

const maxLabel = 63;

/** A label holds 63 characters, so a longer name is cut and told apart by its hash. */
export const labelValue = (text: string) =>
  text.length <= maxLabel ? text : `${text.slice(0, maxLabel - 11).replace(/[^A-Za-z0-9]+$/, "")}-${hash(text)}`;
