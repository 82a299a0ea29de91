/** Killed again and again in the middle of its work, the next process does the rest, and nothing twice. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { nodes } from "../../src/kube/builtin.ts";
import { seededRandom } from "../../src/sandbox/seeded-random.ts";
import { bed, eventually } from "../bed/bed.ts";
import { join, nodeAccount, uninitialized } from "./node-account.ts";

const count = 200;
const kills = 10;

test("killed ten times while it initialises two hundred nodes: each is initialised once, and no Event is a storm", async (t) => {
  const { cluster, controllerManager } = await bed(t);
  const account = await nodeAccount(t, cluster);
  const instances = account.launch(count);
  await Promise.all(
    instances.map((instance) => join(cluster, instance, { spec: { providerID: `aws:///${instance.zone}/${instance.id}` } })),
  );
  const initialised = async () => {
    const { items } = await cluster.admin.list(nodes);
    return items.filter(({ spec }) => !spec?.taints?.some(({ key }) => key === uninitialized.key)).length;
  };
  const random = seededRandom(11);
  // Few at a time, so that there is a middle to be killed in.
  const flags = [`--cloud-config=${account.cloudConfig}`, "--leader-elect=false", "--concurrent-node-syncs=4"];
  let process = await controllerManager(flags, { environment: account.environment });
  for (let kill = 1; kill <= kills; kill++) {
    const done = await initialised();
    const next = done + 1 + Math.floor(random.number() * ((count - done) / (kills - kill + 2)));
    await eventually(async () => assert.ok((await initialised()) >= Math.min(next, count)), 30_000);
    process.signal("SIGKILL");
    await process.exit();
    process = await controllerManager(flags, { environment: account.environment });
  }
  await eventually(async () => assert.equal(await initialised(), count), 60_000);
  await eventually(async () => {
    const { items } = await cluster.admin.list(nodes);
    for (const { metadata, status } of items) assert.equal(status?.addresses?.length, 3, metadata.name);
  }, 60_000);

  const writes = (await cluster.writes(process.account)).filter(({ resource, status }) => resource === "nodes" && status < 300);
  const byNode = Map.groupBy(writes, ({ name }) => name);
  assert.equal(byNode.size, count);
  for (const [name, own] of byNode) {
    assert.equal(own.filter(({ subresource }) => subresource === undefined).length, 1, `${name} was initialised more than once`);
    assert.equal(own.filter(({ subresource }) => subresource === "status").length, 1, `${name} got its addresses more than once`);
  }
  const events = (await cluster.events()).filter(({ involvedObject }) => involvedObject.kind === "Node");
  assert.ok(events.length <= count, `${events.length} Events`);
  for (const { count: times = 1, message } of events) assert.ok(times <= 2, `${message} was said ${times} times`);
});
