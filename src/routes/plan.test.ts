import assert from "node:assert/strict";
import { test } from "node:test";
import { planJson } from "../aws/plan.ts";
import { parseCidr } from "../runtime/ip.ts";
import { desireRoutes } from "./desire.ts";
import { isOurs, type RoutedNode, type SeenRoute, type SeenRouteTable } from "./model.ts";
import { planRoutes, stepsOf } from "./plan.ts";

const cluster = [parseCidr("10.200.0.0/16")!, parseCidr("fd00:10::/48")!];
const machine = (instanceId: string, rest = {}) => ({
  instanceId,
  interfaceId: `eni-of-${instanceId}`,
  severalInterfaces: false,
  sourceDestCheck: false,
  ...rest,
});
const node = (name: string, podCidrs: string | readonly string[], rest: Partial<RoutedNode> = {}): RoutedNode => ({
  name,
  uid: `uid-${name}`,
  createdAt: 0,
  podCidrs: typeof podCidrs === "string" ? [podCidrs] : podCidrs,
  instanceId: `i-${name}`,
  machine: machine(`i-${name}`),
  ...rest,
});
const route = (destination: string, rest: Partial<SeenRoute> = {}): SeenRoute => ({
  destination,
  origin: "CreateRoute",
  state: "active",
  ...rest,
});
const to = (destination: string, name: string, rest: Partial<SeenRoute> = {}) => route(destination, { instanceId: `i-${name}`, ...rest });
const table = (...routes: readonly SeenRoute[]): SeenRouteTable => ({
  id: "rtb-1",
  vpc: "vpc-1",
  routes: new Map(routes.map((each) => [each.destination, each])),
});

/** What would be done, as `CreateRoute 10.200.0.0/24 i-a`. */
function plan(nodes: readonly RoutedNode[], ...tables: readonly SeenRouteTable[]): string[] {
  const steps = planRoutes(desireRoutes(nodes, tables), tables, cluster).flatMap(stepsOf);
  return (planJson(steps) as { action: string; input: Record<string, string> }[]).map(({ action, input }) =>
    [action.split(":")[1], input.DestinationCidrBlock ?? input.DestinationIpv6CidrBlock, input.InstanceId ?? input.NetworkInterfaceId]
      .filter(Boolean)
      .join(" "),
  );
}

test("a route is ours only inside the cluster CIDR, made by CreateRoute, and leading to a machine or nowhere", () => {
  const pods = [parseCidr("10.244.0.0/16")!, parseCidr("fd00::/64")!];
  const ours = (destination: string, rest: Partial<SeenRoute> = {}) => isOurs(route(destination, rest), pods);
  for (const destination of ["10.244.0.0/24", "10.244.10.0/24", "10.244.255.0/24", "fd00::/80"]) assert.ok(ours(destination), destination);
  for (const destination of ["10.224.0.0/24", "10.0.10.0/24", "10.255.255.0/24", "0.0.0.0/0", "10.0.0.0/8", "fd01::/80", "nonsense"]) {
    assert.ok(!ours(destination), destination);
  }
  assert.ok(!ours("10.244.0.0/24", { otherTarget: "nat-1" }));
  assert.ok(!ours("10.244.0.0/24", { origin: "EnableVgwRoutePropagation" }));
  assert.ok(ours("10.244.0.0/24", { state: "blackhole" }));
  const edges = [parseCidr("10.244.0.0/14")!];
  assert.deepEqual(
    ["10.247.255.0/24", "10.248.0.0/24", "10.243.255.0/24"].map((destination) => isOurs(route(destination), edges)),
    [true, false, false],
  );
});

test("missing routes are made, those that are there are left alone", () => {
  const [a, b] = [node("a", "10.200.0.0/24"), node("b", "10.200.1.0/24")];
  assert.deepEqual(plan([a, b], table()), ["CreateRoute 10.200.0.0/24 i-a", "CreateRoute 10.200.1.0/24 i-b"]);
  assert.deepEqual(plan([a, b], table(to("10.200.0.0/24", "a"))), ["CreateRoute 10.200.1.0/24 i-b"]);
  assert.deepEqual(plan([a, b], table(to("10.200.0.0/24", "a"), to("10.200.1.0/24", "b"))), []);
});

