/** A network load balancer in front of a group's own. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { AddTagsCommand, ElasticLoadBalancingV2Client } from "@aws-sdk/client-elastic-load-balancing-v2";
import { sdkConfig } from "../../src/sandbox/cloud/sdk-handler.ts";
import { type IngressWorld, ingressWorld } from "../bed/ingress-world.ts";

async function bed(t: TestContext): Promise<IngressWorld> {
  const world = await ingressWorld();
  t.after(() => world.close());
  await world.service("web");
  await world.pods("web", 1);
  return world;
}

interface Balancer {
  readonly arn: string;
  readonly name: string;
  readonly type: string;
  readonly scheme: string;
  readonly groupIds: readonly string[];
}
interface Group {
  readonly arn: string;
  readonly name: string;
  readonly targetType: string;
  readonly port: number;
}

const rules = { "*": ["Prefix / web:80"] };
const enabled = { "enable-frontend-nlb": "true" };
const balancers = (world: IngressWorld, type: string) => world.all<Balancer>("elbv2/load-balancers").filter((lb) => lb.type === type);
const inFront = (world: IngressWorld) => world.all<Group>("elbv2/target-groups").filter(({ targetType }) => targetType === "alb");
const addresses = (world: IngressWorld, name: string) => world.get(name)?.status?.loadBalancer?.ingress ?? [];
const targetsOf = (world: IngressWorld, { arn }: Group) => world.targets(arn);

const served = (world: IngressWorld, name: string) =>
  world
    .until(
      `${name} is served from in front`,
      () => addresses(world, name).length === 2 && inFront(world).every((group) => targetsOf(world, group).length === 1),
      600_000,
    )
    .catch((error: unknown) => {
      throw new Error(`${String(error)}\n${world.lines.slice(-8).join("\n")}\n${world.events(name).join("\n")}`);
    });

test("a network load balancer stands in front, of the reference's names, leads to the group's own, and goes before it", async (t) => {
  const world = await bed(t);
  const groupsBefore = world.all("ec2/security-groups").length;
  let end = world.serve();
  await world.ingress("shop", rules, { ...enabled, "listen-ports": '[{"HTTP":80},{"HTTP":8080}]' });
  await served(world, "shop");
  const [behind] = balancers(world, "application");
  const [front] = balancers(world, "network");
  assert.equal(front?.name, `${behind?.name.slice(0, 28)}-nlb`);
  assert.deepEqual([front?.scheme, front?.groupIds], [behind?.scheme, behind?.groupIds], "it follows the one behind");
  const targets = inFront(world).flatMap((group) => targetsOf(world, group));
  assert.deepEqual(targets.toSorted(), [`${behind?.arn}:80`, `${behind?.arn}:8080`]);
  assert.deepEqual(
    addresses(world, "shop").map(({ ports }) => ports?.map(({ port }) => port)),
    [[80, 8080], undefined],
  );

  await world.world.advance(10 * 60_000);
  end();
  world.resetCalls();
  end = world.serve();
  await world.world.advance(120_000);
  assert.deepEqual([world.mutations(), world.writes], [{}, []], "a restart changes nothing");

  await world.change("shop", { "frontend-nlb-listener-port-mapping": "443=8080, 9=77" });
  await world.world.advance(120_000);
  assert.deepEqual(
    inFront(world).map((group) => [group.port, ...targetsOf(world, group)]),
    [[443, `${behind?.arn}:8080`]],
    "a port that the Ingress does not listen on means nothing",
  );

  await world.change("shop", { "enable-frontend-nlb": null, "frontend-nlb-listener-port-mapping": null });
  await world.until("the one in front is gone", () => balancers(world, "network").length === 0, 600_000);
  await world.until("its target groups too", () => inFront(world).length === 0, 600_000);
  await world.world.advance(60_000);
  assert.equal(addresses(world, "shop").length, 1);

  await world.change("shop", enabled);
  await served(world, "shop");
  const deleted: string[] = [];
  const off = world.onAwsMutation((action) => {
    if (action.startsWith("Delete"))
      deleted.push(`${action} ${balancers(world, "network").length}${balancers(world, "application").length}`);
  });
  await world.drop("shop");
  await world.until("everything is gone", () => world.get("shop") === undefined, 3_600_000);
  off?.();
  assert.deepEqual(
    deleted.filter((each) => each.startsWith("DeleteLoadBalancer")),
    ["DeleteLoadBalancer 01", "DeleteLoadBalancer 00"],
    "the one in front goes first",
  );
  assert.deepEqual([world.all("elbv2/load-balancers").length, world.all("elbv2/target-groups").length], [0, 0]);
  await world.until("the security groups are gone", () => world.all("ec2/security-groups").length === groupsBefore, 600_000);
});

test("scheme, subnets, groups, attributes, tags and health checks of the one in front are its own", async (t) => {
  const world = await bed(t);
  world.serve();
  const [subnet = ""] = world.network.publicSubnetIds;
  await world.ingress("shop", rules, {
    ...enabled,
    "frontend-nlb-scheme": "internet-facing",
    "frontend-nlb-subnets": subnet,
    "frontend-nlb-security-groups": world.network.nodeGroupId,
    "frontend-nlb-attributes": "load_balancing.cross_zone.enabled=true",
    "frontend-nlb-tags": "team=net",
    "frontend-nlb-healthcheck-path": "/up",
    "frontend-nlb-healthcheck-success-codes": "200-299",
  });
  await served(world, "shop");
  const [front] = balancers(world, "network");
  assert.deepEqual([front?.scheme, front?.groupIds], ["internet-facing", [world.network.nodeGroupId]]);
  assert.equal(balancers(world, "application")[0]?.scheme, "internal");
  const [group] = world.all<Group & { healthCheck: unknown }>("elbv2/target-groups").filter(({ targetType }) => targetType === "alb");
  assert.match(JSON.stringify(group), /"\/up".*"200-299"|"200-299".*"\/up"/);
  assert.match(JSON.stringify(front), /"team":"net"|team.*net/);

  await world.change("shop", { "frontend-nlb-scheme": "internal", "frontend-nlb-subnets": null });
  await world.until("replaced", () => balancers(world, "network")[0]?.scheme === "internal", 600_000);
  await served(world, "shop");
});

const mistakes: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
  [{ "frontend-nlb-eip-allocations": "eipalloc-1" }, /EIP allocations can only be set for internet facing load balancers/],
  [
    { "frontend-nlb-scheme": "internet-facing", "frontend-nlb-eip-allocations": "eipalloc-1" },
    /count of EIP allocations \(1\) and subnets \(\d\) must match/,
  ],
  [{ "frontend-nlb-listener-port-mapping": "x=80" }, /invalid NLB listener port: x/],
  [{ "frontend-nlb-listener-port-mapping": "80=x" }, /invalid ALB listener port: x/],
  [
    { "frontend-nlb-attributes": "dns_record.client_routing_policy=near" },
    /invalid dns_record.client_routing_policy set in annotation .*: got 'near' expected one of \['any_availability_zone', /,
  ],
  [{ "frontend-nlb-healthcheck-port": "web" }, /failed to resolve healthCheckPort/],
  [{ "frontend-nlb-subnets": "subnet-none" }, /couldn't find all subnets/],
];

test("mistakes about the one in front are told to their author, and the other Ingresses of the group are served", async (t) => {
  const world = await bed(t);
  world.serve();
  const group = { "group.name": "g" };
  await world.ingress("good", { "good.example.com": ["Prefix / web:80"] }, group);
  for (const [i, [annotations, message]] of mistakes.entries()) {
    await world.ingress(
      `bad-${i}`,
      { "bad.example.com": ["Prefix / web:80"] },
      { ...group, ...enabled, "group.order": "5", ...annotations },
    );
    await world.world.advance(60_000);
    assert.match(world.events(`bad-${i}`).join("\n"), message);
    assert.notEqual(world.hostname("good"), "");
    await world.drop(`bad-${i}`);
    await world.until("the bad one is gone", () => world.get(`bad-${i}`) === undefined, 600_000);
  }
  assert.doesNotMatch(world.events("good").join("\n"), /Failed/);

  await world.ingress(
    "a",
    { "a.example.com": ["Prefix / web:80"] },
    { ...group, ...enabled, "frontend-nlb-healthcheck-success-codes": "200" },
  );
  await world.ingress(
    "b",
    { "b.example.com": ["Prefix / web:80"] },
    { ...group, ...enabled, "frontend-nlb-healthcheck-success-codes": "200" },
  );
  await world.ingress("c", { "c.example.com": ["Prefix / web:80"] }, { ...group, "frontend-nlb-listener-port-mapping": "80=80" });
  await served(world, "a");
  assert.doesNotMatch([..."abc"].flatMap((name) => world.events(name)).join("\n"), /Failed/, "the same codes on two are no conflict");
  await world.change("b", { "enable-frontend-nlb": "false" });
  await world.world.advance(60_000);
  assert.match(world.events("b").join("\n"), /conflicting enable frontend NLB values/);
  assert.equal(balancers(world, "network").length, 1, "the first decides");
});

test("other elastic IPs for one in front that stands are told of, and nothing is broken", async (t) => {
  const world = await bed(t);
  const [first = "", second = ""] = await world.allocate(2);
  const [subnet = ""] = world.network.publicSubnetIds;
  world.serve();
  const placed = { "frontend-nlb-scheme": "internet-facing", "frontend-nlb-subnets": subnet };
  await world.ingress("shop", rules, { ...enabled, ...placed, "frontend-nlb-eip-allocations": first });
  await served(world, "shop");
  const zones = () => world.all<Balancer & { zones: readonly { allocationId?: string }[] }>("elbv2/load-balancers");
  const allocations = () =>
    zones().flatMap(({ type, zones: all }) => (type === "network" ? all.map(({ allocationId }) => allocationId) : []));
  assert.deepEqual(allocations(), [first]);
  await world.world.advance(10 * 60_000);
  world.resetCalls();
  await world.change("shop", { "frontend-nlb-eip-allocations": second });
  await world.world.advance(120_000);
  assert.deepEqual([allocations(), world.mutations()], [[first], {}]);
  const told = `the load balancer in front keeps ${first} in ${subnet}: AWS changes no elastic IP to ${second} there`;
  assert.match(world.events("shop").join("\n"), new RegExp(`LoadBalancerWarning: ${told}`));
  assert.doesNotMatch(world.events("shop").join("\n"), /Failed/);
});

test("when the one behind is replaced, the one in front leads to the new one before the old one goes", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress("shop", rules, enabled);
  await served(world, "shop");
  await world.world.advance(300_000);
  const [old] = balancers(world, "application");
  await world.change("shop", { scheme: "internet-facing" });
  await world.until("the old one is gone", () => !balancers(world, "application").some(({ arn }) => arn === old?.arn), 3_600_000);
  await served(world, "shop");
  const [behind, ...more] = balancers(world, "application");
  assert.equal(more.length, 0);
  assert.deepEqual(
    inFront(world).flatMap((group) => targetsOf(world, group)),
    [`${behind?.arn}:80`],
  );
  assert.equal(balancers(world, "network").length, 1);
});

test("a mistake in the Ingress that says what the one in front is like changes nothing of it, also after a restart", async (t) => {
  const world = await bed(t);
  const shared = { "group.name": "g" };
  const own = { "listen-ports": '[{"HTTP":8080}]', "frontend-nlb-scheme": "internet-facing" };
  const [stranger] = world.all<{ id: string }>("ec2/security-groups");
  let end = world.serve();
  await world.ingress("a", { "a.example.com": ["Prefix / web:80"] }, { ...shared, ...enabled, ...own });
  await world.ingress("b", { "b.example.com": ["Prefix / web:80"] }, { ...shared, ...enabled });
  await served(world, "b");
  await world.change("a", { "frontend-nlb-security-groups": stranger!.id });
  await world.world.advance(10 * 60_000);
  const state = () => [
    balancers(world, "network").map(({ scheme, groupIds }) => [scheme, groupIds]),
    inFront(world)
      .map((group) => [group.port, targetsOf(world, group).length])
      .toSorted(),
    world.all<{ port: number; protocol: string }>("elbv2/listeners").flatMap(({ port, protocol }) => (protocol === "TCP" ? [port] : [])),
  ];
  const before = state();
  assert.deepEqual(before[0], [["internet-facing", [stranger!.id]]]);
  end();
  await world.change("a", { "group.order": "x" });
  end = world.serve();
  await world.world.advance(30 * 60_000);
  assert.deepEqual(state(), before);
  await world.change("b", { "listen-ports": '[{"HTTP":80},{"HTTP":81}]' });
  await world.until(
    "b gets its other port",
    () => inFront(world).some((group) => group.port === 81 && targetsOf(world, group).length === 1),
    600_000,
  );
  assert.deepEqual(state()[0], before[0]);
});

const isProtected = { "frontend-nlb-attributes": "deletion_protection.enabled=true" };
const without: Readonly<Record<string, (world: IngressWorld) => Promise<void>>> = {
  "its Ingress is deleted": (world) => world.drop("shop"),
  "nobody asks for it": (world) => world.change("shop", { "enable-frontend-nlb": null }),
  "another scheme is asked for": (world) => world.change("shop", { "frontend-nlb-scheme": "internet-facing" }),
};

for (const [when, change] of Object.entries(without)) {
  test(`one in front that is protected against deletion goes, as that behind does, when ${when}`, async (t) => {
    const world = await bed(t);
    world.serve();
    await world.ingress("shop", rules, { ...enabled, ...isProtected });
    await served(world, "shop");
    const [front] = balancers(world, "network");
    await change(world);
    await world.until("it is gone", () => !balancers(world, "network").some(({ arn }) => arn === front?.arn), 600_000);
    if (when === "its Ingress is deleted") await world.until("all is gone", () => world.get("shop") === undefined, 600_000);
  });
}

test("one in front that was given to another cluster is not deleted for another scheme", async (t) => {
  const world = await bed(t);
  world.serve();
  await world.ingress("shop", rules, enabled);
  await served(world, "shop");
  await world.world.advance(300_000);
  const [front] = balancers(world, "network");
  const Tags = [{ Key: "elbv2.k8s.aws/cluster", Value: "another" }];
  await new ElasticLoadBalancingV2Client(sdkConfig(world.aws)).send(new AddTagsCommand({ ResourceArns: [front!.arn], Tags }));
  await world.change("shop", { "frontend-nlb-scheme": "internet-facing" });
  await world.world.advance(10 * 60_000);
  assert.ok(balancers(world, "network").some(({ arn }) => arn === front?.arn));
});
