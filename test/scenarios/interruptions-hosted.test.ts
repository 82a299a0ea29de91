/** The termination handler inside `fairlead cluster` and `fairlead node`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { interruptSpot, recommendRebalance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { startCluster, startNode } from "../bed/interruption-hosts.ts";
import { type InterruptionWorld, interruptionWorld } from "../bed/interruption-world.ts";

const section = (w: InterruptionWorld, more = "") =>
  `node-termination-handler: {queue-url: "${w.queueUrl}", emit-kubernetes-events: true${more === "" ? "" : `, ${more}`}}`;
const polls = (w: InterruptionWorld) => w.until("it polls", () => w.aws.account.sqs.arrivals.size >= 1);

async function spotStory(pods = 2) {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  for (let at = 0; at < pods; at++) await w.pod({ name: `web-${at}`, node: name, graceSeconds: 20, endsAfterMs: 10_000 });
  return { w, name, node: node!, interrupt: () => interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(node!.id)!) };
}

test("cluster: the leader drains what the queue tells of, and holds the plan by its lease", async () => {
  const { w, name, interrupt } = await spotStory();
  startCluster(w, section(w), "cluster-a");
  startCluster(w, section(w), "cluster-b");
  await polls(w);
  await w.world.advance(30_000);
  assert.equal(w.aws.account.sqs.arrivals.size, 1, "who does not lead reads no queue");
  interrupt();
  await w.until("it is cordoned", () => w.isCordoned(name), 5_000);
  assert.equal(w.plan(name)?.holder, "lease/kube-system/fairlead-cluster");
  await w.until("the message is gone", () => w.messages === 0, 60_000);
  assert.deepEqual([w.plan(name)?.phase, w.podNames(name), w.evictions().length], ["ended", [], 2]);
  assert.deepEqual(w.events(name), ["CordonAndDrain", "PostDrain", "PreDrain", "SpotInterruption"]);
  w.close();
});

test("cluster: the next leader takes a drain up where the last one died, in time", async () => {
  const { w, name, interrupt } = await spotStory();
  const first = startCluster(w, section(w), "cluster-a");
  await polls(w);
  const deadline = interrupt();
  await w.until("it is at work", () => w.evictions().length > 0, 5_000);
  first.kill();
  startCluster(w, section(w), "cluster-b");
  await w.until("the message is gone", () => w.messages === 0, 120_000);
  assert.deepEqual([w.plan(name)?.phase, w.podNames(name)], ["ended", []]);
  assert.ok(w.now <= deadline);
  w.close();
});

test("cluster: one that is asked to stop gives its messages back, and the next has them at once", async () => {
  const { w, name, interrupt } = await spotStory();
  const first = startCluster(w, section(w), "cluster-a");
  await polls(w);
  interrupt();
  await w.until("it is at work", () => w.evictions().length > 0, 5_000);
  startCluster(w, section(w), "cluster-b");
  first.stop();
  await w.until("it has ended", () => first.lines.some((line) => line.includes('"stopped"')), 30_000);
  await w.until("the message is gone", () => w.messages === 0, 40_000);
  assert.equal(w.plan(name)?.phase, "ended");
  w.close();
});

test("cluster: a dry run beside the one in charge does not take its messages", async () => {
  const { w, name, interrupt } = await spotStory();
  const dry = startCluster(w, section(w), "cluster-dry", "--dry-run");
  await w.until("it leads", () => dry.lines.some((line) => line.includes('"acquired the leader lease"')));
  await w.world.advance(5_000);
  interrupt();
  await w.world.advance(2_000);
  startCluster(w, section(w), "cluster-a");
  await w.until("it is cordoned", () => w.isCordoned(name), 10_000);
  w.close();
});

test("a handler of its own leaves a plan to the leader of cluster while that one lives", async () => {
  const { w, name, interrupt } = await spotStory();
  startCluster(w, section(w), "cluster-a");
  await polls(w);
  interrupt();
  await w.until("it is at work", () => w.evictions().length > 0, 5_000);
  w.queueHandler([], "handler-a");
  await w.until("the message is gone", () => w.messages === 0, 60_000);
  assert.deepEqual([...new Set(w.calls.map(({ who }) => who))], ["cluster-a"]);
  assert.equal(w.plan(name)?.phase, "ended");
  w.close();
});

test("cluster: the leader leaves a plan to a handler of its own while that one lives, and takes it up in time when it has died", async () => {
  const { w, name, interrupt } = await spotStory();
  const own = w.queueHandler([], "handler-a");
  await polls(w);
  const deadline = interrupt();
  await w.until("it is at work", () => w.evictions().length > 0, 5_000);
  const holder = w.plan(name)?.holder;
  startCluster(w, section(w), "cluster-a");
  await w.world.advance(8_000);
  assert.equal(w.plan(name)?.holder, holder);
  assert.deepEqual([...new Set(w.calls.map(({ who }) => who))], ["handler-a"]);
  own.kill();
  await w.until("it is taken up", () => w.plan(name)?.holder === "lease/kube-system/fairlead-cluster", 40_000);
  await w.until("the message is gone", () => w.messages === 0, 80_000);
  assert.deepEqual([w.plan(name)?.phase, w.podNames(name)], ["ended", []]);
  assert.ok(w.now <= deadline);
  w.close();
});

test("cluster: a queue that is not there is said, and stops nothing else", async () => {
  const { w } = await spotStory();
  w.aws.controls.deny("sqs:ReceiveMessage");
  const running = startCluster(w, section(w), "cluster-a");
  await w.until("it says so", () => running.lines.some((line) => line.includes("There was a problem monitoring for events")), 60_000);
  await w.world.advance(600_000);
  assert.match(await running.metrics(), /events_error_total\{event_error_where="SQS_MONITOR".*\} \d+/);
  w.close();
});

test("cluster: a section that cannot work is refused with what is wrong, and flags of the process with where they go", async () => {
  const w = await interruptionWorld();
  const refusal = (config: string) => startCluster(w, config, "cluster-a").ended.then(() => "", String);
  assert.match(await refusal("node-termination-handler: {}"), /queue-url \(QUEUE_URL\) is required/);
  assert.match(await refusal("node-termination-handler: {log-level: debug}"), /log-level: belongs to the process: give --v/);
  assert.match(await refusal("node-termination-handler: {queue-ur: x}"), /queue-ur: there is no such flag; did you mean queue-url\?/);
  w.close();
});

test("cluster: a handler that cannot be made is named and tried again, and the other programs run", async () => {
  const { w, name, interrupt } = await spotStory();
  const handler = section(w, "webhook-url: http://hook, webhook-template-file: /etc/body");
  const running = startCluster(w, `${handler}\ncontroller-manager: {controllers: [cloud-node]}`, "cluster-a");
  await w.until(
    "the controller manager works",
    () => running.lines.some((line) => line.includes('Started \\"cloud-node-controller\\"')),
    60_000,
  );
  assert.ok(
    running.lines.some((line) => /cannot start .*interruptions/.test(line)),
    running.lines.join("\n"),
  );
  await w.world.files.write("/etc/body", "{{ .EventID }}", 0o600);
  await polls(w);
  interrupt();
  await w.until("it is cordoned", () => w.isCordoned(name), 5_000);
  w.close();
});

test("node: drains its own Node from the metadata service, without asking AWS for anything", async () => {
  const { w, name, node, interrupt } = await spotStory();
  startNode(w, "node-termination-handler: {emit-kubernetes-events: true}", node);
  await w.world.advance(10_000);
  interrupt();
  await w.until("it is cordoned", () => w.isCordoned(name), 2_500);
  assert.equal(w.plan(name)?.holder, `node/${name}`);
  await w.until("it is drained", () => w.plan(name)?.phase === "ended" && w.podNames(name).length === 0, 30_000);
  assert.deepEqual(w.aws.controls.journal.counts(), {});
  w.close();
});

test("node: goes on with what a handler of its own had begun, and the other way round", async () => {
  const { w, name, node, interrupt } = await spotStory();
  const before = w.metadataHandler(node);
  await w.world.advance(5_000);
  interrupt();
  await w.until("it is at work", () => w.evictions().length > 0, 5_000);
  before.kill();
  const between = startNode(w, "node-termination-handler:", node);
  await w.until("it is drained", () => w.plan(name)?.phase === "ended", 40_000);
  between.kill();
  recommendRebalance(w.aws.account.ec2, w.aws.account.ec2.instances.get(node.id)!);
  w.metadataHandler(node, ["--enable-rebalance-monitoring"]);
  await w.until("both have ended", () => w.plan(name)?.events.length === 2 && w.plan(name)?.phase === "ended", 20_000);
  assert.equal(w.evictions().length, 2);
  w.close();
});

test("node: a handler that cannot be made follows its Node once, however often it is tried", async () => {
  const { w, name, node, interrupt } = await spotStory();
  let reads = 0;
  w.cluster.faults.add({
    match: ({ method, url }) => {
      if (method === "GET" && url.pathname === "/api/v1/nodes") reads++;
      return false;
    },
    effect: { kind: "reset" },
  });
  const running = startNode(w, "node-termination-handler: {webhook-url: http://hook, webhook-template-file: /etc/body}", node);
  const failures = () => running.lines.filter((line) => /cannot start .*interruptions/.test(line)).length;
  await w.until("it cannot be made", () => failures() >= 1, 60_000);
  await w.world.advance(1_000);
  const once = reads;
  await w.until("it has been tried a few times", () => failures() >= 4, 120_000);
  await w.world.advance(1_000);
  assert.equal(reads, once);
  await w.world.files.write("/etc/body", "{{ .EventID }}", 0o600);
  await w.until("it runs", () => running.lines.some((line) => line.includes('Started \\"interruptions\\"')), 600_000);
  interrupt();
  await w.until("it is cordoned", () => w.isCordoned(name), 5_000);
  w.close();
});
