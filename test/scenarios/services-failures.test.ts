/** What a Service says while AWS refuses something. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext): Promise<ServiceWorld> {
  const world = await serviceWorld();
  t.after(() => world.close());
  world.start();
  return world;
}

const synced = (world: ServiceWorld) => world.service("web")?.status?.conditions?.find(({ type }) => type === "LoadBalancerSynced");

interface Said {
  readonly reason: string;
  readonly message: string;
  readonly count: number;
}

const said = (world: ServiceWorld, reason: string) =>
  world.cluster
    .objects("events")
    .map((event) => event as unknown as Said)
    .filter((event) => event.reason === reason);

for (const { kind, annotations } of [
  { kind: "classic", annotations: {} },
  { kind: "network", annotations: { type: "nlb" } },
]) {
  test(`a refused creation of a ${kind} load balancer is a condition, written once, and one Event that counts`, async (t) => {
    const world = await bed(t);
    const lift = world.aws.controls.deny("elasticloadbalancing:CreateLoadBalancer");
    await world.create("web", { annotations });
    await world.world.advance(10 * 60_000);
    const { status, reason, message = "" } = synced(world)!;
    assert.deepEqual([status, reason], ["False", "AccessDenied"]);
    assert.match(message, /CreateLoadBalancer.*allow elasticloadbalancing:CreateLoadBalancer.*\[request id \S+\]/);
    const [event, ...others] = said(world, "SyncLoadBalancerFailed");
    assert.deepEqual(others, []);
    assert.ok(event!.count >= 5, `counted ${event!.count}`);
    assert.match(event!.message, /\[request id \S+\]/);
    assert.notEqual(/request id (\S+)\]/.exec(event!.message)?.[1], /request id (\S+)\]/.exec(message)?.[1], "the Event has the latest");
    const conditions = world.writes.filter(({ body }) => JSON.stringify(body).includes("LoadBalancerSynced"));
    assert.equal(conditions.length, 1);

    lift();
    await world.world.advance(10 * 60_000);
    assert.ok(world.hostname("web"));
    assert.equal(synced(world), undefined, "it goes with the failure");
  });
}

test("a refused deletion is a condition, and a refused rule of the nodes too", async (t) => {
  const world = await bed(t);
  const lift = world.aws.controls.deny("ec2:AuthorizeSecurityGroupIngress");
  await world.create("web", { annotations: { type: "nlb" } });
  await world.world.advance(60_000);
  assert.match(synced(world)?.message ?? "", /AuthorizeSecurityGroupIngress/);
  lift();
  await world.world.advance(10 * 60_000);
  assert.equal(synced(world), undefined);
  assert.equal(said(world, "SyncLoadBalancerFailed").length, 1);

  world.aws.controls.deny("elasticloadbalancing:DeleteLoadBalancer");
  await world.delete("web");
  await world.world.advance(10 * 60_000);
  assert.match(synced(world)?.message ?? "", /failed to delete load balancer: .*DeleteLoadBalancer/);
  assert.equal(said(world, "SyncLoadBalancerFailed").length, 2, "another failure is another Event");
});

test("targets that cannot be updated count on one Event of each reason", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  world.aws.controls.deny("elasticloadbalancing:RegisterTargets");
  for (let i = 0; i < 3; i++) {
    await world.join(1);
    await world.world.advance(10 * 60_000);
  }
  assert.equal(said(world, "UpdateLoadBalancerFailed").length, 1);
  assert.match(synced(world)?.message ?? "", /RegisterTargets/);
});

test("a Service with which nothing is wrong has none of our conditions", async (t) => {
  const world = await bed(t);
  await world.create("web");
  await world.published("web");
  assert.deepEqual(world.service("web")?.status?.conditions ?? [], []);
  assert.equal(world.writes.filter(({ body }) => JSON.stringify(body).includes("conditions")).length, 0);
});
