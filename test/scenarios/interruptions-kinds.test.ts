/** Every kind of message from its arrival to its end: what becomes of the Node, of its pods, of hooks and of the message. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { interruptSpot, recommendRebalance, scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { envelope } from "../../src/sandbox/cloud/events/bus.ts";
import { capacityBlockExpiration, reservationInterruption, scheduledChange, stateChange } from "../../src/sandbox/cloud/events/shapes.ts";
import { workerGroup } from "../bed/interruption-group.ts";
import { type InterruptionWorld, interruptionWorld } from "../bed/interruption-world.ts";

const polls = (w: InterruptionWorld) => w.until("the handler polls", () => w.aws.account.sqs.arrivals.size >= 1);
const current = (w: InterruptionWorld, { id }: Instance) => w.aws.account.ec2.instances.get(id)!;
const events = (w: InterruptionWorld) => w.aws.account;
const ours = (key: string) => key.startsWith("aws-node-termination-handler/");
const taintsOf = (w: InterruptionWorld, node: string) => (w.node(node)?.spec?.taints ?? []).filter(({ key }) => ours(key));
const drained = (w: InterruptionWorld, node: string) => w.until("it has ended", () => w.plan(node)?.phase === "ended", 60_000);

interface Kind {
  /** AWS says it of the first of the instances. */
  readonly tell: (w: InterruptionWorld, instance: Instance) => void;
  readonly reason: string;
  readonly taint: string | undefined;
}

const hook = (instance: Instance, transition = "TERMINATING") => ({
  EC2InstanceId: instance.id,
  AutoScalingGroupName: "workers",
  LifecycleHookName: "drain",
  LifecycleActionToken: "0aaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee",
  LifecycleTransition: `autoscaling:EC2_INSTANCE_${transition}`,
});

const kinds: Readonly<Record<string, Kind>> = {
  "spot interruption": {
    tell: (w, it) => void interruptSpot(w.aws.account.ec2, current(w, it)),
    reason: "SpotInterruption",
    taint: "spot-itn",
  },
  "rebalance recommendation": {
    tell: (w, it) => recommendRebalance(w.aws.account.ec2, current(w, it)),
    reason: "RebalanceRecommendation",
    taint: "rebalance-recommendation",
  },
  "scheduled change": {
    tell: (w, it) =>
      void scheduleMaintenance(w.aws.account.ec2, current(w, it), {
        code: "system-reboot",
        description: "why",
        notBefore: w.now + 3_600_000,
      }),
    reason: "ScheduledEvent",
    taint: "scheduled-maintenance",
  },
  "state change": {
    tell: (w, it) => w.send(envelope(events(w), stateChange(events(w), it.id, "stopping"))),
    reason: "StateChange",
    taint: undefined,
  },
  "capacity reservation": {
    tell: (w, it) => w.send(envelope(events(w), reservationInterruption(events(w), it.id, "use1-az1", w.now + 120_000))),
    reason: "CapacityInterruption",
    taint: "spot-itn",
  },
  "termination by EventBridge": {
    tell: (w, it) =>
      w.send({ id: "5", "detail-type": "EC2 Instance-terminate Lifecycle Action", source: "aws.autoscaling", detail: hook(it) }),
    reason: "ASGLifecycle",
    taint: "asg-lifecycle-termination",
  },
  "termination by Auto Scaling itself": {
    tell: (w, it) => w.send({ RequestId: "6", ...hook(it) }),
    reason: "ASGLifecycle",
    taint: "asg-lifecycle-termination",
  },
  "termination by way of SNS": {
    tell: (w, it) => w.send({ Type: "Notification", Message: JSON.stringify({ RequestId: "7", ...hook(it) }) }),
    reason: "ASGLifecycle",
    taint: "asg-lifecycle-termination",
  },
};

for (const [kind, { tell, reason, taint }] of Object.entries(kinds)) {
  test(`${kind}: the Node is cordoned, tainted and drained, no other is touched, and the message goes`, async () => {
    const w = await interruptionWorld();
    const [hit, other] = await w.nodes(2);
    const name = hit!.privateDnsName;
    await w.pod({ name: "web", node: name, endsAfterMs: 2_000 });
    await w.pod({ name: "else", node: other!.privateDnsName });
    const handler = w.queueHandler(["--taint-node", "--exclude-from-load-balancers"]);
    await polls(w);
    tell(w, hit!);
    await drained(w, name);
    await w.until("the message is gone", () => w.messages === 0, 5_000);
    assert.deepEqual([w.isCordoned(name), w.podNames(name)], [true, []]);
    assert.deepEqual(
      taintsOf(w, name).map(({ key, effect }) => [key, effect]),
      taint === undefined ? [] : [[`aws-node-termination-handler/${taint}`, "NoSchedule"]],
    );
    for (const { value = "" } of taintsOf(w, name)) assert.ok(value.length > 0 && value.length <= 63, value);
    assert.equal(
      w.node(name)?.metadata?.labels?.["node.kubernetes.io/exclude-from-external-load-balancers"],
      "aws-node-termination-handler",
    );
    assert.deepEqual(w.events(name), ["CordonAndDrain", "PostDrain", "PreDrain", reason].sort());
    assert.deepEqual([w.isCordoned(other!.privateDnsName), w.podNames(other!.privateDnsName)], [false, ["else"]]);
    const counted = (action: string) => new RegExp(`^actions_total\\{node_action="${action}",node_status="success",.*\\} 1$`, "m");
    for (const action of ["pre-drain", "cordon-and-drain", "post-drain"]) assert.match(await handler.metrics(), counted(action));
    w.close();
  });
}

