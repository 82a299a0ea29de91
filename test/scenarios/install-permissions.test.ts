/** The shipped policies against what the controllers really call: nothing is missing, nothing is for nothing. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AttachNetworkInterfaceCommand, CreateNetworkInterfaceCommand, EC2Client } from "@aws-sdk/client-ec2";
import "../../src/nodes/lifecycle.ts";
import "../../src/nodes/tagging.ts";
import "../../src/routes/controller.ts";
import type { Statement } from "../../src/sandbox/cloud/access/policy.ts";
import type { Instance } from "../../src/sandbox/cloud/ec2/state.ts";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { type NodeWorld, nodeWorld } from "../bed/node-world.ts";
import { actionsIn, strictPolicy } from "../bed/policies.ts";

const nodeFeatures = ["nodes", "tagging", "routes"];
const shipped = actionsIn(...nodeFeatures);

/** A cluster in which everything that the node features do is to be done, allowed to do only this. */
async function busyCluster(t: TestContext, policyFor: (world: NodeWorld) => readonly Statement[]) {
  const world = await nodeWorld();
  t.after(() => world.close());
  const [plain, placed, wide, fargate] = [...world.launch(1), ...world.launch(1, "p4d.24xlarge"), ...world.launch(2)] as Instance[];
  await addInterface(world, wide!);
  plantRoute(world, "10.200.9.0/24", plain!);
  plantRoute(world, "10.200.1.0/24", plain!);
  world.aws.controls.change({ policy: policyFor(world) });
  world.aws.controls.journal.resetCounts();

  world.start("--controllers=*,tagging", "--tags=team=a", "--cluster-cidr=10.200.0.0/16");
  const names = [
    await joinWith(world, plain!, "10.200.0.0/24"),
    await joinWith(world, placed!, "10.200.1.0/24"),
    await joinWith(world, wide!, "10.200.2.0/24"),
  ];
  const providerID = `aws:///${fargate!.zone}/0f6f5c/fargate-${fargate!.privateDnsName}`;
  await world.join(fargate!, { name: "fargate", providerID, addresses: [{ type: "Hostname", address: "fargate" }] });
  return { world, names, plain: plain! };
}

async function joinWith(world: NodeWorld, instance: Instance, podCIDR: string): Promise<string> {
  const name = await world.join(instance);
  await world.say("PATCH", `/api/v1/nodes/${name}`, { spec: { podCIDR, podCIDRs: [podCIDR] } });
  return name;
}

/** The set-up is done: Nodes initialised, tagged and routed, and one of them gone again. */
async function settled({ world, names, plain }: Awaited<ReturnType<typeof busyCluster>>): Promise<void> {
  const { ec2 } = world.aws.account;
  const routes = () => ec2.routeTables.get(world.network.privateTableId)!.routes.map(({ destination }) => destination);
  const tagged = () => world.instance(plain.id).tags.team === "a";
  await world.until("the Nodes are initialised", () => world.initialized() === 4);
  await world.until("the zone's id is known", () => world.node("fargate")?.metadata?.labels?.["topology.k8s.aws/zone-id"] !== undefined);
  await world.until("the instances are tagged", tagged);
  await world.until("the routes are right", () => routes().includes("10.200.2.0/24") && !routes().includes("10.200.9.0/24"));
  await world.until("the routes have their places", () => names.every((name) => hasRoute(world, name)));
  assert.ok(world.node(names[1]!)?.metadata?.labels?.["topology.k8s.aws/network-node-layer-1"]);
  await world.say("DELETE", `/api/v1/nodes/${names[0]}`);
  await world.until("the tags of the Node that went are gone", () => !tagged());
}

function conditions(world: NodeWorld): readonly string[] {
  return world.nodeNames().flatMap((name) => world.node(name)?.status?.conditions?.map(({ message = "" }) => message) ?? []);
}

function hasRoute(world: NodeWorld, name: string): boolean {
  return world.node(name)?.status?.conditions?.some(({ type, status }) => type === "NetworkUnavailable" && status === "False") ?? false;
}

