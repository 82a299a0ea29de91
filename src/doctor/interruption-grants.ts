/** What the termination handler needs of AWS in queue mode. In metadata mode it needs nothing. */
import { describeInstances } from "../aws/ec2-actions.ts";
import * as queues from "../aws/queue-actions.ts";
import type { Grant } from "./permissions.ts";

const queue = ["arn:*:sqs:*:*:*"];
const ownQueue = [{ resources: ["arn:*:sqs:REGION:ACCOUNT_ID:*"] }];
const groups = ["arn:*:autoscaling:*:*:autoScalingGroup:*:autoScalingGroupName/*"];
const inRegion = [{ condition: { StringEquals: { "aws:RequestedRegion": "REGION" } } }];

export const interruptionGrants: readonly Grant[] = [
  {
    sid: "ReadQueue",
    why: "Receive the notices of the queue, and delete those whose nodes are drained",
    calls: [queues.receiveMessage, queues.deleteMessageBatch],
    resources: queue,
    strict: ownQueue,
  },
  {
    sid: "KeepMessages",
    why: "Keep a message from other replicas while its node is drained",
    calls: [queues.changeMessageVisibilityBatch],
    resources: queue,
    strict: ownQueue,
    optional: "messages are delivered again while they are being handled, and are recognised",
  },
  {
    sid: "ReadInterruptedInstances",
    why: "Find the tag, the name and the state of instances that notices are about",
    calls: [describeInstances],
    resources: ["*"],
    strict: inRegion,
  },
  {
    sid: "CompleteHooks",
    why: "Complete the hook of an instance whose node is drained, or ready",
    calls: [queues.completeLifecycleAction],
    resources: groups,
    strict: inRegion,
  },
  {
    sid: "HoldHooks",
    why: "Send heartbeats to hooks",
    calls: [queues.recordLifecycleActionHeartbeat],
    resources: groups,
    strict: inRegion,
    optional: "no heartbeats are sent",
  },
  {
    sid: "ReadHooks",
    why: "Abandon a hook before it times out, with the reason",
    calls: [queues.describeLifecycleHooks],
    resources: ["*"],
    strict: inRegion,
    optional: "a hook that cannot be completed runs into its own time limit",
  },
];
