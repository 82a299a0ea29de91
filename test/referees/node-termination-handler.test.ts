/** The reference's termination handler and ours are told the same on a real API server: Nodes, hooks and queues end the same. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { realWorld, sleep } from "../../src/runtime/world.ts";
import { createAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/groups.ts";
import { putLifecycleHook } from "../../src/sandbox/cloud/autoscaling/hooks.ts";
import { terminateInstanceInAutoScalingGroup } from "../../src/sandbox/cloud/autoscaling/instances.ts";
import { autoScalingOf } from "../../src/sandbox/cloud/autoscaling/state.ts";
import { stop } from "../../src/sandbox/cloud/ec2/instance-lifecycle.ts";
import { interruptSpot, recommendRebalance, scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { rules } from "../../src/sandbox/cloud/events/bus.ts";
import { launchNodes } from "../../src/sandbox/cloud/network.ts";
import { serve } from "../../src/sandbox/cloud/serve.ts";
import { createQueue } from "../../src/sandbox/cloud/sqs/queues.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { bed, eventually } from "../bed/bed.ts";
import { both, managed, messages, patienceMs, type Start, skip, world } from "./termination-handlers.ts";

const marking = ["--taint-node", "--exclude-from-load-balancers", "--enable-out-of-service-taint"];

/** All kinds of messages at once, each about a Node of its own. */
async function queueStory(t: TestContext, start: Start, name: string) {
  const lain = await bed(t);
  const { cloud, network, ec2, instances, join: joins, outcome } = await world(t, lain, 5);
  const [spot, rebalance, maintenance, stopping, untouched] = instances as [Instance, Instance, Instance, Instance, Instance];
  const as = autoScalingOf(cloud.account);
  createAutoScalingGroup(as, {
    AutoScalingGroupName: "workers",
    VPCZoneIdentifier: network.privateSubnetIds.join(","),
    MinSize: 0,
    MaxSize: 5,
    DesiredCapacity: 0,
    launch: { ImageId: "ami-0123456789abcdef0", InstanceType: "m5.large", MinCount: 1, MaxCount: 1 },
  });
  putLifecycleHook(as, {
    AutoScalingGroupName: "workers",
    LifecycleHookName: "drain",
    LifecycleTransition: "autoscaling:EC2_INSTANCE_TERMINATING",
  });
  const [held] = launchNodes(cloud, network, 1).map(({ id }) =>
    ec2.instances.update(id, { state: "running", tags: { ...ec2.instances.get(id)!.tags, ...managed } }),
  ) as [Instance];
  await joins(held);
  as.members.put(held.id, {
    instanceId: held.id,
    group: "workers",
    zone: held.zone,
    type: held.type,
    state: "InService",
    healthy: true,
    protected: false,
    launched: 0,
  });
  as.groups.update("workers", { desired: 1 });
  const { QueueUrl } = createQueue(cloud.account.sqs, { QueueName: "events" });
  const queueArn = `arn:aws:sqs:us-east-1:${cloud.account.id}:events`;
  rules(cloud.account).put("all", { name: "all", sources: ["aws.ec2", "aws.health", "aws.autoscaling"], queueArn });
  const served = await serve(cloud);
  t.after(() => served.close());
  const flags = [
    "--node-name=handler",
    "--enable-sqs-termination-draining",
    `--queue-url=${QueueUrl}`,
    "--aws-region=us-east-1",
    ...marking,
  ];
  await start(t, lain, name, flags, served.url);
  await eventually(() => assert.ok(cloud.controls.journal.calls("sqs:ReceiveMessage") + cloud.account.sqs.arrivals.size > 0), patienceMs);
  interruptSpot(ec2, ec2.instances.get(spot.id)!);
  recommendRebalance(ec2, ec2.instances.get(rebalance.id)!);
  scheduleMaintenance(ec2, ec2.instances.get(maintenance.id)!, {
    code: "system-reboot",
    description: "why",
    notBefore: Date.now() + 3_600_000,
  });
  stop(ec2, ec2.instances.get(stopping.id)!);
  terminateInstanceInAutoScalingGroup(as, { InstanceId: held.id, ShouldDecrementDesiredCapacity: true });
  await eventually(() => {
    cloud.account.time.settle();
    assert.notEqual(as.members.get(held.id)?.state, "Terminating:Wait");
  }, patienceMs);
  await eventually(() => assert.equal(messages(cloud, QueueUrl), 0), patienceMs);
  // The reference marks a Node out of service last of all.
  await sleep(realWorld().clock, 1_000);
  const seen = { spot, rebalance, maintenance, stopping, held, untouched };
  const outcomes = await Promise.all(Object.entries(seen).map(async ([kind, instance]) => [kind, await outcome(instance)] as const));
  const hooks = cloud.controls.journal.counts()["autoscaling:CompleteLifecycleAction"];
  return {
    outcomes: Object.fromEntries(outcomes.map(([kind, each]) => [kind, { ...each, pods: each.pods.length }])),
    hooks,
    messages: messages(cloud, QueueUrl),
  };
}

test("queue mode: every kind of message ends with the same Nodes, hooks and queue", { timeout: 300_000, skip }, async (t) => {
  const [theirs, mine] = await both(t, queueStory);
  assert.equal(theirs.outcomes.spot?.unschedulable, true, "the reference did its work");
  assert.deepEqual(mine, theirs);
});

/** Each kind of notice on a machine of its own, with a handler of its own. */
async function metadataStory(t: TestContext, start: Start, name: string) {
  const lain = await bed(t);
  const { cloud, ec2, instances, outcome } = await world(t, lain, 4);
  const [spot, rebalance, maintenance, termination] = instances as [Instance, Instance, Instance, Instance];
  for (const [index, instance] of instances.entries()) {
    const served = await serveTransport(cloud.imds(instance.id));
    t.after(() => served.close());
    const flags = [
      `--node-name=${instance.privateDnsName}`,
      `--metadata-url=${served.url}`,
      "--enable-asg-lifecycle-draining",
      "--enable-rebalance-draining",
      ...marking,
    ];
    await start(t, lain, `${name}-${index}`, flags, "");
  }
  interruptSpot(ec2, ec2.instances.get(spot.id)!);
  recommendRebalance(ec2, ec2.instances.get(rebalance.id)!);
  scheduleMaintenance(ec2, ec2.instances.get(maintenance.id)!, {
    code: "system-reboot",
    description: "why",
    notBefore: Date.now() + 3_600_000,
  });
  autoScalingOf(cloud.account).members.put(termination.id, {
    instanceId: termination.id,
    group: "g",
    zone: termination.zone,
    type: termination.type,
    state: "Terminating:Wait",
    healthy: true,
    protected: false,
    launched: 0,
  });
  const all = { spot, rebalance, maintenance, termination };
  const seen = async () =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(all).map(async ([kind, instance]) => {
          const each = await outcome(instance);
          return [kind, { ...each, pods: each.pods.length }] as const;
        }),
      ),
    );
  await eventually(async () => {
    for (const [kind, { pods: left, taints }] of Object.entries(await seen())) {
      assert.equal(left, 0, kind);
      assert.ok(
        taints.some((taint) => taint.includes("out-of-service")),
        kind,
      );
    }
  }, patienceMs);
  return seen();
}

test("metadata mode: every kind of notice ends with the same Node", { timeout: 300_000, skip }, async (t) => {
  const [theirs, mine] = await both(t, metadataStory);
  assert.deepEqual(mine, theirs);
});
