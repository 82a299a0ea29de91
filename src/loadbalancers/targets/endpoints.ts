/** Which targets a binding's Service has at this moment: pods by their addresses, or nodes by their instances. Pure. */
import { conditionOf, type SeenNode } from "../../identity/node-view.ts";
import { parseProviderId } from "../../identity/provider-id.ts";
import type { Frozen } from "../../kube/resource.ts";
import type { ServiceView } from "../service-state.ts";
import type { BindingSpec } from "./binding.ts";
import type { SeenPod } from "./pods.ts";
import { isQuic, quicAnnotation, quicIdFor } from "./quic.ts";
import { matchesSelector, selectorProblem } from "./selector.ts";
import type { SlicePart } from "./slices.ts";

/** Something that is to be a target. */
export interface Endpoint {
  /** An address or an instance id. */
  readonly id: string;
  readonly port: number;
  readonly quicServerId?: string;
  /** When its pod or node was made, in whole seconds as milliseconds: another one of the same address is another endpoint. */
  readonly createdAt: number;
  readonly pod?: SeenPod;
}

export type Resolved =
  | {
      readonly kind: "endpoints";
      readonly endpoints: readonly Endpoint[];
      readonly problems: readonly string[];
      readonly unfit: Unfit;
    }
  /** There is no such Service, or it has no such port. */
  | { readonly kind: "not-found"; readonly why: string }
  /** Its author has to change something. */
  | { readonly kind: "invalid"; readonly why: string };

/** Pods that cannot be registered, and why: their gates would wait for ever without a word. */
export type Unfit = readonly { readonly pod: SeenPod; readonly why: string }[];

/** As much of a Service as is read here. */
export type Backend = Pick<ServiceView, "namespace" | "name" | "type"> & {
  readonly ports: readonly Pick<ServiceView["ports"][number], "name" | "port" | "nodePort">[];
};

export interface Surroundings {
  readonly service: Backend | undefined;
  /** Undefined where the Service has none, and would have some. */
  readonly slices: readonly SlicePart[] | undefined;
  readonly nodes: readonly SeenNode[];
  pod(key: string): SeenPod | undefined;
  node(name: string): SeenNode | undefined;
  /** Whether nodes that are not heard of count where there are no others. */
  readonly failOpen: boolean;
}

type Spec = Frozen<BindingSpec>;

export function resolveEndpoints(namespace: string, spec: Spec, around: Surroundings): Resolved {
  const { name, port: wanted } = spec.serviceRef;
  const { service } = around;
  if (service === undefined) return { kind: "not-found", why: `backend not found: Service "${namespace}/${name}" not found` };
  const port = service.ports.find((each) => (typeof wanted === "number" ? each.port === wanted : each.name === wanted));
  if (port === undefined)
    return { kind: "not-found", why: `backend not found: unable to find port ${wanted} on service ${namespace}/${name}` };
  if (spec.targetType === "ip" && around.slices === undefined)
    return { kind: "not-found", why: `backend not found: Endpoints "${namespace}/${name}" not found` };
  return spec.targetType === "ip" ? podEndpoints(port.name, spec, around) : nodeEndpoints(service, port.nodePort, spec, around);
}

/**
 *     endpoint ready                        taken
 *     not ready, containers are, node
 *       Ready                               taken, unless it is terminating: its readiness gates may wait for us
 *       Unknown                             put aside: taken where nothing else is
 *       anything else                       left out
 */
