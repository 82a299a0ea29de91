/** Which readiness gates a pod is given when it is created. Pure. */
import type { JsonPatchOperation } from "../../kube/patch.ts";
import { record } from "../admission/review.ts";
import type { ServiceView } from "../service-state.ts";
import type { SeenBinding } from "./binding.ts";
import { gateOf } from "./gates.ts";
import { legacyGatePrefix } from "./pods.ts";

/** The bindings of the pod's namespace, and their Services. */
export interface GateSurroundings {
  readonly bindings: readonly SeenBinding[];
  service(name: string): Pick<ServiceView, "selector"> | undefined;
}

/** The change that gives a pod its gates; empty where it has them, or needs none. */
export function gateInjection(pod: unknown, around: GateSurroundings): readonly JsonPatchOperation[] {
  const { metadata, spec } = record(pod);
  const labels = record(record(metadata).labels);
  const wanted = around.bindings.filter((binding) => registersPods(binding, labels, around)).map(({ metadata: { name } }) => gateOf(name));
  const present = gatesIn(spec);
  const missing = wanted.filter((gate) => !present.includes(gate));
  const kept = wanted.length > 0 ? present.filter((gate) => !gate.startsWith(legacyGatePrefix)) : present;
  if (missing.length === 0 && kept.length === present.length) return [];
  const value = [...kept, ...missing].map((conditionType) => ({ conditionType }));
  return [{ op: "add", path: "/spec/readinessGates", value }];
}

/** One that is being deleted answers no gate any more. */
function registersPods({ metadata, spec }: SeenBinding, labels: Readonly<Record<string, unknown>>, around: GateSurroundings): boolean {
  if (spec.targetType !== "ip" || metadata.deletionTimestamp !== undefined) return false;
  const selector = Object.entries(around.service(spec.serviceRef.name)?.selector ?? {});
  return selector.length > 0 && selector.every(([key, value]) => labels[key] === value);
}

function gatesIn(spec: unknown): readonly string[] {
  const { readinessGates } = record(spec);
  return Array.isArray(readinessGates) ? readinessGates.map((gate) => String(record(gate).conditionType ?? "")) : [];
}
