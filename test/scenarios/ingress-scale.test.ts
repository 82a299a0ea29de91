/** Hundreds of Ingresses in shared load balancers, found again as they are. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ingressWorld } from "../bed/ingress-world.ts";

const ingresses = 900;
const groups = 90;

test(`a restart over ${ingresses} Ingresses in ${groups} groups changes nothing, and asks for pages alone`, async (t) => {
  const world = await ingressWorld();
  t.after(() => world.close());
  world.aws.controls.change({ quotas: { ...world.aws.account.settings().quotas, applicationLoadBalancers: groups + 10 } });
  for (const service of ["web", "api"]) {
    await world.service(service);
    await world.pods(service, 2);
  }
  const names = Array.from({ length: ingresses }, (_, i) => `in-${i}`);
  for (const [i, name] of names.entries())
    await world.ingress(name, { [`${name}.example.com`]: ["Prefix / web:80", "Prefix /api api:80"] }, { "group.name": `g${i % groups}` });
  let end = world.serve();
  await world.until("addresses are published", () => names.every((name) => world.hostname(name) !== ""), 4 * 3_600_000);
  await world.world.advance(30 * 60_000);
  assert.equal(world.all("elbv2/rules").length, 2 * ingresses);
  assert.equal(world.bindings().length, 2 * ingresses);
  t.diagnostic(`created with ${total(world.calls())} calls: ${JSON.stringify(world.calls())}`);
  end();

  world.resetCalls();
  const began = world.world.clock.monotonic();
  end = world.serve();
  await world.world.advance(10 * 60_000);
  end();
  const calls = world.calls();
  assert.deepEqual([world.mutations(), world.writes], [{}, []]);
  const pages = {
    loadBalancers: Math.ceil(groups / 400),
    targetGroups: Math.ceil((2 * ingresses) / 400),
    tags: (2 * ingresses + groups) / 20,
  };
  const most = pages.loadBalancers + pages.targetGroups + pages.tags + 20;
  assert.ok(total(calls) <= most, `${total(calls)} calls, and ${most} are enough: ${JSON.stringify(calls)}`);
  t.diagnostic(`restarted with ${total(calls)} calls: ${JSON.stringify(calls)}, after ${began}`);
});

test("what is made is not read again: twenty Ingresses of two groups cost their own calls and a few lists", async (t) => {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web", { type: "NodePort", ports: [{ name: "http", port: 80, targetPort: 8080, nodePort: 31_080 }] });
  const names = Array.from({ length: 20 }, (_, i) => `in-${i}`);
  for (const [i, name] of names.entries())
    await world.ingress(name, { [`${name}.example.com`]: ["Prefix / web:80"] }, { "group.name": `g${i % 2}`, "target-type": "instance" });
  const end = world.serve();
  t.after(end);
  await world.until("addresses are published", () => names.every((name) => world.hostname(name) !== ""), 3_600_000);
  await world.world.advance(60_000);
  assert.equal(world.all("elbv2/targets").length, 40);
  const { DescribeSecurityGroups: _, ...calls } = world.calls();
  assert.deepEqual(calls, {
    CreateSecurityGroup: 3,
    CreateLoadBalancer: 2,
    CreateListener: 2,
    CreateTargetGroup: 20,
    CreateRule: 20,
    RegisterTargets: 20,
    AuthorizeSecurityGroupIngress: 3,
    DescribeAvailabilityZones: 1,
    DescribeInstances: 1,
    DescribeLoadBalancers: 1,
    DescribeRouteTables: 1,
    DescribeSecurityGroupRules: 2,
    DescribeSubnets: 1,
    DescribeTargetGroups: 1,
  });
});

const total = (calls: Readonly<Record<string, number>>) => Object.values(calls).reduce((sum, count) => sum + count, 0);
