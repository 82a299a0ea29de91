/** Several handlers, and the end of one of them at every moment. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { HttpRequest } from "../../src/runtime/http.ts";
import { interruptSpot, recommendRebalance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { rules } from "../../src/sandbox/cloud/events/bus.ts";
import { createQueue } from "../../src/sandbox/cloud/sqs/queues.ts";
import { workerGroup } from "../bed/interruption-group.ts";
import { type InterruptionWorld, interruptionWorld } from "../bed/interruption-world.ts";

const polls = (w: InterruptionWorld, count: number) => w.until("they poll", () => w.aws.account.sqs.arrivals.size >= count);

async function spotStory(pods = 3) {
  const w = await interruptionWorld();
  const [node] = await w.nodes(1);
  const name = node!.privateDnsName;
  for (let at = 0; at < pods; at++) await w.pod({ name: `web-${at}`, node: name, graceSeconds: 20, endsAfterMs: 10_000 });
  return { w, name, interrupt: () => interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(node!.id)!) };
}

test("two replicas: one of them drains, the other looks on", async () => {
  const { w, name, interrupt } = await spotStory();
  w.queueHandler([], "handler-a");
  w.queueHandler([], "handler-b");
  await polls(w, 2);
  interrupt();
  await w.until("the message is gone", () => w.messages === 0);
  assert.equal(w.evictions().length, 3);
  assert.equal(new Set(w.calls.map(({ who }) => who)).size, 1);
  assert.equal(w.plan(name)?.phase, "ended");
  w.close();
});

/** The writers of a Node, in the order of their first write. */
const writersOf = (w: InterruptionWorld) => [
  ...new Set(w.calls.filter(({ method, path }) => method === "PATCH" && path.includes("/nodes/")).map(({ who }) => who)),
];

test("handlers of different installations take no plan from each other: of one notice, one drains and the other looks on", async () => {
  const { w, name, interrupt } = await spotStory();
  w.queueHandler(["--pod-namespace=kube-system"], "handler-a");
  w.queueHandler(["--pod-namespace=default"], "handler-b");
  await polls(w, 2);
  interrupt();
  await w.until("the message is gone", () => w.messages === 0);
  assert.equal(writersOf(w).length, 1);
  assert.equal(w.evictions().length, 3);
  assert.equal(w.plan(name)?.phase, "ended");
  w.close();
});

for (const readable of [true, false]) {
  const whether = readable ? "can read" : "may not read";
  test(`handlers of two installations that ${whether} each other's Leases: a drain of half an hour stays with the one that began it`, async () => {
    const w = await interruptionWorld();
    const group = await workerGroup(w, 1, 3_600);
    const { id, privateDnsName: name } = group.instances[0]!;
    await w.pod({ name: "db-0", node: name, labels: { app: "db" } });
    await w.budget("db", 0);
    if (!readable) {
      const match = ({ method, url, headers }: Pick<HttpRequest, "method" | "url" | "headers">) =>
        method === "GET" && url.pathname.includes("/leases/") && !String(headers["user-agent"]).includes("leader-election");
      w.cluster.faults.add({ match, effect: { kind: "refuse", status: 403 } });
    }
    w.queueHandler(["--pod-namespace=kube-system"], "handler-a");
    await polls(w, 1);
    group.end(id);
    await w.until("it is being drained", () => w.plan(name)?.phase === "draining");
    w.queueHandler(["--pod-namespace=default"], "handler-b");
    await w.world.advance(1_800_000);
    assert.deepEqual(writersOf(w), ["handler-a"]);
    assert.deepEqual([...new Set(w.evictions().map(({ who }) => who))], ["handler-a"]);
    await w.allow("db", 1);
    await w.until("the hook is completed", () => group.as.actions.values().length === 0);
    assert.deepEqual([w.plan(name)?.phase, writersOf(w)], ["ended", ["handler-a"]]);
    w.close();
  });
}

test("something new about a Node that another installation drains enters its plan, and who drains it stays", async () => {
  const { w, name, interrupt } = await spotStory();
  const { account } = w.aws;
  w.queueHandler(["--pod-namespace=kube-system"], "handler-a");
  await polls(w, 1);
  const instanceId = w.node(name)!.spec!.providerID!.split("/").at(-1)!;
  recommendRebalance(account.ec2, account.ec2.instances.get(instanceId)!);
  await w.until("it is at work", () => w.evictions().length > 0, 5_000);
  const holder = w.plan(name)?.holder;
  const { QueueUrl } = createQueue(account.sqs, { QueueName: "others" });
  rules(account).delete("all");
  const queueArn = `arn:aws:sqs:${account.region}:${account.id}:others`;
  rules(account).put("others", { name: "others", sources: ["aws.ec2"], detailTypes: undefined, queueArn });
  w.queueHandler(["--pod-namespace=default", `--queue-url=${QueueUrl}`], "handler-b");
  await polls(w, 2);
  interrupt();
  await w.until("both are in the plan", () => w.plan(name)?.events.length === 2, 10_000);
  assert.deepEqual(writersOf(w), ["handler-a", "handler-b"], "who hears of it writes it down");
  assert.equal(w.plan(name)?.holder, holder);
  await w.until("it has ended", () => w.plan(name)?.phase === "ended");
  assert.deepEqual([w.evictions().length, new Set(w.evictions().map(({ who }) => who))], [3, new Set(["handler-a"])]);
  w.close();
});

test("a replica that is asked to end hands over within seconds", async () => {
  const { w, name, interrupt } = await spotStory();
  const first = w.queueHandler([], "handler-a");
  await polls(w, 1);
  interrupt();
  await w.until("it is at work", () => w.evictions().length > 0, 5_000);
  w.queueHandler([], "handler-b");
  first.stop();
  await first.ended;
  const asked = w.now;
  await w.until("the other has it", () => w.plan(name)?.holder.startsWith("replica/kube-system/handler-b_") ?? false, 10_000);
  assert.ok(w.now - asked <= 5_000, `${w.now - asked} ms`);
  await w.until("the message is gone", () => w.messages === 0, 60_000);
  w.close();
});

test("a handler that dies after any of its writes: another takes up, every pod goes in time and none is asked for twice in vain", async () => {
  for (let writes = 1; ; writes++) {
    const { w, name, interrupt } = await spotStory();
    const first = w.queueHandler([], "handler-a");
    await polls(w, 1);
    const deadline = interrupt();
    let died = false;
    await w.until("it dies, or is done", () => {
      const done = w.messages === 0;
      died = !done && w.calls.length >= writes;
      return done || died;
    });
    if (!died) {
      w.close();
      assert.ok(writes > 5, `only ${writes} writes`);
      break;
    }
    first.kill();
    w.queueHandler([], "handler-b");
    await w.until(`all is done after a death at write ${writes}`, () => w.messages === 0 && w.pods().length === 0, 120_000);
    assert.ok(w.now <= deadline, `write ${writes}: ${deadline - w.now} ms before the deadline`);
    assert.deepEqual([w.plan(name)?.phase, w.isCordoned(name)], ["ended", true], `write ${writes}`);
    const accepted = w.evictions().filter(({ status }) => status === 201);
    assert.ok(accepted.length <= 4, `write ${writes}: ${accepted.length} evictions of 3 pods`);
    w.close();
  }
});
