/** What many Services cost when they come, change and go at once, and each call takes as long as AWS takes. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { classicOf, networkOf } from "../bed/balancers.ts";
import { type ServiceWorld, serviceWorld } from "../bed/service-world.ts";

const names = Array.from({ length: 100 }, (_, i) => `service-${i}`);
const latencyMs = 40;
/** A person's script makes a request in so much time. */
const strideMs = 10;

/** A world with room for a hundred Services, half classic and half network, and a controller at work in it. */
async function bed(t: TestContext): Promise<ServiceWorld> {
  const quotas = { classicLoadBalancers: 100, networkLoadBalancers: 100, rulesPerSecurityGroup: 1000 };
  const world = await serviceWorld({ settings: { quotas } });
  t.after(() => world.close());
  world.aws.controls.faults.add({ action: "*", effect: { kind: "delay", ms: latencyMs } });
  world.start();
  return world;
}

async function forEach(world: ServiceWorld, work: (name: string, index: number) => Promise<void>): Promise<void> {
  for (const [index, name] of names.entries()) {
    await work(name, index);
    await world.world.advance(strideMs);
  }
}

async function created(t: TestContext): Promise<ServiceWorld> {
  const world = await bed(t);
  await forEach(world, (name, index) => world.create(name, { annotations: index % 2 === 0 ? {} : { type: "nlb" } }));
  await world.published(...names);
  return world;
}

/** Each of these actions, and all together, were called at most so often since the counters were last set to zero. */
function assertCost(world: ServiceWorld, most: Readonly<Record<string, number>>, total: number): void {
  const calls = Object.entries(world.calls()).map(([action, count]) => [action.replace(/^\w+:/, ""), count] as const);
  const found = JSON.stringify(Object.fromEntries(calls));
  for (const [action, limit] of Object.entries(most)) {
    const count = calls.find(([name]) => name === action)?.[1] ?? 0;
    assert.ok(count <= limit, `${count} ${action}, at most ${limit} are needed: ${found}`);
  }
  const sum = calls.reduce((all, [, count]) => all + count, 0);
  assert.ok(sum <= total, `${sum} calls, at most ${total} are needed: ${found}`);
}

test("a hundred Services created at once share what they read", async (t) => {
  const world = await created(t);
  // Four calls that make a load balancer of either kind, one more for the rules of a classic one's group.
  const reads = { DescribeLoadBalancers: 4, DescribeTargetGroups: 4, DescribeSecurityGroups: 2, DescribeSecurityGroupRules: 8 };
  assertCost(world, { ...reads, DescribeLoadBalancerAttributes: 0, DescribeTags: 2, AuthorizeSecurityGroupIngress: 60 }, 490);
});

test("a hundred Services changed at once share what they read, and what was written a while ago is not read again", async (t) => {
  const world = await created(t);
  world.aws.controls.journal.resetCounts();
  await forEach(world, (name) => world.edit(name, {}, { ports: [{ port: 8080, nodePort: world.nodePort(name) }] }));
  await world.world.advance(15_000);
  const ports = names.map((name) => (classicOf(world, name) ?? networkOf(world, name))?.listeners.map(({ port }) => port));
  assert.deepEqual(
    ports,
    names.map(() => [8080]),
  );
  const reads = { DescribeLoadBalancers: 4, DescribeTargetGroups: 4, DescribeSecurityGroups: 4, DescribeSecurityGroupRules: 8 };
  assertCost(world, { ...reads, DescribeLoadBalancerAttributes: 0, DescribeListeners: 50, DescribeTargetHealth: 50 }, 580);
});

test("a hundred Services deleted at once wait for AWS together", async (t) => {
  const world = await created(t);
  world.aws.controls.journal.resetCounts();
  await forEach(world, (name) => world.delete(name));
  await world.until("every Service is gone", () => names.every((name) => world.service(name) === undefined), 600_000);
  const reads = { DescribeLoadBalancers: 40, DescribeTargetGroups: 20, DescribeSecurityGroups: 20, DescribeSecurityGroupRules: 15 };
  const writes = { DeleteLoadBalancer: 100, DeleteTargetGroup: 50, DeleteSecurityGroup: 150, RevokeSecurityGroupIngress: 10 };
  assertCost(world, { ...reads, ...writes, DescribeTags: 30 }, 400);
});

test("security groups that AWS does not let go for hours are tried now and then, and the account is read for all of them at once", async (t) => {
  const world = await created(t);
  const stuck = { kind: "fail", code: "DependencyViolation", status: 400 } as const;
  const fault = world.aws.controls.faults.add({ action: "ec2:DeleteSecurityGroup", effect: stuck });
  await forEach(world, (name) => world.delete(name));
  await world.world.advance(15 * 60_000);
  world.aws.controls.journal.resetCounts();
  await world.world.advance(60 * 60_000);
  assert.equal(world.cluster.objects("services").length, 50);
  assertCost(world, { DescribeLoadBalancers: 120, DescribeTargetGroups: 60, DescribeSecurityGroups: 60, DescribeTags: 0 }, 1_500);
  world.aws.controls.faults.remove(fault);
  await world.until("every Service is gone", () => world.cluster.objects("services").length === 0, 300_000);
});
