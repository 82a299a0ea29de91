/** What is used of the Auto Scaling client. */
export {
  AutoScalingClient as Client,
  CompleteLifecycleActionCommand,
  DescribeLifecycleHooksCommand,
  RecordLifecycleActionHeartbeatCommand,
} from "@aws-sdk/client-auto-scaling";
