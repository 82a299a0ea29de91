/** Services with the load balancer controller's class: cases that are easily got wrong, each on the resulting account. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { BindingWorldOptions } from "../bed/binding-world.ts";
import { type ClassWorld, classWorld } from "../bed/class-world.ts";

async function bed(t: TestContext, options?: BindingWorldOptions): Promise<ClassWorld> {
  const world = await classWorld(options);
  t.after(() => world.close());
  return world;
}

interface Group {
  readonly arn: string;
}
const targetGroups = (world: ClassWorld) => world.all<Group>("elbv2/target-groups");

test("nodes are chosen by labels, and others when those change", async (t) => {
  const world = await bed(t, { nodes: 0 });
  const [edge = ""] = await world.join(1, { pool: "edge" });
  const [front = ""] = await world.join(1, { tier: "front" });
  world.serve();
  await world.classService("web", { "target-node-labels": "pool=edge" }, {}, 0);
  await world.settled("web");
  const targets = () => world.targets(targetGroups(world)[0]!.arn).map((target) => target.replace(/:\d+$/, ""));
  assert.deepEqual(targets(), [world.nodes.get(edge)]);
  await world.change("web", { "target-node-labels": "tier=front" });
  await world.world.advance(60_000);
  assert.deepEqual(
    [world.bindings().map(({ spec }) => spec.nodeSelector), targets()],
    [[{ matchLabels: { tier: "front" } }], [world.nodes.get(front)]],
  );
  await world.change("web", { "target-node-labels": null });
  await world.world.advance(60_000);
  assert.deepEqual([world.bindings().map(({ spec }) => spec.nodeSelector), targets().length], [[undefined], 2]);
  world.resetCalls();
  await world.world.advance(60_000);
  assert.deepEqual(world.writes, []);
});
