import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { groupNamed, nodeRules, rulesOf } from "../bed/balancers.ts";
import { type ServiceWorld, type ServiceWorldOptions, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  world.start();
  return world;
}

const nlb = { type: "nlb" };
const ports = (nodePort: number) => ({ ports: [{ port: 80, nodePort }] });
const client = (world: ServiceWorld, name: string) => `"kubernetes.io/rule/nlb/client=${world.loadBalancerOf(name)}"`;
const health = (world: ServiceWorld, name: string) => `"kubernetes.io/rule/nlb/health=${world.loadBalancerOf(name)}"`;
const mtu = '"kubernetes.io/rule/nlb/mtu"';

test("nodes let everything in from the group of a classic load balancer", async (t) => {
  const world = await bed(t);
  await world.create("web");
  await world.published("web");
  assert.deepEqual(nodeRules(world), [`-1 from k8s-elb-${world.loadBalancerOf("web")}`]);
});

test("clients of a network load balancer are let in, with the message that a packet is too big; checks only if they are not", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: nlb, spec: ports(31080) });
  await world.published("web");
  assert.deepEqual(nodeRules(world), [`icmp 3-4 from 0.0.0.0/0 ${mtu}`, `tcp 31080 from 0.0.0.0/0 ${client(world, "web")}`]);

  await world.edit("web", {}, { loadBalancerSourceRanges: ["192.168.0.0/16"] });
  await world.world.advance(15_000);
  assert.deepEqual(nodeRules(world), [
    `icmp 3-4 from 192.168.0.0/16 ${mtu}`,
    ...["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"].map((cidr) => `tcp 31080 from ${cidr} ${health(world, "web")}`),
    `tcp 31080 from 192.168.0.0/16 ${client(world, "web")}`,
  ]);
});

test("checks of UDP ports come in by TCP", async (t) => {
  const world = await bed(t);
  await world.create("dns", { annotations: nlb, spec: { ports: [{ port: 53, nodePort: 31053, protocol: "UDP" }] } });
  await world.published("dns");
  assert.deepEqual(nodeRules(world), [
    `icmp 3-4 from 0.0.0.0/0 ${mtu}`,
    ...["10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/24"].map((cidr) => `tcp 31053 from ${cidr} ${health(world, "dns")}`),
    `udp 31053 from 0.0.0.0/0 ${client(world, "dns")}`,
  ]);
});

test("a rule that two load balancers need outlives the one it was made for, and goes with the last", async (t) => {
  const world = await bed(t, { config: "ClusterServiceLoadBalancerHealthProbeMode=Shared" });
  await world.create("a", { annotations: nlb, spec: ports(31080) });
  await world.published("a");
  await world.create("b", { annotations: nlb, spec: ports(31090) });
  await world.published("b");
  const probe = (name: string) => `tcp 10256 from 10.0.0.0/24 ${health(world, name)}`;
  assert.ok(nodeRules(world).includes(probe("a")));
  const kept = probe("b");
  await world.delete("a");
  await world.gone("a");
  assert.ok(nodeRules(world).includes(kept), nodeRules(world).join("\n"));
  assert.ok(!nodeRules(world).some((text) => text.includes("31080")));
  await world.delete("b");
  await world.gone("b");
  assert.deepEqual(nodeRules(world), []);
});

test("after a restart no rule is taken away before every Service has said what it needs", async (t) => {
  const world = await serviceWorld({ config: "ClusterServiceLoadBalancerHealthProbeMode=Shared" });
  t.after(() => world.close());
  const first = world.start();
  await world.create("a", { annotations: nlb, spec: ports(31080) });
  await world.create("b", { annotations: nlb, spec: ports(31090) });
  await world.published("a", "b");
  first.kill();
  const needed = nodeRules(world).filter((text) => text.includes("tcp 10256")).length;
  await world.edit("b", { "healthcheck-interval": "never" });
  await world.delete("a");
  world.start();
  await world.gone("a");
  assert.equal(nodeRules(world).filter((text) => text.includes("tcp 10256")).length, needed, "b cannot say what it needs, and keeps it");
  await world.delete("b");
  await world.gone("b");
  assert.deepEqual(nodeRules(world), []);
});

