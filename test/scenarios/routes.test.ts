/** The route controller in a whole controller manager, on a cluster and an account in one process and on virtual time. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AttachNetworkInterfaceCommand, CreateNetworkInterfaceCommand, EC2Client } from "@aws-sdk/client-ec2";
import "../../src/routes/controller.ts";
import { describeRoute } from "../../src/sandbox/cloud/ec2/routes.ts";
import type { Instance, RouteTarget } from "../../src/sandbox/cloud/ec2/state.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";

const minute = 60_000;

interface Options {
  readonly config?: string;
  readonly cidr?: string;
  readonly start?: boolean;
}

/** A cluster whose pods live in 10.200.0.0/16, with the route controller alone. */
async function routed(t: TestContext, { config, cidr = "10.200.0.0/16", start = true }: Options = {}) {
  const world = await nodeWorld({ config });
  t.after(() => world.close());
  world.aws.controls.change({ quotas: { routesPerTable: 1000 } });
  const run = () => world.start("--controllers=node-route-controller", `--cluster-cidr=${cidr}`);
  const manager = start ? run() : undefined;
  return { world, run, manager };
}

/** A Node on a new instance (or the given one) with these pod CIDRs. */
async function join(world: NodeWorld, podCIDRs: readonly string[], instance?: Instance): Promise<{ name: string; instance: Instance }> {
  const machine = instance ?? world.launch(1)[0]!;
  const name = await world.join(machine, { taints: [] });
  if (podCIDRs.length > 0) await world.say("PATCH", `/api/v1/nodes/${name}`, { spec: { podCIDR: podCIDRs[0], podCIDRs } });
  return { name, instance: machine };
}

/** Pod routes of a table as `destination instance state`, the local and gateway routes left out. */
function routes(world: NodeWorld, table = world.network.privateTableId): string[] {
  const { ec2, time } = world.aws.account;
  time.settle();
  return (ec2.routeTables.get(table)?.routes ?? [])
    .map((route) => describeRoute(ec2, route))
    .filter(({ GatewayId }) => GatewayId === undefined)
    .map(
      (route) =>
        `${route.DestinationCidrBlock ?? route.DestinationIpv6CidrBlock} ${route.InstanceId ?? route.NatGatewayId ?? "-"} ${route.State}`,
    )
    .sort();
}

function condition(world: NodeWorld, name: string): string | undefined {
  const found = world.node(name)?.status?.conditions?.find(({ type }) => type === "NetworkUnavailable");
  return found && `${found.status} ${found.reason}`;
}

const isRouted = (world: NodeWorld, name: string) => condition(world, name) === "False RouteCreated";

/** A route put into the table by somebody else. */
function plant(world: NodeWorld, destination: string, target: RouteTarget): void {
  const { routeTables } = world.aws.account.ec2;
  const table = routeTables.get(world.network.privateTableId)!;
  routeTables.update(table.id, {
    routes: [...table.routes.filter((route) => route.destination !== destination), { destination, family: 4, target }],
  });
}

const interfaceOf = (world: NodeWorld, { id }: Instance): string =>
  [...world.aws.account.ec2.interfaces.values()].find(({ attachment }) => attachment?.instanceId === id)!.id;

test("nodes get their routes, the source/destination check is off, the condition says so", async (t) => {
  const { world } = await routed(t);
  const [a, b] = [await join(world, ["10.200.0.0/24"]), await join(world, ["10.200.1.0/24"])];
  await world.until("both are routed", () => isRouted(world, a.name) && isRouted(world, b.name));
  assert.deepEqual(routes(world), [`10.200.0.0/24 ${a.instance.id} active`, `10.200.1.0/24 ${b.instance.id} active`]);
  for (const { instance } of [a, b])
    assert.equal(world.aws.account.ec2.interfaces.get(interfaceOf(world, instance))?.sourceDestCheck, false);
});

test("a node without a pod CIDR is left alone, and a Fargate node too", async (t) => {
  const { world } = await routed(t);
  const { name } = await join(world, []);
  const fargate = await world.join(world.launch(1)[0]!, {
    name: "fargate-1",
    providerID: "aws:///us-east-1a/x/fargate-10.0.0.9",
    taints: [],
  });
  await world.say("PATCH", `/api/v1/nodes/${fargate}`, { spec: { podCIDR: "10.200.5.0/24", podCIDRs: ["10.200.5.0/24"] } });
  const other = await join(world, ["10.200.0.0/24"]);
  await world.until("the other is routed", () => isRouted(world, other.name));
  assert.deepEqual([condition(world, name), condition(world, fargate)], [undefined, undefined]);
  assert.equal(routes(world).length, 1);
});

