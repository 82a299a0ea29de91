/** Interruptions that a person asks for, and what happens when the instance is gone before its Node is drained. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { simulate as simulateCommand } from "../../src/commands/interruptions/simulate.ts";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { type InterruptionWorld, interruptionWorld } from "../bed/interruption-world.ts";

const polls = (w: InterruptionWorld) => w.until("the handler polls", () => w.aws.account.sqs.arrivals.size >= 1);

async function simulate(w: InterruptionWorld, kind: string, node: string): Promise<number> {
  const { clock, random, files, hostname } = w.world;
  const world = { clock, random, files, hostname, environment: { KUBERNETES_MASTER: "http://cluster" } };
  const console = { out: () => {}, err: () => {}, columns: 0, watched: false };
  const invocation = { argv: [kind, node, "--yes"], world, console, stopSignal: () => new AbortController().signal };
  return simulateCommand(invocation, () => ({ send: w.cluster.send, close: async () => {} }));
}

for (const mode of ["queue", "metadata"] as const) {
  test(`${mode} mode: a simulated spot interruption drains the Node, is marked as simulated, and is done once`, async () => {
    const w = await interruptionWorld();
    const [node, other] = await w.nodes(2);
    const name = node!.privateDnsName;
    await w.pod({ name: "web", node: name, endsAfterMs: 2_000 });
    await w.pod({ name: "else", node: other!.privateDnsName });
    if (mode === "queue") {
      w.queueHandler([], "handler-a");
      w.queueHandler([], "handler-b");
      await polls(w);
    } else w.metadataHandler(node!);
    await w.world.advance(5_000);
    assert.equal(await simulate(w, "spot", name), 0);
    await w.until("it is drained", () => w.plan(name)?.phase === "ended" && w.podNames(name).length === 0, 20_000);
    await w.world.advance(60_000);
    assert.deepEqual(
      w.plan(name)?.events.map(({ kind, simulated, end }) => [kind, simulated, end]),
      [["spot", true, "done"]],
    );
    assert.equal(w.evictions().length, 1);
    assert.equal(w.node(name)?.metadata?.annotations?.["interruption.fairlead.io/simulate"], undefined);
    assert.match(w.eventMessages("SpotInterruption")[0] ?? "", /^Simulated, not from AWS: /);
    assert.equal(w.isCordoned(other!.privateDnsName), false);
    w.close();
  });
}

test("a request that cannot be read is said, and touches nothing", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const handler = w.queueHandler();
  await polls(w);
  await w.say("PATCH", `/api/v1/nodes/${node!.privateDnsName}`, {
    metadata: { annotations: { "interruption.fairlead.io/simulate": "spot" } },
  });
  await w.until("it is said", () => handler.lines.some((line) => line.includes("simulated interruption cannot be read")), 5_000);
  assert.deepEqual(w.calls, []);
  w.close();
});

test("a drain that failed: as soon as EC2 shows the instance as terminated, the Node is out of service", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  await w.pod({ name: "db-0", node: name, labels: { app: "db" } });
  await w.budget("db", 0);
  w.queueHandler(["--enable-out-of-service-taint"]);
  await polls(w);
  const instance = () => w.aws.account.ec2.instances.get(node!.id)!;
  const outOfService = () => w.node(name)?.spec?.taints?.some(({ key }) => key === "node.kubernetes.io/out-of-service") ?? false;
  interruptSpot(w.aws.account.ec2, instance());
  await w.until("the time is over", () => w.plan(name)?.events[0]?.end === "failed", 130_000);
  assert.match(w.plan(name)?.events[0]?.why ?? "", /default\/db-0/);
  await w.until(
    "the instance is gone",
    () => {
      w.aws.account.time.settle();
      return instance().state === "terminated";
    },
    120_000,
  );
  await w.until("the Node is out of service", outOfService, 25_000);
  w.close();
});

test("the webhook is told of an interruption that could not be met", async () => {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  await w.pod({ name: "db-0", node: node!.privateDnsName, labels: { app: "db" } });
  await w.budget("db", 0);
  w.queueHandler(["--webhook-url=https://hooks.example.org/x"]);
  await polls(w);
  interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(node!.id)!);
  await w.until("the message is gone", () => w.messages === 0, 140_000);
  assert.equal(w.posts.length, 1);
  w.close();
});

test("Leases of replicas that are no more are removed after an hour, those of living ones stay", async () => {
  const w = await interruptionWorld();
  const first = w.queueHandler([], "handler-a");
  await polls(w);
  first.kill();
  w.queueHandler([], "handler-b");
  const names = () => w.cluster.objects("leases.coordination.k8s.io").map(({ metadata }) => metadata.name);
  await w.until("both are there", () => names().length === 2, 30_000);
  await w.say("POST", "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases", { metadata: { name: "somebody-elses" }, spec: {} });
  await w.world.advance(2 * 3_600_000 + 60_000);
  assert.deepEqual([...names()].sort(), ["node-termination-handler-handler-b", "somebody-elses"]);
  w.close();
});

/** What is on the heap when everything that nobody needs is gone. */
function heapKb(): number {
  setFlagsFromString("--expose-gc");
  (runInNewContext("gc") as () => void)();
  return Math.round(process.memoryUsage().heapUsed / 1024);
}

// The full measure: IDLE_HOURS=24.
test("hours without a notice: the calls per minute stay the same, and nothing grows", async (t) => {
  const w = await interruptionWorld();
  const hours = Number(process.env.IDLE_HOURS ?? 3);
  await w.nodes(20);
  const handler = w.queueHandler();
  await polls(w);
  const seen = async () => {
    // The API keeps every version of the Lease until it is told to forget, as etcd does.
    w.cluster.compact();
    return { timers: handler.timers(), series: (await handler.metrics()).split("\n").length, heapKb: heapKb() };
  };
  const receives = () => w.aws.controls.journal.calls("sqs:ReceiveMessage");
  // The first reading asks EC2, whose calls have series of their own from then on.
  await seen();
  await w.world.advance(3_600_000);
  const before = { ...(await seen()), receives: receives() };
  await w.world.advance((hours - 1) * 3_600_000);
  const after = { ...(await seen()), receives: receives() };
  const perMinute = (after.receives - before.receives) / ((hours - 1) * 60);
  t.diagnostic(JSON.stringify({ before, after, perMinute, calls: w.aws.controls.journal.counts() }));
  assert.ok(perMinute > 2.9 && perMinute <= 3, `${perMinute} ReceiveMessage per minute`);
  assert.deepEqual([after.timers, after.series], [before.timers, before.series]);
  // The heap is that of the whole world: the simulated cloud's journal keeps 1.5 KB of each call.
  const grownKb = after.heapKb - before.heapKb - 1.6 * (after.receives - before.receives);
  assert.ok(grownKb < 1_024, `${grownKb} KB more on the heap`);
  assert.deepEqual(w.calls, []);
  w.close();
});
