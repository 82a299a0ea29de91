import assert from "node:assert/strict";
import { test } from "node:test";
import { nodeWorld } from "../../test/bed/node-world.ts";

test("a tainted node gets provider ID, labels and addresses, loses the taint and no other, and says so", async (t) => {
  const world = await nodeWorld();
  t.after(() => world.close());
  const [instance] = world.launch(1);
  const other = { key: "dedicated", value: "gpu", effect: "NoSchedule" };
  const name = await world.join(instance!, {
    providerID: "",
    taints: [{ key: "node.cloudprovider.kubernetes.io/uninitialized", value: "true", effect: "NoSchedule" }, other],
  });
  world.start();
  await world.until("the node is initialised", () => world.isInitialized(name));
  await world.world.advance(1000);
  const node = world.node(name)!;
  assert.equal(node.spec?.providerID, `aws:///${instance!.zone}/${instance!.id}`);
  console.log(JSON.stringify(node, null, 1), world.events(name), world.aws.controls.journal.counts(), world.writes.length);
});
