/** What the termination handler needs of AWS in queue mode. In metadata mode it needs nothing. */
import { createTags, describeInstances } from "../aws/ec2-actions.ts";
import * as events from "../aws/events-actions.ts";
import * as queues from "../aws/queue-actions.ts";
import { createRole, getRole, getRolePolicy, putRolePolicy } from "../aws/role-actions.ts";
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

const rules = ["arn:*:events:*:*:rule/*"];
const ownRules = [{ resources: ["arn:*:events:REGION:ACCOUNT_ID:rule/fairlead-interruptions*"] }];
const ownSetupQueue = [{ resources: ["arn:*:sqs:REGION:ACCOUNT_ID:fairlead-interruptions*"] }];

/** What a person needs who runs `fairlead interruptions setup`. The handler needs none of it. */
export const setupGrants: readonly Grant[] = [
  {
    sid: "MakeQueue",
    why: "Find the queue and its dead-letter queue, make them, and let EventBridge send to them",
    calls: [queues.getQueueUrl, queues.getQueueAttributes, queues.createQueue, queues.setQueueAttributes],
    also: ["sqs:TagQueue"],
    resources: queue,
    strict: ownSetupQueue,
  },
  {
    sid: "FindRules",
    why: "Find the rules that deliver to the queue",
    calls: [events.listRuleNamesByTarget],
    // It names no rule, so that it is checked on all of them.
    resources: ["*"],
    strict: inRegion,
  },
  {
    sid: "MakeRules",
    why: "Look at rules and make those that are missing",
    calls: [events.describeRule, events.putRule, events.putTargets],
    also: ["events:TagResource"],
    resources: rules,
    strict: ownRules,
  },
  {
    sid: "ReadGroups",
    why: "Find the Auto Scaling groups of the cluster, their hooks and the tags of their instances",
    calls: [queues.describeAutoScalingGroups, queues.describeLifecycleHooks, describeInstances],
    resources: ["*"],
    strict: inRegion,
  },
  {
    sid: "MakeHooks",
    why: "Make the hooks of groups, and have them tag their instances",
    calls: [queues.putLifecycleHook, queues.createOrUpdateGroupTags],
    resources: groups,
    strict: inRegion,
  },
  {
    sid: "TagInstances",
    why: "Tag the instances that groups have already launched",
    calls: [createTags],
    resources: ["arn:*:ec2:*:*:instance/*"],
    strict: [{ resources: ["arn:*:ec2:REGION:ACCOUNT_ID:instance/*"] }],
  },
  {
    sid: "MakeRole",
    why: "With --role: find the role of the handler, make it, and put its policy into it",
    calls: [getRole, getRolePolicy, createRole, putRolePolicy],
    also: ["iam:TagRole"],
    resources: ["arn:*:iam::*:role/*"],
    strict: [{ resources: ["arn:*:iam::ACCOUNT_ID:role/fairlead-interruptions*"] }],
  },
];