function podEndpoints(portName: string, { ipAddressType = "ipv4", targetGroupProtocol }: Spec, around: Surroundings): Resolved {
  const taken: Endpoint[] = [];
  const aside: Endpoint[] = [];
  const family = ipAddressType === "ipv6" ? "IPv6" : "IPv4";
  for (const slice of (around.slices ?? []).filter(({ addressType }) => addressType === family)) {
    for (const { port } of slice.ports.filter(({ name }) => portName === "" || name === portName)) {
      for (const { address, ready, terminating, pod: key } of slice.endpoints) {
        const pod = around.pod(key);
        if (pod === undefined) continue;
        const id = isQuic(targetGroupProtocol) && pod.quic ? { quicServerId: quicIdFor(pod.quic, port) } : {};
        const endpoint = { id: address, port, ...id, createdAt: Date.parse(pod.metadata.creationTimestamp), pod };
        if (ready) taken.push(endpoint);
        else if (pod.containersReady) {
          const node = around.node(pod.node);
          const heard = node && conditionOf(node, "Ready")?.status;
          if (heard === "True" && !terminating) taken.push(endpoint);
          if (heard === "Unknown") aside.push(endpoint);
        }
      }
    }
  }
  const chosen = taken.length === 0 && around.failOpen ? aside : taken;
  // Slices may name an endpoint twice while it moves from one to another.
  const distinct = new Map(chosen.map((endpoint) => [`${endpoint.id}:${endpoint.port}`, endpoint]));
  if (!isQuic(targetGroupProtocol)) return { kind: "endpoints", endpoints: [...distinct.values()], problems: [], unfit: [] };
  const [fit, without] = partition([...distinct.values()], ({ quicServerId }) => quicServerId !== undefined);
  const unfit = without.map(({ pod }) => ({ pod: pod!, why: noQuicId }));
  const names = unfit.slice(0, 5).map(({ pod }) => pod.metadata.name);
  const more = unfit.length > names.length ? ` and ${unfit.length - names.length} more` : "";
  return { kind: "endpoints", endpoints: fit, problems: unfit.length > 0 ? [`${names.join(", ")}${more}: ${noQuicId}`] : [], unfit };
}

const noQuicId = `no container has a QUIC server id: it is given to pods with annotation ${quicAnnotation} when they are created`;

function partition<T>(items: readonly T[], test: (item: T) => boolean): readonly [readonly T[], readonly T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}

function nodeEndpoints({ type, namespace, name }: Backend, nodePort: number, spec: Spec, around: Surroundings): Resolved {
  if (type !== "NodePort" && type !== "LoadBalancer") {
    const why = `service type must be either 'NodePort' or 'LoadBalancer': ${namespace}/${name} is of type ${type}`;
    return { kind: "invalid", why };
  }
  if (nodePort === 0) return { kind: "invalid", why: `port ${spec.serviceRef.port} of service ${namespace}/${name} has no node port` };
  const unreadable = selectorProblem(spec.nodeSelector);
  if (unreadable !== undefined) return { kind: "invalid", why: `spec.nodeSelector: ${unreadable}` };
  const suitable = around.nodes.filter((node) => isSuitable(node) && matchesSelector(spec.nodeSelector, node.metadata.labels));
  const heard = (status: string) => suitable.filter((node) => conditionOf(node, "Ready")?.status === status);
  const ready = heard("True");
  const chosen = ready.length === 0 && around.failOpen ? heard("Unknown") : ready;
  const problems: string[] = [];
  const endpoints = chosen.flatMap((node): Endpoint[] => {
    const claim = parseProviderId(node.providerId);
    if (claim.kind === "instance")
      return [{ id: claim.instanceId, port: nodePort, createdAt: Date.parse(node.metadata.creationTimestamp) }];
    problems.push(`Node ${node.metadata.name} is not a target: providerID ${JSON.stringify(node.providerId)} names no instance`);
    return [];
  });
  return { kind: "endpoints", endpoints, problems, unfit: [] };
}

const excludingLabels = [
  "node-role.kubernetes.io/master",
  "node.kubernetes.io/exclude-from-external-load-balancers",
  "alpha.service-controller.kubernetes.io/exclude-balancer",
];

/** Whether traffic may go to a node at all, whatever a binding says. */
export function isSuitable({ metadata: { labels }, taints }: SeenNode): boolean {
  return (
    !excludingLabels.some((label) => labels[label] !== undefined) &&
    labels["eks.amazonaws.com/compute-type"] !== "fargate" &&
    !taints.some(
      ({ key, effect }) => key === "ToBeDeletedByClusterAutoscaler" || (key === "karpenter.sh/disrupted" && effect === "NoSchedule"),
    )
  );
}

/** Whether a change of a Node is a reason to look at the instances of a binding. */
export function concernsNodes(before: SeenNode | undefined, after: SeenNode | undefined, spec: Spec): boolean {
  const fits = (node: SeenNode | undefined): node is SeenNode =>
    node !== undefined && isSuitable(node) && matchesSelector(spec.nodeSelector, node.metadata.labels);
  const heard = (node: SeenNode | undefined) => (node && conditionOf(node, "Ready")?.status) ?? "False";
  if (fits(before) && fits(after)) return heard(before) !== heard(after) || before.providerId !== after.providerId;
  if (fits(before)) return heard(before) !== "False";
  return fits(after) && heard(after) !== "False";
}
