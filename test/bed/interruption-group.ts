/** An Auto Scaling group in the interruptions' world: its members with their Nodes, and hooks that hold them. */
import { createAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/groups.ts";
import { putLifecycleHook } from "../../src/sandbox/cloud/autoscaling/hooks.ts";
import { terminateInstanceInAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/instances.ts";
import { autoScalingOf } from "../../src/sandbox/cloud/autoscaling/state.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { type InterruptionWorld, managed } from "./interruption-world.ts";

const name = "workers";

/** What a hook of the group is made with; a hook for terminations unless it says otherwise. */
export interface HookWish {
  readonly hook: string;
  readonly heartbeatSeconds?: number;
  readonly launching?: boolean;
  /** Auto Scaling sends to this queue by itself, without EventBridge. */
  readonly targetArn?: string;
}

export interface WorkerGroup {
  readonly as: ReturnType<typeof autoScalingOf>;
  readonly instances: readonly Instance[];
  readonly ids: readonly string[];
  /** The group gives this instance up. */
  end(instanceId: string): void;
  state(instanceId: string): string | undefined;
  hook(wish: HookWish): void;
}

/** A group of so many instances with Nodes, and a hook `drain` that holds those that end. */
export async function workerGroup(w: InterruptionWorld, size: number, heartbeatSeconds = 300): Promise<WorkerGroup> {
  const as = autoScalingOf(w.aws.account);
  createAutoScalingGroup(as, {
    AutoScalingGroupName: name,
    VPCZoneIdentifier: w.network.privateSubnetIds.join(","),
    MinSize: 0,
    MaxSize: 100,
    DesiredCapacity: size,
    launch: { ImageId: "ami-0123456789abcdef0", InstanceType: "m5.large", MinCount: 1, MaxCount: 1 },
    Tags: Object.entries(managed).map(([Key, Value]) => ({ Key, Value, PropagateAtLaunch: true })),
  });
  await w.world.advance(60_000);
  w.aws.account.time.settle();
  const instances = as.members.values().map(({ instanceId }) => w.aws.account.ec2.instances.get(instanceId)!);
  for (const instance of instances) await w.join(instance);
  const group: WorkerGroup = {
    as,
    instances,
    ids: instances.map(({ id }) => id),
    end: (InstanceId) => void terminateInstanceInAutoScalingGroup(as, { InstanceId, ShouldDecrementDesiredCapacity: true }),
    state: (id) => {
      w.aws.account.time.settle();
      return as.members.get(id)?.state;
    },
    hook: ({ hook, heartbeatSeconds: seconds = 300, launching = false, targetArn }) =>
      putLifecycleHook(as, {
        AutoScalingGroupName: name,
        LifecycleHookName: hook,
        LifecycleTransition: launching ? "autoscaling:EC2_INSTANCE_LAUNCHING" : "autoscaling:EC2_INSTANCE_TERMINATING",
        HeartbeatTimeout: seconds,
        ...(targetArn !== undefined && { NotificationTargetARN: targetArn, RoleARN: "arn:aws:iam::123456789012:role/notify" }),
      }),
  };
  group.hook({ hook: "drain", heartbeatSeconds });
  return group;
}
