/** Changes of a Node beside its plan: cordon, taints and labels. Pure. */
import type { Taint } from "../kube/types.ts";
import { eventKinds } from "./event.ts";
import type { PlannedEvent } from "./plan.ts";
import type { InterruptionSettings } from "./settings.ts";

/** Labels of the reference. */
export const labels = {
  eventId: "aws-node-termination-handler/event-id",
  action: "aws-node-termination-handler/action",
  actionTime: "aws-node-termination-handler/action-time",
  excludeFromLoadBalancers: "node.kubernetes.io/exclude-from-external-load-balancers",
} as const;

/** The value by which its own label is known among others'. */
export const ownLabelValue = "aws-node-termination-handler";
export const uncordonAfterReboot = "UncordonAfterReboot";
export const outOfServiceTaint: Taint = { key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" };

const ownTaints: ReadonlySet<string> = new Set([...Object.values(eventKinds).flatMap(({ taint }) => taint ?? []), outOfServiceTaint.key]);

/** As much of a Node as its change depends on. */
export interface NodeFacts {
  readonly unschedulable: boolean;
  readonly taints: readonly Taint[];
  readonly labels: Readonly<Record<string, string>>;
}

/** What of a Node is written; what is absent stays as it is. A label of null is removed. */
export interface NodeChange {
  readonly unschedulable?: boolean;
  readonly taints?: readonly Taint[];
  readonly labels?: Readonly<Record<string, string | null>>;
}

/** A Node that is going to be interrupted. */
export function cordonChange(node: NodeFacts, events: readonly PlannedEvent[], settings: InterruptionSettings, now: number): NodeChange {
  const taints = settings.taintEffect === undefined ? [] : events.flatMap((event) => taintFor(event, settings.taintEffect!));
  const added = firstOfEachKey(taints).filter(({ key }) => !node.taints.some((taint) => taint.key === key));
  const drains = events.some(({ policy }) => policy === "drain");
  const excluded = settings.excludeFromLoadBalancers && drains && node.labels[labels.excludeFromLoadBalancers] === undefined;
  const restart = settings.restartLabels ? events.find(({ restarts }) => restarts) : undefined;
  const changed = {
    ...(excluded && { [labels.excludeFromLoadBalancers]: ownLabelValue }),
    ...(restart && { [labels.eventId]: restart.id }),
    // A Node that somebody had cordoned before stays so after the restart.
    ...(restart && !node.unschedulable && { [labels.action]: uncordonAfterReboot, [labels.actionTime]: String(Math.floor(now / 1000)) }),
  };
  return {
    ...(!node.unschedulable && { unschedulable: true }),
    ...(added.length > 0 && { taints: [...node.taints, ...added] }),
    ...(Object.keys(changed).length > 0 && { labels: changed }),
  };
}

/** A Node whose interruption is over. What others have put on it stays. */
export function uncordonChange(node: NodeFacts): NodeChange {
  const kept = node.taints.filter(({ key }) => !ownTaints.has(key));
  const removed = [
    ...[labels.eventId, labels.action, labels.actionTime].filter((key) => node.labels[key] !== undefined),
    ...(node.labels[labels.excludeFromLoadBalancers] === ownLabelValue ? [labels.excludeFromLoadBalancers] : []),
  ];
  return {
    ...(node.unschedulable && { unschedulable: false }),
    ...(kept.length < node.taints.length && { taints: kept }),
    ...(removed.length > 0 && { labels: Object.fromEntries(removed.map((key) => [key, null])) }),
  };
}

/** Marks a Node whose pods will not come back: their volumes can be detached. */
export function outOfServiceChange(node: NodeFacts): NodeChange {
  return node.taints.some(({ key }) => key === outOfServiceTaint.key) ? {} : { taints: [...node.taints, outOfServiceTaint] };
}

/** The Node after a change. */
export function changedNode<N extends NodeFacts>(node: N, change: NodeChange): N {
  const kept = Object.entries({ ...node.labels, ...change.labels }).filter((entry): entry is [string, string] => entry[1] !== null);
  return {
    ...node,
    unschedulable: change.unschedulable ?? node.unschedulable,
    taints: change.taints ?? node.taints,
    labels: Object.fromEntries(kept),
  };
}

function taintFor({ kind, id, restarts }: PlannedEvent, effect: string): readonly Taint[] {
  const { taint } = eventKinds[kind];
  // Maintenance without a restart is not marked by the reference either, where it knows the difference.
  if (taint === undefined || (kind === "maintenance" && id.startsWith("instance-event-") && !restarts)) return [];
  return [{ key: taint, value: id.slice(0, 63), effect }];
}

function firstOfEachKey(taints: readonly Taint[]): readonly Taint[] {
  return [...new Map(taints.toReversed().map((taint) => [taint.key, taint])).values()].toReversed();
}
