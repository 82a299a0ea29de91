import assert from "node:assert/strict";
import { test } from "node:test";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { interruptionWorld } from "../bed/interruption-world.ts";

// The full measure: INTERRUPTED_NODES=1000 PODS_EACH=30.
test("hundreds of spot notices at once: every Node is cordoned within seconds and drained in time", async (t) => {
  const w = await interruptionWorld();
  const count = Number(process.env.INTERRUPTED_NODES ?? 200);
  const podsEach = Number(process.env.PODS_EACH ?? 10);
  const nodes = await w.nodes(count);
  for (const [index, { privateDnsName: node }] of nodes.entries()) {
    for (let pod = 0; pod < podsEach; pod++) await w.pod({ name: `pod-${index}-${pod}`, node, graceSeconds: 30, endsAfterMs: 10_000 });
  }
  w.queueHandler();
  await w.until("the handler polls", () => w.aws.account.sqs.arrivals.size === 1);
  const told = w.now;
  for (const { id } of nodes) interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(id)!);
  await w.until("all are cordoned", () => nodes.every(({ privateDnsName }) => w.isCordoned(privateDnsName)), 60_000);
  const cordoned = w.now - told;
  await w.until("all are drained", () => w.pods().length === 0, 120_000);
  const drained = w.now - told;
  await w.until("all messages are gone", () => w.messages === 0, 60_000);
  const calls = w.aws.controls.journal.counts();
  const count_ = (action: string) => Object.values(calls[action] ?? {}).reduce((sum, each) => sum + each, 0);
  t.diagnostic(JSON.stringify({ cordonedMs: cordoned, drainedMs: drained, calls, writes: w.calls.length }));
  assert.ok(cordoned <= 10_000, `${cordoned} ms`);
  assert.ok(drained < 120_000, `${drained} ms`);
  assert.ok(count_("ec2:DescribeInstances") <= count / 10 + 10, `${count_("ec2:DescribeInstances")} DescribeInstances`);
  assert.equal(w.evictions().length, count * podsEach);
  w.close();
});
