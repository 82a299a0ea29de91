import assert from "node:assert/strict";
import { test } from "node:test";
import {
  AutoScalingClient,
  CompleteLifecycleActionCommand,
  CreateAutoScalingGroupCommand,
  CreateLaunchConfigurationCommand,
  DeleteLaunchConfigurationCommand,
  DescribeAutoScalingGroupsCommand,
  DescribeAutoScalingInstancesCommand,
  DescribeLifecycleHooksCommand,
  PutLifecycleHookCommand,
  RecordLifecycleActionHeartbeatCommand,
  TerminateInstanceInAutoScalingGroupCommand,
} from "@aws-sdk/client-auto-scaling";
import { sdkConfig } from "../sdk-handler.ts";
import { networkBed, refused } from "../testing.ts";
import { autoScalingOf } from "./state.ts";

const AutoScalingGroupName = "workers";

async function bed() {
  const { cloud, world, network } = networkBed();
  const client = new AutoScalingClient(sdkConfig(cloud));
  await client.send(
    new CreateLaunchConfigurationCommand({ LaunchConfigurationName: "small", ImageId: "ami-0123456789abcdef0", InstanceType: "m5.large" }),
  );
  await client.send(
    new CreateAutoScalingGroupCommand({
      AutoScalingGroupName,
      LaunchConfigurationName: "small",
      MinSize: 0,
      MaxSize: 5,
      DesiredCapacity: 1,
      VPCZoneIdentifier: network.privateSubnetIds.join(","),
      Tags: [{ Key: "team", Value: "a", PropagateAtLaunch: true }],
    }),
  );
  world.pass(60_000);
  const { AutoScalingInstances: members = [] } = await client.send(new DescribeAutoScalingInstancesCommand({}));
  return { cloud, world, client, InstanceId: members[0]!.InstanceId! };
}

test("Auto Scaling on the wire: a group comes to its capacity and shows its members and tags", async () => {
  const { client, cloud, InstanceId } = await bed();
  const { AutoScalingGroups: [group] = [] } = await client.send(new DescribeAutoScalingGroupsCommand({}));
  assert.equal(group?.LaunchConfigurationName, "small");
  assert.deepEqual(
    group?.Instances?.map((each) => [each.InstanceId, each.LifecycleState, each.HealthStatus]),
    [[InstanceId, "InService", "Healthy"]],
  );
  assert.deepEqual(
    group?.Tags?.map(({ Key, Value, PropagateAtLaunch }) => ({ Key, Value, PropagateAtLaunch })),
    [{ Key: "team", Value: "a", PropagateAtLaunch: true }],
  );
  assert.equal(cloud.account.ec2.instances.get(InstanceId)?.tags.team, "a");
  await refused(client.send(new DeleteLaunchConfigurationCommand({ LaunchConfigurationName: "small" })), "ResourceInUseFault");
});

test("A hook holds a member that is to end; heartbeats extend it, and it ends when its action is completed", async () => {
  const { client, cloud, world, InstanceId } = await bed();
  const hook = { AutoScalingGroupName, LifecycleHookName: "drain" };
  await client.send(
    new PutLifecycleHookCommand({ ...hook, LifecycleTransition: "autoscaling:EC2_INSTANCE_TERMINATING", HeartbeatTimeout: 60 }),
  );
  const { LifecycleHooks: hooks = [] } = await client.send(new DescribeLifecycleHooksCommand({ AutoScalingGroupName }));
  assert.equal(hooks[0]?.HeartbeatTimeout, 60);
  const { Activity } = await client.send(
    new TerminateInstanceInAutoScalingGroupCommand({ InstanceId, ShouldDecrementDesiredCapacity: true }),
  );
  assert.equal(Activity?.StatusCode, "MidLifecycleAction");
  const token = autoScalingOf(cloud.account).actions.values()[0]!.token;
  const action = { ...hook, InstanceId, LifecycleActionToken: token };
  world.pass(50_000);
  await client.send(new RecordLifecycleActionHeartbeatCommand(action));
  world.pass(50_000);
  const state = async () =>
    (await client.send(new DescribeAutoScalingInstancesCommand({ InstanceIds: [InstanceId] }))).AutoScalingInstances?.[0]?.LifecycleState;
  assert.equal(await state(), "Terminating:Wait");
  await client.send(new CompleteLifecycleActionCommand({ ...action, LifecycleActionResult: "CONTINUE" }));
  assert.equal(await state(), "Terminating:Proceed");
  await refused(client.send(new CompleteLifecycleActionCommand({ ...action, LifecycleActionResult: "CONTINUE" })), "ValidationError", 400);
});

test("A group needs something to launch; a template is refused in words that say why", async () => {
  const { client, InstanceId } = await bed();
  const group = { AutoScalingGroupName: "more", MinSize: 0, MaxSize: 1, VPCZoneIdentifier: "subnet-none" };
  await refused(client.send(new CreateAutoScalingGroupCommand(group)), "ValidationError");
  const templates = client.send(new CreateAutoScalingGroupCommand({ ...group, LaunchTemplate: { LaunchTemplateName: "x" } }));
  assert.match(await refused(templates, "ValidationError"), /no launch templates/);
  assert.match(await refused(client.send(new CreateAutoScalingGroupCommand({ ...group, InstanceId })), "ValidationError"), /subnet-none/);
});

test("A policy can speak of one group by its tag, and denies what names another", async () => {
  const { client, cloud, InstanceId } = await bed();
  const allowed = { effect: "allow" as const, actions: ["autoscaling:TerminateInstanceInAutoScalingGroup"], resources: ["*"] };
  cloud.controls.change({ policy: [{ ...allowed, condition: { StringEquals: { "aws:ResourceTag/team": ["b"] } } }] });
  const end = () => client.send(new TerminateInstanceInAutoScalingGroupCommand({ InstanceId, ShouldDecrementDesiredCapacity: true }));
  await refused(end(), "AccessDenied", 403);
  cloud.controls.change({ policy: [{ ...allowed, condition: { StringEquals: { "aws:ResourceTag/team": ["a"] } } }] });
  await end();
});