test("the worked example of the specification", () => {
  const seen = table(
    route("10.1.0.0/16", { otherTarget: "local", origin: "CreateRouteTable" }),
    route("0.0.0.0/0", { otherTarget: "igw-1" }),
    to("10.200.0.0/24", "a"),
    to("10.200.1.0/24", "b"),
    route("10.200.9.0/24", { state: "blackhole" }),
    route("172.31.0.0/24", { state: "blackhole" }),
  );
  const nodes = [node("a", "10.200.0.0/24"), node("b", "10.200.2.0/24"), node("c", "10.200.3.0/24"), node("d", [])];
  assert.deepEqual(plan(nodes, seen), [
    "DeleteRoute 10.200.1.0/24",
    "DeleteRoute 10.200.9.0/24",
    "CreateRoute 10.200.2.0/24 i-b",
    "CreateRoute 10.200.3.0/24 i-c",
  ]);
});

test("a CIDR that moved to another node, and a blackhole, are replaced in one step", () => {
  const b = node("b", "10.200.0.0/24");
  assert.deepEqual(plan([b], table(to("10.200.0.0/24", "a"))), ["ReplaceRoute 10.200.0.0/24 i-b"]);
  assert.deepEqual(plan([b], table(to("10.200.0.0/24", "gone", { state: "blackhole" }))), ["ReplaceRoute 10.200.0.0/24 i-b"]);
});

test("a stopped machine's route is a blackhole that waits for it, not one to make again", () => {
  assert.deepEqual(plan([node("a", "10.200.0.0/24")], table(to("10.200.0.0/24", "a", { state: "blackhole" }))), []);
});

test("somebody else's route for a pod CIDR is not overwritten", () => {
  assert.deepEqual(plan([node("a", "10.200.0.0/24")], table(route("10.200.0.0/24", { otherTarget: "tgw-1" }))), []);
});

test("a pod CIDR with host bits is the network it stands for", () => {
  assert.deepEqual(plan([node("a", "10.200.0.7/24")], table(to("10.200.0.0/24", "a"))), []);
});

test("both families of a dual-stack node get their routes", () => {
  assert.deepEqual(plan([node("a", ["10.200.0.0/24", "FD00:10::/64"])], table()), [
    "CreateRoute 10.200.0.0/24 i-a",
    "CreateRoute fd00:10::/64 i-a",
  ]);
});

test("a machine with several interfaces is routed to by its first, and checked there", () => {
  const a = node("a", "10.200.0.0/24", { machine: machine("i-a", { severalInterfaces: true, sourceDestCheck: true }) });
  assert.deepEqual(plan([a], table()), ["ModifyNetworkInterfaceAttribute eni-of-i-a", "CreateRoute 10.200.0.0/24 eni-of-i-a"]);
  assert.deepEqual(plan([a], table(route("10.200.0.0/24", { interfaceId: "eni-of-i-a" }))), []);
});

test("the source/destination check is turned off only where it is on, and only for a route that is made", () => {
  const a = node("a", "10.200.0.0/24", { machine: machine("i-a", { sourceDestCheck: true }) });
  assert.deepEqual(plan([a], table()), ["ModifyInstanceAttribute i-a", "CreateRoute 10.200.0.0/24 i-a"]);
  assert.deepEqual(plan([a], table(to("10.200.0.0/24", "a"))), []);
});

test("several tables are kept equal", () => {
  const second = { ...table(to("10.200.0.0/24", "a")), id: "rtb-2" };
  assert.deepEqual(plan([node("a", "10.200.0.0/24")], table(), second), ["CreateRoute 10.200.0.0/24 i-a"]);
});