test("extra routes in range go; those outside, and those to gateways, stay", async (t) => {
  const { world, run } = await routed(t, { start: false });
  const stranger = interfaceOf(world, world.launch(1)[0]!);
  plant(world, "10.200.7.0/24", { kind: "interface", id: stranger, instanceId: undefined });
  plant(world, "172.31.0.0/24", { kind: "interface", id: stranger, instanceId: undefined });
  plant(world, "10.200.8.0/24", { kind: "nat", id: "nat-0123456789abcdef0" });
  const { name } = await join(world, ["10.200.0.0/24"]);
  run();
  await world.until(
    "it is routed and the extra route is gone",
    () => isRouted(world, name) && !routes(world).some((route) => route.startsWith("10.200.7.")),
  );
  assert.deepEqual(
    routes(world).map((route) => route.split(" ")[0]),
    ["10.200.0.0/24", "10.200.8.0/24", "172.31.0.0/24"],
  );
});

test("an instance that is terminated leaves a blackhole, which goes with its Node", async (t) => {
  const { world } = await routed(t);
  const { name, instance } = await join(world, ["10.200.0.0/24"]);
  await world.until("it is routed", () => isRouted(world, name));
  world.setState(instance.id, "terminated");
  await world.say("DELETE", `/api/v1/nodes/${name}`);
  await world.until("the route is gone", () => routes(world).length === 0);
});

test("a replaced instance with the same pod CIDR takes the route over without a moment between", async (t) => {
  const { world } = await routed(t);
  const before = await join(world, ["10.200.0.0/24"]);
  await world.until("it is routed", () => isRouted(world, before.name));
  await world.say("DELETE", `/api/v1/nodes/${before.name}`);
  const after = await join(world, ["10.200.0.0/24"]);
  await world.until("the new one is routed", () => isRouted(world, after.name));
  assert.deepEqual(routes(world), [`10.200.0.0/24 ${after.instance.id} active`]);
});

test("a table edited by hand is repaired by the drift check", async (t) => {
  const { world } = await routed(t);
  const { name, instance } = await join(world, ["10.200.0.0/24"]);
  await world.until("it is routed", () => isRouted(world, name));
  const { routeTables } = world.aws.account.ec2;
  const table = routeTables.get(world.network.privateTableId)!;
  routeTables.update(table.id, { routes: table.routes.filter(({ destination }) => destination !== "10.200.0.0/24") });
  await world.until("the route is back", () => routes(world).length === 1, 10 * minute);
  assert.deepEqual(routes(world), [`10.200.0.0/24 ${instance.id} active`]);
});

test("two nodes that claim one CIDR: one is routed, the other is told who has it, and others are not affected", async (t) => {
  const { world } = await routed(t);
  const first = await join(world, ["10.200.0.0/24"]);
  await world.until("the first is routed", () => isRouted(world, first.name));
  const second = await join(world, ["10.200.0.0/24"]);
  const third = await join(world, ["10.200.1.0/24"]);
  await world.until("the third is routed", () => isRouted(world, third.name));
  await world.until("the second knows", () => condition(world, second.name) === "True NoRouteCreated");
  assert.ok(isRouted(world, first.name));
  assert.match(
    world.events(second.name).join(),
    new RegExp(`Warning FailedToCreateRoute: .* node ${first.name} already has 10.200.0.0/24`),
  );
});

test("a denied CreateRoute is told on the Node with the action that is missing, and works once it is allowed", async (t) => {
  const { world } = await routed(t);
  const allow = world.aws.controls.deny("ec2:CreateRoute");
  const { name } = await join(world, ["10.200.0.0/24"]);
  await world.until("it is told", () => condition(world, name) === "True NoRouteCreated" && world.events(name).length > 0);
  assert.match(world.events(name)[0] ?? "", /FailedToCreateRoute: Could not create route .*ec2:CreateRoute/);
  allow();
  await world.until("it is routed", () => isRouted(world, name), 20 * minute);
});

test("a throttled CreateRoute is waited out", async (t) => {
  const { world } = await routed(t);
  world.aws.controls.faults.add({ action: "ec2:CreateRoute", effect: { kind: "throttle" }, times: 3 });
  const { name } = await join(world, ["10.200.0.0/24"]);
  await world.until("it is routed", () => isRouted(world, name), 5 * minute);
});

