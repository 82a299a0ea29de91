import assert from "node:assert/strict";
import { test } from "node:test";
import { chooseSubnets, type SubnetNeeds, type SubnetWish } from "./subnet-choice.ts";
import type { Network, Subnet } from "./subnets.ts";

const elb = "kubernetes.io/role/elb";
const internalElb = "kubernetes.io/role/internal-elb";
const own = { "kubernetes.io/cluster/prod": "shared" };
const subnet = (id: string, zone: string, given: Partial<Subnet> = {}): Subnet => ({
  id,
  zone,
  cidr: "",
  ipv6Cidrs: [],
  tags: {},
  availableAddresses: 100,
  ...given,
});
const needs: SubnetNeeds = {
  cluster: "prod",
  internal: false,
  addressType: "ipv4",
  minimum: 2,
  checksClusterTag: true,
  triesReachability: true,
};
const choose = (
  subnets: readonly Subnet[],
  given: Partial<SubnetNeeds> = {},
  wish: SubnetWish = { kind: "discover" },
  network: Partial<Network> = {},
) => {
  const choice = chooseSubnets(wish, { subnets, routeTables: [], zoneTypes: {}, ...network }, { ...needs, ...given });
  return choice.kind === "chosen" ? choice.subnets.map(({ id }) => id) : choice.message;
};
const named = (...entries: readonly string[]): SubnetWish => ({ kind: "named", entries });

test("by role, one per zone: this cluster's first, then the lowest id", () => {
  const subnets = [
    subnet("subnet-3", "a", { tags: { [elb]: "1" } }),
    subnet("subnet-4", "a", { tags: { [elb]: "", ...own } }),
    subnet("subnet-2", "b", { tags: { [elb]: "1" } }),
    subnet("subnet-1", "b", { tags: { [elb]: "1" } }),
    subnet("subnet-5", "c", { tags: { [internalElb]: "1" } }),
    subnet("subnet-6", "c", { tags: { [elb]: "yes" } }),
  ];
  assert.deepEqual(choose(subnets), ["subnet-1", "subnet-4"]);
  assert.deepEqual(choose(subnets, { preferred: ["subnet-3", "subnet-6"] }), ["subnet-1", "subnet-3"], "those that it is in go first");
});

test("without a role by reachability, unless that is switched off", () => {
  const subnets = [subnet("subnet-1", "a"), subnet("subnet-2", "b"), subnet("subnet-3", "c"), subnet("subnet-4", "d")];
  const table = (id: string, toInternet: boolean, ...subnetIds: string[]) => ({ id, main: false, subnetIds, toInternet });
  const network = { routeTables: [table("rtb-1", true, "subnet-1", "subnet-2"), { ...table("rtb-2", false), main: true }] };
  assert.deepEqual(choose(subnets, {}, undefined, network), ["subnet-1", "subnet-2"]);
  assert.deepEqual(choose(subnets, { internal: true }, undefined, network), ["subnet-3", "subnet-4"]);
  const none =
    "couldn't auto-discover subnets: unable to resolve at least one subnet. Evaluated 0 subnets: 0 are tagged for other clusters, and 0 have insufficient available IP addresses";
  assert.equal(choose(subnets, { triesReachability: false }, undefined, network), none);
});

test("each subnet counts under the first check that it fails", () => {
  const tags = { [elb]: "1" };
  const subnets = [
    subnet("subnet-1", "a", { tags: { ...tags, "kubernetes.io/cluster/other": "owned" }, availableAddresses: 1 }),
    subnet("subnet-2", "b", { tags, availableAddresses: 7 }),
    subnet("subnet-3", "c", { tags }),
  ];
  assert.equal(choose(subnets, { minimum: 1 }).toString(), "subnet-3");
  const dual = choose(subnets, { addressType: "dualstack" });
  assert.equal(
    dual,
    "couldn't auto-discover subnets: unable to resolve at least one subnet. Evaluated 3 subnets: 1 are tagged for other clusters, 1 have insufficient available IP addresses, and 1 don't have an associated IPv6 CIDR block, which is required for dualstack load balancers",
  );
  assert.deepEqual(
    choose([subnet("subnet-1", "a", { tags: { ...tags, "kubernetes.io/cluster/other": "owned" } })], {
      checksClusterTag: false,
      minimum: 1,
    }),
    ["subnet-1"],
  );
});

test("named ones keep their order, and each must be there, in a zone of its own", () => {
  const subnets = [
    subnet("subnet-1", "a"),
    subnet("subnet-2", "b", { tags: { Name: "n" } }),
    subnet("subnet-3", "c", { tags: { Name: "n" } }),
    subnet("subnet-4", "a"),
  ];
  assert.deepEqual(choose(subnets, {}, named("n", "subnet-1", "n")), ["subnet-2", "subnet-1", "subnet-3"]);
  assert.equal(choose(subnets, {}, named()), "unable to resolve at least one subnet");
  assert.match(
    String(choose(subnets, {}, named("subnet-9", "subnet-1"))),
    /couldn't find all subnets, want: \[subnet-9, subnet-1\], found: \[subnet-1\]/,
  );
  assert.match(String(choose(subnets, {}, named("m"))), /missing names: \[m\]/);
  assert.match(
    String(choose(subnets, {}, named("n", "n", "n"))),
    /subnet with Name tag "n" requested 3 times but only 2 subnet\(s\) found/,
  );
  assert.match(String(choose(subnets, {}, named("subnet-1", "subnet-1"))), /couldn't find all subnets/);
  assert.equal(choose(subnets, {}, named("subnet-1", "subnet-4")), "multiple subnets in same Availability Zone a: [subnet-1 subnet-4]");
  assert.equal(choose(subnets, {}, named("subnet-1")), "subnets count less than minimal required count: 1 < 2");
  assert.match(
    String(choose(subnets, { addressType: "dualstack" }, named("subnet-1", "subnet-2"))),
    /subnets \[subnet-1, subnet-2\] do not have an associated IPv6 CIDR block/,
  );
});

test("one locale only; outside of a region's zones one subnet is enough", () => {
  const zoneTypes = { l: "local-zone" };
  const subnets = [subnet("subnet-1", "a"), subnet("subnet-2", "l"), subnet("subnet-3", "o", { outpost: "arn:o" })];
  assert.deepEqual(choose(subnets, {}, named("subnet-2"), { zoneTypes }), ["subnet-2"]);
  assert.deepEqual(choose(subnets, {}, named("subnet-3"), { zoneTypes }), ["subnet-3"]);
  assert.match(String(choose(subnets, {}, named("subnet-1", "subnet-2"), { zoneTypes })), /subnets in multiple locales/);
});

test("by tags, each of which must have one of its values", () => {
  const subnets = [
    subnet("subnet-1", "a", { tags: { tier: "x", env: "p" } }),
    subnet("subnet-2", "b", { tags: { tier: "y", env: "p" } }),
    subnet("subnet-3", "c", { tags: { tier: "x" } }),
  ];
  assert.deepEqual(choose(subnets, {}, { kind: "tagged", tags: { tier: ["x", "y"], env: ["p"] } }), ["subnet-1", "subnet-2"]);
  assert.match(String(choose(subnets, {}, { kind: "tagged", tags: { tier: ["z"] } })), /^unable to resolve at least one subnet/);
});
