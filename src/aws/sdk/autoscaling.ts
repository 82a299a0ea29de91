/** What is used of the Auto Scaling client. */
export {
  AutoScalingClient as Client,
  CompleteLifecycleActionCommand,
  CreateOrUpdateTagsCommand,
  DescribeAutoScalingGroupsCommand,
  DescribeLifecycleHooksCommand,
  PutLifecycleHookCommand,
  RecordLifecycleActionHeartbeatCommand,
} from "@aws-sdk/client-auto-scaling";