test("an answer that is lost after the route was made is found by looking again", async (t) => {
  const { world } = await routed(t);
  world.aws.controls.faults.add({ action: "ec2:CreateRoute", effect: { kind: "lose-answer" }, times: 1 });
  const { name } = await join(world, ["10.200.0.0/24"]);
  await world.until("it is routed", () => isRouted(world, name), 5 * minute);
  assert.equal(routes(world).length, 1);
});

test("a full table is told on the Node and not asked again every few seconds", async (t) => {
  const { world } = await routed(t);
  world.aws.controls.change({ quotas: { routesPerTable: 2 } });
  const nodes = [await join(world, ["10.200.0.0/24"]), await join(world, ["10.200.1.0/24"]), await join(world, ["10.200.2.0/24"])];
  await world.until("all have their condition", () => nodes.every(({ name }) => condition(world, name) !== undefined));
  const unrouted = nodes.filter(({ name }) => !isRouted(world, name));
  assert.ok(unrouted.length > 0);
  assert.match(world.events(unrouted[0]!.name).join(), /RouteLimitExceeded/);
  const tried = world.calls("CreateRoute");
  await world.world.advance(5 * minute);
  assert.ok(world.calls("CreateRoute") - tried <= 4 * unrouted.length, "it backs off");
});

test("a table that is about to be full is told of before it is", async (t) => {
  const { world, run } = await routed(t, { start: false });
  const nodes: { name: string }[] = [];
  for (let i = 0; i < 46; i++) nodes.push(await join(world, [`10.200.${i}.0/24`]));
  run();
  await world.until("all are routed", () => nodes.every(({ name }) => isRouted(world, name)), 5 * minute);
  assert.equal(world.events().filter((event) => event.startsWith("Warning RouteTableAlmostFull")).length, 1);
});

test("a list that fails touches nothing and is tried again", async (t) => {
  const { world, run } = await routed(t, { start: false });
  world.aws.controls.faults.add({
    action: "ec2:DescribeRouteTables",
    effect: { kind: "fail", code: "InternalError", status: 500 },
    times: 8,
  });
  const { name } = await join(world, ["10.200.0.0/24"]);
  const { metrics } = run();
  await world.until("it is routed", () => isRouted(world, name), 10 * minute);
  assert.match(await metrics(), /route_controller_route_sync_total\{outcome="error",trigger="[a-z_]+"\} [1-9]/);
});

test("tables are found by id without a tag, several are kept equal, and none is an error that says what to do", async (t) => {
  const named = await nodeWorld();
  named.close();
  const { world } = await routed(t, { config: `RouteTableID=${named.network.publicTableId}, ${named.network.privateTableId}` });
  const { name, instance } = await join(world, ["10.200.0.0/24"]);
  await world.until("it is routed", () => isRouted(world, name));
  assert.deepEqual(routes(world), [`10.200.0.0/24 ${instance.id} active`]);
  assert.deepEqual(routes(world, world.network.publicTableId), routes(world));

  const bare = await routed(t, { config: "RouteTableID=rtb-0000000000000000a" });
  await join(bare.world, ["10.200.0.0/24"]);
  await bare.world.until("the log says so", () =>
    bare.world.lines.some((line) => line.includes("RouteTableID names rtb-0000000000000000a")),
  );
});

test("an instance with several interfaces is routed to by its first one", async (t) => {
  const { world } = await routed(t);
  const [machine] = world.launch(1);
  const { interfaces } = world.aws.account.ec2;
  const first = interfaces.get(interfaceOf(world, machine!))!;
  const ec2 = new EC2Client(sdkConfig(world.aws));
  const { NetworkInterface } = await ec2.send(new CreateNetworkInterfaceCommand({ SubnetId: first.subnetId }));
  const { NetworkInterfaceId } = NetworkInterface!;
  await ec2.send(new AttachNetworkInterfaceCommand({ NetworkInterfaceId, InstanceId: machine!.id, DeviceIndex: 1 }));
  const { name } = await join(world, ["10.200.0.0/24"], machine);
  await world.until("it is routed", () => isRouted(world, name));
  assert.equal(interfaces.get(first.id)?.sourceDestCheck, false);
  assert.equal(world.calls("ModifyInstanceAttribute"), 0);
});

test("a restart in the middle finishes what was begun and changes nothing that is right", async (t) => {
  const { world, run, manager } = await routed(t);
  const nodes: { name: string }[] = [];
  for (let i = 0; i < 10; i++) nodes.push(await join(world, [`10.200.${i}.0/24`]));
  await world.until("some are routed", () => routes(world).length >= 3);
  manager!.stop();
  await world.until("it has ended", () => true);
  run();
  await world.until("all are routed", () => nodes.every(({ name }) => isRouted(world, name)), 5 * minute);
  assert.equal(routes(world).length, 10);
  assert.equal(world.calls("CreateRoute"), 10);
});