async function addInterface(world: NodeWorld, { id }: Instance): Promise<void> {
  const ec2 = new EC2Client(sdkConfig(world.aws));
  const { NetworkInterface } = await ec2.send(new CreateNetworkInterfaceCommand({ SubnetId: world.network.privateSubnetIds[0] }));
  const { NetworkInterfaceId } = NetworkInterface!;
  await ec2.send(new AttachNetworkInterfaceCommand({ NetworkInterfaceId, InstanceId: id, DeviceIndex: 1 }));
}

/** A route of an earlier life: to the wrong machine, or for nobody. */
function plantRoute(world: NodeWorld, destination: string, { id }: Instance): void {
  const { routeTables, interfaces } = world.aws.account.ec2;
  const target = [...interfaces.values()].find(({ attachment }) => attachment?.instanceId === id)!;
  const table = routeTables.get(world.network.privateTableId)!;
  const route = { destination, family: 4, target: { kind: "interface", id: target.id, instanceId: id } } as const;
  routeTables.update(table.id, { routes: [...table.routes, route] });
}

test("under the policies of nodes, tagging and routes everything is done, and every action they allow is used", async (t) => {
  const busy = await busyCluster(t, () => [{ effect: "allow", actions: shipped }]);
  await settled(busy);
  assert.deepEqual(Object.keys(busy.world.aws.controls.journal.counts()).sort(), shipped);
  assert.deepEqual(refusals(busy.world), []);
});

test("under the strict policies everything is done just as well", async (t) => {
  const busy = await busyCluster(t, ({ aws, network }) => strictPolicy(aws, network, "test", ...nodeFeatures));
  await settled(busy);
  assert.deepEqual(refusals(busy.world), []);
});

test("under the strict policies instances and route tables without the cluster's tag are out of reach", async (t) => {
  const world = await nodeWorld({ config: "RouteTableID=rtb-0123456789abcdef0" });
  t.after(() => world.close());
  const { ec2 } = world.aws.account;
  const table = ec2.routeTables.get(world.network.privateTableId)!;
  ec2.routeTables.put("rtb-0123456789abcdef0", { ...table, id: "rtb-0123456789abcdef0", tags: {} });
  const [stranger] = world.launch(1) as [Instance];
  ec2.instances.update(stranger.id, { tags: {} });
  world.aws.controls.change({ policy: strictPolicy(world.aws, world.network, "test", ...nodeFeatures) });
  world.start("--controllers=*,tagging", "--tags=team=a", "--cluster-cidr=10.200.0.0/16");
  const name = await joinWith(world, stranger, "10.200.0.0/24");
  await world.until("all refusals are told", () => new Set(asking(world).map(({ reason }) => reason)).size === 2);
  const told = asking(world).map(({ reason, message }) => [reason, message.match(/allow (ec2:\w+)/)?.[1]]);
  assert.deepEqual(told.sort(), [
    ["FailedToCreateRoute", "ec2:ModifyInstanceAttribute"],
    ["FailedToTagInstance", "ec2:CreateTags"],
  ]);
  ec2.instances.update(stranger.id, { tags: { "kubernetes.io/cluster/test": "owned" } });
  await world.say("PATCH", `/api/v1/nodes/${name}`, { metadata: { labels: { changed: "yes" } } });
  await world.until(
    "the table refuses",
    () => asking(world).some(({ message }) => message.includes("allow ec2:CreateRoute ")),
    20 * 60_000,
  );
});

function refusals({ aws }: NodeWorld): readonly unknown[] {
  return Object.entries(aws.controls.journal.counts()).filter(([, results]) => "UnauthorizedOperation" in results);
}

/** What is left out without holding up the Nodes. */
const optional = ["ec2:DescribeAvailabilityZones", "ec2:DescribeInstanceTopology", "ec2:CreateTags", "ec2:DeleteTags"];

