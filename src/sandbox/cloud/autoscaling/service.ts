/** Amazon EC2 Auto Scaling on the wire, over the query protocol. */
import {
  CompleteLifecycleAction$,
  CreateAutoScalingGroup$,
  CreateLaunchConfiguration$,
  CreateOrUpdateTags$,
  DeleteAutoScalingGroup$,
  DeleteLaunchConfiguration$,
  DeleteLifecycleHook$,
  DeleteTags$,
  DescribeAutoScalingGroups$,
  DescribeAutoScalingInstances$,
  DescribeLaunchConfigurations$,
  DescribeLifecycleHooks$,
  DescribeScalingActivities$,
  DetachInstances$,
  EnterStandby$,
  ExitStandby$,
  PutLifecycleHook$,
  RecordLifecycleActionHeartbeat$,
  ResumeProcesses$,
  SetDesiredCapacity$,
  SetInstanceHealth$,
  SetInstanceProtection$,
  SuspendProcesses$,
  TerminateInstanceInAutoScalingGroup$,
  UpdateAutoScalingGroup$,
} from "@aws-sdk/client-auto-scaling";
import type { Account } from "../account.ts";
import { ServiceError } from "../errors.ts";
import { query } from "../protocol/protocol.ts";
import { type Operation, read, type Service, write } from "../service.ts";
import * as groups from "./groups.ts";
import { describeLifecycleHooks, type HookInput, putLifecycleHook } from "./hooks.ts";
import * as instances from "./instances.ts";
import {
  createLaunchConfiguration,
  deleteLaunchConfiguration,
  describeLaunchConfigurations,
  launchOfConfiguration,
  launchOfInstance,
} from "./launch-configurations.ts";
import { type AutoScaling, autoScalingOf } from "./state.ts";

/** Amazon EC2 Auto Scaling. */
export function autoScalingService(account: Account): Service {
  const as = autoScalingOf(account);
  /** An operation that is one of the functions over the tables. */
  const asks = <Input>(schema: Operation["schema"], run: (as: AutoScaling, input: Input) => unknown) =>
    read<Input, unknown>(schema, (input) => run(as, input));
  const changes = <Input>(schema: Operation["schema"], run: (as: AutoScaling, input: Input) => unknown) =>
    write<Input, unknown>(schema, (input) => run(as, input));
  return {
    name: "autoscaling",
    signingName: "autoscaling",
    address: { version: "2011-01-01" },
    region: "own",
    protocol: query("http://autoscaling.amazonaws.com/doc/2011-01-01/"),
    operations: [
      changes(CreateLaunchConfiguration$, createLaunchConfiguration),
      asks(DescribeLaunchConfigurations$, describeLaunchConfigurations),
      changes(DeleteLaunchConfiguration$, deleteLaunchConfiguration),
      changes(CreateAutoScalingGroup$, createGroup),
      changes(UpdateAutoScalingGroup$, groups.updateAutoScalingGroup),
      changes(SetDesiredCapacity$, groups.setDesiredCapacity),
      changes(DeleteAutoScalingGroup$, groups.deleteAutoScalingGroup),
      changes(SuspendProcesses$, groups.suspendProcesses),
      changes(ResumeProcesses$, groups.resumeProcesses),
      asks(DescribeAutoScalingGroups$, groups.describeAutoScalingGroups),
      changes(CreateOrUpdateTags$, groups.createOrUpdateTags),
      changes(DeleteTags$, groups.deleteTags),
      asks(DescribeScalingActivities$, groups.describeScalingActivities),
      asks(DescribeAutoScalingInstances$, instances.describeAutoScalingInstances),
      changes(TerminateInstanceInAutoScalingGroup$, terminateInstance),
      changes(DetachInstances$, instances.detachInstances),
      changes(EnterStandby$, instances.enterStandby),
      changes(ExitStandby$, instances.exitStandby),
      changes(SetInstanceHealth$, instances.setInstanceHealth),
      changes(SetInstanceProtection$, instances.setInstanceProtection),
      changes(PutLifecycleHook$, putLifecycleHook),
      asks(DescribeLifecycleHooks$, describeLifecycleHooks),
      changes(DeleteLifecycleHook$, instances.deleteLifecycleHook),
      changes(CompleteLifecycleAction$, instances.completeLifecycleAction),
      changes(RecordLifecycleActionHeartbeat$, instances.recordLifecycleActionHeartbeat),
    ],
  };
}

interface CreateInput extends Omit<groups.CreateGroupInput, "launch"> {
  readonly InstanceId?: string;
  readonly LaunchTemplate?: object;
  readonly MixedInstancesPolicy?: object;
  readonly LifecycleHookSpecificationList?: readonly Omit<HookInput, "AutoScalingGroupName">[];
}

function createGroup(as: AutoScaling, input: CreateInput): void {
  groups.createAutoScalingGroup(as, { ...input, launch: launchOf(as, input) });
  for (const hook of input.LifecycleHookSpecificationList ?? []) {
    putLifecycleHook(as, { ...hook, AutoScalingGroupName: input.AutoScalingGroupName });
  }
}

function launchOf(as: AutoScaling, input: CreateInput) {
  if (input.LaunchConfigurationName) return launchOfConfiguration(as, input.LaunchConfigurationName);
  if (input.InstanceId) return launchOfInstance(as, input.InstanceId);
  const message =
    input.LaunchTemplate || input.MixedInstancesPolicy
      ? "The simulated cloud has no launch templates: give LaunchConfigurationName or InstanceId."
      : "Valid requests must contain either LaunchTemplate, LaunchConfigurationName, InstanceId or MixedInstancesPolicy parameter.";
  throw new ServiceError("ValidationError", message);
}

function terminateInstance(as: AutoScaling, input: Parameters<typeof instances.terminateInstanceInAutoScalingGroup>[1]) {
  const { group } = instances.terminateInstanceInAutoScalingGroup(as, input);
  const { Activities } = groups.describeScalingActivities(as, { AutoScalingGroupName: group });
  return { Activity: Activities.find(({ Description }) => Description.endsWith(input.InstanceId)) };
}
