/** What was found wrong with the termination handler once, each in its shortest story. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { interruptSpot, recommendRebalance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { workerGroup } from "../bed/interruption-group.ts";
import { type InterruptionWorld, interruptionWorld } from "../bed/interruption-world.ts";

const polls = (w: InterruptionWorld) => w.until("the handler polls", () => w.aws.account.sqs.arrivals.size >= 1);

/** An instance that waits in the launch hooks of its group. */
async function launching(w: InterruptionWorld, hooks: readonly string[]) {
  const group = await workerGroup(w, 0);
  for (const hook of hooks) group.hook({ hook, launching: true });
  w.queueHandler();
  await polls(w);
  group.as.groups.update("workers", { desired: 1 });
  const waiting = () => group.as.members.values().find(({ instanceId }) => group.state(instanceId) === "Pending:Wait");
  await w.until("an instance waits in the hooks", () => waiting() !== undefined, 120_000);
  return { group, instance: w.aws.account.ec2.instances.get(waiting()!.instanceId)! };
}

test("a launch that two hooks hold is let go by both", async () => {
  const w = await interruptionWorld();
  const { group, instance } = await launching(w, ["join", "warm-up"]);
  await w.world.advance(5_000);
  await w.join(instance);
  await w.until("it is in service", () => group.state(instance.id) === "InService", 10_000);
  await w.until("both messages are gone", () => w.messages === 0, 5_000);
  w.close();
});

test("a launch that is told twice is completed once, and both messages go", async () => {
  const w = await interruptionWorld();
  const { group, instance } = await launching(w, ["join"]);
  const action = {
    EC2InstanceId: instance.id,
    AutoScalingGroupName: "workers",
    LifecycleHookName: "join",
    LifecycleTransition: "autoscaling:EC2_INSTANCE_LAUNCHING",
    LifecycleActionToken: group.as.actions.values()[0]!.token,
  };
  w.send({ RequestId: "again", ...action });
  w.send({ RequestId: "once more", ...action });
  await w.world.advance(5_000);
  await w.join(instance);
  await w.until("it is in service", () => group.state(instance.id) === "InService", 10_000);
  await w.until("every message is gone", () => w.messages === 0, 5_000);
  assert.equal(w.aws.controls.journal.calls("autoscaling:CompleteLifecycleAction"), 1);
  w.close();
});

test("a Node that comes back under the same name on another instance is not drained for its predecessor", async () => {
  const w = await interruptionWorld();
  const [old, other] = await w.nodes(2);
  const name = old!.privateDnsName;
  await w.pod({ name: "old", node: name, labels: { app: "db" } });
  await w.budget("db", 0);
  w.queueHandler();
  await polls(w);
  interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(old!.id)!);
  await w.until("it is at work", () => w.evictions().length > 0, 5_000);
  await w.say("DELETE", `/api/v1/nodes/${name}`);
  await w.say("DELETE", "/api/v1/namespaces/default/pods/old", { gracePeriodSeconds: 0 });
  await w.say("DELETE", `/api/v1/nodes/${other!.privateDnsName}`);
  // The address has gone to another machine, and with it the name.
  await w.join({ ...other!, privateDnsName: name });
  await w.pod({ name: "new", node: name });
  await w.until("the message is gone", () => w.messages === 0, 30_000);
  await w.world.advance(60_000);
  assert.deepEqual([w.isCordoned(name), w.podNames(name), w.plan(name)], [false, ["new"], undefined]);
  w.close();
});

test("a notice that comes before the Node has joined is acted on when it has", async () => {
  const w = await interruptionWorld();
  const [instance] = await w.nodes(1);
  const name = instance!.privateDnsName;
  await w.say("DELETE", `/api/v1/nodes/${name}`);
  w.metadataHandler(instance!, ["--enable-rebalance-draining"]);
  recommendRebalance(w.aws.account.ec2, w.aws.account.ec2.instances.get(instance!.id)!);
  await w.world.advance(30_000);
  await w.join(instance!);
  await w.until("it is cordoned", () => w.isCordoned(name), 5_000);
  await w.until("it has ended", () => w.plan(name)?.phase === "ended", 5_000);
  w.close();
});

test("a hook whose heartbeats Auto Scaling stops taking is given up before that, with the reason", async () => {
  const w = await interruptionWorld();
  // A hundred times its timeout is as long as any hook holds: fifty minutes here, though the user allows two days.
  const group = await workerGroup(w, 1, 30);
  const [instance] = group.instances;
  await w.pod({ name: "db-0", node: instance!.privateDnsName, labels: { app: "db" } });
  await w.budget("db", 0);
  w.queueHandler(["--heartbeat-interval=30", "--heartbeat-until=172800"]);
  await polls(w);
  group.hook({ hook: "drain", heartbeatSeconds: 40 });
  group.end(instance!.id);
  const begun = w.now;
  await w.until("it is given up", () => group.state(instance!.id) !== "Terminating:Wait", 4_000_000);
  assert.ok(w.now - begun < 4_000_000, `${w.now - begun} ms`);
  assert.match(w.eventMessages("PostDrainError")[0] ?? "", /abandoned: .*default\/db-0/);
  await w.until("the message is gone", () => w.messages === 0, 10_000);
  w.close();
});

test("a watch of Nodes that has stalled, and somebody who writes the Node meanwhile: it is cordoned and drained with few calls", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  await w.pod({ name: "web", node: name, endsAfterMs: 2_000 });
  w.queueHandler();
  await polls(w);
  w.cluster.stallWatches(true);
  await w.say("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels: { written: "meanwhile" } } });
  interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(node!.id)!);
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 20_000);
  const writes = w.calls.filter(({ path }) => path.endsWith(`/nodes/${name}`));
  assert.ok(writes.length <= 4, `${writes.length} writes of the Node`);
  assert.equal(w.node(name)?.metadata?.labels?.written, "meanwhile");
  w.close();
});
