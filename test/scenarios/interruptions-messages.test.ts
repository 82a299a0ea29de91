/** Queue mode where something is in the way: EC2, SQS and Auto Scaling that refuse, Nodes that are hard to find, others who write. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { rebalanceZones } from "../../src/sandbox/cloud/autoscaling/scaling.ts";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { workerGroup } from "../bed/interruption-group.ts";
import { type InterruptionWorld, interruptionWorld } from "../bed/interruption-world.ts";

const polls = (w: InterruptionWorld) => w.until("the handler polls", () => w.aws.account.sqs.arrivals.size >= 1);
const interrupt = (w: InterruptionWorld, { id }: Instance) => interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(id)!);
const gone = (w: InterruptionWorld, limitMs = 5_000) => w.until("the messages are gone", () => w.messages === 0, limitMs);
const spotOf = (id: string) => ({
  id,
  "detail-type": "EC2 Spot Instance Interruption Warning",
  source: "aws.ec2",
  detail: { "instance-id": id },
});

test("EC2 that refuses to say whose an instance is: the message stays, and is acted on when EC2 answers", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const lift = w.aws.controls.deny("ec2:DescribeInstances");
  const handler = w.queueHandler();
  await polls(w);
  interrupt(w, node!);
  await w.world.advance(30_000);
  assert.deepEqual([w.messages, w.isCordoned(node!.privateDnsName)], [1, false]);
  assert.match(await handler.metrics(), /events_error_total\{event_error_where="SQS_MONITOR",.*\} [1-9]/);
  lift();
  await w.until("it is cordoned", () => w.isCordoned(node!.privateDnsName), 25_000);
  await gone(w, 30_000);
  w.close();
});

test("instances that EC2 does not know, whose id is nonsense, or that have ended without a Node, are dropped", async () => {
  const w = await interruptionWorld();
  const [ended] = await w.nodes(1);
  await w.say("DELETE", `/api/v1/nodes/${ended!.privateDnsName}`);
  w.aws.account.ec2.instances.update(ended!.id, { state: "terminated", privateDnsName: "" });
  w.queueHandler();
  await polls(w);
  for (const id of ["i-0fedcba9876543210", "nonsense", ended!.id]) w.send(spotOf(id));
  await gone(w);
  assert.deepEqual(w.calls, []);
  w.close();
});

test("a running instance that EC2 has no name for is nobody's here yet: its message is left in the queue", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  await w.say("DELETE", `/api/v1/nodes/${node!.privateDnsName}`);
  w.aws.account.ec2.instances.update(node!.id, { privateDnsName: "" });
  w.queueHandler();
  await polls(w);
  w.send(spotOf(node!.id));
  await w.world.advance(60_000);
  assert.equal(w.messages, 1);
  w.close();
});

test("deletions that SQS refuses are repeated until it does not", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  w.aws.controls.faults.add({ action: "sqs:DeleteMessage*", effect: { kind: "fail", code: "InternalError", status: 500 }, times: 12 });
  const handler = w.queueHandler();
  await polls(w);
  w.send({ Event: "autoscaling:TEST_NOTIFICATION" });
  interrupt(w, node!);
  await gone(w, 60_000);
  assert.ok(handler.lines.some((line) => line.includes("messages could not be deleted; retrying")));
  assert.equal(w.plan(node!.privateDnsName)?.events.length, 1);
  w.close();
});

test("without the check of the tag every instance is acted on", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1, {});
  w.queueHandler(["--check-tag-before-draining=false"]);
  await polls(w);
  interrupt(w, node!);
  await w.until("it is cordoned", () => w.isCordoned(node!.privateDnsName), 5_000);
  assert.equal(w.aws.controls.journal.calls("ec2:DescribeInstances"), 0, "a Node that names its instance is enough");
  w.close();
});

test("a Node without a provider ID is found by the name of its machine; of another's name nobody is drained", async () => {
  const w = await interruptionWorld();
  const [unnamed, stranger] = await w.nodes(2);
  for (const { privateDnsName } of [unnamed!, stranger!]) await w.say("DELETE", `/api/v1/nodes/${privateDnsName}`);
  await w.say("POST", "/api/v1/nodes", { metadata: { name: unnamed!.privateDnsName }, spec: {} });
  // This one has the name of the machine, and another instance behind it.
  await w.say("POST", "/api/v1/nodes", {
    metadata: { name: stranger!.privateDnsName },
    spec: { providerID: `aws:///${stranger!.zone}/i-0fedcba9876543210` },
  });
  w.queueHandler();
  await polls(w);
  for (const instance of [unnamed!, stranger!]) interrupt(w, instance);
  await w.until("it is drained", () => w.plan(unnamed!.privateDnsName)?.phase === "ended", 10_000);
  await w.world.advance(30_000);
  assert.deepEqual([w.isCordoned(stranger!.privateDnsName), w.messages], [false, 1]);
  w.close();
});

test("a hook that cannot be completed is tried again, and its message stays until it is", async () => {
  const w = await interruptionWorld();
  const group = await workerGroup(w, 1);
  const [instance] = group.instances;
  const lift = w.aws.controls.deny("autoscaling:CompleteLifecycleAction");
  w.queueHandler();
  await polls(w);
  group.end(instance!.id);
  await w.until("it is drained", () => w.plan(instance!.privateDnsName)?.phase === "drained", 10_000);
  await w.world.advance(60_000);
  assert.deepEqual([w.messages, group.state(instance!.id)], [1, "Terminating:Wait"]);
  lift();
  await w.until("the hook is completed", () => group.state(instance!.id) === "Terminating:Proceed", 30_000);
  await gone(w, 10_000);
  w.close();
});

test("the completion of a hook waits for its delay, of a launch as of a termination", async () => {
  const w = await interruptionWorld();
  const group = await workerGroup(w, 1);
  const [instance] = group.instances;
  w.queueHandler(["--complete-lifecycle-action-delay-seconds=45"]);
  await polls(w);
  group.end(instance!.id);
  await w.until("it is drained", () => w.plan(instance!.privateDnsName)?.phase === "drained", 10_000);
  await w.world.advance(44_000);
  assert.equal(group.state(instance!.id), "Terminating:Wait");
  await w.until("the hook is completed", () => group.state(instance!.id) === "Terminating:Proceed", 5_000);
  group.hook({ hook: "join", launching: true });
  group.as.groups.update("workers", { desired: 1 });
  const added = () => group.as.members.values().find(({ instanceId }) => group.state(instanceId) === "Pending:Wait");
  await w.until("another one waits in its hook", () => added() !== undefined, 180_000);
  const { instanceId } = added()!;
  await w.join(w.aws.account.ec2.instances.get(instanceId)!);
  await w.world.advance(44_000);
  assert.equal(group.state(instanceId), "Pending:Wait");
  await w.until("it is in service", () => group.state(instanceId) === "InService", 5_000);
  w.close();
});

test("a launch of an instance without the tag is nobody's business here", async () => {
  const w = await interruptionWorld();
  const group = await workerGroup(w, 0);
  group.hook({ hook: "join", launching: true });
  w.queueHandler(["--managed-tag=another"]);
  await polls(w);
  group.as.groups.update("workers", { desired: 1 });
  const added = () => group.as.members.values().find(({ instanceId }) => group.state(instanceId) === "Pending:Wait");
  await w.until("one waits in its hook", () => added() !== undefined, 120_000);
  await gone(w);
  await w.join(w.aws.account.ec2.instances.get(added()!.instanceId)!);
  await w.world.advance(10_000);
  assert.equal(w.aws.controls.journal.calls("autoscaling:CompleteLifecycleAction"), 0);
  w.close();
});

test("a rebalance between zones: the new instance is let in when its Node is ready, the old one out when its Node is drained", async () => {
  const w = await interruptionWorld();
  const group = await workerGroup(w, 2);
  group.hook({ hook: "join", launching: true });
  for (const { privateDnsName: node } of group.instances) await w.pod({ name: `web-${node}`, node, endsAfterMs: 3_000 });
  w.queueHandler();
  await polls(w);
  rebalanceZones(group.as, group.as.groups.get("workers")!);
  const waiting = (state: string) => group.as.members.values().find(({ instanceId }) => group.state(instanceId) === state);
  await w.until("one waits to come in", () => waiting("Pending:Wait") !== undefined, 120_000);
  assert.equal(w.evictions().length, 0, "nothing goes before the new one is there");
  const { instanceId: added } = waiting("Pending:Wait")!;
  await w.join(w.aws.account.ec2.instances.get(added)!);
  await w.until("it is in service", () => group.state(added) === "InService", 5_000);
  await w.until("the old one is let go", () => waiting("Terminating:Proceed") !== undefined, 30_000);
  assert.equal(w.evictions().length, 1);
  await gone(w);
  w.close();
});

test("somebody who writes the Node at the same moment keeps what he wrote, and the cordon comes all the same", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  w.queueHandler(["--taint-node"]);
  await polls(w);
  let meddled = false;
  w.watcher = (_, method, path) => {
    if (meddled || method !== "PATCH" || !path.endsWith(`/nodes/${name}`)) return;
    meddled = true;
    void w.say("PATCH", `/api/v1/nodes/${name}`, { spec: { taints: [{ key: "theirs", effect: "NoSchedule" }] } });
  };
  interrupt(w, node!);
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 15_000);
  assert.deepEqual(
    w
      .node(name)
      ?.spec?.taints?.map(({ key }) => key)
      .filter((key) => !key.startsWith("node.kubernetes.io/"))
      .sort(),
    ["aws-node-termination-handler/spot-itn", "theirs"],
  );
  assert.ok(
    w.calls.some(({ status }) => status === 409),
    "they met",
  );
  w.close();
});

test("a label that is refused does not keep the Node from being cordoned and drained", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  w.cluster.faults.add({
    match: ({ method, url, body }) =>
      method === "PATCH" && url.pathname.endsWith(`/nodes/${name}`) && String(body).includes("exclude-from"),
    effect: { kind: "refuse", status: 403 },
  });
  const handler = w.queueHandler(["--exclude-from-load-balancers"]);
  await polls(w);
  interrupt(w, node!);
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 10_000);
  assert.equal(w.isCordoned(name), true);
  assert.ok(handler.lines.some((line) => line.includes("it is written without them")));
  w.close();
});

test("pods: a configured grace period is sent, those of lost DaemonSets go, the handler's own stays", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  await w.say("POST", "/apis/apps/v1/namespaces/default/daemonsets", { metadata: { name: "agent" } });
  await w.pod({ name: "web", node: name });
  await w.pod({ name: "cache", node: name, emptyDir: true });
  await w.pod({ name: "agent-1", node: name, daemonSet: "agent" });
  await w.pod({ name: "lost-1", node: name, daemonSet: "lost" });
  await w.pod({ name: "static", node: name, mirror: true });
  await w.pod({ name: "handler-a", node: name });
  w.queueHandler(["--pod-termination-grace-period=3", "--pod-name=handler-a", "--pod-namespace=default"]);
  await polls(w);
  interrupt(w, node!);
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 15_000);
  assert.deepEqual([...w.podNames(name)].sort(), ["agent-1", "handler-a", "static"]);
  const graces = w.evictions().map(({ body }) => (body as { deleteOptions: { gracePeriodSeconds?: number } }).deleteOptions);
  assert.deepEqual(
    graces.map(({ gracePeriodSeconds }) => gracePeriodSeconds),
    [3, 3, 3],
  );
  w.close();
});

for (const [flag, pod, said] of [
  ["--ignore-daemon-sets=false", { daemonSet: "agent" }, /DaemonSet-managed Pods .*default\/odd/],
  ["--delete-local-data=false", { emptyDir: true }, /Pods with local storage .*default\/odd/],
] as const) {
  test(`${flag}: a pod that it speaks of keeps all pods of its Node, and an Event names it`, async () => {
    const w = await interruptionWorld();
    const [node] = await w.nodes(1);
    const name = node!.privateDnsName;
    await w.say("POST", "/apis/apps/v1/namespaces/default/daemonsets", { metadata: { name: "agent" } });
    await w.pod({ name: "web", node: name });
    await w.pod({ name: "odd", node: name, ...pod });
    w.queueHandler([flag]);
    await polls(w);
    interrupt(w, node!);
    await w.until("it is said", () => w.eventMessages("CordonAndDrainError").length > 0, 10_000);
    assert.match(w.eventMessages("CordonAndDrainError")[0]!, said);
    assert.deepEqual([w.isCordoned(name), w.evictions()], [true, []]);
    w.close();
  });
}

test("tagged instances and the Nodes among them are counted while somebody reads the metrics, twice a minute at most", async () => {
  const w = await interruptionWorld();
  const [, , elsewhere] = await w.nodes(3);
  await w.nodes(1, {});
  await w.say("DELETE", `/api/v1/nodes/${elsewhere!.privateDnsName}`);
  const handler = w.queueHandler();
  await polls(w);
  const asked = () => w.aws.controls.journal.calls("ec2:DescribeInstances");
  await w.world.advance(600_000);
  assert.equal(asked(), 0, "nobody reads them");
  for (let at = 0; at < 6; at++) {
    await handler.metrics();
    await w.world.advance(10_000);
  }
  assert.equal(asked(), 2);
  const page = await handler.metrics();
  const scope = 'otel_scope_name="aws.node.termination.handler",otel_scope_version=""';
  assert.ok(page.includes(`nth_tagged_instances{${scope}} 3\n`), page);
  assert.ok(page.includes(`nth_tagged_nodes{${scope}} 2\n`), page);
  const lift = w.aws.controls.deny("ec2:DescribeInstances");
  await w.world.advance(60_000);
  await handler.metrics();
  await w.world.advance(1_000);
  assert.ok((await handler.metrics()).includes(`nth_tagged_instances{${scope}} 3\n`), "what was known stays");
  lift();
  w.close();
});

test("the webhook names the Auto Scaling group of an instance, also where no hook told of it", async () => {
  const w = await interruptionWorld();
  const group = await workerGroup(w, 1);
  w.queueHandler(["--webhook-url=https://hooks.example.org/x", "--webhook-template={{ .AutoScalingGroupName }} {{ .Kind }}"]);
  await polls(w);
  interrupt(w, group.instances[0]!);
  await gone(w, 30_000);
  assert.deepEqual(w.posts, ["workers SPOT_ITN"]);
  w.close();
});
