import assert from "node:assert/strict";
import { test } from "node:test";
import { terminate } from "../ec2/instance-lifecycle.ts";
import { refusal } from "../testing.ts";
import {
  createAutoScalingGroup,
  createOrUpdateTags,
  deleteAutoScalingGroup,
  deleteTags,
  describeAutoScalingGroups,
  describeScalingActivities,
  resumeProcesses,
  setDesiredCapacity,
  suspendProcesses,
  updateAutoScalingGroup,
} from "./groups.ts";
import {
  describeAutoScalingInstances,
  detachInstances,
  enterStandby,
  exitStandby,
  setInstanceHealth,
  setInstanceProtection,
} from "./instances.ts";
import { bed, MINUTE } from "./testing.ts";

test("A group comes to its capacity, spread over its zones, and its instances carry its tags", () => {
  const Tags = [
    { Key: "a", Value: "1", PropagateAtLaunch: true },
    { Key: "b", Value: "2", PropagateAtLaunch: false },
  ];
  const { as, members, ec2, pass } = bed({ Tags });
  assert.deepEqual(new Set(members().map((member) => member.AvailabilityZone)).size, 3);
  assert.deepEqual(
    members().map((member) => member.LifecycleState),
    ["InService", "InService", "InService"],
  );
  assert.deepEqual(ec2.instances.get(members()[0]!.InstanceId)?.tags, { a: "1", "aws:autoscaling:groupName": "workers" });
  setDesiredCapacity(as, { AutoScalingGroupName: "workers", DesiredCapacity: 1 });
  pass(5 * MINUTE);
  assert.equal(members().length, 1);
  refusal(() => setDesiredCapacity(as, { AutoScalingGroupName: "workers", DesiredCapacity: 101 }), "ValidationError");
  refusal(() => setDesiredCapacity(as, { AutoScalingGroupName: "nothing", DesiredCapacity: 1 }), "ValidationError");
  updateAutoScalingGroup(as, { AutoScalingGroupName: "workers", MinSize: 2 });
  pass(5 * MINUTE);
  assert.equal(members().length, 2);
});

test("There are activities: for launches, terminations, what waits in a hook and what failed", () => {
  const { as, members, end, hook, pass, complete, cloud } = bed({ DesiredCapacity: 1 });
  const codes = () => describeScalingActivities(as, { AutoScalingGroupName: "workers" }).Activities.map((each) => each.StatusCode);
  assert.deepEqual(codes(), ["Successful"]);
  hook();
  const id = members()[0]!.InstanceId;
  end(id);
  assert.deepEqual(codes(), ["MidLifecycleAction", "Successful"]);
  complete("CONTINUE", { InstanceId: id });
  pass(MINUTE);
  assert.deepEqual(codes(), ["Successful", "Successful"]);
  cloud.controls.change({ quotas: { instances: 0 } });
  setDesiredCapacity(as, { AutoScalingGroupName: "workers", DesiredCapacity: 1 });
  pass(5000);
  const [failed] = describeScalingActivities(as).Activities;
  assert.equal(failed!.StatusCode, "Failed");
  assert.match(failed!.Description, /instance limit/);
});

test("Unhealthy members are replaced: those that were told so and those that EC2 ended, through their hooks", () => {
  const { as, members, pass, ec2, hook, state, states } = bed();
  const [sick, ended] = members().map(({ InstanceId }) => InstanceId);
  hook();
  setInstanceHealth(as, { InstanceId: sick!, HealthStatus: "Unhealthy" });
  terminate(ec2, ec2.instances.get(ended!)!);
  pass(2 * MINUTE);
  assert.deepEqual([state(sick!), state(ended!)], ["Terminating:Wait", "Terminating:Wait"]);
  assert.equal(states().filter((each) => each === "InService").length, 3);
  refusal(() => setInstanceHealth(as, { InstanceId: "i-0123456789abcdef0", HealthStatus: "Unhealthy" }), "ValidationError");
});

test("Deleting a non-empty group without force is ResourceInUse; by force its instances go first", () => {
  const { as, pass, members } = bed();
  refusal(() => deleteAutoScalingGroup(as, { AutoScalingGroupName: "workers" }), "ResourceInUse");
  deleteAutoScalingGroup(as, { AutoScalingGroupName: "workers", ForceDelete: true });
  assert.equal(describeAutoScalingGroups(as).AutoScalingGroups[0]!.Status, "Delete in progress");
  pass(2 * MINUTE);
  assert.deepEqual([members(), describeAutoScalingGroups(as).AutoScalingGroups], [[], []]);
});

test("An unknown instance is ValidationError, never a fault of the service", () => {
  const { as, end } = bed();
  const id = "i-0123456789abcdef0";
  refusal(() => end(id), "ValidationError");
  refusal(() => detachInstances(as, { AutoScalingGroupName: "workers", InstanceIds: [id] }), "ValidationError");
  assert.deepEqual(describeAutoScalingInstances(as, { InstanceIds: [id] }).AutoScalingInstances, []);
});

