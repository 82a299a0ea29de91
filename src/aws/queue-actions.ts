/** The actions of queues, and of the hooks of Auto Scaling. */
import { actionsOf } from "./actions.ts";

const sqs = actionsOf("sqs", () => import("./sdk/sqs.ts"));
const autoscaling = actionsOf("autoscaling", () => import("./sdk/autoscaling.ts"));

export const createQueue = sqs("CreateQueue", (sdk) => sdk.CreateQueueCommand);
export const getQueueUrl = sqs("GetQueueUrl", (sdk) => sdk.GetQueueUrlCommand);
export const setQueueAttributes = sqs("SetQueueAttributes", (sdk) => sdk.SetQueueAttributesCommand);
export const getQueueAttributes = sqs("GetQueueAttributes", (sdk) => sdk.GetQueueAttributesCommand);
export const receiveMessage = sqs("ReceiveMessage", (sdk) => sdk.ReceiveMessageCommand);
export const deleteMessageBatch = sqs("DeleteMessageBatch", (sdk) => sdk.DeleteMessageBatchCommand, "DeleteMessage");
export const changeMessageVisibilityBatch = sqs(
  "ChangeMessageVisibilityBatch",
  (sdk) => sdk.ChangeMessageVisibilityBatchCommand,
  "ChangeMessageVisibility",
);
export const completeLifecycleAction = autoscaling("CompleteLifecycleAction", (sdk) => sdk.CompleteLifecycleActionCommand);
export const recordLifecycleActionHeartbeat = autoscaling(
  "RecordLifecycleActionHeartbeat",
  (sdk) => sdk.RecordLifecycleActionHeartbeatCommand,
);
export const describeLifecycleHooks = autoscaling("DescribeLifecycleHooks", (sdk) => sdk.DescribeLifecycleHooksCommand);
export const describeAutoScalingGroups = autoscaling("DescribeAutoScalingGroups", (sdk) => sdk.DescribeAutoScalingGroupsCommand);
export const putLifecycleHook = autoscaling("PutLifecycleHook", (sdk) => sdk.PutLifecycleHookCommand);
export const createOrUpdateGroupTags = autoscaling("CreateOrUpdateTags", (sdk) => sdk.CreateOrUpdateTagsCommand);
