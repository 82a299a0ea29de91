/** Groups of Auto Scaling and their hooks. */
import {
  CompleteLifecycleActionCommand,
  CreateAutoScalingGroupCommand,
  CreateLaunchConfigurationCommand,
  CreateOrUpdateTagsCommand,
  DeleteAutoScalingGroupCommand,
  DeleteLaunchConfigurationCommand,
  DeleteLifecycleHookCommand,
  DeleteTagsCommand,
  DescribeAutoScalingGroupsCommand,
  DescribeAutoScalingInstancesCommand,
  DescribeLaunchConfigurationsCommand,
  DescribeLifecycleHooksCommand,
  PutLifecycleHookCommand,
  SetDesiredCapacityCommand,
  SuspendProcessesCommand,
  UpdateAutoScalingGroupCommand,
} from "@aws-sdk/client-auto-scaling";
import { asker, type Exchange } from "../script.ts";

const ask = asker("autoscaling");
const AutoScalingGroupName = "workers";
const hook = { AutoScalingGroupName, LifecycleHookName: "drain" };

export const groupExchanges: readonly Exchange[] = [
  ask("a launch configuration", CreateLaunchConfigurationCommand, {
    LaunchConfigurationName: "small",
    ImageId: "ami-0123456789abcdef0",
    InstanceType: "m5.large",
  }),
  ask("the same launch configuration again", CreateLaunchConfigurationCommand, {
    LaunchConfigurationName: "small",
    ImageId: "ami-0123456789abcdef0",
    InstanceType: "m5.large",
  }),
  ask("launch configurations by name", DescribeLaunchConfigurationsCommand, { LaunchConfigurationNames: ["small", "none"] }),
  ask("a group with nothing to launch", CreateAutoScalingGroupCommand, {
    AutoScalingGroupName,
    MinSize: 0,
    MaxSize: 2,
    VPCZoneIdentifier: "$subnetB",
  }),
  ask("an empty group", CreateAutoScalingGroupCommand, {
    AutoScalingGroupName,
    LaunchConfigurationName: "small",
    MinSize: 0,
    MaxSize: 2,
    DesiredCapacity: 0,
    VPCZoneIdentifier: "$subnetB",
    Tags: [{ Key: "team", Value: "nodes", PropagateAtLaunch: true }],
  }),
  ask("the same group again", CreateAutoScalingGroupCommand, {
    AutoScalingGroupName,
    LaunchConfigurationName: "small",
    MinSize: 0,
    MaxSize: 2,
    VPCZoneIdentifier: "$subnetB",
  }),
  ask("groups by name", DescribeAutoScalingGroupsCommand, { AutoScalingGroupNames: [AutoScalingGroupName, "none"] }),
  ask("groups by tag", DescribeAutoScalingGroupsCommand, { Filters: [{ Name: "tag:team", Values: ["nodes"] }] }),
  ask("groups by a tag that none has", DescribeAutoScalingGroupsCommand, { Filters: [{ Name: "tag:team", Values: ["others"] }] }),
  ask("members of no group", DescribeAutoScalingInstancesCommand, { InstanceIds: ["i-0123456789abcdef0"] }),
  ask("a capacity beyond the maximum", SetDesiredCapacityCommand, { AutoScalingGroupName, DesiredCapacity: 3 }),
  ask("the capacity of a group that does not exist", SetDesiredCapacityCommand, { AutoScalingGroupName: "none", DesiredCapacity: 1 }),
  ask("a larger maximum", UpdateAutoScalingGroupCommand, { AutoScalingGroupName, MaxSize: 4 }),
  ask("a group gets a tag", CreateOrUpdateTagsCommand, {
    Tags: [{ ResourceId: AutoScalingGroupName, ResourceType: "auto-scaling-group", Key: "stage", Value: "test", PropagateAtLaunch: false }],
  }),
  ask("a group loses a tag", DeleteTagsCommand, {
    Tags: [{ ResourceId: AutoScalingGroupName, ResourceType: "auto-scaling-group", Key: "team" }],
  }),
  ask("processes are suspended", SuspendProcessesCommand, { AutoScalingGroupName, ScalingProcesses: ["Launch"] }),
  ask("the group after its changes", DescribeAutoScalingGroupsCommand, { AutoScalingGroupNames: [AutoScalingGroupName] }),

  ask("a hook for terminations", PutLifecycleHookCommand, {
    ...hook,
    LifecycleTransition: "autoscaling:EC2_INSTANCE_TERMINATING",
    HeartbeatTimeout: 300,
    DefaultResult: "CONTINUE",
  }),
  ask("a hook of a group that does not exist", PutLifecycleHookCommand, {
    AutoScalingGroupName: "none",
    LifecycleHookName: "drain",
    LifecycleTransition: "autoscaling:EC2_INSTANCE_TERMINATING",
  }),
  ask("the hooks of a group", DescribeLifecycleHooksCommand, { AutoScalingGroupName }),
  ask("an action that nobody waits for", CompleteLifecycleActionCommand, {
    ...hook,
    LifecycleActionResult: "CONTINUE",
    LifecycleActionToken: "00000000-1111-2222-3333-444444444444",
  }),
  ask("a hook is removed", DeleteLifecycleHookCommand, hook),
  ask("a launch configuration in use is deleted", DeleteLaunchConfigurationCommand, { LaunchConfigurationName: "small" }),
  ask("a group is deleted", DeleteAutoScalingGroupCommand, { AutoScalingGroupName }),
  ask("a launch configuration is deleted", DeleteLaunchConfigurationCommand, { LaunchConfigurationName: "small" }),
  ask("a deleted group", DescribeAutoScalingGroupsCommand, { AutoScalingGroupNames: [AutoScalingGroupName] }),
];
