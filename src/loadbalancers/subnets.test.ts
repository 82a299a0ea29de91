import assert from "node:assert/strict";
import { test } from "node:test";
import { discoverSubnets, type Network, namedSubnets, type Subnet } from "./subnets.ts";

const clusterTag = "kubernetes.io/cluster/demo";
const cluster = { mine: (tags: Readonly<Record<string, string>>) => clusterTag in tags };
const subnet = (id: string, zone: string, tags: Record<string, string> = {}): Subnet => ({
  id,
  zone,
  cidr: "10.0.0.0/24",
  ipv6Cidrs: [],
  tags,
});
const network = (subnets: readonly Subnet[], rest: Partial<Network> = {}): Network => ({
  subnets,
  routeTables: [{ id: "rtb-main", main: true, subnetIds: [], toInternet: true }],
  zoneTypes: {},
  ...rest,
});
const ids = (choice: ReturnType<typeof discoverSubnets>) =>
  choice.kind === "chosen" ? choice.subnets.map(({ id }) => id) : choice.message;

test("one subnet a zone, in the order of the zones", () => {
  assert.deepEqual(ids(discoverSubnets(network([subnet("s3", "b"), subnet("s2", "a"), subnet("s1", "a")]), false, cluster)), ["s1", "s3"]);
});

test("the role tag beats the cluster tag, which beats none; then the smallest id", () => {
  const role = subnet("s9", "a", { "kubernetes.io/role/elb": "" });
  const tagged = subnet("s8", "a", { [clusterTag]: "shared" });
  assert.deepEqual(ids(discoverSubnets(network([subnet("s1", "a"), tagged, role]), false, cluster)), ["s9"]);
  assert.deepEqual(ids(discoverSubnets(network([subnet("s1", "a"), tagged]), false, cluster)), ["s8"]);
  const internalRole = subnet("s7", "a", { "kubernetes.io/role/internal-elb": "1" });
  assert.deepEqual(ids(discoverSubnets(network([role, internalRole]), true, cluster)), ["s7"]);
});

test("another cluster's subnets are never taken, untagged ones are", () => {
  const foreign = subnet("s1", "a", { "kubernetes.io/cluster/other": "owned" });
  assert.deepEqual(ids(discoverSubnets(network([foreign, subnet("s2", "a")]), false, cluster)), ["s2"]);
});

test("when every subnet belongs to other clusters, the controller's own is the last resort", () => {
  const foreign = subnet("s1", "a", { "kubernetes.io/cluster/other": "owned" });
  assert.deepEqual(ids(discoverSubnets(network([foreign], { ownSubnetId: "s1" }), false, cluster)), ["s1"]);
});

test("a private subnet serves only an internal load balancer, and the refusal says why", () => {
  const routeTables = [
    { id: "rtb-main", main: true, subnetIds: [], toInternet: false },
    { id: "rtb-public", main: false, subnetIds: ["s2"], toInternet: true },
  ];
  const both = network([subnet("s1", "a"), subnet("s2", "b")], { routeTables });
  assert.deepEqual(ids(discoverSubnets(both, false, cluster)), ["s2"]);
  assert.deepEqual(ids(discoverSubnets(both, true, cluster)), ["s1", "s2"]);
  assert.match(
    String(ids(discoverSubnets(network([subnet("s1", "a")], { routeTables }), false, cluster))),
    /could not find any suitable subnets.*s1: it is private: its route table rtb-main/,
  );
});

test("local and wavelength zones are left out", () => {
  const zones = network([subnet("s1", "a"), subnet("s2", "lax-1a"), subnet("s3", "wl1")], {
    zoneTypes: { a: "availability-zone", "lax-1a": "local-zone", wl1: "wavelength-zone" },
  });
  assert.deepEqual(ids(discoverSubnets(zones, false, cluster)), ["s1"]);
});

test("a subnet without any route table is an error that names it", () => {
  assert.equal(
    ids(discoverSubnets(network([subnet("s1", "a")], { routeTables: [] }), true, cluster)),
    "could not locate routing table for subnet s1",
  );
});

test("named subnets keep the order of the annotation, ids and names mixed", () => {
  const found = [subnet("subnet-1", "a", { Name: "one" }), subnet("subnet-2", "b", { Name: "my two" })];
  assert.deepEqual(ids(namedSubnets(["my two", "subnet-1"], found)), ["subnet-2", "subnet-1"]);
});

test("too few found says how many and which", () => {
  assert.equal(
    ids(namedSubnets(["subnet-1", "x", "y"], [subnet("subnet-1", "a")])),
    "expected to find 3, but found 1 subnets (not found: x, y)",
  );
});
