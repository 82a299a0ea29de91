import assert from "node:assert/strict";
import { test } from "node:test";
import type { DesiredRoutes } from "./desire.ts";
import type { RoutedNode, SeenRouteTable } from "./model.ts";
import { RouteStatuses } from "./route-status.ts";

const node: RoutedNode = { name: "a", uid: "uid-a", createdAt: 0, podCidrs: [], instanceId: "i-a" };
const destination = "10.200.0.0/24";
const table = (instanceId?: string): SeenRouteTable => ({
  id: "rtb-1",
  vpc: "vpc-1",
  routes: new Map(instanceId ? [[destination, { destination, origin: "CreateRoute", state: "active", instanceId }]] : []),
});
const wanted: DesiredRoutes = { wanted: [{ destination, node }], refused: [], undecided: new Set() };
const refused: DesiredRoutes = { wanted: [], refused: [{ destination, node, why: "overlap" }], undecided: new Set() };
const undecided: DesiredRoutes = { ...refused, undecided: new Set([destination]) };
const status = (desired: DesiredRoutes, ...tables: SeenRouteTable[]) => new RouteStatuses(desired, tables).of("a");

test("a Node is routed when every table leads to it", () => {
  assert.equal(status(wanted, table("i-a"), table("i-a")), "routed");
  assert.equal(status(wanted, table("i-a"), table()), "unrouted");
  assert.equal(status(wanted, table("i-b")), "unrouted");
  assert.equal(status(wanted), "unrouted");
});

test("a failed look-up says nothing against a Node that some table leads to, and nothing for one that none does", () => {
  assert.equal(status(undecided, table("i-a"), table()), "unknown");
  assert.equal(status(undecided, table(), table()), "unrouted");
  assert.equal(status(undecided, table("i-b")), "unrouted");
});

test("a refusal, and one missing route among several, count", () => {
  assert.equal(status(refused, table("i-a")), "unrouted");
  const both: DesiredRoutes = { ...undecided, wanted: [{ destination: "10.200.1.0/24", node }] };
  assert.equal(status(both, table("i-a")), "unrouted");
});
