/** What cannot be determined is never a reason to delete: routes that work stay through every failed look-up. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import "../../src/routes/controller.ts";
import type { Effect } from "../../src/sandbox/cloud/controls/faults.ts";
import { describeRoute } from "../../src/sandbox/cloud/ec2/routes.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { type NodeWorld, nodeWorld, uninitialized } from "../bed/node-world.ts";

const minute = 60_000;
const clusterTag = { "kubernetes.io/cluster/test": "owned" };

/** Nodes `10.200.0.0/24`, `10.200.1.0/24`, …, all routed in the one table that is tagged. */
async function routedNodes(t: TestContext, count: number) {
  const world = await nodeWorld();
  t.after(() => world.close());
  const nodes: { name: string; instance: Instance; cidr: string }[] = [];
  for (const [i, instance] of world.launch(count).entries()) {
    const [name, cidr] = [await world.join(instance, { taints: [] }), `10.200.${i}.0/24`];
    await giveCidr(world, name, cidr);
    nodes.push({ name, instance, cidr });
  }
  const manager = run(world);
  await world.until("all are routed", () => nodes.every(({ name }) => condition(world, name) === "False RouteCreated"));
  return { world, nodes, manager };
}

const run = (world: NodeWorld) =>
  world.start("--controllers=node-route-controller", "--cluster-cidr=10.200.0.0/16", "--route-reconciliation-period=1m");

const giveCidr = (world: NodeWorld, name: string, cidr: string) =>
  world.say("PATCH", `/api/v1/nodes/${name}`, { spec: { podCIDR: cidr, podCIDRs: [cidr] } });

function condition(world: NodeWorld, name: string): string | undefined {
  const found = world.node(name)?.status?.conditions?.find(({ type }) => type === "NetworkUnavailable");
  return found && `${found.status} ${found.reason}`;
}

/** Pod routes of a table as `destination instance`. */
function podRoutes(world: NodeWorld, table: string): string[] {
  const { ec2, time } = world.aws.account;
  time.settle();
  return (ec2.routeTables.get(table)?.routes ?? [])
    .map((route) => describeRoute(ec2, route))
    .filter(({ DestinationCidrBlock = "" }) => DestinationCidrBlock.startsWith("10.200."))
    .map((route) => `${route.DestinationCidrBlock} ${route.InstanceId}`)
    .sort();
}

function tagSecondTable({ aws, network }: NodeWorld): void {
  aws.account.ec2.routeTables.update(network.publicTableId, { tags: clusterTag });
}

const troubles: Readonly<Record<string, Effect>> = {
  throttled: { kind: "throttle" },
  denied: { kind: "fail", code: "UnauthorizedOperation", status: 403 },
  "answered by a server error": { kind: "fail", code: "InternalError", status: 500 },
  cut: { kind: "cut" },
};

for (const [how, effect] of Object.entries(troubles)) {
  test(`a second table is tagged while look-ups are ${how}: routes and conditions stay, and both tables are equal afterwards`, async (t) => {
    const { world, nodes } = await routedNodes(t, 3);
    const { privateTableId, publicTableId } = world.network;
    const standing = podRoutes(world, privateTableId);
    const fault = world.aws.controls.faults.add({ action: "ec2:DescribeInstances", effect });
    const asked = world.calls("DescribeInstances");
    tagSecondTable(world);
    await world.world.advance(10 * minute);
    assert.ok(world.calls("DescribeInstances") > asked, "the machines are asked for meanwhile");
    assert.deepEqual(podRoutes(world, privateTableId), standing);
    assert.equal(world.calls("DeleteRoute"), 0);
    for (const { name } of nodes) assert.equal(condition(world, name), "False RouteCreated");
    world.aws.controls.faults.remove(fault);
    await world.until("the second table is filled", () => podRoutes(world, publicTableId).length === 3, 90_000);
    assert.deepEqual(podRoutes(world, publicTableId), standing);
    assert.equal(world.calls("DeleteRoute"), 0);
  });
}

test("an instance that EC2 does not show for a while keeps its route", async (t) => {
  const { world, nodes } = await routedNodes(t, 1);
  const standing = podRoutes(world, world.network.privateTableId);
  const show = world.answerEmpty();
  tagSecondTable(world);
  await world.world.advance(5 * minute);
  assert.deepEqual(podRoutes(world, world.network.privateTableId), standing);
  show();
  await world.until("the second table is filled", () => podRoutes(world, world.network.publicTableId).length === 1, 90_000);
  assert.equal(condition(world, nodes[0]!.name), "False RouteCreated");
});

test("a Node that registered anew keeps its route while nobody can say which machine it is", async (t) => {
  const { world, nodes, manager } = await routedNodes(t, 1);
  const [{ name, instance, cidr }] = nodes as [(typeof nodes)[0]];
  manager.stop();
  await world.until("nobody watches", () => world.lines.at(-1)?.includes("stopped") ?? false);
  await world.say("DELETE", `/api/v1/nodes/${name}`);
  await world.join(instance, { providerID: "", taints: [uninitialized] });
  await giveCidr(world, name, cidr);
  run(world);
  await world.world.advance(5 * minute);
  assert.deepEqual(podRoutes(world, world.network.privateTableId), [`${cidr} ${instance.id}`]);
});

