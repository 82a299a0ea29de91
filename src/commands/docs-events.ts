/** The page of Events: every reason, what it means, and what to do. */
import type { EventReason } from "../identity/event-reasons.ts";

export interface EventRow {
  readonly reason: EventReason;
  readonly type: "Normal" | "Warning";
  readonly on:
    | "Node"
    | "Service"
    | "TargetGroupBinding"
    | "Lease"
    | "Node, Lease"
    | "Pod"
    | "Ingress"
    | "Ingress, Service"
    | "Ingress, TargetGroupBinding"
    | "PersistentVolumeClaim"
    | "PersistentVolume"
    | "VolumeSnapshotContent"
    | "Secret, ConfigMap, Lease"
    | "any"
    | "AWSInstanceClass";
  readonly means: string;
  readonly todo: string;
}

const nothing = "Nothing.";
const claims = "Correct kubelet's `--provider-id`, or delete the Node whose machine is gone.";

/** Every Event of Fairlead. */
export const eventTable: readonly EventRow[] = [
  { reason: "Synced", type: "Normal", on: "Node", means: "The Node is initialised.", todo: nothing },
  {
    reason: "FailedToInitializeNode",
    type: "Warning",
    on: "Node",
    means: "AWS or the API server refused a step of the initialisation; it is retried.",
    todo: "Read the message: it names the call, the error and the permission that is missing, if one is.",
  },
  {
    reason: "InstanceNotFound",
    type: "Warning",
    on: "Node",
    means: "EC2 does not know the instance of the Node. The Node is deleted only once that is proven.",
    todo: "If the instance exists, look at region, account and credentials: `fairlead doctor`.",
  },
  {
    reason: "InstanceNotDescribed",
    type: "Warning",
    on: "Node",
    means: "EC2 answered without saying anything about the instance. It proves nothing.",
    todo: "Nothing; if it stays, ask AWS with the request ids of the log.",
  },
  { reason: "InvalidProviderID", type: "Warning", on: "Node", means: "The provider ID cannot be read.", todo: claims },
  {
    reason: "ForeignProviderID",
    type: "Warning",
    on: "Node",
    means: "The Node is a machine of another cloud. It is left alone.",
    todo: nothing,
  },
  { reason: "InstanceOfOtherVPC", type: "Warning", on: "Node", means: "The instance is in another VPC than the cluster.", todo: claims },
  { reason: "InstanceClaimedTwice", type: "Warning", on: "Node", means: "Two Nodes say they run on the same instance.", todo: claims },
  {
    reason: "InstanceWithoutZone",
    type: "Warning",
    on: "Node",
    means: "EC2 describes the instance without an availability zone.",
    todo: "Nothing; if it stays, ask AWS with the request ids of the log.",
  },
  {
    reason: "NoMatchingInstance",
    type: "Warning",
    on: "Node",
    means: "No instance of the cluster has the name or the address of the Node.",
    todo: "Tag the instance with `kubernetes.io/cluster/<cluster id>`, or set kubelet's `--provider-id`.",
  },
  {
    reason: "SeveralMatchingInstances",
    type: "Warning",
    on: "Node",
    means: "More than one instance has the name or the address of the Node; none is chosen.",
    todo: "Set kubelet's `--provider-id`.",
  },
  {
    reason: "InterfaceNotFound",
    type: "Warning",
    on: "Node",
    means: "No network interface of the VPC has the address of the Fargate node.",
    todo: "Set `VPC` in the cloud config, and allow `ec2:DescribeNetworkInterfaces`.",
  },
  {
    reason: "FailedToLabelNode",
    type: "Warning",
    on: "Node",
    means:
      "A call that is needed for labels only is not allowed. The Node is initialised and serves; its labels of zone id or network topology are missing.",
    todo: "Allow the action that the message names, or do without. A missing network topology is reported on one Node for all, every few minutes.",
  },
  {
    reason: "FailedToCheckInstance",
    type: "Warning",
    on: "Node",
    means:
      "The Node is not ready, and Fairlead may not ask EC2 whether its instance still exists. The Node is kept. It is reported on a few Nodes for all.",
    todo: "Allow the action that the message names.",
  },
  {
    reason: "FailedToTagInstance",
    type: "Warning",
    on: "Node",
    means: "The tags of `--tags` cannot be written to the instance; they are retried a few times, and when the Node changes.",
    todo: "Read the message: it names the error, and the permission that is missing, if one is.",
  },
  {
    reason: "FailedToUntagInstance",
    type: "Warning",
    on: "Node",
    means:
      "The Node is gone, and its instance still carries the tags of `--tags`. `kubectl get events` shows it: there is no Node left to describe.",
    todo: "Read the message, or remove the tags: `aws ec2 delete-tags`.",
  },
  { reason: "DeletingNode", type: "Normal", on: "Node", means: "The instance is proven gone; the Node goes too.", todo: nothing },
  {
    reason: "DeletingNodeFailed",
    type: "Warning",
    on: "Node",
    means: "The API server refused the deletion; it is retried.",
    todo: "Look at the roles: `fairlead doctor`.",
  },
  {
    reason: "FailedToCreateRoute",
    type: "Warning",
    on: "Node",
    means: "AWS refused the route of the Node's pod CIDR; it is retried.",
    todo: "Read the message. A full table: ask AWS for more routes per table.",
  },
  {
    reason: "FailedToDeleteRoute",
    type: "Warning",
    on: "Node, Lease",
    means: "A pod route that no Node needs is still there; it is retried. On the Node whose machine it leads to, else on the Lease.",
    todo: "Read the message: it names the error, and the permission that is missing, if one is.",
  },
  {
    reason: "FailedToListRoutes",
    type: "Warning",
    on: "Node, Lease",
    means: "The route tables cannot be read, or none is the cluster's. On the Nodes that wait for a route, else on the Lease.",
    todo: "Read the message: allow the action it names, tag a route table, or set `RouteTableID` in the cloud config.",
  },
  {
    reason: "RouteTableAlmostFull",
    type: "Warning",
    on: "Node",
    means: "The route table is nearly full.",
    todo: "Ask AWS for more routes per table before the next Nodes join.",
  },
  { reason: "EnsuringLoadBalancer", type: "Normal", on: "Service", means: "The load balancer is being made or changed.", todo: nothing },
  { reason: "EnsuredLoadBalancer", type: "Normal", on: "Service", means: "It is as the Service wants it.", todo: nothing },
  { reason: "UpdatedLoadBalancer", type: "Normal", on: "Service", means: "Its nodes have changed.", todo: nothing },
  {
    reason: "UnAvailableLoadBalancer",
    type: "Warning",
    on: "Service",
    means: "No Node may receive traffic.",
    todo: "Look at the Nodes: ready, not excluded by label, matching `target-node-labels`.",
  },
  { reason: "DeletingLoadBalancer", type: "Normal", on: "Service", means: "The load balancer is being removed.", todo: nothing },
  { reason: "DeletedLoadBalancer", type: "Normal", on: "Service", means: "Everything of it is confirmed gone.", todo: nothing },
  {
    reason: "SyncLoadBalancerFailed",
    type: "Warning",
    on: "Service",
    means: "Something is wrong with the Service, or AWS refused a step; it is retried.",
    todo: "Read the message: it names the annotation, or the call, the error and the missing permission.",
  },
  {
    reason: "UpdateLoadBalancerFailed",
    type: "Warning",
    on: "Service",
    means: "The nodes of the load balancer could not be changed; it is retried.",
    todo: "Read the message.",
  },
  {
    reason: "DeleteLoadBalancerFailed",
    type: "Warning",
    on: "Service",
    means: "Something of it is still there; the Service stays until it is gone.",
    todo: "Read the message. Do not remove the finalizer by hand: what is left would be billed and forgotten.",
  },
  {
    reason: "LoadBalancerWarning",
    type: "Warning",
    on: "Ingress, Service",
    means: "It works, but not everything the Service says can be done.",
    todo: "Read the message, and correct the annotation it names.",
  },
  {
    reason: "LoadBalancerRemovalWaits",
    type: "Normal",
    on: "Service",
    means: "The load balancer is still there after 30 seconds of removal; the condition `LoadBalancerRemoved` says the same.",
    todo: "Read the message: it names what is left, since when, and how to find what keeps it. The removal goes on by itself.",
  },
  {
    reason: "LoadBalancerReplacement",
    type: "Normal",
    on: "Service",
    means: "A load balancer of another kind or scheme takes the old one's place.",
    todo: "Point DNS names at the new address before the old one is gone.",
  },
  {
    reason: "LoadBalancerPlan",
    type: "Normal",
    on: "Service",
    means: "What would be done, in a dry run.",
    todo: nothing,
  },
  {
    reason: "SuccessfullyReconciled",
    type: "Normal",
    on: "Ingress, TargetGroupBinding",
    means:
      "All endpoints are registered, or the load balancer is as the Ingress asks. Recorded when something was changed, not at every check.",
    todo: nothing,
  },
  {
    reason: "BackendNotFound",
    type: "Warning",
    on: "TargetGroupBinding",
    means: "There is no such Service, or it has no such port: nothing is registered.",
    todo: "Correct `spec.serviceRef`, or create the Service.",
  },
  {
    reason: "TargetGroupBindingInvalid",
    type: "Warning",
    on: "TargetGroupBinding",
    means: "The binding contradicts itself or its target group, the group does not exist, or it is another binding's. Nothing is touched.",
    todo: "Read the message, which the condition `Ready` has too, and correct the field it names.",
  },
  {
    reason: "DeregistrationDelayTooLong",
    type: "Warning",
    on: "TargetGroupBinding",
    means: "The target group drains longer than its pods have to end: connections are cut.",
    todo: "Set `deregistration_delay.timeout_seconds` of the target group to the time that the pods keep serving after they were asked to end.",
  },
  {
    reason: "TargetsLeftOut",
    type: "Warning",
    on: "TargetGroupBinding",
    means: "Some endpoints are not registered; all others are.",
    todo: "Read the message: it names the nodes or addresses, and what AWS says of them.",
  },
  {
    reason: "FailedReconcile",
    type: "Warning",
    on: "TargetGroupBinding",
    means: "Targets could not be registered or deregistered; it is retried.",
    todo: "Read the message: it names the call, the error and the missing permission.",
  },
  {
    reason: "FailedNetworkReconcile",
    type: "Warning",
    on: "TargetGroupBinding",
    means: "The rules of security groups that `spec.networking` asks for are not there.",
    todo: "Read the message.",
  },
  {
    reason: "FailedCleanup",
    type: "Warning",
    on: "TargetGroupBinding",
    means: "Targets could not be deregistered; the binding stays until they are.",
    todo: "Read the message. Do not remove the finalizer by hand: targets would stay behind.",
  },
  {
    reason: "FailedLoadGroupID",
    type: "Warning",
    on: "Ingress",
    means: "Its class or the name of its group cannot be used. What it has stays, and it gets nothing new.",
    todo: "Read the message: create the IngressClass or its parameters, or correct the name of the group.",
  },
  {
    reason: "FailedAddFinalizer",
    type: "Warning",
    on: "Ingress, Service",
    means: "The finalizer that guards its load balancer could not be written; nothing is created before it is.",
    todo: "Read the message; it is retried.",
  },
  {
    reason: "FailedBuildModel",
    type: "Warning",
    on: "Ingress, Service",
    means:
      "What it asks for cannot be understood, or contradicts another Ingress of its group. Its last rules stay; the others of the group are served.",
    todo: "Read the message, which names the annotation, the value and what is allowed.",
  },
  {
    reason: "FailedDeployModel",
    type: "Warning",
    on: "Ingress, Service",
    means: "AWS refused a step. What was done before it stays, and the rest is retried.",
    todo: "Read the message.",
  },
  {
    reason: "FailedUpdateStatus",
    type: "Warning",
    on: "Ingress, Service",
    means: "The address of the load balancer could not be written to the status, or a note not to the annotations.",
    todo: "Read the message; it is retried.",
  },
  {
    reason: "FailedCleanupStatus",
    type: "Warning",
    on: "Service",
    means: "The address of a load balancer that goes could not be taken back from the status.",
    todo: "Read the message; it is retried.",
  },
  {
    reason: "FailedRemoveFinalizer",
    type: "Warning",
    on: "Ingress, Service",
    means: "Everything is gone, and the finalizer could not be removed.",
    todo: "Read the message; it is retried.",
  },
  { reason: "LeaderElection", type: "Normal", on: "Lease", means: "A replica became the leader, or stopped being it.", todo: nothing },
  {
    reason: "SpotInterruption",
    type: "Normal",
    on: "Node",
    means: "AWS takes back the spot instance of the Node within two minutes.",
    todo: nothing,
  },
  {
    reason: "CapacityInterruption",
    type: "Normal",
    on: "Node",
    means: "The capacity that the instance runs on is taken back, or its capacity block ends.",
    todo: nothing,
  },
  {
    reason: "RebalanceRecommendation",
    type: "Normal",
    on: "Node",
    means: "The spot instance of the Node is at a higher risk of interruption.",
    todo: nothing,
  },
  { reason: "ScheduledEvent", type: "Normal", on: "Node", means: "AWS has scheduled maintenance of the instance.", todo: nothing },
  { reason: "StateChange", type: "Normal", on: "Node", means: "The instance stops or terminates.", todo: nothing },
  { reason: "ASGLifecycle", type: "Normal", on: "Node", means: "Auto Scaling is about to terminate the instance.", todo: nothing },
  {
    reason: "UnknownInterruption",
    type: "Normal",
    on: "Node",
    means: "Auto Scaling has launched the instance, and holds it until its Node is ready.",
    todo: nothing,
  },
  {
    reason: "MonitorError",
    type: "Warning",
    on: "Node",
    means: "The metadata service cannot be asked, or its answer cannot be read. It is asked again.",
    todo: "Read the log of the handler on that node.",
  },
  {
    reason: "PreDrain",
    type: "Normal",
    on: "Node",
    means: "The Node is cordoned and marked, and its plan is written on it.",
    todo: nothing,
  },
  {
    reason: "PreDrainError",
    type: "Warning",
    on: "Node",
    means: "Labels or taints of the Node were refused; it is cordoned and drained without them.",
    todo: "Read the message: it names who refused them.",
  },
  {
    reason: "PodEviction",
    type: "Normal",
    on: "Pod",
    means: "The node of the pod is being drained. Said of every pod on it, as the reference does, also of those that stay.",
    todo: nothing,
  },
  { reason: "Cordon", type: "Normal", on: "Node", means: "The Node was cordoned, which is all that its policy asks for.", todo: nothing },
  { reason: "CordonAndDrain", type: "Normal", on: "Node", means: "The Node is drained.", todo: nothing },
  {
    reason: "CordonAndDrainError",
    type: "Warning",
    on: "Node",
    means: "The Node was not drained in time; the message names the pods that are left and what kept them.",
    todo: "Look at their disruption budgets and grace periods, or allow `--override-budgets-before-deadline-seconds`.",
  },
  {
    reason: "PostDrain",
    type: "Normal",
    on: "Node",
    means: "Everything that follows a drain is done: hooks are completed.",
    todo: nothing,
  },
  {
    reason: "PostDrainError",
    type: "Warning",
    on: "Node",
    means: "A lifecycle hook was abandoned or could not be completed yet, or labels or taints were refused; the message says why.",
    todo: "As for CordonAndDrainError.",
  },
  { reason: "Uncordon", type: "Normal", on: "Node", means: "The interruption is over and the Node serves again.", todo: nothing },
  { reason: "Provisioning", type: "Normal", on: "PersistentVolumeClaim", means: "The volume of the claim is being made.", todo: nothing },
  { reason: "ProvisioningSucceeded", type: "Normal", on: "PersistentVolumeClaim", means: "The volume is there.", todo: nothing },
  {
    reason: "ProvisioningFailed",
    type: "Warning",
    on: "PersistentVolumeClaim",
    means: "The volume could not be made, or not yet; it is retried.",
    todo: "Read the message: it names the parameter, the quota, the key or the permission.",
  },
  {
    reason: "VolumeFailedDelete",
    type: "Warning",
    on: "PersistentVolume",
    means: "The volume of a claim that is gone could not be deleted; it is retried.",
    todo: "Read the message: a volume that carries none of the driver's tags is left alone, one that is attached waits for its node.",
  },
  {
    reason: "VolumeZoneUnknown",
    type: "Warning",
    on: "PersistentVolume",
    means: "The volume could not be labelled with its zone: EC2 does not know it, or does not say where it is. It is asked again.",
    todo: "Correct the id in the PersistentVolume, or look at region and account: `fairlead doctor`.",
  },
  { reason: "Resizing", type: "Normal", on: "PersistentVolumeClaim", means: "The volume is being made larger.", todo: nothing },
  {
    reason: "FileSystemResizeRequired",
    type: "Normal",
    on: "PersistentVolumeClaim",
    means: "The volume is larger; its file system grows on the node that uses it.",
    todo: "Nothing while a pod uses the claim.",
  },
  { reason: "VolumeResizeSuccessful", type: "Normal", on: "PersistentVolumeClaim", means: "The volume is larger.", todo: nothing },
  {
    reason: "VolumeResizeFailed",
    type: "Warning",
    on: "PersistentVolumeClaim",
    means: "The volume could not be made larger, or not yet: EC2 allows few changes of a volume a day.",
    todo: "Read the message. A size that cannot be had is taken back by asking for the old one.",
  },
  {
    reason: "VolumeModify",
    type: "Normal",
    on: "PersistentVolumeClaim",
    means: "The volume is being brought to its VolumeAttributesClass.",
    todo: nothing,
  },
  {
    reason: "VolumeModifySuccessful",
    type: "Normal",
    on: "PersistentVolumeClaim",
    means: "The volume is as its VolumeAttributesClass says.",
    todo: nothing,
  },
  {
    reason: "VolumeModifyFailed",
    type: "Warning",
    on: "PersistentVolumeClaim",
    means: "The volume could not be brought to its VolumeAttributesClass, or not yet.",
    todo: "Read the message: it names the parameter that EC2 refuses, or says that an earlier change has to end first.",
  },
  {
    reason: "SnapshotCreationFailed",
    type: "Warning",
    on: "VolumeSnapshotContent",
    means: "The snapshot could not be made, or not yet; it is retried.",
    todo: "Read the message: it names the parameter, the quota or the permission.",
  },
  {
    reason: "SnapshotDeleteError",
    type: "Warning",
    on: "VolumeSnapshotContent",
    means: "The snapshot could not be deleted; it is retried.",
    todo: "Read the message: a lock has to end, or a volume is being made from it.",
  },
  {
    reason: "ArtifactsInvalid",
    type: "Warning",
    on: "Secret, ConfigMap, Lease",
    means:
      "What the cluster's configuration, its UUID or the settings of the artifacts say cannot be used. The artifacts stay as they are.",
    todo: "Correct what the message names. It is looked at again at once.",
  },
  {
    reason: "ArtifactForeign",
    type: "Warning",
    on: "any",
    means:
      "An object that a node manager needs of the provider is there, is somebody else's, and is not as it should be. It is left alone.",
    todo: "Delete it, or give it the labels that the message names.",
  },
  {
    reason: "InstanceClassInvalid",
    type: "Warning",
    on: "AWSInstanceClass",
    means: "No machine can be made from the class: the message says why.",
    todo: "Correct the class, or the zones of the NodeGroups that use it.",
  },
  {
    reason: "MasterUninitialized",
    type: "Warning",
    on: "Node",
    means: "With `--wait-for-masters`: no controller manager has initialised the master for two minutes.",
    todo: "See whether the controller manager runs and what it says of the Node.",
  },
];

/** The page; `row` makes a line of a table. */
export function eventsPage(row: (cells: readonly string[]) => string): string {
  const rows = eventTable.map(({ reason, type, on, means, todo }) => row([`\`${reason}\``, type, on, means, todo]));
  return `# Events

<!-- Generated from src/commands/docs-events.ts; run \`npm run docs\` after changing it. -->

\`kubectl describe node NAME\`, \`kubectl describe service NAME\` and \`kubectl describe targetgroupbinding NAME\` show them.
Messages about failures name the AWS call, its error code and request id, and a missing permission. Repeated failures are counted on the
same Event, which shows the latest request id. What concerns none of your objects is reported on the Lease of the program: \`kubectl describe lease cloud-controller-manager -n kube-system\`.

| Reason | Type | On | What it means | What to do |
|---|---|---|---|---|
${rows.join("\n")}
`;
}
