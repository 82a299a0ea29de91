import assert from "node:assert/strict";
import { test } from "node:test";
import { rules } from "../events/bus.ts";
import { refusal } from "../testing.ts";
import { setDesiredCapacity } from "./groups.ts";
import { describeLifecycleHooks } from "./hooks.ts";
import { deleteLifecycleHook, recordLifecycleActionHeartbeat } from "./instances.ts";
import { rebalanceZones } from "./scaling.ts";
import { bed, HOUR, LAUNCHING, MINUTE, TERMINATING } from "./testing.ts";

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