test("DescribeAutoScalingInstances takes 50 ids and gives pages of 50", () => {
  const { as, members } = bed({ DesiredCapacity: 60 });
  const ids = Array.from({ length: 51 }, (_, index) => `i-0${index.toString(16).padStart(16, "0")}`);
  refusal(() => describeAutoScalingInstances(as, { InstanceIds: ids }), "ValidationError");
  refusal(() => describeAutoScalingInstances(as, { MaxRecords: 51 }), "ValidationError");
  const { NextToken } = describeAutoScalingInstances(as);
  assert.equal(members().length, 50);
  assert.equal(describeAutoScalingInstances(as, { NextToken: NextToken! }).AutoScalingInstances.length, 10);
});

test("Protected members survive a scale-in, detached ones live on, those on standby are not counted", () => {
  const { as, members, pass, ec2, state } = bed();
  const [first, second, third] = members().map(({ InstanceId }) => InstanceId) as [string, string, string];
  setInstanceProtection(as, { AutoScalingGroupName: "workers", InstanceIds: [first], ProtectedFromScaleIn: true });
  enterStandby(as, { AutoScalingGroupName: "workers", InstanceIds: [second], ShouldDecrementDesiredCapacity: true });
  setDesiredCapacity(as, { AutoScalingGroupName: "workers", DesiredCapacity: 0 });
  pass(5 * MINUTE);
  assert.deepEqual([state(first), state(second), state(third)], ["InService", "Standby", undefined]);
  exitStandby(as, { AutoScalingGroupName: "workers", InstanceIds: [second] });
  detachInstances(as, { AutoScalingGroupName: "workers", InstanceIds: [second], ShouldDecrementDesiredCapacity: true });
  pass(5 * MINUTE);
  assert.deepEqual([ec2.instances.get(second)?.state, ec2.instances.get(second)?.tags], ["running", {}]);
});

test("Groups are found by name, tag and page; their tags are changed one by one", () => {
  const { as, group } = bed({ DesiredCapacity: 0 });
  createAutoScalingGroup(as, { ...group, AutoScalingGroupName: "others" });
  refusal(() => createAutoScalingGroup(as, group), "AlreadyExists");
  createOrUpdateTags(as, { Tags: [{ ResourceId: "workers", Key: "managed", Value: "yes", PropagateAtLaunch: true }] });
  const names = (input: Parameters<typeof describeAutoScalingGroups>[1]) =>
    describeAutoScalingGroups(as, input).AutoScalingGroups.map((each) => each.AutoScalingGroupName);
  assert.deepEqual(names({ Filters: [{ Name: "tag-key", Values: ["managed"] }] }), ["workers"]);
  assert.deepEqual(names({ Filters: [{ Name: "tag:managed", Values: ["no"] }] }), []);
  assert.deepEqual(names({ AutoScalingGroupNames: ["others", "nothing"] }), ["others"]);
  assert.deepEqual(names({ MaxRecords: 1 }), ["others"]);
  deleteTags(as, { Tags: [{ ResourceId: "workers", Key: "managed" }] });
  assert.deepEqual(names({ Filters: [{ Name: "tag-key", Values: ["managed"] }] }), []);
  refusal(() => describeAutoScalingGroups(as, { MaxRecords: 101 }), "ValidationError");
  const many = Array.from({ length: 51 }, (_, at) => `group-${at}`);
  refusal(() => describeAutoScalingGroups(as, { AutoScalingGroupNames: many }), "ValidationError");
  assert.deepEqual(names({ AutoScalingGroupNames: many, MaxRecords: 100 }), []);
});

test("A suspended process does nothing until it is resumed; a young member keeps its health for its grace period", () => {
  const { as, members, pass, state } = bed({ DesiredCapacity: 1, HealthCheckGracePeriod: 600 });
  const { InstanceId } = members()[0]!;
  const processes = { AutoScalingGroupName: "workers", ScalingProcesses: ["ReplaceUnhealthy", "Launch"] } as const;
  setInstanceHealth(as, { InstanceId, HealthStatus: "Unhealthy" });
  assert.equal(members()[0]!.HealthStatus, "Healthy");
  suspendProcesses(as, processes);
  setInstanceHealth(as, { InstanceId, HealthStatus: "Unhealthy", ShouldRespectGracePeriod: false });
  setDesiredCapacity(as, { AutoScalingGroupName: "workers", DesiredCapacity: 2 });
  pass(5 * MINUTE);
  assert.deepEqual([members().length, state(InstanceId)], [1, "InService"]);
  resumeProcesses(as, processes);
  pass(5 * MINUTE);
  assert.deepEqual([members().length, state(InstanceId)], [2, undefined]);
});
