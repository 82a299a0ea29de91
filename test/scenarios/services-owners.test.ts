/** One Service among others in the rules of the nodes: it gets what it asks for now, and its trouble is its own. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Listener, LoadBalancer, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import { classicOf, nodeRules, rulesOf } from "../bed/balancers.ts";
import { type ServiceWorld, type ServiceWorldOptions, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  world.start();
  return world;
}

const nlb = { type: "nlb" };
const hourMs = 60 * 60_000;
const port = (nodePort: number, protocol = "TCP") => ({ ports: [{ port: 80, nodePort, protocol }] });
const ranges = (count: number) => Array.from({ length: count }, (_, i) => `10.${i}.0.0/16`);
const openTo = (world: ServiceWorld, nodePort: number) =>
  nodeRules(world)
    .filter((text) => text.includes(` ${nodePort} from `) && text.includes("/client="))
    .map((text) => / from (\S+)/.exec(text)?.[1]);

test("clients that are not wanted any more are shut out, also where a load balancer of a chosen name failed at first", async (t) => {
  const world = await bed(t);
  const allow = world.aws.controls.deny("elasticloadbalancing:CreateLoadBalancer");
  await world.create("web", { annotations: { ...nlb, name: "shop" }, spec: port(31080) });
  await world.world.advance(60_000);
  allow();
  await world.until("published", () => world.hostname("web") !== undefined, 15 * 60_000);
  await world.world.advance(15_000);
  assert.deepEqual(openTo(world, 31080), ["0.0.0.0/0"]);
  await world.edit("web", {}, { loadBalancerSourceRanges: ["10.1.0.0/16"] });
  await world.world.advance(60_000);
  assert.deepEqual(openTo(world, 31080), ["10.1.0.0/16"]);
});

test("clients that are not wanted any more are shut out, also where a load balancer of the other kind was refused at first", async (t) => {
  const world = await bed(t);
  await world.create("dns", { spec: port(31053, "UDP") });
  await world.world.advance(60_000);
  await world.edit("dns", nlb);
  await world.published("dns");
  assert.deepEqual(openTo(world, 31053), ["0.0.0.0/0"]);
  await world.edit("dns", {}, { loadBalancerSourceRanges: ["10.1.0.0/16"] });
  await world.world.advance(60_000);
  assert.deepEqual(openTo(world, 31053), ["10.1.0.0/16"]);
});

test("what is another controller's keeps no rule, also if its load balancer could not be looked up at first", async (t) => {
  const world = await bed(t, { config: "ClusterServiceLoadBalancerHealthProbeMode=Shared" });
  await world.create("web", { annotations: nlb, spec: port(31080) });
  await world.published("web");
  // Theirs has the name of the annotation, and is checked at the port that ours is checked at.
  const table = world.aws.account.store.table<LoadBalancer>("elbv2/load-balancers");
  const [ours] = table.values();
  const arn = ours!.arn.replace(ours!.name, "shop");
  table.put(arn, { ...ours!, arn, name: "shop", tags: {} });
  const groups = world.aws.account.store.table<TargetGroup>("elbv2/target-groups");
  const listeners = world.aws.account.store.table<Listener>("elbv2/listeners");
  const [group] = groups.values();
  const [listener] = listeners.values();
  groups.put(`${group!.arn}-theirs`, { ...group!, arn: `${group!.arn}-theirs`, name: "theirs", tags: {} });
  const forward = [{ Type: "forward" as const, TargetGroupArn: `${group!.arn}-theirs` }];
  listeners.put(`${listener!.arn}-theirs`, {
    ...listener!,
    arn: `${listener!.arn}-theirs`,
    loadBalancerArn: arn,
    actions: forward,
    tags: {},
  });
  const allow = world.aws.controls.deny("ec2:DescribeSecurityGroups");
  await world.create("theirs", { annotations: { type: "external", name: "shop" }, spec: port(31070) });
  await world.world.advance(60_000);
  allow();
  await world.world.advance(10 * 60_000);
  await world.delete("web");
  await world.gone("web");
  assert.deepEqual(nodeRules(world), []);
});

test("a Service that somebody else's finalizer holds in deletion holds up nobody else's deletion", async (t) => {
  const world = await bed(t);
  await world.create("held", { annotations: nlb, spec: port(31080) });
  await world.create("web", { annotations: nlb, spec: port(31090) });
  await world.published("held", "web");
  await world.say("PATCH", "/api/v1/namespaces/default/services/held", { metadata: { finalizers: ["example.com/backup"] } });
  await world.delete("held");
  await world.until("its rules are gone", () => openTo(world, 31080).length === 0, 15 * 60_000);
  await world.world.advance(60_000);
  assert.deepEqual(world.service("held")?.metadata?.finalizers, ["example.com/backup"]);
  await world.delete("web");
  await world.gone("web");
  assert.deepEqual(nodeRules(world), []);
});

test("a Service with more source ranges than the quota allows holds up neither creation nor deletion of others", async (t) => {
  const world = await bed(t);
  await world.create("old", { annotations: nlb, spec: port(31070) });
  await world.published("old");
  await world.create("greedy", { annotations: nlb, spec: { ...port(31080), loadBalancerSourceRanges: ranges(70) } });
  await world.world.advance(60_000);
  await world.create("web", { annotations: nlb, spec: port(31090) });
  await world.published("web");
  assert.deepEqual(openTo(world, 31090), ["0.0.0.0/0"]);
  assert.ok(world.events("web").some((text) => text.includes("EnsuredLoadBalancer")));
  await world.delete("old");
  await world.gone("old");
  assert.deepEqual(openTo(world, 31070), []);
  assert.deepEqual(openTo(world, 31080), [], "all or nothing: what is free is left to others");
});

test("a Service that meets the quota is told how many rules it needs and how many are free, and is served when it needs less", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: nlb, spec: port(31090) });
  await world.create("greedy", { annotations: nlb, spec: { ...port(31080), loadBalancerSourceRanges: ranges(70) } });
  await world.published("web", "greedy");
  const group = world.network.nodeGroupId;
  const told = () => world.events("greedy").filter((text) => text.includes("SyncLoadBalancerFailed"));
  assert.match(told().at(-1) ?? "", new RegExp(`needs 143 more IPv4 rules in node security group .*${group}.* 57 are free`));
  await world.edit("greedy", {}, { loadBalancerSourceRanges: ranges(20) });
  await world.until("served", () => openTo(world, 31080).length === 20, 10 * 60_000);
  await world.world.advance(60_000);
  assert.ok(world.events("greedy").some((text) => text.includes("EnsuredLoadBalancer")));
});

test("what others give up is enough for one that met the quota", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: nlb, spec: { ...port(31090), loadBalancerSourceRanges: ranges(25) } });
  await world.published("web");
  await world.create("late", {
    annotations: nlb,
    spec: { ...port(31080), loadBalancerSourceRanges: ranges(28).map((each) => each.replace("10.", "11.")) },
  });
  await world.world.advance(5 * 60_000);
  assert.deepEqual(openTo(world, 31080), []);
  await world.delete("web");
  await world.until("served", () => openTo(world, 31080).length === 28, 5 * 60_000);
});

test("a Service may exchange more source ranges than the quota would allow beside the old ones", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: nlb, spec: { ...port(31090), loadBalancerSourceRanges: ranges(25) } });
  await world.published("web");
  const others = ranges(25).map((each) => each.replace("10.", "11."));
  await world.edit("web", {}, { loadBalancerSourceRanges: others });
  await world.until("exchanged", () => JSON.stringify(openTo(world, 31090)) === JSON.stringify(others.toSorted()), hourMs);
});

for (const [kind, annotations] of [
  ["classic", {}],
  ["network", nlb],
] as const) {
  const clients = (world: ServiceWorld) => {
    const groups = world.aws.account.ec2.securityGroups.values();
    const own = groups.find(({ name }) => /^k8s-(elb|default)-/.test(name))!;
    const seen = rulesOf(world, own.id).filter((text) => text.startsWith("tcp 80 "));
    return seen.map((text) => / from (\S+)/.exec(text)?.[1]);
  };

  test(`clients that are not wanted any more are shut out of a ${kind} load balancer that asks for too many others`, async (t) => {
    const world = await bed(t, { config: "NLBSecurityGroupMode=Managed" });
    await world.create("web", { annotations, spec: port(31080) });
    await world.published("web");
    assert.deepEqual(clients(world), ["0.0.0.0/0"]);
    await world.edit("web", {}, { loadBalancerSourceRanges: ranges(70) });
    await world.world.advance(60_000);
    assert.deepEqual(clients(world), []);
    const told = world.events("web").filter((text) => text.includes("SyncLoadBalancerFailed"));
    assert.match(told.at(-1) ?? "", /needs 140 more IPv4 rules in security group k8s-.*, 60 are free/);
  });

  test(`a ${kind} load balancer may exchange more source ranges than the quota would allow beside the old ones`, async (t) => {
    const world = await bed(t, { config: "NLBSecurityGroupMode=Managed" });
    await world.create("web", { annotations, spec: { ...port(31080), loadBalancerSourceRanges: ranges(25) } });
    await world.published("web");
    const others = ranges(25).map((each) => each.replace("10.", "11."));
    await world.edit("web", {}, { loadBalancerSourceRanges: others });
    await world.world.advance(60_000);
    assert.deepEqual(clients(world), others.toSorted());
  });
}

test("where there is no room for one, nobody who needs as much is tried: the calls do not grow with those who wait", async (t) => {
  const world = await bed(t);
  const greedy = ["a", "b", "c", "d", "e", "f"];
  for (const [i, name] of greedy.entries()) {
    await world.create(name, { annotations: nlb, spec: { ...port(31080 + i), loadBalancerSourceRanges: ranges(70) } });
  }
  await world.published(...greedy);
  await world.create("web", { annotations: nlb, spec: port(31090) });
  await world.published("web");
  assert.deepEqual(openTo(world, 31090), ["0.0.0.0/0"]);
  world.aws.controls.journal.resetCounts();
  await world.world.advance(hourMs);
  const tries = world.calls()["ec2:AuthorizeSecurityGroupIngress"] ?? 0;
  assert.ok(tries > 0 && tries <= 70, `${tries} tries in an hour`);
  for (const name of greedy) assert.ok(world.events(name).some((text) => text.includes("needs 143 more IPv4 rules")));
});

test("a group that a load balancer uses already keeps its rule, also while a late step of the change is refused and the other user leaves", async (t) => {
  const world = await bed(t);
  const { ec2 } = world.aws.account;
  const lent = "sg-0123456789abcdef0";
  ec2.securityGroups.put(lent, { ...ec2.securityGroups.get(world.network.nodeGroupId)!, id: lent, name: "lent", tags: {} });
  await world.create("other", { annotations: { "security-groups": lent }, spec: port(31070) });
  await world.create("web", { spec: port(31080) });
  await world.published("other", "web");
  const allow = world.aws.controls.deny("ec2:DeleteSecurityGroup");
  await world.edit("web", { "security-groups": lent });
  await world.until("it uses the lent group", () => classicOf(world, "web")?.groupIds.join() === lent, 60_000);
  await world.delete("other");
  await world.world.advance(60_000);
  assert.ok(
    nodeRules(world).some((text) => text.startsWith("-1 from lent")),
    nodeRules(world).join("\n"),
  );
  allow();
  await world.until("the old group is gone", () => nodeRules(world).length === 1, 15 * 60_000);
  await world.gone("other");
  await world.delete("web");
  await world.gone("web");
  assert.deepEqual(nodeRules(world), []);
});

test("a new port is opened on the nodes although a late step of its change is refused", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: nlb, spec: port(31080) });
  await world.published("web");
  const allow = world.aws.controls.deny("elasticloadbalancing:ModifyLoadBalancerAttributes");
  await world.edit("web", { "cross-zone-load-balancing-enabled": "true" }, port(31090));
  await world.until("opened", () => openTo(world, 31090).length === 1, 5 * 60_000);
  allow();
  await world.until("only what is needed is open", () => openTo(world, 31080).length === 0, 15 * 60_000);
  assert.deepEqual(openTo(world, 31090), ["0.0.0.0/0"]);
});

test("a revocation that AWS is slow to take is given up when somebody has come to need the rule", async (t) => {
  const world = await bed(t);
  const { ec2 } = world.aws.account;
  const lent = "sg-0123456789abcdef0";
  ec2.securityGroups.put(lent, { ...ec2.securityGroups.get(world.network.nodeGroupId)!, id: lent, name: "lent", tags: {} });
  await world.create("web", { annotations: { "security-groups": lent }, spec: port(31080) });
  await world.published("web");
  const { faults } = world.aws.controls;
  const trouble = faults.add({ action: "ec2:RevokeSecurityGroupIngress", effect: { kind: "throttle" } });
  await world.edit("web", {}, { type: "ClusterIP" });
  await world.world.advance(3_000);
  await world.edit("web", {}, { type: "LoadBalancer" });
  await world.until("served again", () => classicOf(world, "web") !== undefined && world.hostname("web") !== undefined);
  const since = world.mutations().length;
  faults.remove(trouble);
  await world.world.advance(60_000);
  assert.deepEqual(world.mutations(since), []);
});

test("the rule of a load balancer that was taken down goes, also when its Service has one of a chosen name by then", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  const first = world.start();
  await world.create("web", { spec: port(31080) });
  await world.published("web");
  const allow = world.aws.controls.deny("ec2:RevokeSecurityGroupIngress");
  await world.edit("web", {}, { type: "ClusterIP" });
  await world.until("taken down", () => classicOf(world, "web") === undefined);
  first.kill();
  await world.edit("web", { name: "chosen" }, { type: "LoadBalancer" });
  allow();
  world.start();
  await world.until("only the new one is let in", () => nodeRules(world).join() === "-1 from k8s-elb-chosen", 15 * 60_000);
});
