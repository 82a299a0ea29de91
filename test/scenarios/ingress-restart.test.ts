/** What a restart over Ingresses that nobody has changed asks of AWS. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";
import { usualPolicy } from "../bed/policies.ts";

async function bed(t: TestContext, count: number, ...flags: readonly string[]) {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  const names = Array.from({ length: count }, (_, i) => `in-${i}`);
  const end = world.serve(...flags);
  for (const name of names) await world.ingress(name, { [`${name}.example.com`]: ["Prefix / web:80"] });
  await world.until("all have addresses", () => names.every((name) => world.hostname(name) !== ""), 3_600_000);
  await world.world.advance(10 * 60_000);
  end();
  return { world, names };
}

/** The calls of a restart, but for nodes, whose addresses this world looks up again and again. */
async function restart(world: IngressWorld, ms: number, ...flags: readonly string[]): Promise<Readonly<Record<string, number>>> {
  world.resetCalls();
  const writes = world.writes.length;
  const end = world.serve(...flags);
  await world.world.advance(ms);
  end();
  const { DescribeInstances: _, ...calls } = world.calls();
  assert.deepEqual([world.mutations(), world.writes.slice(writes)], [{}, []]);
  return calls;
}

test("with the gate EnableRGTAPI tags come a hundred to a call, and what the index does not know by itself", async (t) => {
  const gate = "--feature-gates=IngressController=true,EnableRGTAPI=true";
  const features = ["ingresses", "tag-index", "target-group-bindings"];
  const { world } = await bed(t, 5, gate);
  const { DescribeTags: without = 0 } = await restart(world, 60_000);
  world.aws.controls.change({ policy: usualPolicy(world.aws, world.network, "test", ...features) });
  const { GetResources, DescribeTags = 0 } = await restart(world, 60_000, gate);
  assert.deepEqual([GetResources, DescribeTags], [1, 0], `${without} without it`);
});