test("900 nodes: one CreateRoute and one attribute change each, ten reads or fewer in all; then one read a drift period", async (t) => {
  const { world, run } = await routed(t, { start: false });
  const machines = world.launch(900);
  const names: string[] = [];
  for (const [i, machine] of machines.entries()) names.push((await join(world, [`10.200.${i >> 2}.${(i & 3) * 64}/26`], machine)).name);
  const { metrics } = run();
  await world.until("all are routed", () => names.every((name) => isRouted(world, name)), 30 * minute);
  assert.equal(world.calls("CreateRoute"), 900);
  assert.equal(world.calls("ModifyInstanceAttribute"), 900);
  const reads = () => world.calls("DescribeRouteTables") + world.calls("DescribeInstances");
  assert.ok(reads() <= 10, `${reads()} reads`);
  const before = { reads: reads(), writes: world.writes.length };
  await world.world.advance(55 * minute);
  assert.ok(reads() - before.reads <= 12, `${reads() - before.reads} reads at 11 or 12 ends of a drift period`);
  assert.equal(world.writes.length, before.writes);
  assert.match(await metrics(), /fairlead_routes\{state="wanted"\} 900/);
});

test("two CIDRs a node: none there, some, wrong ones and too many all end as wanted", async (t) => {
  const { world, run } = await routed(t, { cidr: "10.200.0.0/16,fd00:10::/48", start: false });
  const both = (n: number) => [`10.200.${n}.0/24`, `fd00:10:0:${n}::/64`];
  const [a, b] = [await join(world, both(1)), await join(world, both(2))];
  plant(world, "10.200.1.0/24", { kind: "interface", id: interfaceOf(world, b.instance), instanceId: b.instance.id });
  plant(world, "10.200.2.0/24", { kind: "interface", id: interfaceOf(world, b.instance), instanceId: b.instance.id });
  plant(world, "10.200.3.0/24", { kind: "interface", id: interfaceOf(world, b.instance), instanceId: b.instance.id });
  run();
  const wanted = [a, b].flatMap(({ instance }, i) => both(i + 1).map((cidr) => `${cidr} ${instance.id} active`)).sort();
  await world.until("both are routed", () => isRouted(world, a.name) && isRouted(world, b.name) && routes(world).length === 4);
  assert.deepEqual(routes(world), wanted);
});

test("a DeleteRoute that fails is tried again, and one of a route that somebody else took away is done", async (t) => {
  const { world } = await routed(t);
  const [a, b] = [await join(world, ["10.200.0.0/24"]), await join(world, ["10.200.1.0/24"])];
  await world.until("both are routed", () => isRouted(world, a.name) && isRouted(world, b.name));
  world.aws.controls.faults.add({
    action: "ec2:DeleteRoute",
    effect: { kind: "fail", code: "UnauthorizedOperation", status: 403 },
    times: 1,
  });
  await world.say("DELETE", `/api/v1/nodes/${a.name}`);
  await world.until("its route is gone", () => routes(world).length === 1, 20 * minute);
  const { routeTables } = world.aws.account.ec2;
  const table = routeTables.get(world.network.privateTableId)!;
  routeTables.update(table.id, { routes: table.routes.filter(({ destination }) => !destination.startsWith("10.200.")) });
  await world.say("DELETE", `/api/v1/nodes/${b.name}`);
  await world.until("it was tried", () => world.calls("DeleteRoute") >= 3);
  await world.world.advance(minute);
  assert.ok(world.calls("DeleteRoute") <= 4, "what is gone is not deleted over and over");
});

test("another's reason in the condition is overwritten; a right condition is not written again", async (t) => {
  const { world, run } = await routed(t, { start: false });
  const { name } = await join(world, ["10.200.0.0/24"]);
  await world.say("PATCH", `/api/v1/nodes/${name}/status`, {
    status: { conditions: [{ type: "NetworkUnavailable", status: "False", reason: "CalicoIsUp" }] },
  });
  const { metrics } = run();
  await world.until("the reason is ours", () => isRouted(world, name));
  const writes = world.writes.length;
  await world.world.advance(12 * minute);
  assert.equal(world.writes.length, writes);
  assert.match(await metrics(), /route_controller_route_sync_total\{outcome="changed",trigger="[a-z_]+"\} 1/);
  assert.match(await metrics(), /route_controller_route_sync_total\{outcome="noop",trigger="periodic"\} [1-9]/);
});

