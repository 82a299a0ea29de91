/** Tells the truth about a node's network where users look: its NetworkUnavailable condition, and Events. */

import type { EventRecorder } from "../identity/event-reasons.ts";
import { conditionOf, type SeenNode } from "../identity/node-view.ts";
import { patchNodeStatus } from "../identity/node-writes.ts";
import { nodes } from "../kube/builtin.ts";
import type { KubeClient } from "../kube/client.ts";
import type { ObjectRef } from "../kube/event-correlator.ts";
import { objectRef } from "../kube/event-recorder.ts";
import type { Clock } from "../runtime/world.ts";

export const networkUnavailable = "NetworkUnavailable";

/** What the condition says, in the words that users of the reference know. */
const words = {
  routed: { status: "False", reason: "RouteCreated", message: "RouteController created a route" },
  unrouted: { status: "True", reason: "NoRouteCreated", message: "RouteController failed to create a route" },
} as const;

/** What a Node can say of its routes. */
type Claim = keyof typeof words;

/** Whether the Node says so already. A message alone is no reason to write. */
export function saysSo(node: SeenNode, status: Claim): boolean {
  const condition = conditionOf(node, networkUnavailable);
  return condition?.status === words[status].status && condition.reason === words[status].reason;
}

/** Writes the condition. A Node that went meanwhile needs none, and one that came under its name has routes of its own. */
export async function writeRouteStatus(kube: KubeClient, clock: Clock, node: SeenNode, status: Claim, signal: AbortSignal): Promise<void> {
  const now = new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
  const condition = { type: networkUnavailable, ...words[status], lastHeartbeatTime: now, lastTransitionTime: now };
  await patchNodeStatus(kube, node, { conditions: [condition] }, signal);
}

/** What happened to a route, and what counts as the same happening again. */
export interface RouteFailure {
  readonly destination: string;
  readonly cause: string;
  readonly same: string;
}

/** Says on the Node why a route of it could not be made. */
export function recordFailure(recorder: EventRecorder, node: SeenNode, { destination, cause, same }: RouteFailure): void {
  const { name, uid } = node.metadata;
  recorder.record(
    objectRef(nodes, node),
    "Warning",
    "FailedToCreateRoute",
    `Could not create route ${uid} ${destination} for node ${name}: ${cause}`,
    `${destination} ${same}`,
  );
}

/** Says why a route that no Node wants is still there, on whoever is concerned. */
export function recordLeftover(recorder: EventRecorder, about: ObjectRef, { destination, cause, same }: RouteFailure): void {
  recorder.record(
    about,
    "Warning",
    "FailedToDeleteRoute",
    `Could not delete route ${destination}, which no node has as its pod CIDR: ${cause}`,
    `${destination} ${same}`,
  );
}

/** Says why the route tables cannot be read, on whoever is concerned. */
export function recordBlindness(recorder: EventRecorder, about: ObjectRef, cause: string, same: string): void {
  recorder.record(about, "Warning", "FailedToListRoutes", `Could not read the cluster's route tables: ${cause}`, same);
}
