import assert from "node:assert/strict";
import { test } from "node:test";
import { terminate } from "../ec2/instance-lifecycle.ts";
import { ServiceError } from "../errors.ts";
import { rules } from "../events/bus.ts";
import { receiveNow } from "../sqs/messages.ts";
import { createQueue } from "../sqs/queues.ts";
import { networkBed } from "../testing.ts";
import {
  type CreateGroupInput,
  createAutoScalingGroup,
  createOrUpdateTags,
  deleteAutoScalingGroup,
  deleteTags,
  describeAutoScalingGroups,
  describeScalingActivities,
  setDesiredCapacity,
  updateAutoScalingGroup,
} from "./groups.ts";
import { type ActionInput, describeLifecycleHooks, type HookInput, putLifecycleHook } from "./hooks.ts";
import {
  completeLifecycleAction,
  deleteLifecycleHook,
  describeAutoScalingInstances,
  detachInstances,
  enterStandby,
  exitStandby,
  recordLifecycleActionHeartbeat,
  setInstanceHealth,
  setInstanceProtection,
  terminateInstanceInAutoScalingGroup,
} from "./instances.ts";
import { rebalanceZones } from "./scaling.ts";
import { autoScalingOf } from "./state.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const TERMINATING = "autoscaling:EC2_INSTANCE_TERMINATING";
const LAUNCHING = "autoscaling:EC2_INSTANCE_LAUNCHING";

