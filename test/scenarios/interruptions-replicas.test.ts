/** Several handlers, and the end of one of them at every moment. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
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

test("handlers of different namespaces do not see each other's Leases, and take no plan from each other", async () => {
  const { w, name, interrupt } = await spotStory();
  w.queueHandler(["--pod-namespace=kube-system"], "handler-a");
  w.queueHandler(["--pod-namespace=default"], "handler-b");
  await polls(w, 2);
  interrupt();
  await w.until("the message is gone", () => w.messages === 0);
  const writers = w.calls.filter(({ method, path }) => method === "PATCH" && path.includes("/nodes/")).map(({ who }) => who);
  assert.equal(new Set(writers).size, 1, `${writers.length} writes of the Node`);
  assert.equal(w.evictions().length, 3);
  assert.equal(w.plan(name)?.phase, "ended");
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
  await w.until("the other has it", () => w.plan(name)?.holder.startsWith("handler-b") ?? false, 10_000);
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
