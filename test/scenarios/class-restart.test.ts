/** What a restart over Services and bindings that nobody has changed asks of AWS, and what it finds out nevertheless. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventual } from "../../src/aws/testing/eventual.ts";
import { type Annotations, type ClassWorld, classWorld } from "../bed/class-world.ts";

const ip = { "nlb-target-type": "ip" };

const crossZoneKey = "load_balancing.cross_zone.enabled";
const crossZone = (isOn: boolean) => `${crossZoneKey}=${isOn}`;

/** Services that stand, and nobody who serves them. */
async function bed(
  t: TestContext,
  count: number,
  annotations: Annotations = ip,
): Promise<{ readonly world: ClassWorld; readonly names: readonly string[] }> {
  const world = await classWorld();
  t.after(() => world.close());
  world.aws.controls.change({ quotas: { networkLoadBalancers: 300 } });
  const end = world.serve();
  const names = Array.from({ length: count }, (_, i) => `web-${i}`);
  for (const name of names) await world.classService(name, annotations);
  await world.until("addresses are published", () => names.every((name) => world.hostname(name) !== ""), 3_600_000);
  await world.world.advance(10 * 60_000);
  end();
  return { world, names };
}

interface StoredListener {
  readonly arn: string;
  readonly tags: Readonly<Record<string, string>>;
}

const listeners = (world: ClassWorld) => world.all<StoredListener>("elbv2/listeners");

test("a restart over 200 Services and 500 bindings beside theirs changes nothing, for a fiftieth of the reference's 21 reads per Service", async (t) => {
  const { world, names } = await bed(t, 200);
  const serving = world.serve();
  for (let i = 0; i < 500; i++) {
    const targetGroupARN = await eventual(world.world, world.group(`own-${i}`));
    await world.bind(`own-${i}`, { targetGroupARN, serviceRef: { name: "web-0", port: 80 } });
  }
  await world.world.advance(15 * 60_000);
  assert.equal(world.binding("own-499")?.status?.targets?.registered, 1);
  serving();
  world.resetCalls();
  world.serve();
  await world.world.advance(20 * 60_000);
  t.diagnostic(`${world.reads()} reads ${JSON.stringify(world.calls())}`);
  assert.deepEqual([world.mutations(), world.writes], [{}, []]);
  assert.ok(world.reads() <= (names.length * 21) / 50, `${world.reads()} reads: ${JSON.stringify(world.calls())}`);
  await world.world.advance(2 * 3_600_000);
  assert.deepEqual([world.mutations(), world.writes], [{}, []], "what is read later changes nothing either");
  assert.equal(world.calls().DescribeListeners, names.length, "each is looked at");
});

test("what was changed while no controller ran is found: at once what lists show, and the rest within the hour", async (t) => {
  const { world } = await bed(t, 3);
  const { store } = world.aws.account;
  const [listener, other] = listeners(world);
  store.table("elbv2/listeners").delete(listener!.arn);
  store.table("elbv2/listeners").update(other!.arn, { tags: { ...other!.tags, stray: "yes" } } as never);
  const [group] = world.all<StoredListener>("elbv2/target-groups");
  store.table("elbv2/target-groups").update(group!.arn, { tags: { ...group!.tags, stray: "yes" } } as never);
  world.serve();
  await world.world.advance(60_000);
  assert.doesNotMatch(JSON.stringify(world.all("elbv2/target-groups")), /stray/);
  await world.world.advance(60 * 60_000);
  assert.equal(listeners(world).length, 3);
  assert.doesNotMatch(JSON.stringify(listeners(world)), /stray/);
});

test("an edit made while no controller ran is carried out at once; taken back after a crash in the middle, that is carried out too", async (t) => {
  const { world } = await bed(t, 1, { ...ip, attributes: crossZone(false) });
  const attribute = () => world.all<{ attributes: Record<string, string> }>("elbv2/load-balancers")[0]?.attributes[crossZoneKey];
  await world.change("web-0", { attributes: crossZone(true) });
  let end = world.serve();
  const off = world.onAwsMutation(() => end());
  await world.until("it is carried out", () => attribute() === "true", 60_000);
  off();
  await world.change("web-0", { attributes: crossZone(false) });
  end = world.serve();
  await world.until("it is taken back", () => attribute() === "false", 60_000);
});

test("what is recorded is no wish: it makes no Event, is not taken for an annotation, and is only written where something changes", async (t) => {
  const { world } = await bed(t, 1);
  const annotation = () =>
    (world.get("web-0") as unknown as { metadata: { annotations: Record<string, string> } }).metadata.annotations[
      "service.fairlead.io/checkpoint"
    ];
  const recorded = annotation();
  assert.match(recorded ?? "", /^[\w-]{22}$/);
  world.resetCalls();
  world.serve();
  await world.world.advance(2 * 3_600_000);
  assert.deepEqual([annotation(), world.writes], [recorded, []]);
  await world.change("web-0", { attributes: crossZone(true) });
  await world.world.advance(60_000);
  assert.notEqual(annotation(), recorded);
  assert.deepEqual(new Set(world.events("web-0")), new Set(["Normal SuccessfullyReconciled: Successfully reconciled"]));
});
