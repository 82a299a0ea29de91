import assert from "node:assert/strict";
import { test } from "node:test";
import type { Found } from "../kind.ts";
import type { Network, Subnet } from "../subnets.ts";
import { desireService, type ServiceSurroundings } from "./desire.ts";
import type { Kind } from "./kinds.ts";
import { port, type WishOptions, wish } from "./wish.fixture.ts";

const cluster = { id: "demo", legacy: false };
const role = { "kubernetes.io/cluster/demo": "shared" };
const subnet = (id: string, zone: string, rest: Partial<Subnet> = {}): Subnet => ({
  id,
  zone,
  cidr: "10.0.0.0/24",
  ipv6Cidrs: [],
  tags: { ...role, "kubernetes.io/role/elb": "1" },
  ...rest,
});
const open = (...subnets: readonly Subnet[]): Network => ({
  subnets,
  routeTables: [{ id: "rtb-1", main: true, subnetIds: subnets.map(({ id }) => id), toInternet: true }],
  zoneTypes: {},
});
const two = open(subnet("subnet-a", "us-east-1a"), subnet("subnet-b", "us-east-1b"));

const standing = (rest: Partial<Found> = {}): Found => ({
  kind: "network",
  name: "a0f1",
  hostname: "a0f1.elb.us-east-1.amazonaws.com",
  internal: false,
  subnets: ["subnet-b"],
  securityGroups: [],
  createdAt: 0,
  ...rest,
});

function desire(kind: Kind, given: WishOptions = {}, around: Partial<ServiceSurroundings> = {}) {
  const { service, options, settings, instances } = wish(kind, given);
  return desireService(service, kind, {
    name: "a0f1",
    options,
    settings,
    cluster,
    network: two,
    instances,
    seen: { kind },
    ...around,
  });
}

const subnetsOf = ({ subnets }: ReturnType<typeof desire>) => (subnets.kind === "chosen" ? subnets.subnets.map(({ id }) => id) : []);
const messages = (problems: readonly { readonly message: string }[]) => problems.map(({ message }) => message);

test("a Service without annotations stands in one subnet per zone, with the tags that say whose it is", () => {
  for (const kind of ["classic", "network"] as const) {
    const found = desire(kind);
    assert.deepEqual(subnetsOf(found), ["subnet-a", "subnet-b"]);
    assert.deepEqual([found.problems, found.warnings], [[], []]);
    assert.deepEqual(found.model.tags, {
      "kubernetes.io/service-name": "prod-web/edge-gateway",
      "kubernetes.io/cluster/demo": "owned",
    });
    assert.equal(found.model.name, "a0f1");
  }
});

test("nodes let a classic load balancer in by its group, and a network load balancer by addresses", () => {
  assert.deepEqual(desire("classic").access, { kind: "from-group", loadBalancer: "a0f1" });
  assert.notEqual(desire("network").access.kind, "from-group");
});

test("without a subnet that fits, the reason is a problem, and nothing is said about addresses that need subnets", () => {
  const found = desire(
    "network",
    { annotations: { "eip-allocations": "eipalloc-1" } },
    { network: { subnets: [], routeTables: [], zoneTypes: {} } },
  );
  assert.equal(found.subnets.kind, "none");
  assert.equal(found.problems.length, 1);
  assert.match(messages(found.problems)[0] ?? "", /subnet/);
});

test("addresses that do not match the subnets are a problem of a new load balancer, not of one that stands", () => {
  const given = { annotations: { "eip-allocations": "eipalloc-1" } };
  assert.equal(desire("network", given).problems.length, 1);
  assert.deepEqual(desire("network", given, { standing: standing({ subnets: ["subnet-a", "subnet-b"] }) }).problems, []);
});

test("a scheme that cannot be changed keeps the subnets of what stands, and is said", () => {
  const found = desire("network", { annotations: { internal: "true" } }, { standing: standing() });
  assert.deepEqual(subnetsOf(found), ["subnet-b"]);
  assert.match(messages(found.warnings).join(), /asks for an internal load balancer, but AWS cannot change the existing one/);
  assert.deepEqual(found.problems, []);
});

test("both address families are used where every subnet has both; else IPv4, with a word about who lacks them", () => {
  const service = { ipFamilies: ["IPv4", "IPv6"] };
  const six = open(
    subnet("subnet-a", "us-east-1a", { ipv6Cidrs: ["2001:db8::/64"] }),
    subnet("subnet-b", "us-east-1b", { ipv6Cidrs: ["2001:db8:1::/64"] }),
  );
  assert.deepEqual(desire("network", { service }, { network: six }).warnings, []);
  assert.match(
    messages(desire("network", { service }).warnings).join(),
    /subnet-a, subnet-b have no IPv6 block: the load balancer is IPv4 only/,
  );
  assert.deepEqual(desire("classic", { service }, { network: six }).warnings, [], "a classic load balancer has one family");
});

test("tags that say whose something is cannot be given, and the others can", () => {
  const given = "team=shop,kubernetes.io/service-name=mine,kubernetes.io/cluster/demo=shared";
  const { model, warnings } = desire("network", { annotations: { "additional-resource-tags": given } });
  assert.deepEqual(model.tags, {
    team: "shop",
    "kubernetes.io/service-name": "prod-web/edge-gateway",
    "kubernetes.io/cluster/demo": "owned",
  });
  assert.equal(warnings.length, 2);
});

test("what is wrong with ports and source ranges is told together, ports first", () => {
  const { problems } = desire("classic", { service: { ports: [port(53, 30053, { protocol: "UDP" })], sourceRanges: ["nowhere"] } });
  const [first, second] = messages(problems);
  assert.match(first ?? "", /UDP/);
  assert.match(second ?? "", /invalid CIDR address: nowhere/);
});
