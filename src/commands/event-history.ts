/** Events about an object, and which of them still say something: a Warning outlives its reason by an hour. */
import type { EventReason } from "../identity/event-reasons.ts";
import type { Frozen } from "../kube/resource.ts";
import type { Event } from "../kube/types.ts";

/** A Warning, and whether what it says still holds. */
export interface PastWarning {
  readonly text: string;
  readonly atMs: number;
  readonly holds: boolean;
}

/** What a success of each kind proves gone. Plans and previews find what others warn of by themselves. */
const disprovedBy: { readonly [reason in EventReason]?: readonly EventReason[] } = {
  SyncLoadBalancerFailed: ["EnsuredLoadBalancer", "DeletedLoadBalancer"],
  UpdateLoadBalancerFailed: ["UpdatedLoadBalancer", "EnsuredLoadBalancer", "DeletedLoadBalancer"],
  DeleteLoadBalancerFailed: ["DeletedLoadBalancer", "EnsuredLoadBalancer"],
  LoadBalancerRemovalWaits: ["DeletedLoadBalancer", "EnsuredLoadBalancer"],
};

/**
 * The Warnings, the latest first. One holds while it is the latest of its reason, since every attempt says anew what is wrong,
 * and while nothing of the same work has succeeded after it.
 */
export function warningsIn(events: readonly Frozen<Event>[]): readonly PastWarning[] {
  const seen = events.map((event) => ({ ...event, atMs: timeOf(event) })).sort((a, b) => b.atMs - a.atMs);
  return seen.flatMap(({ type, reason = "", message = "", atMs }, index) => {
    if (type !== "Warning") return [];
    const successes: readonly string[] | undefined = disprovedBy[reason as EventReason];
    const later = seen.slice(0, index).some((other) => other.type === "Warning" && other.reason === reason);
    const disproved = seen.some((other) => successes?.includes(other.reason ?? "") && other.atMs >= atMs);
    return [{ text: `${reason}: ${message}`, atMs, holds: successes !== undefined && !later && !disproved }];
  });
}

function timeOf({ lastTimestamp, eventTime, metadata }: Frozen<Event>): number {
  return Date.parse(lastTimestamp ?? eventTime ?? metadata?.creationTimestamp ?? "") || 0;
}
