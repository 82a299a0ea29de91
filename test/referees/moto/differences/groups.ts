/** Queues of SQS, rules of EventBridge, and groups of Auto Scaling. */
import { type Accepted, absent } from "../accepted.ts";

const sqsPage = (name: string) => `https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/${name}.html`;
const scalingPage = (name: string) => `https://docs.aws.amazon.com/autoscaling/ec2/APIReference/${name}.html`;

export const queueDifferences: readonly Accepted[] = [
  {
    in: ["more messages are asked for than SQS gives at once", "a longer poll than SQS allows"],
    at: ["error.names"],
    ours: absent,
    departs: "moto",
    why: "moto puts the code into the words of its message",
    document: sqsPage("CommonErrors"),
  },
  {
    in: ["eleven entries"],
    at: ["error.code"],
    ours: "TooManyEntriesInBatchRequest",
    moto: "BatchEntryIdsNotDistinct",
    departs: "moto",
    why: "the ids differ; moto looks at the handles, which are the same",
    document: sqsPage("API_DeleteMessageBatch"),
  },
];

export const eventRuleDifferences: readonly Accepted[] = [
  {
    in: ["an event rule whose name has a blank"],
    at: ["error", "RuleArn"],
    departs: "moto",
    why: "moto does not check names",
    document: "https://docs.aws.amazon.com/eventbridge/latest/APIReference/API_PutRule.html",
  },
];

export const groupDifferences: readonly Accepted[] = [
  {
    in: [
      "the same launch configuration again",
      "the same group again",
      "a capacity beyond the maximum",
      "a hook of a group that does not exist",
      "a launch configuration in use is deleted",
    ],
    at: ["error"],
    moto: absent,
    departs: "moto",
    why: "moto does not check names, limits and uses",
    document: scalingPage("API_CreateAutoScalingGroup"),
  },
  {
    in: ["the capacity of a group that does not exist", "an action that nobody waits for"],
    at: ["error.code", "error.status", "error.names"],
    departs: "moto",
    why: "moto fails at a group it does not know, and has no CompleteLifecycleAction",
    document: scalingPage("API_CompleteLifecycleAction"),
  },
  {
    in: ["launch configurations by name"],
    at: ["InstanceMonitoring.Enabled", "AssociatePublicIpAddress"],
    departs: "moto",
    why: "detailed monitoring is the default of a launch configuration, and public addresses are left to the subnet",
    document: scalingPage("API_CreateLaunchConfiguration"),
  },
  {
    in: ["groups by name", "the group after its changes"],
    at: ["HealthCheckGracePeriod"],
    ours: 0,
    moto: 300,
    departs: "moto",
    why: "without one in the request there is no grace period; 300 is the console's",
    document: scalingPage("API_CreateAutoScalingGroup"),
  },
  {
    in: ["groups by name", "groups by tag"],
    at: ["AutoScalingGroups[].Tags", "AutoScalingGroups"],
    moto: absent,
    departs: "moto",
    why: "moto drops the tags of the second request for a group, which it should have refused",
    document: scalingPage("API_CreateAutoScalingGroup"),
  },
  {
    in: ["the group after its changes"],
    at: ["DesiredCapacity", "AutoScalingGroups[].Instances"],
    departs: "moto",
    why: "it accepted a capacity beyond the maximum",
    document: scalingPage("API_SetDesiredCapacity"),
  },
  {
    in: ["the hooks of a group"],
    at: ["GlobalTimeout"],
    ours: 30_000,
    moto: 172_800,
    departs: "moto",
    why: "it is the smaller of 48 hours and a hundred times the heartbeat timeout",
    document: scalingPage("API_LifecycleHook"),
  },
  {
    in: ["the hooks of a group"],
    at: ["NotificationTargetARN", "RoleARN"],
    ours: absent,
    departs: "moto",
    why: "moto answers with a target that nobody gave",
    document: scalingPage("API_LifecycleHook"),
  },
];
