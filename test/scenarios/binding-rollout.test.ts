/** A rolling update of a hundred pods while requests flow through the load balancer's data plane; and what many bindings cost. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventual } from "../../src/aws/testing/eventual.ts";
import { bindingWorld } from "../bed/binding-world.ts";
import { Rollout } from "../bed/rollout.ts";
import { RoutedClient } from "../bed/routed-client.ts";
import { chanceOf } from "../simulation/chance.ts";

const gate = "target-health.elbv2.k8s.aws/web";

/** A hundred pods, a quarter more during the update, none fewer; they answer for 20 s after they are asked to end. */
async function rollOut(protocol: "HTTP" | "TCP", gated: boolean): Promise<RoutedClient> {
  const world = await bindingWorld();
  try {
    const arn = await world.group("shop", { protocol, used: true });
    await world.service("web");
    world.start();
    await world.bind("web", { targetGroupARN: arn });
    const chance = { ...chanceOf(world.world.random), between: () => 20 };
    const rollout = new Rollout(world, "web", { size: 100, surge: 25, chance, ...(gated && { gate }) });
    const client = new RoutedClient(world.aws, (target) => rollout.answers(target));
    const steps = async (isOver: () => boolean, send: boolean) => {
      for (let i = 0; i < 2_000 && !isOver(); i++) {
        await rollout.step();
        for (let n = 0; n < 4; n++) {
          await world.world.advance(250);
          if (send) client.send();
        }
      }
      assert.ok(isOver());
    };
    await steps(() => rollout.isDone() && world.binding("web")?.status?.targets?.healthy === 100, false);
    rollout.roll();
    await steps(() => rollout.isDone(), true);
    await steps(() => client.sent % 4 === 0 && world.targets(arn).length === 100, true);
    for (let i = 0; i < 240; i++) {
      await world.world.advance(500);
      client.send();
    }
    return client;
  } finally {
    world.close();
  }
}

for (const [protocol, balancer] of [
  ["HTTP", "an application load balancer"],
  ["TCP", "a network load balancer"],
] as const) {
  test(`with gates a rolling update of 100 pods behind ${balancer} fails no request; without them it does`, async (t) => {
    const gated = await rollOut(protocol, true);
    const open = await rollOut(protocol, false);
    t.diagnostic(`with gates ${gated.failed} of ${gated.sent} requests failed, without ${open.failed} of ${open.sent}`);
    assert.ok(gated.sent > 100);
    assert.equal(gated.failed, 0);
    assert.ok(open.failed > 0, "else the gates would be worth nothing");
  });
}

test("500 bindings cost five calls each to make, and a restart over them none, and no write", async (t) => {
  const world = await bindingWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 2);
  const arns: string[] = [];
  for (let i = 0; i < 500; i++) arns.push(await eventual(world.world, world.group(`web-${i}`)));
  const kill = world.start();
  world.resetCalls();
  for (const [i, arn] of arns.entries()) await world.bind(`web-${i}`, { targetGroupARN: arn });
  await world.world.advance(30 * 60_000);
  assert.ok(arns.every((arn) => world.targets(arn).length === 2));
  const { DescribeVpcs, ...each } = world.calls();
  assert.equal(DescribeVpcs, 1);
  assert.deepEqual(each, { DescribeTargetGroups: 1_000, DescribeTargetHealth: 1_000, RegisterTargets: 500 });
  kill();
  world.resetCalls();
  world.start();
  await world.world.advance(20 * 60_000);
  assert.deepEqual([world.calls(), world.writes], [{}, []]);
});

test("50 groups of 990 targets are filled with 250 calls, cost none in steady state, and two each when a pod moves", async (t) => {
  const world = await bindingWorld();
  t.after(() => world.close());
  await world.service("web");
  // AWS takes 1,000: a full group has to lose a target before it takes another, which costs the call that is refused.
  const [first = ""] = await world.pods("web", 990);
  const arns: string[] = [];
  for (let i = 0; i < 50; i++) arns.push(await eventual(world.world, world.group(`web-${i}`)));
  world.start();
  world.resetCalls();
  for (const [i, arn] of arns.entries()) await world.bind(`web-${i}`, { targetGroupARN: arn });
  await world.world.advance(30 * 60_000);
  assert.equal(world.calls().RegisterTargets, 250, "200 per call");
  assert.ok(arns.every((arn) => world.targets(arn).length === 990));
  world.resetCalls();
  await world.world.advance(60 * 60_000);
  assert.deepEqual([world.calls(), world.writes], [{}, []]);
  await world.remove("web", first);
  await world.pods("web", 1);
  await world.world.advance(10 * 60_000);
  const { RegisterTargets, DeregisterTargets } = world.calls();
  assert.deepEqual([RegisterTargets, DeregisterTargets], [50, 50]);
});