for (const missing of shipped) {
  test(`without ${missing} the work is not done, and Events of the Nodes concerned name exactly that action`, async (t) => {
    const busy = await busyCluster(t, () => [{ effect: "allow", actions: shipped.filter((action) => action !== missing) }]);
    await assert.rejects(settled(busy));
    const { world } = busy;
    if (optional.includes(missing)) assert.equal(world.initialized(), 4 - (missing === "ec2:DeleteTags" ? 1 : 0));
    const said = world.events().filter((event) => event.includes("; allow "));
    const named = new Set([...said, ...conditions(world), ...world.lines].flatMap((text) => text.match(/allow (ec2:\w+)/)?.[1] ?? []));
    assert.deepEqual([...named], [missing]);
    assert.ok(said.length > 0 && said.length <= 8, `${said.length} Events`);
    for (const event of said) assert.match(event, /^Warning \w+: .*UnauthorizedOperation: .*\[request id [\w-]+\]/);
  });
}

interface Said {
  readonly reason: string;
  readonly message: string;
  readonly count: number;
  readonly involvedObject: { readonly kind: string; readonly name: string };
}

/** The Events that ask for a permission. */
function asking(world: NodeWorld): readonly Said[] {
  return world.cluster
    .objects("events")
    .map((event) => event as unknown as Said)
    .filter(({ message }) => message.includes("; allow "));
}

test("a refusal that many Nodes share is told by few of them, and what is refused again is counted", async (t) => {
  const world = await nodeWorld();
  t.after(() => world.close());
  world.aws.controls.deny("ec2:DescribeInstanceTopology", "ec2:DescribeRouteTables", "ec2:CreateTags");
  const [tagged] = world.launch(1);
  world.start("--controllers=*,tagging", "--tags=team=a", "--cluster-cidr=10.200.0.0/16");
  await world.join(tagged!);
  for (const [index, instance] of world.launch(150).entries()) await joinWith(world, instance, `10.200.${index}.0/24`);
  await world.until("all are initialised", () => world.initialized() === 151);
  await world.world.advance(30 * 60_000);
  const told = Map.groupBy(asking(world), ({ reason }) => reason);
  assert.equal(told.get("FailedToLabelNode")?.length, 1);
  assert.equal(told.get("FailedToListRoutes")?.length, 100);
  assert.equal(told.get("FailedToTagInstance")?.length, 151);
  const tries = told.get("FailedToTagInstance")!.find(({ involvedObject }) => involvedObject.name === tagged!.privateDnsName);
  assert.equal(tries?.count, 2, "at the first try and at the last");
});

test("what concerns no Node is told on the Lease", async (t) => {
  const world = await nodeWorld();
  t.after(() => world.close());
  const [leaving, staying] = world.launch(2);
  world.start("--cluster-cidr=10.200.0.0/16");
  const gone = await joinWith(world, leaving!, "10.200.0.0/24");
  const routed = await joinWith(world, staying!, "10.200.1.0/24");
  await world.until("both have their routes", () => hasRoute(world, gone) && hasRoute(world, routed));
  const lift = world.aws.controls.deny("ec2:DeleteRoute");
  await world.say("DELETE", `/api/v1/nodes/${gone}`);
  await world.until("it is told", () => asking(world).length > 0);
  lift();
  world.aws.controls.deny("ec2:DescribeRouteTables");
  await world.until("this too", () => asking(world).length > 1, 10 * 60_000);
  assert.deepEqual(
    asking(world).map(({ reason, involvedObject: { kind, name } }) => [reason, kind, name]),
    [
      ["FailedToDeleteRoute", "Lease", "cloud-controller-manager"],
      ["FailedToListRoutes", "Lease", "cloud-controller-manager"],
    ],
  );
});

test("a Node that is not ready tells when nobody may ask for its instance", async (t) => {
  const world = await nodeWorld();
  t.after(() => world.close());
  const [instance] = world.launch(1);
  world.start();
  const name = await world.join(instance!);
  await world.until("it is initialised", () => world.initialized() === 1);
  world.aws.controls.deny("ec2:DescribeInstances");
  await world.report(name, "False");
  await world.until("it is told", () => world.events(name).some((event) => event.startsWith("Warning FailedToCheckInstance: ")));
  await world.world.advance(10 * 60_000);
  assert.equal(asking(world).length, 1);
  assert.match(asking(world)[0]!.message, /allow ec2:DescribeInstances/);
});