test("rules that others wrote into the nodes' group stay, also where they let the same in", async (t) => {
  const world = await bed(t);
  const { ec2 } = world.aws.account;
  const add = (id: string, rest: object) =>
    ec2.rules.put(id, {
      id,
      groupId: world.network.nodeGroupId,
      egress: false,
      protocol: "tcp",
      fromPort: 31080,
      toPort: 31080,
      peer: { kind: "group", groupId: world.network.nodeGroupId, userId: ec2.account.id },
      description: undefined,
      tags: {},
      ...rest,
    });
  add("sgr-0aaaaaaaaaaaaaaaa", {});
  add("sgr-0bbbbbbbbbbbbbbbb", { peer: { kind: "ipv4", cidr: "0.0.0.0/0" }, description: "by hand" });
  const before = nodeRules(world);
  await world.create("web", { annotations: nlb, spec: ports(31080) });
  await world.published("web");
  assert.deepEqual(nodeRules(world), before);
  await world.delete("web");
  await world.gone("web");
  assert.deepEqual(nodeRules(world), before);
});

test("rules are found in groups without the cluster's tag too, when their load balancer goes", async (t) => {
  const world = await bed(t);
  const { ec2 } = world.aws.account;
  ec2.securityGroups.update(world.network.nodeGroupId, { tags: {} });
  await world.create("web", { annotations: nlb, spec: ports(31080) });
  await world.published("web");
  assert.equal(nodeRules(world).length, 2);
  for (const node of [...world.instances.keys()]) await world.leave(node);
  await world.world.advance(10_000);
  await world.delete("web");
  await world.gone("web");
  assert.deepEqual(nodeRules(world), []);
});

test("two tagged groups on an instance are a warning, and the load balancer works", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  const { ec2 } = world.aws.account;
  const second = { ...ec2.securityGroups.get(world.network.nodeGroupId)!, id: "sg-0zzzzzzzzzzzzzzzz", name: "second" };
  ec2.securityGroups.put(second.id, second);
  for (const { id, interfaceIds } of world.instances.values()) {
    ec2.interfaces.update(interfaceIds[0]!, { groupIds: [world.network.nodeGroupId, second.id] });
    assert.ok(id);
  }
  world.start();
  await world.create("web");
  await world.published("web");
  assert.ok(
    world.events("web").some((text) => text.includes("Multiple tagged security groups found")),
    world.events("web").join("\n"),
  );
  assert.ok(nodeRules(world).length === 1);
});

test("with DisableSecurityGroupIngress the nodes' groups are left alone", async (t) => {
  const world = await bed(t, { config: "DisableSecurityGroupIngress=true" });
  await world.create("web", { annotations: nlb });
  await world.create("old");
  await world.published("web", "old");
  assert.deepEqual(nodeRules(world), []);
  assert.deepEqual(rulesOf(world, groupNamed(world, `k8s-elb-${world.loadBalancerOf("old")}`) ?? ""), [
    "icmp 3-4 from 0.0.0.0/0",
    "tcp 80 from 0.0.0.0/0",
  ]);
  await world.delete("web");
  await world.delete("old");
  await world.gone("web");
  await world.gone("old");
});

test("a group that is lent to a classic load balancer gives way to another without a gap, and only our rule goes", async (t) => {
  const world = await bed(t, { config: "ElbSecurityGroup=sg-0eeeeeeeeeeeeeeee" });
  const { ec2 } = world.aws.account;
  const lent = { ...ec2.securityGroups.get(world.network.nodeGroupId)!, id: "sg-0eeeeeeeeeeeeeeee", name: "shared-elb", tags: {} };
  ec2.securityGroups.put(lent.id, lent);
  await world.create("a");
  await world.create("b");
  await world.published("a", "b");
  assert.equal(nodeRules(world).length, 1);
  await world.delete("a");
  await world.gone("a");
  assert.deepEqual(nodeRules(world), [`-1 from shared-elb "kubernetes.io/rule/elb/source=${world.loadBalancerOf("b")}"`]);
  await world.delete("b");
  await world.gone("b");
  assert.deepEqual(nodeRules(world), []);
  assert.ok(groupNamed(world, "shared-elb"), "it was only lent");
});

test("a Service that was lent the group of another's load balancer goes, and the rule that both need stays", async (t) => {
  const world = await bed(t);
  await world.create("theirs", { annotations: { "target-node-labels": "pool=none" } });
  await world.published("theirs");
  const lent = `k8s-elb-${world.loadBalancerOf("theirs")}`;
  await world.create("web", { annotations: { "security-groups": groupNamed(world, lent)! } });
  await world.published("web");
  await world.edit("theirs", { "target-node-labels": null });
  await world.world.advance(15_000);
  assert.deepEqual(nodeRules(world), [`-1 from ${lent} "kubernetes.io/rule/elb/source=${world.loadBalancerOf("web")}"`]);
  await world.delete("web");
  await world.gone("web");
  assert.deepEqual(nodeRules(world), [`-1 from ${lent} "kubernetes.io/rule/elb/source=${world.loadBalancerOf("theirs")}"`]);
  await world.delete("theirs");
  await world.gone("theirs");
  assert.deepEqual(nodeRules(world), []);
});

