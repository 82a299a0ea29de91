/** What a Service's load balancer was when all of it was as wanted. Pure. */
import { checkpointDigest } from "../checkpoints.ts";
import { boundNetwork } from "../network/bound-kind.ts";
import type { SeenNetwork } from "../network/plan.ts";
import type { ServiceDesire } from "./desire.ts";

/** A digest of everything that a glance does not see: what it is to be or, with what was made, what it has come to. */
export function checkpointOf({ model }: Pick<ServiceDesire, "model">, seen: SeenNetwork, made?: ReadonlyMap<string, string>): string {
  const { attributes, capacity, tags } = model;
  // In which order a Service names its ports makes no difference.
  const listeners = model.listeners.toSorted((a, b) => a.port - b.port);
  const { targetGroups } = boundNetwork.afterParts(model, seen, made ?? new Map());
  const arn = seen.loadBalancer?.arn ?? made?.get(`load balancer ${model.name}`);
  const groups = model.targetGroups.map((group, i) => [group.name, targetGroups[i]?.arn, group.attributes] as const);
  return checkpointDigest([arn, listeners, tags, attributes, capacity, groups.toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}
