/** Queue mode, whole, on virtual time: one story each. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { interruptSpot, recommendRebalance, scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { workerGroup } from "../bed/interruption-group.ts";
import { type InterruptionWorld, interruptionWorld } from "../bed/interruption-world.ts";

const polls = (w: InterruptionWorld, count = 1) => w.until("the handler polls", () => w.aws.account.sqs.arrivals.size >= count);
const instanceOf = (w: InterruptionWorld, id: string) => w.aws.account.ec2.instances.get(id)!;

test("a scale-in: the hook holds the instance until its Node is drained, and no longer", async () => {
  const w = await interruptionWorld();
  const { ids, end, state } = await workerGroup(w, 2);
  const node = instanceOf(w, ids[0]!).privateDnsName;
  await w.pod({ name: "web", node, endsAfterMs: 8_000 });
  w.queueHandler();
  await polls(w);
  end(ids[0]!);
  await w.until("the pod is gone", () => w.podNames(node).length === 0);
  assert.equal(state(ids[0]!), "Terminating:Wait");
  await w.until("the hook is completed", () => state(ids[0]!) === "Terminating:Proceed", 5_000);
  await w.until("the message is gone", () => w.messages === 0, 5_000);
  const { "autoscaling:CompleteLifecycleAction": completions } = w.aws.controls.journal.counts();
  assert.deepEqual(completions, { ok: 1 });
  assert.deepEqual(w.events(node), ["ASGLifecycle", "CordonAndDrain", "PostDrain", "PreDrain"]);
  w.close();
});

test("a budget that never gives way: the hook is abandoned before it runs out, with the reason in an Event", async () => {
  const w = await interruptionWorld();
  const { ids, end, state } = await workerGroup(w, 1);
  const node = instanceOf(w, ids[0]!).privateDnsName;
  await w.pod({ name: "db-0", node, labels: { app: "db" } });
  await w.budget("db", 0);
  w.queueHandler();
  await polls(w);
  end(ids[0]!);
  const begun = w.now;
  await w.until("it is given up", () => state(ids[0]!) !== "Terminating:Wait", 300_000);
  assert.ok(w.now - begun < 300_000, "before Auto Scaling gave up by itself");
  assert.ok(w.now - begun > 280_000, "not sooner than it had to");
  await w.until("the message is gone", () => w.messages === 0, 10_000);
  assert.match(w.eventMessages("PostDrainError")[0] ?? "", /abandoned: .*default\/db-0 .*disruption budget/);
  assert.deepEqual(w.podNames(node), ["db-0"]);
  w.close();
});

test("a budget that gives way in time: the pod goes, and the hook is completed", async () => {
  const w = await interruptionWorld();
  const { ids, end, state } = await workerGroup(w, 1);
  const node = instanceOf(w, ids[0]!).privateDnsName;
  await w.pod({ name: "db-0", node, labels: { app: "db" }, endsAfterMs: 1_000 });
  await w.budget("db", 0);
  w.queueHandler();
  await polls(w);
  end(ids[0]!);
  await w.world.advance(150_000);
  await w.allow("db", 1);
  await w.until("the hook is completed", () => state(ids[0]!) === "Terminating:Proceed", 15_000);
  w.close();
});

test("near the deadline pods are deleted past their budget, where that is allowed", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  await w.pod({ name: "db-0", node: node!.privateDnsName, labels: { app: "db" }, graceSeconds: 60 });
  await w.budget("db", 0);
  w.queueHandler(["--override-budgets-before-deadline-seconds=40", "--force-delete-before-deadline-seconds=20"]);
  await polls(w);
  const deadline = interruptSpot(w.aws.account.ec2, instanceOf(w, node!.id));
  await w.until("the pod is gone", () => w.pods().length === 0, 125_000);
  const deletions = w.calls.filter(({ method, path }) => method === "DELETE" && path.endsWith("/db-0"));
  assert.ok(deletions.length >= 2 && deletions.length <= 4, `${deletions.length} deletions`);
  assert.ok(deadline - deletions[0]!.at <= 40_000);
  assert.ok(w.now <= deadline + 1_000);
  w.close();
});

test("heartbeats keep a hook alive through a long drain", async () => {
  const w = await interruptionWorld();
  const { ids, end, state } = await workerGroup(w, 1, 60);
  const node = instanceOf(w, ids[0]!).privateDnsName;
  await w.pod({ name: "slow", node, graceSeconds: 600, endsAfterMs: 200_000 });
  w.queueHandler(["--heartbeat-interval=30", "--heartbeat-until=900"]);
  await polls(w);
  end(ids[0]!);
  await w.until("the pod is gone", () => w.podNames(node).length === 0, 240_000);
  assert.equal(state(ids[0]!), "Terminating:Wait");
  await w.until("the hook is completed", () => state(ids[0]!) === "Terminating:Proceed", 5_000);
  const beats = w.aws.controls.journal.calls("autoscaling:RecordLifecycleActionHeartbeat");
  assert.ok(beats >= 5 && beats <= 7, `${beats} heartbeats`);
  w.close();
});

test("one poison message, a foreign one and one of an unmanaged instance stop nobody", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const [unmanaged] = await w.nodes(1, {});
  const [foreign] = await w.nodes(1);
  await w.say("DELETE", `/api/v1/nodes/${foreign!.privateDnsName}`);
  const handler = w.queueHandler();
  await polls(w);
  w.send("poison");
  w.send({ "detail-type": "x", source: "aws.s3", detail: {} });
  for (const each of [unmanaged!, foreign!, node!]) interruptSpot(w.aws.account.ec2, instanceOf(w, each.id));
  await w.until("the Node is drained", () => w.plan(node!.privateDnsName)?.phase === "ended", 10_000);
  assert.equal(w.isCordoned(unmanaged!.privateDnsName), false);
  // The poison goes after three receipts; what is another cluster's is left in the queue.
  await w.until("only the foreign message is left", () => w.messages === 1, 70_000);
  assert.match(await handler.metrics(), /fairlead_interruption_messages_total\{outcome="unreadable"\} 6/);
  w.close();
});

test("a message about an instance without a Node is deleted, and its hook completed, where that is asked for", async () => {
  const w = await interruptionWorld();
  const { ids, end, state } = await workerGroup(w, 1);
  await w.say("DELETE", `/api/v1/nodes/${instanceOf(w, ids[0]!).privateDnsName}`);
  w.queueHandler(["--delete-sqs-msg-if-node-not-found"]);
  await polls(w);
  end(ids[0]!);
  await w.until("the hook is completed", () => state(ids[0]!) === "Terminating:Proceed", 10_000);
  await w.until("the message is gone", () => w.messages === 0, 5_000);
  w.close();
});

test("a launch is let go when its Node is ready, not before", async () => {
  const w = await interruptionWorld();
  const { as, state, hook } = await workerGroup(w, 0);
  hook({ hook: "join", launching: true });
  w.queueHandler();
  await polls(w);
  as.groups.update("workers", { desired: 1 });
  await w.until(
    "an instance waits in the hook",
    () => as.members.values().some(({ instanceId }) => state(instanceId) === "Pending:Wait"),
    120_000,
  );
  const { instanceId } = as.members.values()[0]!;
  const instance = instanceOf(w, instanceId);
  await w.join(instance, "False");
  await w.world.advance(60_000);
  assert.equal(state(instanceId), "Pending:Wait");
  await w.say("PATCH", `/api/v1/nodes/${instance.privateDnsName}/status`, { status: { conditions: [{ type: "Ready", status: "True" }] } });
  await w.until("it is in service", () => state(instanceId) === "InService", 5_000);
  await w.until("the message is gone", () => w.messages === 0, 5_000);
  assert.equal(w.isCordoned(instance.privateDnsName), false);
  w.close();
});

test("a Node with two notices is drained once, and both messages go", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  await w.pod({ name: "web", node: node!.privateDnsName, endsAfterMs: 5_000 });
  w.queueHandler();
  await polls(w);
  recommendRebalance(w.aws.account.ec2, instanceOf(w, node!.id));
  interruptSpot(w.aws.account.ec2, instanceOf(w, node!.id));
  await w.until("both messages are gone", () => w.messages === 0);
  assert.equal(w.evictions().length, 1);
  assert.deepEqual(
    w.plan(node!.privateDnsName)?.events.map(({ end }) => end),
    ["done", "done"],
  );
  w.close();
});

test("maintenance of AWS Health, and its machine that comes back", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  w.queueHandler(["--taint-node"]);
  await polls(w);
  scheduleMaintenance(w.aws.account.ec2, instanceOf(w, node!.id), {
    code: "system-reboot",
    description: "why",
    notBefore: w.now + 600_000,
  });
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 10_000);
  assert.ok(w.node(name)?.spec?.taints?.some(({ key }) => key.endsWith("/scheduled-maintenance")));
  await w.restart(name, "boot-2");
  await w.until("it serves again", () => !w.isCordoned(name), 5_000);
  assert.equal(w.node(name)?.spec?.taints?.some(({ key }) => key.startsWith("aws-node")) ?? false, false);
  w.close();
});

test("a dry run changes nothing, neither in the cluster nor in AWS", async () => {
  const w = await interruptionWorld();
  const { ids, end, state } = await workerGroup(w, 1);
  await w.pod({ name: "web", node: instanceOf(w, ids[0]!).privateDnsName });
  const handler = w.queueHandler(["--dry-run"]);
  await polls(w);
  end(ids[0]!);
  await w.world.advance(60_000);
  assert.deepEqual(w.calls, []);
  assert.equal(state(ids[0]!), "Terminating:Wait");
  assert.equal(w.messages, 1);
  assert.ok(handler.lines.some((line) => line.includes("dry run: would patch nodes/")));
  w.close();
});

test("a queue that is not there is said, and taken up when it is", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const lift = w.aws.controls.deny("sqs:ReceiveMessage");
  const handler = w.queueHandler();
  await w.world.advance(120_000);
  assert.ok(handler.lines.some((line) => line.includes("There was a problem monitoring for events")));
  lift();
  interruptSpot(w.aws.account.ec2, instanceOf(w, node!.id));
  await w.until("it is cordoned", () => w.isCordoned(node!.privateDnsName), 40_000);
  w.close();
});

test("without the permission to keep messages they come again, and nothing is done twice", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  await w.pod({ name: "slow", node: node!.privateDnsName, graceSeconds: 90, endsAfterMs: 90_000 });
  w.aws.controls.deny("sqs:ChangeMessageVisibility*");
  w.queueHandler();
  await polls(w);
  interruptSpot(w.aws.account.ec2, instanceOf(w, node!.id));
  await w.until("the message is gone", () => w.messages === 0, 130_000);
  assert.equal(w.evictions().length, 1);
  w.close();
});
