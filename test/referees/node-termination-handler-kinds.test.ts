/**
 * Further kinds of messages and notices, told to the reference's termination handler and to ours on a real API server.
 *
 * Where they differ, the difference is an improvement of ours and stands in the expectation, with its reason.
 */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { nodes } from "../../src/kube/builtin.ts";
import { realWorld, sleep } from "../../src/runtime/world.ts";
import { createAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/groups.ts";
import { putLifecycleHook } from "../../src/sandbox/cloud/autoscaling/hooks.ts";
import { terminateInstanceInAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/instances.ts";
import { type AutoScaling, autoScalingOf, type LifecycleState } from "../../src/sandbox/cloud/autoscaling/state.ts";
import { endMaintenance, recommendRebalance, scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { envelope } from "../../src/sandbox/cloud/events/bus.ts";
import { scheduledChange, stateChange } from "../../src/sandbox/cloud/events/shapes.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { sendMessage } from "../../src/sandbox/cloud/sqs/messages.ts";
import { createQueue } from "../../src/sandbox/cloud/sqs/queues.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { bed, eventually } from "../bed/bed.ts";
import { both, messages, patienceMs, type Start, skip, world } from "./termination-handlers.ts";

const timeout = 300_000;

/** A world with a queue, and a handler that reads it. */
async function queueWorld(t: TestContext, start: Start, name: string, count: number, flags: readonly string[]) {
  const lain = await bed(t);
  const w = await world(t, lain, count);
  const { cloud } = w;
  const { QueueUrl } = createQueue(cloud.account.sqs, { QueueName: "events" });
  const served = await serve(cloud);
  t.after(() => served.close());
  const own = ["--node-name=handler", "--enable-sqs-termination-draining", `--queue-url=${QueueUrl}`, "--aws-region=us-east-1"];
  await start(t, lain, name, [...own, "--taint-node", ...flags], served.url);
  await eventually(() => assert.ok(cloud.controls.journal.calls("sqs:ReceiveMessage") + cloud.account.sqs.arrivals.size > 0), patienceMs);
  const ended = async (queueLeft = 0) => {
    await eventually(() => assert.equal(messages(cloud, QueueUrl), queueLeft), patienceMs);
    await sleep(realWorld().clock, 500);
  };
  return {
    ...w,
    lain,
    ended,
    queueArn: `arn:aws:sqs:us-east-1:${cloud.account.id}:events`,
    send: (body: object) => void sendMessage(cloud.account.sqs, { QueueUrl, MessageBody: JSON.stringify(body) }),
    seen: async (all: Readonly<Record<string, Instance>>) => {
      const found = await Promise.all(Object.entries(all).map(async ([kind, one]) => [kind, await w.outcome(one)] as const));
      return Object.fromEntries(found.map(([kind, each]) => [kind, { ...each, pods: each.pods.length }]));
    },
    hooks: () => cloud.controls.journal.counts()["autoscaling:CompleteLifecycleAction"],
  };
}

/** Groups that have an instance each, and hooks for it. */
function groupOf(as: AutoScaling, name: string, instance: Instance, subnets: readonly string[], state: LifecycleState): void {
  createAutoScalingGroup(as, {
    AutoScalingGroupName: name,
    VPCZoneIdentifier: subnets.join(","),
    MinSize: 0,
    MaxSize: 5,
    DesiredCapacity: 0,
    launch: { ImageId: "ami-0123456789abcdef0", InstanceType: "m5.large", MinCount: 1, MaxCount: 1 },
  });
  const { id: instanceId, zone, type } = instance;
  as.members.put(instanceId, { instanceId, group: name, zone, type, state, healthy: true, protected: false, launched: 0 });
  as.groups.update(name, { desired: 1 });
}

async function hookStory(t: TestContext, start: Start, name: string) {
  const w = await queueWorld(t, start, name, 3, []);
  const { cloud, network, send, lain } = w;
  const [direct, bySns, launched] = w.instances as [Instance, Instance, Instance];
  const as = autoScalingOf(cloud.account);
  for (const [group, instance] of Object.entries({ direct, sns: bySns })) {
    groupOf(as, group, instance, network.privateSubnetIds, "InService");
    putLifecycleHook(as, {
      AutoScalingGroupName: group,
      LifecycleHookName: "drain",
      LifecycleTransition: "autoscaling:EC2_INSTANCE_TERMINATING",
      // Sends a test notification, too.
      ...(group === "direct" && { NotificationTargetARN: w.queueArn, RoleARN: `arn:aws:iam::${cloud.account.id}:role/notify` }),
    });
    terminateInstanceInAutoScalingGroup(as, { InstanceId: instance.id, ShouldDecrementDesiredCapacity: true });
  }
  const held = as.actions.values().find(({ group }) => group === "sns")!;
  const action = (token: string, group: string, hook: string, instance: Instance, transition: string) => ({
    RequestId: token,
    Time: new Date().toISOString(),
    EC2InstanceId: instance.id,
    AutoScalingGroupName: group,
    LifecycleHookName: hook,
    LifecycleActionToken: token,
    LifecycleTransition: transition,
  });
  const notification = action(held.token, "sns", "drain", bySns, "autoscaling:EC2_INSTANCE_TERMINATING");
  send({ Type: "Notification", Message: JSON.stringify(notification) });
  // A launch that waits for its Node.
  groupOf(as, "launching", launched, network.privateSubnetIds, "Pending:Wait");
  const transition = "autoscaling:EC2_INSTANCE_LAUNCHING" as const;
  putLifecycleHook(as, { AutoScalingGroupName: "launching", LifecycleHookName: "join", LifecycleTransition: transition });
  const token = "0aaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee";
  const times = { deadline: Date.now() + 600_000, lastDeadline: Date.now() + 600_000 };
  as.actions.put(token, { token, group: "launching", hook: "join", instanceId: launched.id, transition, ...times });
  const ready = (status: string) =>
    lain.cluster.admin.patch(
      nodes,
      { name: launched.privateDnsName, subresource: "status" },
      { strategic: { status: { conditions: [{ type: "Ready", status }] } } },
    );
  await ready("False");
  send(action(token, "launching", "join", launched, transition));
  await sleep(realWorld().clock, 5_000);
  assert.ok(as.actions.has(token), "it is not let in before its Node is ready");
  await ready("True");
  await w.ended();
  return { outcomes: await w.seen({ direct, bySns, launched }), hooks: w.hooks(), held: as.actions.size };
}

test("hooks told by Auto Scaling itself and by SNS, a test notification, and a launch", { timeout, skip }, async (t) => {
  const [theirs, mine] = await both(t, hookStory);
  assert.deepEqual(theirs.hooks, { ok: 3 }, "the reference did its work");
  assert.deepEqual(mine, theirs);
});

async function leftAloneStory(t: TestContext, start: Start, name: string) {
  const w = await queueWorld(t, start, name, 3, ["--delete-sqs-msg-if-node-not-found"]);
  const { cloud, ec2, send, lain } = w;
  const [unmanaged, gone, running] = w.instances as [Instance, Instance, Instance];
  ec2.instances.update(unmanaged.id, { tags: {} });
  await lain.cluster.admin.delete(nodes, { name: gone.privateDnsName });
  const spot = (id: string) => ({
    id,
    "detail-type": "EC2 Spot Instance Interruption Warning",
    source: "aws.ec2",
    time: new Date().toISOString(),
    detail: { "instance-id": id },
  });
  for (const { id } of [unmanaged, gone]) send(spot(id));
  send(spot("i-0fedcba9876543210"));
  send(envelope(cloud.account, stateChange(cloud.account, running.id, "running")));
  send({ id: "1", "detail-type": "AWS Health Event", source: "aws.health", time: "", detail: { service: "RDS" } });
  send({ Event: "autoscaling:TEST_NOTIFICATION" });
  await w.ended();
  return w.seen({ unmanaged, running });
}

test("what concerns no Node is deleted and changes nothing", { timeout, skip }, async (t) => {
  const [theirs, mine] = await both(t, leftAloneStory);
  assert.deepEqual(mine, theirs);
  assert.equal(mine.unmanaged?.unschedulable, false);
});

async function cordonStory(t: TestContext, start: Start, name: string) {
  const w = await queueWorld(t, start, name, 2, ["--cordon-only", "--enable-out-of-service-taint", "--taint-effect=PreferNoSchedule"]);
  const [spot, stopping] = w.instances as [Instance, Instance];
  const { account } = w.cloud;
  w.send({
    id: "1",
    "detail-type": "EC2 Spot Instance Interruption Warning",
    source: "aws.ec2",
    time: new Date().toISOString(),
    detail: { "instance-id": spot.id },
  });
  w.send(envelope(account, stateChange(account, stopping.id, "stopping")));
  await w.ended();
  return w.seen({ spot, stopping });
}

test("cordon-only: Nodes are cordoned, pods stay, messages go", { timeout, skip }, async (t) => {
  const [theirs, mine] = await both(t, cordonStory);
  assert.equal(theirs.spot?.pods, 1);
  assert.deepEqual(mine, theirs);
});

/** One message about two instances, and two messages about one. */
async function manyStory(t: TestContext, start: Start, name: string) {
  const w = await queueWorld(t, start, name, 3, []);
  const { account } = w.cloud;
  const [first, second, twice] = w.instances as [Instance, Instance, Instance];
  w.send(
    envelope(account, scheduledChange(account, [first.id, second.id], "AWS_EC2_SYSTEM_REBOOT_SCHEDULED", "why", Date.now() + 3_600_000)),
  );
  for (const [id, type] of Object.entries({ a: "EC2 Spot Instance Interruption Warning", b: "EC2 Instance Rebalance Recommendation" })) {
    w.send({ id, "detail-type": type, source: "aws.ec2", time: new Date().toISOString(), detail: { "instance-id": twice.id } });
  }
  await eventually(async () => {
    const { first: one, twice: other } = await w.seen({ first, twice });
    assert.deepEqual([one?.pods, other?.pods], [0, 0]);
  }, patienceMs);
  await sleep(realWorld().clock, 5_000);
  return w.seen({ first, second, twice });
}

test("many instances in one message, many messages of one instance", { timeout, skip }, async (t) => {
  const [theirs, mine] = await both(t, manyStory);
  assert.deepEqual(mine.first, theirs.first);
  // The reference gives every instance of a Health event the same id, and acts on the first one only.
  assert.equal(theirs.second?.unschedulable, false);
  assert.deepEqual(mine.second, theirs.first);
  assert.deepEqual([mine.twice?.unschedulable, mine.twice?.pods], [theirs.twice?.unschedulable, theirs.twice?.pods]);
});

/** Notices of the metadata service that do not end with a drain. */
async function quietStory(t: TestContext, start: Start, name: string) {
  const lain = await bed(t);
  const { cloud, ec2, instances, outcome } = await world(t, lain, 3);
  const [rebalance, maintained, cancelled] = instances as [Instance, Instance, Instance];
  for (const [index, instance] of instances.entries()) {
    const served = await serveTransport(cloud.imds(instance.id));
    t.after(() => served.close());
    const flags = [
      `--node-name=${instance.privateDnsName}`,
      `--metadata-url=${served.url}`,
      "--enable-rebalance-monitoring",
      "--taint-node",
    ];
    await start(t, lain, `${name}-${index}`, flags, "");
  }
  const schedule = ({ id }: Instance, code: "system-maintenance" | "system-reboot") =>
    scheduleMaintenance(ec2, ec2.instances.get(id)!, { code, description: "why", notBefore: Date.now() + 3_600_000 });
  recommendRebalance(ec2, ec2.instances.get(rebalance.id)!);
  schedule(maintained, "system-maintenance");
  const event = schedule(cancelled, "system-reboot");
  const drained = async (instance: Instance) => (await outcome(instance)).pods.length === 0;
  await eventually(async () => assert.ok((await drained(maintained)) && (await drained(cancelled))), patienceMs);
  await eventually(async () => assert.equal((await outcome(rebalance)).unschedulable, true), patienceMs);
  endMaintenance(ec2, ec2.instances.get(cancelled.id)!, event, "Canceled");
  await eventually(async () => {
    const { unschedulable, taints, labels } = await outcome(cancelled);
    assert.deepEqual([unschedulable, taints, labels], [false, [], []]);
  }, patienceMs);
  const all = { rebalance, maintained, cancelled };
  const found = await Promise.all(Object.entries(all).map(async ([kind, one]) => [kind, await outcome(one)] as const));
  return Object.fromEntries(found.map(([kind, each]) => [kind, { ...each, pods: each.pods.length }]));
}

test("metadata mode: a rebalance that only cordons, maintenance without a restart, and one that is called off", {
  timeout,
  skip,
}, async (t) => {
  const [theirs, mine] = await both(t, quietStory);
  assert.deepEqual(mine, theirs);
  assert.equal(mine.rebalance?.pods, 1);
});