test("two nodes that claim the same addresses: who has the route keeps it, else the older one gets it", () => {
  const older = node("older", "10.200.0.0/24", { createdAt: 1 });
  const newer = node("newer", "10.200.0.0/24", { createdAt: 2 });
  assert.deepEqual(plan([newer, older], table()), ["CreateRoute 10.200.0.0/24 i-older"]);
  assert.deepEqual(plan([newer, older], table(to("10.200.0.0/24", "newer"))), []);
  const { refused } = desireRoutes([newer, older], [table()]);
  assert.deepEqual(
    refused.map(({ node: { name }, why }) => [name, why]),
    [["newer", "node older already has 10.200.0.0/24"]],
  );
});

test("overlapping CIDRs of different nodes are refused, whichever is larger", () => {
  const small = node("small", "10.200.4.0/24", { createdAt: 1 });
  const large = node("large", "10.200.0.0/20", { createdAt: 2 });
  assert.equal(desireRoutes([small, large], [table()]).refused[0]?.node.name, "large");
  assert.equal(desireRoutes([{ ...small, createdAt: 3 }, large], [table()]).refused[0]?.node.name, "small");
  assert.equal(desireRoutes([node("a", ["10.200.0.0/20", "10.200.4.0/24"])], [table()]).refused.length, 0, "one node may hold both");
});

test("nodes whose CIDRs overlap keep the routes that lead to them; a route into the overlap that leads elsewhere goes", () => {
  const wide = node("wide", "10.200.0.0/23", { createdAt: 1 });
  const narrow = node("narrow", "10.200.1.0/24", { createdAt: 2 });
  assert.deepEqual(plan([wide, narrow], table(to("10.200.0.0/23", "wide"), to("10.200.1.0/24", "narrow"))), []);
  assert.deepEqual(plan([wide, narrow], table(to("10.200.0.0/23", "wide"), to("10.200.1.0/24", "gone"))), ["DeleteRoute 10.200.1.0/24"]);
});

test("a route whose Node is not known to be on any machine is left alone, wherever it leads", () => {
  const unknown = node("unknown", "10.200.0.0/24", { instanceId: undefined, machine: undefined });
  for (const leftAlone of [true, false]) {
    assert.deepEqual(plan([{ ...unknown, leftAlone }], table(to("10.200.0.0/24", "former"))), []);
  }
});

test("a pod CIDR in which somebody else's route stands in one table is routed in the others", () => {
  const foreign = { ...table(route("10.200.0.0/24", { otherTarget: "tgw-1" })), id: "rtb-2" };
  const [change] = planRoutes(desireRoutes([node("a", "10.200.0.0/24")], [table(), foreign]), [table(), foreign], cluster);
  assert.deepEqual([...change!.inTables.keys()], ["rtb-1"]);
});

test("what is no CIDR, and a node without a machine, is refused by name and harms nobody", () => {
  const { wanted, refused } = desireRoutes(
    [node("bad", "10.200.0.0"), node("none", "10.200.1.0/24", { instanceId: undefined }), node("a", "10.200.2.0/24")],
    [table()],
  );
  assert.deepEqual(
    wanted.map(({ node: { name } }) => name),
    ["a"],
  );
  assert.match(refused[0]?.why ?? "", /"10\.200\.0\.0", which is not a CIDR/);
  assert.match(refused[1]?.why ?? "", /no EC2 instance/);
});

test("the same CIDR twice in one node is one route", () => {
  assert.deepEqual(plan([node("a", ["10.200.0.0/24", "10.200.0.0/24"])], table()), ["CreateRoute 10.200.0.0/24 i-a"]);
});

test("five thousand nodes are planned in a moment", () => {
  const nodes = Array.from({ length: 5000 }, (_, i) => node(`n${i}`, `10.200.${i % 256}.${(i >> 8) * 8}/29`));
  const { wanted, refused } = desireRoutes(nodes, [table()]);
  assert.deepEqual([wanted.length, refused.length], [5000, 0]);
});
