/** What the tests of Auto Scaling share. */
import { receiveNow } from "../sqs/messages.ts";
import { createQueue } from "../sqs/queues.ts";
import { networkBed } from "../testing.ts";
import { type CreateGroupInput, createAutoScalingGroup } from "./groups.ts";
import { type ActionInput, type HookInput, putLifecycleHook } from "./hooks.ts";
import { completeLifecycleAction, describeAutoScalingInstances, terminateInstanceInAutoScalingGroup } from "./instances.ts";
import { autoScalingOf } from "./state.ts";

/** Milliseconds. */
export const MINUTE = 60_000;
/** Milliseconds. */
export const HOUR = 60 * MINUTE;
/** The two transitions. */
export const TERMINATING = "autoscaling:EC2_INSTANCE_TERMINATING";
export const LAUNCHING = "autoscaling:EC2_INSTANCE_LAUNCHING";

/** A group named `workers` of three instances in service, a queue named `events`, and short forms of the calls. */
export function bed(input: Partial<CreateGroupInput> = {}) {
  const { cloud, world, network } = networkBed();
  const as = autoScalingOf(cloud.account);
  const { sqs, ec2 } = cloud.account;
  const { QueueUrl } = createQueue(sqs, { QueueName: "events" });
  const queueArn = "arn:aws:sqs:us-east-1:123456789012:events";
  const group = {
    AutoScalingGroupName: "workers",
    VPCZoneIdentifier: network.privateSubnetIds.join(","),
    MinSize: 0,
    MaxSize: 100,
    DesiredCapacity: 3,
    launch: { ImageId: "ami-0123456789abcdef0", InstanceType: "m5.large" } as CreateGroupInput["launch"],
    ...input,
  };
  const pass = (ms: number) => {
    world.pass(ms);
    cloud.account.time.settle();
  };
  createAutoScalingGroup(as, group);
  pass(MINUTE);
  const members = () => describeAutoScalingInstances(as).AutoScalingInstances;
  return {
    as,
    ec2,
    pass,
    group,
    queueArn,
    members,
    cloud,
    states: () => members().map((member) => member.LifecycleState),
    state: (id: string) => members().find(({ InstanceId }) => InstanceId === id)?.LifecycleState,
    hook: (more: Partial<HookInput> = {}) =>
      putLifecycleHook(as, { AutoScalingGroupName: "workers", LifecycleHookName: "hold", LifecycleTransition: TERMINATING, ...more }),
    end: (InstanceId: string) => terminateInstanceInAutoScalingGroup(as, { InstanceId, ShouldDecrementDesiredCapacity: true }),
    complete: (LifecycleActionResult: string, by: Partial<ActionInput>) =>
      completeLifecycleAction(as, { AutoScalingGroupName: "workers", LifecycleHookName: "hold", LifecycleActionResult, ...by }),
    messages: () => receiveNow(sqs, { QueueUrl, MaxNumberOfMessages: 10 }).Messages.map(({ Body }) => JSON.parse(Body)),
  };
}