test("a capacity block that ends drains every instance of its reservation and none else", async () => {
  const w = await interruptionWorld();
  const [first, second, other] = await w.nodes(3);
  const { instances } = w.aws.account.ec2;
  for (const { id } of [first!, second!]) instances.update(id, { capacityReservationId: "cr-0123456789abcdef0" });
  w.queueHandler();
  await polls(w);
  w.send(envelope(events(w), capacityBlockExpiration(events(w), "cr-0123456789abcdef0", w.now + 40 * 60_000)));
  for (const { privateDnsName } of [first!, second!]) await drained(w, privateDnsName);
  await w.until("the message is gone", () => w.messages === 0, 5_000);
  assert.equal(w.isCordoned(other!.privateDnsName), false);
  w.close();
});

test("maintenance of many instances in one message drains each, and the message goes with the last of them", async () => {
  const w = await interruptionWorld();
  const nodes = await w.nodes(3);
  const [slow] = nodes;
  await w.pod({ name: "slow", node: slow!.privateDnsName, graceSeconds: 90, endsAfterMs: 60_000 });
  w.queueHandler();
  await polls(w);
  const ids = nodes.map(({ id }) => id);
  const change = scheduledChange(events(w), ids, "AWS_EC2_INSTANCE_STOP_SCHEDULED", "why", w.now + 86_400_000);
  w.send(envelope(events(w), change));
  for (const { privateDnsName } of nodes.slice(1)) await drained(w, privateDnsName);
  await w.world.advance(30_000);
  assert.equal(w.messages, 1, "one of them is not done yet");
  await w.until("the last is drained", () => w.plan(slow!.privateDnsName)?.phase === "ended", 60_000);
  await w.until("the message is gone", () => w.messages === 0, 5_000);
  w.close();
});

test("cordon-only: the Node is cordoned, its pods stay, the hook and the message go", async () => {
  const w = await interruptionWorld();
  const group = await workerGroup(w, 1);
  const [instance] = group.instances;
  const name = instance!.privateDnsName;
  await w.pod({ name: "web", node: name });
  const handler = w.queueHandler(["--cordon-only", "--taint-node", "--enable-out-of-service-taint"]);
  await polls(w);
  group.end(instance!.id);
  await w.until("the hook is completed", () => group.state(instance!.id) === "Terminating:Proceed", 10_000);
  await w.until("the message is gone", () => w.messages === 0, 5_000);
  assert.deepEqual([w.isCordoned(name), w.podNames(name), w.evictions()], [true, ["web"], []]);
  assert.deepEqual(
    w
      .node(name)
      ?.spec?.taints?.map(({ key }) => key)
      .filter((key) => ours(key) || key.includes("out-of-service")),
    ["aws-node-termination-handler/asg-lifecycle-termination"],
  );
  assert.deepEqual(w.events(name), ["ASGLifecycle", "Cordon", "PostDrain", "PreDrain"]);
  assert.match(await handler.metrics(), /actions_total\{node_action="cordon",node_status="success",.*\} 1/);
  w.close();
});

test("a drained Node is marked out of service last of all, with the value and effect that Kubernetes acts on", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  await w.pod({ name: "web", node: name, endsAfterMs: 5_000 });
  w.queueHandler(["--enable-out-of-service-taint"]);
  await polls(w);
  const marked = () => w.node(name)?.spec?.taints?.filter(({ key }) => key === "node.kubernetes.io/out-of-service") ?? [];
  interruptSpot(w.aws.account.ec2, current(w, node!));
  await w.until("it is at work", () => w.evictions().length > 0, 5_000);
  assert.deepEqual(marked(), []);
  await drained(w, name);
  assert.deepEqual(marked(), [{ key: "node.kubernetes.io/out-of-service", value: "nodeshutdown", effect: "NoExecute" }]);
  w.close();
});

test("a policy of ignore: the Node is left alone and the message goes", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  w.queueHandler(["--event-policies=rebalance=ignore"]);
  await polls(w);
  recommendRebalance(w.aws.account.ec2, current(w, node!));
  await w.until("the message is gone", () => w.messages === 0, 5_000);
  assert.deepEqual(w.calls, []);
  w.close();
});

test("notices that no Node is concerned by are deleted at once: tests of hooks, states that stay, other services", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const handler = w.queueHandler();
  await polls(w);
  w.send({ Event: "autoscaling:TEST_NOTIFICATION" });
  w.send({ id: "1", "detail-type": "x", source: "aws.autoscaling", detail: { Event: "autoscaling:TEST_NOTIFICATION" } });
  w.send(envelope(events(w), stateChange(events(w), node!.id, "running")));
  w.send({ id: "2", "detail-type": "AWS Health Event", source: "aws.health", detail: { service: "RDS" } });
  await w.until("they are gone", () => w.messages === 0, 5_000);
  assert.deepEqual(w.calls, []);
  assert.match(await handler.metrics(), /fairlead_interruption_messages_total\{outcome="ignored"\} 4/);
  assert.match(await handler.metrics(), /^events_error_total\{otel_scope_name="aws.node.termination.handler",otel_scope_version=""\} 0$/m);
  w.close();
});
