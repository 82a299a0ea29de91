/** What the reference's termination handler has begun, ours ends: from one to the other in the middle of maintenance. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { nodes } from "../../src/kube/builtin.ts";
import { realWorld, sleep } from "../../src/runtime/world.ts";
import { scheduleMaintenance } from "../../src/sandbox/cloud/ec2/interruptions.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { serveTransport } from "../../src/sandbox/serve.ts";
import { bed, eventually } from "../bed/bed.ts";
import { ours, patienceMs, reference, skip, world } from "./termination-handlers.ts";

test("a Node that the reference has drained for a restart serves again under ours, once the machine was restarted", {
  timeout: 200_000,
  skip,
}, async (t) => {
  const lain = await bed(t);
  const { cloud, ec2, instances, outcome } = await world(t, lain, 1);
  const [instance] = instances as [Instance];
  const { admin, real } = lain.cluster;
  const name = instance.privateDnsName;
  await admin.patch(nodes, { name, subresource: "status" }, { merge: { status: { nodeInfo: { bootID: "second" } } } });
  const served = await serveTransport(cloud.imds(instance.id));
  t.after(() => served.close());
  const uptime = join(real.folder, "uptime");
  await writeFile(uptime, "350735.47 234388.90\n");
  const flags = [`--node-name=${name}`, `--metadata-url=${served.url}`, `--uptime-from-file=${uptime}`, "--taint-node"];
  scheduleMaintenance(ec2, ec2.instances.get(instance.id)!, {
    code: "system-reboot",
    description: "why",
    notBefore: Date.now() + 3_600_000,
  });
  await t.test("the reference drains it", async (inner) => {
    await reference(inner, lain, "before", flags, "");
    await eventually(async () => {
      const { unschedulable, pods, labels } = await outcome(instance);
      assert.deepEqual([unschedulable, pods.length, labels.length], [true, 0, 3]);
    }, patienceMs);
  });
  const { clock } = realWorld();
  const before = await outcome(instance);
  // The labels have whole seconds: the machine is started after them.
  await sleep(clock, 3_000);
  await writeFile(uptime, "1.00 1.00\n");
  await ours(t, lain, "after", flags, "");
  await eventually(async () => assert.equal((await outcome(instance)).unschedulable, false), patienceMs);
  const after = await outcome(instance);
  assert.deepEqual([before.taints.length, after.taints, after.labels], [1, [], []]);
  // The notice is still listed, and is told at every poll.
  await sleep(clock, 5_000);
  assert.equal((await outcome(instance)).unschedulable, false);
});