function bed(input: Partial<CreateGroupInput> = {}) {
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

function refusal(call: () => unknown, code: string): string {
  try {
    call();
  } catch (error) {
    assert.ok(error instanceof ServiceError, String(error));
    assert.equal(error.code, code, error.message);
    return error.message;
  }
  assert.fail(`the call went through; it should have been refused with ${code}`);
}

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

test("Hooks run: the instance waits in Terminating:Wait until its action is completed, and a notification is sent", () => {
  const { hook, members, end, state, pass, ec2, messages, complete, queueArn } = bed();
  hook({ NotificationTargetARN: queueArn, RoleARN: "arn:aws:iam::123456789012:role/notify", NotificationMetadata: "m" });
  assert.equal(messages()[0].Event, "autoscaling:TEST_NOTIFICATION");
  const id = members()[0]!.InstanceId;
  end(id);
  const [notice] = messages();
  assert.deepEqual(
    [
      notice.LifecycleTransition,
      notice.EC2InstanceId,
      notice.LifecycleHookName,
      notice.AutoScalingGroupName,
      notice.Origin,
      notice.Destination,
    ],
    [TERMINATING, id, "hold", "workers", "AutoScalingGroup", "EC2"],
  );
  assert.match(notice.LifecycleActionToken, /^[0-9a-f-]{36}$/);
  pass(10 * MINUTE);
  assert.deepEqual([state(id), ec2.instances.get(id)?.state], ["Terminating:Wait", "running"]);
  complete("CONTINUE", { LifecycleActionToken: notice.LifecycleActionToken, InstanceId: id });
  assert.equal(state(id), "Terminating:Proceed");
  pass(MINUTE);
  assert.deepEqual([state(id), ec2.instances.get(id)?.state], [undefined, "terminated"]);
});

test("Hooks report their own target, role, timeouts and default result", () => {
  const { hook, as, queueArn } = bed();
  hook({ NotificationTargetARN: queueArn, RoleARN: "arn:aws:iam::123456789012:role/notify", HeartbeatTimeout: 60 });
  hook({ DefaultResult: "CONTINUE" });
  const [seen] = describeLifecycleHooks(as, { AutoScalingGroupName: "workers" }).LifecycleHooks;
  assert.deepEqual(
    [seen!.NotificationTargetARN, seen!.RoleARN, seen!.HeartbeatTimeout, seen!.GlobalTimeout, seen!.DefaultResult],
    [queueArn, "arn:aws:iam::123456789012:role/notify", 60, 6000, "CONTINUE"],
  );
  assert.deepEqual(describeLifecycleHooks(as, { AutoScalingGroupName: "workers", LifecycleHookNames: ["other"] }).LifecycleHooks, []);
  refusal(() => hook({ HeartbeatTimeout: 29 }), "ValidationError");
  refusal(() => hook({ HeartbeatTimeout: 7201 }), "ValidationError");
  refusal(() => hook({ LifecycleHookName: "new", LifecycleTransition: "sideways" }), "ValidationError");
  refusal(() => describeLifecycleHooks(as, { AutoScalingGroupName: "nothing" }), "ValidationError");
});

test("A hook's time is over after its heartbeat timeout; heartbeats put it off, never beyond the global timeout", () => {
  const { hook, members, end, state, pass, as } = bed();
  hook({ HeartbeatTimeout: 60 });
  const [one, two] = members().map(({ InstanceId }) => InstanceId);
  const beat = (InstanceId: string) =>
    recordLifecycleActionHeartbeat(as, { AutoScalingGroupName: "workers", LifecycleHookName: "hold", InstanceId });
  end(one!);
  end(two!);
  pass(40_000);
  beat(one!);
  pass(40_000);
  assert.equal(state(one!), "Terminating:Wait");
  assert.notEqual(state(two!), "Terminating:Wait");
  for (let seconds = 0; seconds < 6000 && state(one!) === "Terminating:Wait"; seconds += 50) {
    beat(one!);
    pass(50_000);
  }
  assert.notEqual(state(one!), "Terminating:Wait");
  refusal(() => beat(one!), "ValidationError");
});

test("CompleteLifecycleAction without an active action, with a wrong token or an unknown instance is ValidationError", () => {
  const { hook, members, end, complete } = bed();
  const id = members()[0]!.InstanceId;
  refusal(() => complete("CONTINUE", { InstanceId: id }), "ValidationError");
  hook();
  assert.match(
    refusal(() => complete("CONTINUE", { InstanceId: id }), "ValidationError"),
    /No active Lifecycle Action/,
  );
  end(id);
  refusal(() => complete("CONTINUE", { LifecycleActionToken: "00000000-0000-4000-8000-000000000000" }), "ValidationError");
  refusal(() => complete("SIDEWAYS", { InstanceId: id }), "ValidationError");
  refusal(() => complete("CONTINUE", { InstanceId: "i-0123456789abcdef0" }), "ValidationError");
  complete("CONTINUE", { InstanceId: id });
  refusal(() => complete("CONTINUE", { InstanceId: id }), "ValidationError");
});

test("Two hooks hold an instance until both are completed; ABANDON ends the waiting of all; a removed hook lets go", () => {
  const { hook, members, end, state, complete, as } = bed();
  hook();
  hook({ LifecycleHookName: "second" });
  const [one, two, three] = members().map(({ InstanceId }) => InstanceId);
  for (const id of [one!, two!, three!]) end(id);
  complete("CONTINUE", { InstanceId: one! });
  assert.equal(state(one!), "Terminating:Wait");
  complete("CONTINUE", { InstanceId: one!, LifecycleHookName: "second" });
  assert.equal(state(one!), "Terminating:Proceed");
  complete("ABANDON", { InstanceId: two! });
  assert.equal(state(two!), "Terminating:Proceed");
  for (const LifecycleHookName of ["hold", "second"]) deleteLifecycleHook(as, { AutoScalingGroupName: "workers", LifecycleHookName });
  assert.equal(state(three!), "Terminating:Proceed");
});

test("A launch hook holds a new instance in Pending:Wait; ABANDON ends it and another is launched", () => {
  const { hook, as, members, pass, complete, state } = bed({ DesiredCapacity: 0 });
  hook({ LifecycleTransition: LAUNCHING });
  setDesiredCapacity(as, { AutoScalingGroupName: "workers", DesiredCapacity: 1 });
  pass(MINUTE);
  const first = members()[0]!.InstanceId;
  assert.equal(state(first), "Pending:Wait");
  complete("ABANDON", { InstanceId: first });
  pass(5 * MINUTE);
  const [second] = members();
  assert.deepEqual([state(first), second!.LifecycleState], [undefined, "Pending:Wait"]);
  complete("CONTINUE", { InstanceId: second!.InstanceId });
  assert.equal(state(second!.InstanceId), "InService");
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

test("A rebalance between zones launches before it terminates, with hooks on both", () => {
  const { as, hook, members, pass, complete, states } = bed({ DesiredCapacity: 4 });
  hook();
  hook({ LifecycleHookName: "in", LifecycleTransition: LAUNCHING });
  rebalanceZones(as, as.groups.get("workers")!);
  pass(MINUTE);
  assert.deepEqual([...states()].sort(), ["InService", "InService", "InService", "InService", "Pending:Wait"]);
  const added = members().find((member) => member.LifecycleState === "Pending:Wait")!.InstanceId;
  complete("CONTINUE", { InstanceId: added, LifecycleHookName: "in" });
  assert.deepEqual([...states()].sort(), ["InService", "InService", "InService", "InService", "Terminating:Wait"]);
  pass(2 * HOUR);
  assert.equal(members().length, 4);
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
});

test("A hook's event reaches the queue of a rule in EventBridge's envelope", () => {
  const { as, cloud, hook, members, end, messages, queueArn } = bed();
  rules(cloud.account).put("hooks", { name: "hooks", sources: ["aws.autoscaling"], queueArn });
  hook({ NotificationMetadata: "m" });
  end(members()[0]!.InstanceId);
  const [event] = messages();
  assert.deepEqual(
    [event.source, event["detail-type"], event.detail.LifecycleTransition, event.detail.NotificationMetadata],
    ["aws.autoscaling", "EC2 Instance-terminate Lifecycle Action", TERMINATING, "m"],
  );
  assert.deepEqual(event.resources, [as.groups.get("workers")!.arn]);
});
