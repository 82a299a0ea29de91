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

test("a restart over forty load balancers costs a tenth of the reference's calls, and looks at each within the hour", async (t) => {
  const { world, names } = await bed(t, 40);
  const calls = await restart(world, 10 * 60_000);
  // Measured on the reference: 528.
  t.diagnostic(`${total(calls)} calls: ${JSON.stringify(calls)}`);
  assert.ok(total(calls) <= 528 / 10, `${total(calls)} calls: ${JSON.stringify(calls)}`);
  assert.deepEqual([calls.DescribeListeners, calls.DescribeRules], [undefined, undefined]);
  const later = await restart(world, 50 * 60_000);
  assert.deepEqual([later.DescribeListeners, later.DescribeRules], [names.length, names.length]);
});

test("what was changed while no controller ran is found: at once what lists show, and the rest within the hour", async (t) => {
  const { world } = await bed(t, 3);
  const { store } = world.aws.account;
  const [rule] = world.all<{ arn: string }>("elbv2/rules");
  store.table("elbv2/rules").delete(rule!.arn);
  const [group] = world.all<{ arn: string; tags: object }>("elbv2/target-groups");
  store.table("elbv2/target-groups").update(group!.arn, { tags: { ...group!.tags, stray: "yes" } } as never);
  world.serve();
  await world.world.advance(60_000);
  assert.doesNotMatch(JSON.stringify(world.all("elbv2/target-groups")), /stray/);
  await world.world.advance(50 * 60_000);
  assert.equal(world.all("elbv2/rules").length, 3);
});

test("an edit, made while no controller ran or right after the start, is carried out at once; taken back after a crash in the middle too", async (t) => {
  const { world } = await bed(t, 1);
  const rules = () => world.all<{ conditions: object }>("elbv2/rules").map(({ conditions }) => JSON.stringify(conditions));
  const before = rules();
  await world.change("in-0", {}, { "other.example.com": ["Prefix / web:80"] });
  world.aws.controls.faults.add({ action: "elasticloadbalancing:ModifyRule", effect: { kind: "lose-answer" } } as never);
  let end = world.serve();
  await world.until("the rule is changed", () => rules().join() !== before.join(), 60_000);
  end();
  world.aws.controls.faults.remove(undefined);
  await world.change("in-0", {}, { "in-0.example.com": ["Prefix / web:80"] });
  end = world.serve();
  await world.world.advance(60_000);
  assert.deepEqual(rules(), before);
  end();
});

const total = (calls: Readonly<Record<string, number>>) => Object.values(calls).reduce((sum, count) => sum + count, 0);

test("as long as the record of what was right cannot be taken away nothing is changed", async (t) => {
  const { world } = await bed(t, 1);
  const refuse = world.cluster.faults.add({
    match: ({ method, url, body }) =>
      method === "PATCH" && url.pathname.endsWith("/ingresses/in-0") && /checkpoint/.test(Buffer.from(body ?? "").toString()),
    effect: { kind: "refuse", status: 409 },
  });
  await world.change("in-0", {}, { "other.example.com": ["Prefix / web:80"] });
  world.resetCalls();
  world.serve();
  await world.world.advance(60_000);
  assert.deepEqual(world.mutations(), {}, "whoever came after a crash would trust it");
  refuse();
  await world.until("it is changed", () => world.mutations().ModifyRule === 1, 60_000);
});
