/** The annotations that Events of the reference carry: the instance behind a Node, in the names of the metadata service. Pure. */
import type { NodeState } from "./node-states.ts";

export type Annotations = Readonly<Record<string, string>>;

/** `k=v,k=v` as a user gives it; a text says what is wrong with it. */
export function readExtraAnnotations(given: string): Annotations | string {
  if (given === "") return {};
  const parts = given.split(",").map((part) => part.split("="));
  const wrong = parts.find((part) => part.length !== 2);
  if (wrong !== undefined) return `"${wrong.join("=")}" is not one key=value`;
  return Object.fromEntries(parts as [string, string][]);
}

/** What the Node itself tells of its instance. Extra ones may say something else of addresses only, as in the reference. */
export function annotationsFromNode(
  node: Pick<NodeState, "name" | "instanceId" | "labels" | "addresses">,
  extra: Annotations,
): Annotations {
  const { name, instanceId, labels, addresses } = node;
  // Of several addresses of a type the last one counts.
  const address = (type: string) => addresses.findLast((each) => each.type === type)?.address ?? "";
  return {
    "account-id": "",
    "local-ipv4": address("InternalIP"),
    "public-hostname": address("ExternalDNS"),
    "public-ipv4": address("ExternalIP"),
    ...extra,
    "availability-zone": labels["topology.kubernetes.io/zone"] ?? "",
    "instance-id": instanceId,
    "instance-type": labels["node.kubernetes.io/instance-type"] ?? "",
    "local-hostname": name,
    region: labels["topology.kubernetes.io/region"] ?? "",
  };
}

/** Those of an Event about a pod that is evicted. */
export function podAnnotations(node: string, labels: Annotations = {}): Annotations {
  return { node, ...labels };
}