test("where AWS lets a route through every five seconds, each Node is in service as soon as its own stands", async (t) => {
  const world = await nodeWorld();
  t.after(() => world.close());
  world.aws.controls.change({
    quotas: { routesPerTable: 1000 },
    buckets: { "ec2:CreateRoute": { capacity: 1, refillPerSecond: 0.2 } },
  });
  const names: string[] = [];
  for (const [i, instance] of world.launch(60).entries()) {
    names.push(await world.join(instance, { taints: [] }));
    await giveCidr(world, names[i]!, `10.200.${i}.0/24`);
  }
  run(world);
  await world.until("some are routed", () => podRoutes(world, world.network.privateTableId).length >= 10, 5 * minute);
  await world.world.advance(1_000);
  const inService = names.filter((name) => condition(world, name) === "False RouteCreated");
  assert.ok(inService.length >= 10 && inService.length < 30, `${inService.length} are in service`);
  await world.until("all are routed", () => names.every((name) => condition(world, name) === "False RouteCreated"), 60 * minute);
});

test("a route for the pods of a Node that is on no machine of EC2 is somebody's, and stays", async (t) => {
  const { world, nodes } = await routedNodes(t, 1);
  const { routeTables } = world.aws.account.ec2;
  const table = world.network.privateTableId;
  const { target } = routeTables.get(table)!.routes.find(({ destination }) => destination === nodes[0]!.cidr)!;
  const providerIds = ["aws:///us-east-1a/worker-7", "hybrid:///site/worker-8", "aws:///us-east-1a/x/fargate-10.0.0.9"];
  const names: string[] = [];
  for (const [i, providerID] of providerIds.entries()) {
    const [name, destination] = [await world.join(world.launch(1)[0]!, { name: `odd-${i}`, providerID, taints: [] }), `10.200.9${i}.0/24`];
    await giveCidr(world, name, destination);
    routeTables.update(table, { routes: [...routeTables.get(table)!.routes, { destination, family: 4, target }] });
    names.push(name);
  }
  await world.world.advance(5 * minute);
  assert.equal(world.calls("DeleteRoute"), 0);
  assert.equal(podRoutes(world, table).length, 4);
  for (const name of names) assert.equal(condition(world, name), undefined);
});

for (const which of ["privateTableId", "publicTableId"] as const) {
  test(`a table that takes no routes (${which}) does not keep them out of the other`, async (t) => {
    const world = await nodeWorld();
    t.after(() => world.close());
    tagSecondTable(world);
    const effect: Effect = { kind: "fail", code: "UnauthorizedOperation", status: 403 };
    world.aws.controls.faults.add({ action: "ec2:CreateRoute", containing: world.network[which], effect });
    const name = await world.join(world.launch(1)[0]!, { taints: [] });
    await giveCidr(world, name, "10.200.0.0/24");
    run(world);
    await world.world.advance(5 * minute);
    const { privateTableId, publicTableId } = world.network;
    const [closed, open] = which === "privateTableId" ? [privateTableId, publicTableId] : [publicTableId, privateTableId];
    assert.deepEqual([podRoutes(world, closed).length, podRoutes(world, open).length], [0, 1]);
    assert.equal(condition(world, name), "True NoRouteCreated");
  });
}

test("a Node that will not have its condition written does not hold up what is due for the others", async (t) => {
  const world = await nodeWorld();
  t.after(() => world.close());
  const odd = await world.join(world.launch(1)[0]!, { taints: [] });
  await giveCidr(world, odd, "10.200.0.0/24");
  const match = ({ method, url }: { readonly method: string; readonly url: URL }) =>
    method === "PATCH" && url.pathname === `/api/v1/nodes/${odd}/status`;
  world.cluster.faults.add({ match, effect: { kind: "refuse", status: 403 } });
  world.start("--controllers=node-route-controller", "--cluster-cidr=10.200.0.0/16", "--route-reconciliation-period=24h");
  await world.world.advance(30 * minute);
  world.aws.controls.faults.add({ action: "ec2:CreateRoute", effect: { kind: "fail", code: "InternalError", status: 500 }, times: 2 });
  const name = await world.join(world.launch(1)[0]!, { taints: [] });
  await giveCidr(world, name, "10.200.1.0/24");
  await world.until("the other is routed", () => condition(world, name) === "False RouteCreated", 60_000);
});

test("a table that is the cluster's no longer is not counted any more", async (t) => {
  const { world, manager } = await routedNodes(t, 1);
  const { privateTableId, publicTableId } = world.network;
  const counted = async () =>
    [...(await manager.metrics()).matchAll(/^fairlead_route_table_routes\{table="([^"]+)"/gm)].map(([, id]) => id);
  tagSecondTable(world);
  await world.until("the second table is filled", () => podRoutes(world, publicTableId).length === 1, 90_000);
  assert.deepEqual((await counted()).sort(), [privateTableId, publicTableId].sort());
  world.aws.account.ec2.routeTables.update(publicTableId, { tags: {} });
  await world.world.advance(2 * minute);
  assert.deepEqual(await counted(), [privateTableId]);
});
