/** Readiness gates: what a pod is told about its target, and when it is looked at again. Pure but for the one write. */
import { pods } from "../../kube/builtin.ts";
import type { KubeClient } from "../../kube/client.ts";
import { isApiError } from "../../kube/errors.ts";
import type { Endpoint } from "./endpoints.ts";
import type { SeenTarget } from "./group-targets.ts";
import { gatePrefix, type PodCondition, type SeenPod } from "./pods.ts";

/** What a gate's condition says. */
export interface GateVerdict {
  readonly status: "True" | "False" | "Unknown";
  readonly reason: string;
  readonly message: string;
}

export const gateOf = (binding: string) => `${gatePrefix}${binding}`;

export const gateAnswer = ({ conditions }: SeenPod, gate: string): PodCondition | undefined => conditions.find(({ type }) => type === gate);

/** Registered in this very pass, or asked about and not known yet. */
const registering: GateVerdict = {
  status: "False",
  reason: "Elb.RegistrationInProgress",
  message: "Target registration is in progress",
};

export const bindingDeleted: GateVerdict = { status: "True", reason: "", message: "Target Group Binding is deleted" };

/** What a pod is told of its target; undefined of one that was registered a moment ago. */
export function verdictOf(target: SeenTarget | undefined): GateVerdict {
  if (target === undefined) return registering;
  const { state, reason, description: message } = target;
  if (state === "") return { status: "Unknown", reason: "", message: "" };
  return { status: state === "healthy" ? "True" : "False", reason, message };
}

/** One pod of a binding that has its gate, and what it is to be told. */
export interface GatedPod {
  readonly pod: SeenPod;
  readonly verdict: GateVerdict;
}

/** The pods with a gate of this binding, among endpoints and their targets. */
export function gatedPods(gate: string, pairs: readonly (readonly [Endpoint, SeenTarget | undefined])[]): readonly GatedPod[] {
  return pairs.flatMap(([{ pod }, target]) => (pod?.gates.includes(gate) ? [{ pod, verdict: verdictOf(target) }] : []));
}

/** Whether something is still to be told to one of them that only AWS knows. A pod that was never told is told first. */
export function awaitsHealth(gate: string, endpoints: readonly Endpoint[]): boolean {
  return endpoints.some(({ pod }) => pod?.gates.includes(gate) && gateAnswer(pod, gate)?.status !== "True");
}

/** Writes the condition, unless it says so already. */
export async function tellPod(
  kube: KubeClient,
  gate: string,
  { pod, verdict }: GatedPod,
  now: string,
  signal: AbortSignal,
): Promise<boolean> {
  const present = gateAnswer(pod, gate);
  if (present?.status === verdict.status && present.reason === verdict.reason && present.message === verdict.message) return false;
  const lastTransitionTime = present?.status === verdict.status ? present.lastTransitionTime : now;
  const { namespace, name, uid } = pod.metadata;
  const conditions = [{ type: gate, ...verdict, lastTransitionTime }];
  try {
    await kube.patch(pods, { namespace, name, subresource: "status" }, { strategic: { status: { conditions } }, uid }, { signal });
    return true;
  } catch (error) {
    signal.throwIfAborted();
    if (isApiError(error, "not-found")) return false;
    throw error;
  }
}

/**
 * How soon targets that are not healthy yet are checked again. An application load balancer takes one after two checks,
 * a network load balancer takes minutes; and whoever has waited long waits a little longer.
 */
export function pollMs(protocol: string | undefined, waitedMs: number): number {
  const firstMs = protocol === "HTTP" || protocol === "HTTPS" ? 3_000 : 10_000;
  return Math.min(Math.max(firstMs, waitedMs / 8), 30_000);
}
