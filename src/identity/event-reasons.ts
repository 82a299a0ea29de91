/** The reasons of Events: a closed list, so that none can be recorded which the reference page does not explain. */
import type { EventRecorder as AnyEventRecorder } from "../kube/event-recorder.ts";

/** Every reason an Event of this program may have. `commands/docs-events.ts` says of each what it means and what to do. */
export const eventReasons = [
  "Synced",
  "FailedToInitializeNode",
  "InstanceNotFound",
  "InstanceNotDescribed",
  "InvalidProviderID",
  "ForeignProviderID",
  "InstanceOfOtherVPC",
  "InstanceClaimedTwice",
  "InstanceWithoutZone",
  "NoMatchingInstance",
  "SeveralMatchingInstances",
  "InterfaceNotFound",
  "FailedToLabelNode",
  "FailedToCheckInstance",
  "FailedToTagInstance",
  "FailedToUntagInstance",
  "DeletingNode",
  "DeletingNodeFailed",
  "FailedToCreateRoute",
  "FailedToDeleteRoute",
  "FailedToListRoutes",
  "RouteTableAlmostFull",
  "EnsuringLoadBalancer",
  "EnsuredLoadBalancer",
  "UpdatedLoadBalancer",
  "UnAvailableLoadBalancer",
  "DeletingLoadBalancer",
  "DeletedLoadBalancer",
  "SyncLoadBalancerFailed",
  "UpdateLoadBalancerFailed",
  "DeleteLoadBalancerFailed",
  "LoadBalancerWarning",
  "LoadBalancerRemovalWaits",
  "LoadBalancerReplacement",
  "LoadBalancerPlan",
  "SuccessfullyReconciled",
  "BackendNotFound",
  "FailedReconcile",
  "FailedCleanup",
  "FailedNetworkReconcile",
  "TargetGroupBindingInvalid",
  "TargetsLeftOut",
  "LeaderElection",
] as const;

export type EventReason = (typeof eventReasons)[number];

/** What the domains record Events with. */
export type EventRecorder = AnyEventRecorder<EventReason>;
