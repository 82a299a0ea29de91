/** What Gateways cost in calls: at a restart, and when one route of many changes. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { gatewayWorld } from "../bed/gateway-world.ts";

const gateways = 10;
const routesEach = 50;

test("500 routes on ten Gateways: a restart changes nothing and asks for lists, and one changed route costs its own rules only", async (t) => {
  const world = await gatewayWorld();
  t.after(() => world.close());
  await world.service("web");
  const end = world.serve("--alb-gateway-max-concurrent-reconciles=10");
  const names = Array.from({ length: gateways }, (_, i) => `edge-${i}`);
  for (const name of names) {
    await world.gateway(name, ["HTTP:80"]);
    for (let i = 0; i < routesEach; i++) {
      await world.route(`${name}-${i}`, { [`/${i}`]: ["web:80"] }, { parentRefs: [{ name }], hostnames: [`h${i}.example.com`] });
    }
  }
  await world.programmed(...names);
  await world.world.advance(10 * 60_000);
  assert.equal(world.all("elbv2/rules").length, gateways * routesEach, world.lines.slice(-5).join("\n"));

  await t.test("a restart", async () => {
    end();
    world.resetCalls();
    world.serve("--alb-gateway-max-concurrent-reconciles=10");
    await world.world.advance(10 * 60_000);
    assert.deepEqual([world.mutations(), world.writes], [{}, []]);
    const { DescribeTags = 0, ...others } = world.calls();
    const lists = Object.values(others).reduce((sum, count) => sum + count, 0);
    t.diagnostic(`${lists + DescribeTags} calls: ${JSON.stringify(world.calls())}`);
    // Tags come twenty to a call, of load balancers and target groups; everything else is lists, by pages.
    assert.ok(DescribeTags <= Math.ceil((gateways * (routesEach + 1)) / 20) && lists <= gateways, JSON.stringify(world.calls()));
  });

  await t.test("one changed route", async () => {
    world.resetCalls();
    const rules = [{ matches: [{ path: { type: "PathPrefix", value: "/x" } }], backendRefs: [{ name: "web", port: 80 }] }];
    await world.change("httproutes", "edge-3-4", { metadata: { generation: 2 }, spec: { rules } });
    await world.world.advance(120_000);
    assert.deepEqual(world.mutations(), { ModifyRule: 1 });
  });
});

test("what somebody changes by hand while nobody runs is put right within an hour of the next start, which reads lists alone at first", async (t) => {
  const world = await gatewayWorld();
  t.after(() => world.close());
  await world.service("web");
  const end = world.serve();
  await world.gateway("edge", ["HTTP:80"]);
  await world.route("shop", { "/": ["web:80"] });
  await world.programmed("edge");
  await world.world.advance(600_000);
  end();
  const rules = world.aws.account.store.table<{ readonly arn: string }>("elbv2/rules");
  for (const { arn } of world.all<{ arn: string }>("elbv2/rules")) rules.delete(arn);
  world.resetCalls();
  world.serve();
  await world.world.advance(120_000);
  assert.deepEqual([world.calls().DescribeRules, world.all("elbv2/rules").length], [undefined, 0], "the checkpoint is believed");
  await world.world.advance(60 * 60_000);
  assert.equal(world.all("elbv2/rules").length, 1);
});
