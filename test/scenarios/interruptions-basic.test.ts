import assert from "node:assert/strict";
import { test } from "node:test";
import { interruptSpot } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import { interruptionWorld } from "../bed/interruption-world.ts";

test("a spot notice cordons and drains its Node and no other, and its message goes when that is done", async () => {
  const w = await interruptionWorld();
  const [hit, other] = await w.nodes(2);
  const name = hit!.privateDnsName;
  for (const node of [name, other!.privateDnsName]) await w.pod({ name: `web-${node}`.slice(0, 40), node });
  await w.pod({ name: "agent", node: name, daemonSet: "agent" });
  await w.say("POST", "/apis/apps/v1/namespaces/default/daemonsets", { metadata: { name: "agent" } });
  w.queueHandler();
  await w.until("the handler polls", () => w.aws.account.sqs.arrivals.size === 1);
  interruptSpot(w.aws.account.ec2, w.aws.account.ec2.instances.get(hit!.id)!);
  await w.until("the Node is cordoned", () => w.isCordoned(name), 2_000);
  await w.until("the message is gone", () => w.messages === 0, 60_000);
  assert.deepEqual(w.podNames(name), ["agent"]);
  assert.equal(w.plan(name)?.phase, "ended");
  assert.equal(w.isCordoned(other!.privateDnsName), false);
  assert.equal(w.podNames(other!.privateDnsName).length, 1);
  w.close();
});
