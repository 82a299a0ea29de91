/** Which Nodes stand behind a Service's load balancer. */
import type { SeenNode } from "../../identity/node-view.ts";
import { parseProviderId } from "../../identity/provider-id.ts";
import { excludeLabel } from "../targets.ts";
import { parseGoBool } from "../values.ts";

const leavingTaint = "ToBeDeletedByClusterAutoscaler";

/** Whether load balancers may send traffic to the Node. Readiness and cordons do not matter: health checks tell. */
export function isEligible({ metadata, taints }: SeenNode): boolean {
  const excluded = metadata.labels[excludeLabel];
  return (
    metadata.deletionTimestamp === undefined &&
    // Any text but a plain no excludes the Node, also an empty one.
    (excluded === undefined || parseGoBool(excluded) === false) &&
    !taints.some(({ key }) => key === leavingTaint)
  );
}

/** Whether the Node carries every label; an empty value asks for the key alone. */
export function hasLabels({ metadata }: SeenNode, wanted: Readonly<Record<string, string>>): boolean {
  return Object.entries(wanted).every(([key, value]) => {
    const is = metadata.labels[key];
    return is !== undefined && (value === "" || is === value);
  });
}

/** The instance a Node says it runs on, by its provider ID alone. */
export function targetOf(node: SeenNode): string | undefined {
  const id = parseProviderId(node.providerId);
  return id.kind === "instance" ? id.instanceId : undefined;
}

/** Whether a change of a Node may change what stands behind some load balancer. */
export function concernsTargets(before: SeenNode | undefined, after: SeenNode | undefined): boolean {
  if (before === undefined || after === undefined) return true;
  return (
    isEligible(before) !== isEligible(after) ||
    before.providerId !== after.providerId ||
    JSON.stringify(before.metadata.labels) !== JSON.stringify(after.metadata.labels)
  );
}