test("a rule that may not be revoked is nobody's trouble but of the one who leaves it", async (t) => {
  const world = await bed(t);
  await world.create("a", { annotations: nlb, spec: ports(31080) });
  await world.published("a");
  const allow = world.aws.controls.deny("ec2:RevokeSecurityGroupIngress");
  await world.delete("a");
  await world.world.advance(30_000);
  await world.create("b", { annotations: nlb, spec: ports(31090) });
  await world.published("b");
  await world.world.advance(5 * 60_000);
  assert.ok(world.events("a").some((text) => text.includes("RevokeSecurityGroupIngress")));
  assert.deepEqual(world.events("b"), [
    "Normal EnsuringLoadBalancer: Ensuring load balancer",
    "Normal EnsuredLoadBalancer: Ensured load balancer",
  ]);
  await world.edit("b", {}, { loadBalancerSourceRanges: ["10.0.0.0/8"] });
  await world.world.advance(60_000);
  assert.ok(
    world.events("b").some((text) => text.includes("RevokeSecurityGroupIngress")),
    "what it lets in too much is its own trouble",
  );
  allow();
  await world.gone("a");
});

test("a rule that may not be revoked is tried again with pauses, not over and over, and goes once it may", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: nlb, spec: ports(31080) });
  await world.published("web");
  const allow = world.aws.controls.deny("ec2:RevokeSecurityGroupIngress");
  const calls = () => Object.values(world.calls()).reduce((sum, count) => sum + count, 0);
  const before = calls();
  await world.delete("web");
  await world.world.advance(5 * 60_000);
  const tried = world.aws.controls.journal.calls("ec2:RevokeSecurityGroupIngress");
  assert.ok(tried <= 40, `the refusal was asked for ${tried} times`);
  assert.ok(calls() - before <= 300, `${calls() - before} calls in five minutes`);
  allow();
  await world.until("everything is gone", () => nodeRules(world).length === 0 && world.service("web") === undefined, 15 * 60_000);
});

for (const { how, groups } of [
  { how: "alone", groups: ["fresh"] },
  { how: "beside one that is not the cluster's", groups: ["fresh", "plain"] },
]) {
  test(`nodes whose group was made after the groups were listed let clients in at once, ${how}`, async (t) => {
    const world = await bed(t);
    const { ec2 } = world.aws.account;
    await world.create("web", { annotations: nlb, spec: ports(31080) });
    await world.published("web");
    const fresh = { ...ec2.securityGroups.get(world.network.nodeGroupId)!, id: "sg-0aaaaaaaaaaaaaaaa", name: "fresh" };
    const plain = { ...fresh, id: "sg-0bbbbbbbbbbbbbbbb", name: "plain", tags: {} };
    for (const group of [fresh, plain]) ec2.securityGroups.put(group.id, group);
    const [node = ""] = await world.join(1, {}, { ...world.network, nodeGroupId: fresh.id });
    const groupIds = [fresh, plain].filter(({ name }) => groups.includes(name)).map(({ id }) => id);
    ec2.interfaces.update(world.instances.get(node)!.interfaceIds[0]!, { groupIds });
    await world.world.advance(15_000);
    assert.deepEqual(rulesOf(world, fresh.id), nodeRules(world));
  });
}

test("a node that joins with several groups of which none is the cluster's is spoken of at once, and no more when it has gone", async (t) => {
  const world = await bed(t);
  const { ec2 } = world.aws.account;
  await world.create("web");
  await world.published("web");
  const [one, two] = ["sg-0aaaaaaaaaaaaaaaa", "sg-0bbbbbbbbbbbbbbbb"].map((id) => ({
    ...ec2.securityGroups.get(world.network.nodeGroupId)!,
    id,
    name: id,
    tags: {},
  }));
  for (const group of [one!, two!]) ec2.securityGroups.put(group.id, group);
  const [node = ""] = await world.join(1, {}, { ...world.network, nodeGroupId: one!.id });
  ec2.interfaces.update(world.instances.get(node)!.interfaceIds[0]!, { groupIds: [one!.id, two!.id] });
  await world.world.advance(15_000);
  const said = () =>
    world
      .service("web")
      ?.status?.conditions?.map(({ message }) => message)
      .join() ?? "";
  assert.match(said(), /Multiple untagged security groups found for instance i-/);
  await world.leave(node);
  await world.world.advance(15_000);
  assert.equal(said(), "");
});
