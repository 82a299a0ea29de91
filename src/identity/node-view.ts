/** Nodes as this program reads them: one projection, one informer, for every part that looks at Nodes. */
import { isInstanceId } from "../aws/instances.ts";
import { nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import { type Informer, informer } from "../kube/informer.ts";
import type { Frozen, Stored } from "../kube/resource.ts";
import type { Node, NodeAddress, Taint } from "../kube/types.ts";
import { formatAddress, parseAddress } from "../runtime/ip.ts";
import { instanceIdOfNodeName, parseProviderId } from "./provider-id.ts";

/** Set by kubelet from `--node-ip`: the address, or the pair of addresses, that this node goes by. */
export const providedNodeIpAnnotation = "alpha.kubernetes.io/provided-node-ip";

/** What this program says of a Node's own cloud part; there only while something about it is amiss. */
export const cloudCondition = "CloudProviderInitialized";

/** Where the plan of a Node's interruption is kept. `interruptions/` writes it. */
export const interruptionPlanAnnotation = "interruption.fairlead.io/plan";

/** Where a person asks for an interruption that is only simulated. `fairlead interruptions simulate` writes it. */
export const simulatedInterruptionAnnotation = "interruption.fairlead.io/simulate";

/** Conditions that somebody here reads; a Node has many more, and their heartbeats are nobody's business. */
const readConditions: ReadonlySet<string> = new Set(["Ready", "NetworkUnavailable", cloudCondition]);

export interface NodeCondition {
  readonly type: string;
  readonly status: string;
  readonly reason?: string;
  readonly message?: string;
}

/** As much of a Node as anybody here reads. */
export interface NodeView {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
    readonly labels: Readonly<Record<string, string>>;
  };
  readonly providerId: string;
  /** The annotation's value; undefined when it is not there. */
  readonly providedNodeIp: string | undefined;
  /** The annotation's value, there only while a Node is interrupted or was. */
  readonly interruptionPlan?: string;
  /** The annotation's value, there only until a handler has taken it up. */
  readonly simulatedInterruption?: string;
  /** Another one after each start of the machine. */
  readonly bootId: string;
  readonly podCidrs: readonly string[];
  readonly taints: readonly Taint[];
  readonly unschedulable: boolean;
  readonly addresses: readonly NodeAddress[];
  readonly conditions: readonly NodeCondition[];
}

/** `instance`: by the instance id a Node claims. `address`: by the addresses its kubelet claims. */
export type NodeIndex = "instance" | "address";
export type Nodes = Informer<NodeView, NodeIndex>;
export type SeenNode = Frozen<NodeView>;

/** The one informer of Nodes, shared by all controllers. */
export const nodeInformer = {
  name: "nodes",
  make: (client: KubeClient): Nodes => informer({ client, of: nodes, project: nodeView, indexes: { instance, address } }),
  /** Of one Node alone, for a process that runs on it. */
  makeFor: (client: KubeClient, name: string): Nodes =>
    informer({ client, of: nodes, fieldSelector: `metadata.name=${name}`, project: nodeView, indexes: { instance, address } }),
};

/** What is kept of a Node. */
export function nodeView({ metadata, spec = {}, status = {} }: Stored<Node>): NodeView {
  const { name, uid, resourceVersion, creationTimestamp = "", deletionTimestamp, labels = {}, annotations } = metadata;
  const interruptionPlan = annotations?.[interruptionPlanAnnotation];
  const simulatedInterruption = annotations?.[simulatedInterruptionAnnotation];
  return {
    metadata: { name, uid, resourceVersion, creationTimestamp, ...(deletionTimestamp && { deletionTimestamp }), labels },
    providerId: spec.providerID ?? "",
    providedNodeIp: annotations?.[providedNodeIpAnnotation],
    ...(interruptionPlan !== undefined && { interruptionPlan }),
    ...(simulatedInterruption !== undefined && { simulatedInterruption }),
    bootId: status.nodeInfo?.bootID ?? "",
    podCidrs: spec.podCIDRs ?? (spec.podCIDR ? [spec.podCIDR] : []),
    taints: spec.taints ?? [],
    unschedulable: spec.unschedulable ?? false,
    addresses: status.addresses ?? [],
    conditions: (status.conditions ?? []).filter(({ type }) => readConditions.has(type)).map(conditionView),
  };
}

/** What a Node says it runs on. Whether that is true is another matter. */
export type Claim =
  | { readonly kind: "instance"; readonly instanceId: string; readonly zone: string | undefined; readonly by: "provider ID" | "node name" }
  | { readonly kind: "fargate"; readonly address: string; readonly zone: string | undefined }
  /** Only its name and addresses tell. */
  | { readonly kind: "none" }
  /** A machine of another cloud: none of our business. */
  | { readonly kind: "foreign"; readonly scheme: string }
  | { readonly kind: "invalid"; readonly reason: string };

/** The claim of a Node: its provider ID, or else a name that is an instance id. */
export function claimOf(node: SeenNode): Claim {
  if (node.providerId === "") {
    const instanceId = instanceIdOfNodeName(node.metadata.name);
    // A host may well be called i-love-linux.
    if (instanceId === undefined || !isInstanceId(instanceId)) return { kind: "none" };
    return { kind: "instance", instanceId, zone: undefined, by: "node name" };
  }
  const parsed = parseProviderId(node.providerId);
  return parsed.kind === "instance" ? { ...parsed, by: "provider ID" } : parsed;
}

/** The instance id a Node claims, if it claims one. */
export function claimedInstance(node: SeenNode): string | undefined {
  const claim = claimOf(node);
  return claim.kind === "instance" ? claim.instanceId : undefined;
}

/** The addresses a Node's kubelet says it has, in canonical text: those it was told to use, else those it reports. */
export function claimedAddresses(node: SeenNode): readonly string[] {
  const claimed = node.providedNodeIp?.split(",") ?? node.addresses.filter(({ type }) => type === "InternalIP").map((each) => each.address);
  return claimed.flatMap((text) => {
    const parsed = parseAddress(text);
    return parsed === undefined ? [] : [formatAddress(parsed)];
  });
}

/** The condition of this type, if the Node has it. */
export function conditionOf(node: SeenNode, type: string): NodeCondition | undefined {
  return node.conditions.find((condition) => condition.type === type);
}

/** Whether the kubelet reports in and is well. No condition at all is not ready. */
export function isReady(node: SeenNode): boolean {
  return conditionOf(node, "Ready")?.status === "True";
}

/** Whether two states differ in anything anybody here reads: a heartbeat is no change. */
export function sameButVersion(a: SeenNode, b: SeenNode): boolean {
  return (
    JSON.stringify({ ...a, metadata: { ...a.metadata, resourceVersion: "" } }) ===
    JSON.stringify({ ...b, metadata: { ...b.metadata, resourceVersion: "" } })
  );
}

function conditionView({ type, status, reason, message }: NodeCondition): NodeCondition {
  if (type === "NetworkUnavailable") return { type, status, ...(reason && { reason }) };
  // Of others' conditions only the status is read; what they say changes with every heartbeat.
  return type === cloudCondition ? { type, status, ...(reason && { reason }), ...(message && { message }) } : { type, status };
}

function instance(node: SeenNode): readonly string[] {
  const id = claimedInstance(node);
  return id === undefined ? [] : [id];
}

function address(node: SeenNode): readonly string[] {
  return claimedAddresses(node);
}
