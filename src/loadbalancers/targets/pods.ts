/** Pods as targets see them: a cluster has many, so nothing is kept that nobody reads. */
import type { Informer } from "../../kube/informer.ts";
import type { Frozen, Stored } from "../../kube/resource.ts";
import type { Pod } from "../../kube/types.ts";
import { type QuicIds, quicAnnotation, quicIds } from "./quic.ts";

/** A gate of ours, followed by the name of a TargetGroupBinding. */
export const gatePrefix = "target-health.elbv2.k8s.aws/";
/** Those of the first generation: they wake a binding, and are never written. */
export const legacyGatePrefix = "target-health.alb.ingress.k8s.aws/";

export interface PodCondition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

export interface PodState {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly deletionTimestamp?: string;
  };
  readonly ip: string;
  readonly node: string;
  readonly containersReady: boolean;
  /** Ports of its containers that have a name. */
  readonly ports: Readonly<Record<string, number>>;
  /** The interface of its own, where it has one. */
  readonly eni?: string;
  /** How long it has to end after it was asked to. */
  readonly graceSeconds: number;
  /** Server ids of QUIC, where it has any. */
  readonly quic?: QuicIds;
  /** Readiness gates of ours, whole. */
  readonly gates: readonly string[];
  /** Those of its conditions that answer them. */
  readonly conditions: readonly PodCondition[];
}

export type SeenPod = Frozen<PodState>;
/** `ip`: by address. `gate`: by namespace and readiness gate. */
export type Pods = Informer<PodState, "ip" | "gate">;

const noPorts = {};

/** `quicVariable` is the environment variable that a container has its QUIC server id in. */
export function podState({ metadata, spec, status = {} }: Stored<Pod>, quicVariable: string): PodState {
  const { name, namespace = "", uid, resourceVersion, creationTimestamp = "", deletionTimestamp } = metadata;
  const gates = (spec?.readinessGates ?? []).map(({ conditionType }) => conditionType).filter(isOurs);
  const sidecars = (spec?.initContainers ?? []).filter((container) => container.restartPolicy === "Always");
  const ports = [...(spec?.containers ?? []), ...sidecars].flatMap((container) => container.ports ?? []);
  const named = ports.filter((port) => port.name);
  const own = ownInterface(metadata.annotations?.[podEniAnnotation], status.podIP ?? "");
  const quic = metadata.annotations?.[quicAnnotation] === undefined ? undefined : quicIds(spec?.containers ?? [], quicVariable);
  return {
    metadata: { name, namespace, uid, resourceVersion, creationTimestamp, ...(deletionTimestamp && { deletionTimestamp }) },
    ip: status.podIP ?? "",
    node: spec?.nodeName ?? "",
    containersReady: (status.conditions ?? []).some((each) => each.type === "ContainersReady" && each.status === "True"),
    ...(own && { eni: own }),
    ...(quic && { quic }),
    graceSeconds: spec?.terminationGracePeriodSeconds ?? 30,
    ports: named.length === 0 ? noPorts : Object.fromEntries(named.map((port) => [port.name, port.containerPort])),
    gates,
    conditions: (status.conditions ?? [])
      .filter(({ type }) => gates.includes(type))
      .map(({ type, status: is, reason = "", message = "", lastTransitionTime }) => ({
        type,
        status: is,
        reason,
        message,
        lastTransitionTime: String(lastTransitionTime ?? ""),
      })),
  };
}

/** Set by the VPC's own network plugin on pods with security groups of their own. */
const podEniAnnotation = "vpc.amazonaws.com/pod-eni";

/** Text of others: what cannot be read names no interface. */
function ownInterface(annotation: string | undefined, ip: string): string | undefined {
  if (annotation === undefined) return undefined;
  try {
    const interfaces: unknown = JSON.parse(annotation);
    const list = Array.isArray(interfaces) ? (interfaces as { eniId?: unknown; privateIp?: unknown; ipv6Addr?: unknown }[]) : [];
    const id = list.find((each) => each?.privateIp === ip || each?.ipv6Addr === ip)?.eniId;
    return typeof id === "string" ? id : undefined;
  } catch {
    return undefined;
  }
}

const isOurs = (type: string) => type.startsWith(gatePrefix) || type.startsWith(legacyGatePrefix);

/** Names are those of DNS labels; whatever else stands there names no binding. */
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

/** The bindings that a pod's gates name, as `namespace/name`. */
export function bindingsOf({ metadata, gates }: SeenPod): readonly string[] {
  const names = gates.map((gate) => gate.slice(gate.indexOf("/") + 1)).filter((name) => namePattern.test(name));
  return [...new Set(names)].map((name) => `${metadata.namespace}/${name}`);
}

/** Whether two states differ in anything that is read. */
export function samePod(a: SeenPod, b: SeenPod): boolean {
  const text = (pod: SeenPod) => JSON.stringify({ ...pod, metadata: { ...pod.metadata, resourceVersion: "" } });
  return text(a) === text(b);
}