test("what has nothing to do with routes wakes nobody", async (t) => {
  const { world, manager } = await routed(t);
  const { name } = await join(world, ["10.200.0.0/24"]);
  await world.until("it is routed", () => isRouted(world, name));
  await world.world.advance(1_000);
  const passes = async () => (await manager!.metrics()).match(/route_sync_total\{[^}]*node_change"\} (\d+)/g)?.join();
  const before = await passes();
  await world.say("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels: { team: "web" } } });
  await world.say("PATCH", `/api/v1/nodes/${name}/status`, { status: { images: [{ names: ["x"], sizeBytes: 1 }] } });
  await world.world.advance(1_000);
  assert.equal(await passes(), before);
});

test("a table is found by the legacy tag and over several pages; one of another VPC is not ours", async (t) => {
  const { world, run } = await routed(t, { start: false });
  const { routeTables } = world.aws.account.ec2;
  const table = routeTables.get(world.network.privateTableId)!;
  routeTables.update(table.id, { tags: { KubernetesCluster: "test" } });
  routeTables.put("rtb-0ffffffffffffffff", { ...table, id: "rtb-0ffffffffffffffff", vpcId: "vpc-0ffffffffffffffff", associations: [] });
  world.aws.controls.change({ pageSize: 1 });
  const { name } = await join(world, ["10.200.0.0/24"]);
  run();
  await world.until("it is routed", () => isRouted(world, name));
  assert.equal(routes(world).length, 1);
  assert.equal(routes(world, "rtb-0ffffffffffffffff").length, 0);
});

test("two Nodes on one instance are both routed to it, each by its own CIDR", async (t) => {
  const { world } = await routed(t);
  const first = await join(world, ["10.200.0.0/24"]);
  const name = await world.join(first.instance, { name: "twin", taints: [] });
  await world.say("PATCH", `/api/v1/nodes/${name}`, { spec: { podCIDR: "10.200.1.0/24", podCIDRs: ["10.200.1.0/24"] } });
  await world.until("both are routed", () => isRouted(world, first.name) && isRouted(world, name));
  assert.deepEqual(routes(world), [`10.200.0.0/24 ${first.instance.id} active`, `10.200.1.0/24 ${first.instance.id} active`]);
});

test("a source/destination check that cannot be turned off stops before the route is made", async (t) => {
  const { world } = await routed(t);
  world.aws.controls.deny("ec2:ModifyInstanceAttribute");
  const { name } = await join(world, ["10.200.0.0/24"]);
  await world.until("it is told", () => condition(world, name) === "True NoRouteCreated" && world.events(name).length > 0);
  assert.equal(world.calls("CreateRoute"), 0);
  assert.match(world.events(name)[0] ?? "", /ec2:ModifyInstanceAttribute/);
});

test("a route that stands there already, made behind our back, is looked at again and put right", async (t) => {
  const { world } = await routed(t);
  const first = await join(world, ["10.200.0.0/24"]);
  await world.until("the tables are known", () => isRouted(world, first.name));
  plant(world, "10.200.1.0/24", { kind: "interface", id: interfaceOf(world, first.instance), instanceId: first.instance.id });
  const second = await join(world, ["10.200.1.0/24"]);
  await world.until("it is routed", () => isRouted(world, second.name), 5 * minute);
  assert.deepEqual(routes(world)[1], `10.200.1.0/24 ${second.instance.id} active`);
});

test("nodes are routed whatever they are named by: instance id, private DNS name, or a name of their own with a provider ID", async (t) => {
  const { world, run } = await routed(t, { start: false });
  const [byId, byDns, own] = world.launch(3);
  const names = [
    await world.join(byId!, { name: byId!.id, providerID: "" }),
    await world.join(byDns!, { providerID: "" }),
    await world.join(own!, { name: "custom-name" }),
  ];
  for (const [i, name] of names.entries()) {
    await world.say("PATCH", `/api/v1/nodes/${name}`, { spec: { podCIDR: `10.200.${i}.0/24`, podCIDRs: [`10.200.${i}.0/24`] } });
  }
  run();
  world.start("--controllers=cloud-node-controller");
  await world.until("all are routed", () => names.every((name) => isRouted(world, name)), 5 * minute);
  assert.deepEqual(
    routes(world).map((route) => route.split(" ")[1]),
    [byId!.id, byDns!.id, own!.id],
  );
});
