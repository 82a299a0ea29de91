/** What is ours and what is not: nothing else is deleted, named in errors, or written to. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import type { Listener, TargetGroup } from "../../src/sandbox/cloud/elbv2/state.ts";
import { classicOf, groupNamed, networkOf } from "../bed/balancers.ts";
import { type ServiceWorld, type ServiceWorldOptions, serviceWorld } from "../bed/service-world.ts";

async function bed(t: TestContext, options?: ServiceWorldOptions): Promise<ServiceWorld> {
  const world = await serviceWorld(options);
  t.after(() => world.close());
  world.start();
  return world;
}

for (const { kind, annotations } of [
  { kind: "classic", annotations: { name: "Shop-Front" } },
  { kind: "network", annotations: { name: "Shop-Front", type: "nlb" } },
]) {
  test(`the host name of a ${kind} load balancer with capitals in its name is published without them`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations });
    await world.published("web");
    const stands = classicOf(world, "web", "Shop-Front")?.dnsName ?? networkOf(world, "web", "Shop-Front")?.loadBalancer.dnsName;
    assert.match(stands ?? "", /^Shop-Front-/);
    assert.equal(world.hostname("web"), stands?.toLowerCase());
    const writes = world.writes.length;
    await world.join(1);
    await world.world.advance(70 * 60_000);
    assert.equal(world.writes.length, writes, "it is not published again and again");
  });
}

test("a load balancer that is protected from deletion is said to be, and goes when it is not any more", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  const balancers = world.aws.account.store.table<{ attributes: Record<string, string> }>("elbv2/load-balancers");
  const { arn } = networkOf(world, "web")!.loadBalancer;
  balancers.update(arn, { attributes: { ...balancers.get(arn)!.attributes, "deletion_protection.enabled": "true" } });
  await world.delete("web");
  await world.world.advance(60_000);
  const said = world.events("web").filter((text) => text.startsWith("Warning SyncLoadBalancerFailed"));
  assert.ok(said.some((text) => /deletion protection is on/.test(text)));
  assert.ok(!said.some((text) => /policy of the role/.test(text)));
  balancers.update(arn, { attributes: { ...balancers.get(arn)!.attributes, "deletion_protection.enabled": "false" } });
  await world.gone("web");
});

const finalizer = "service.kubernetes.io/load-balancer-cleanup";
const theirAddress = "shop-0123456789abcdef.elb.us-east-1.amazonaws.com";

/** As the other controller does it. */
const publish = (world: ServiceWorld, name: string, hostname = theirAddress) =>
  world.say("PATCH", `/api/v1/namespaces/default/services/${name}/status`, { status: { loadBalancer: { ingress: [{ hostname }] } } });

for (const { what, wish } of [
  { what: "external", wish: { annotations: { type: "external", name: "shop" } } },
  { what: "nlb-ip", wish: { annotations: { type: "nlb-ip", name: "shop" } } },
  { what: "a class", wish: { annotations: { name: "shop" }, spec: { loadBalancerClass: "example.com/lb" } } },
]) {
  test(`the status of a Service that another controller serves by ${what} is left alone, whatever happens`, async (t) => {
    const world = await serviceWorld();
    t.after(() => world.close());
    const first = world.start();
    await world.create("web", wish);
    await world.world.advance(10_000);
    await publish(world, "web");
    await world.join(1);
    await world.world.advance(60_000);
    first.kill();
    world.start();
    await world.world.advance(60_000);
    await world.edit("web", { "cross-zone-load-balancing-enabled": "true" });
    await world.world.advance(70 * 60_000);
    assert.equal(world.hostname("web"), theirAddress);
    assert.deepEqual(world.service("web")?.metadata?.finalizers ?? [], what === "a class" ? [] : [finalizer]);
    assert.deepEqual(
      world.writes.filter(({ body }) => JSON.stringify(body).includes("ingress")),
      [],
    );
    assert.deepEqual(world.mutations(), []);
    await world.delete("web");
    await world.gone("web");
  });
}

test("a Service given to another controller loses our address once, and keeps theirs although its name is the same", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "nlb", name: "shop" } });
  await world.published("web");
  await world.edit("web", { type: "external" });
  await world.until("our address is withdrawn", () => world.hostname("web") === undefined);
  await publish(world, "web");
  await world.join(1);
  await world.world.advance(70 * 60_000);
  assert.equal(world.hostname("web"), theirAddress);
  assert.equal(networkOf(world, "web", "shop"), undefined);
});

test("a Service that was ours and gets a class keeps the address its controller publishes while ours goes", async (t) => {
  const world = await bed(t);
  const empty = world.snapshot();
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  await world.edit("web", {}, { type: "ClusterIP", externalTrafficPolicy: null });
  await world.edit("web", {}, { type: "LoadBalancer", loadBalancerClass: "example.com/lb" });
  await publish(world, "web");
  await world.world.advance(600_000);
  assert.equal(world.hostname("web"), theirAddress);
  assert.deepEqual(world.differences(empty), []);
});

interface Passing {
  readonly how: string;
  readonly away: Parameters<ServiceWorld["edit"]>;
  readonly back: Parameters<ServiceWorld["edit"]>;
}

const passing: readonly Passing[] = [
  {
    how: "is a ClusterIP for a moment",
    away: ["web", {}, { type: "ClusterIP", externalTrafficPolicy: null }],
    back: ["web", {}, { type: "LoadBalancer" }],
  },
  { how: "is another controller's for a moment", away: ["web", { type: "external" }], back: ["web", { type: "nlb" }] },
];
for (const { how, away, back } of passing) {
  test(`a Service that ${how} has its load balancer again within minutes`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations: { type: "nlb" } });
    await world.published("web");
    const { arn } = networkOf(world, "web")!.loadBalancer;
    await world.edit(...away);
    await world.until("it goes", () => networkOf(world, "web")?.loadBalancer.arn !== arn);
    await world.edit(...back);
    await world.world.advance(5 * 60_000);
    assert.equal(world.hostname("web"), networkOf(world, "web")?.loadBalancer.dnsName);
    assert.notEqual(world.hostname("web"), undefined);
  });
}

/** Somebody makes a target group by hand, by a name that begins as ours do, and a listener of our load balancer that uses it. */
function attachStranger(world: ServiceWorld, name: string): string {
  const { loadBalancer, listeners, groups } = networkOf(world, name)!;
  const { store } = world.aws.account;
  const { targets: _, ...like } = groups[0]!;
  const arn = like.arn.replace(like.name, `k8s-default-${name}-byhand`);
  store.table<TargetGroup>("elbv2/target-groups").put(arn, { ...like, arn, name: `k8s-default-${name}-byhand`, tags: {} });
  const listener = { ...listeners[0]!, arn: `${listeners[0]!.arn}f`, port: 9999, loadBalancerArn: loadBalancer.arn, tags: {} };
  store.table<Listener>("elbv2/listeners").put(listener.arn, { ...listener, actions: [{ Type: "forward", TargetGroupArn: arn }] });
  return arn;
}

test("a target group without our tags stays, although its name begins like ours and our load balancer forwards to it", async (t) => {
  const world = await bed(t);
  await world.create("web", { annotations: { type: "nlb" } });
  await world.published("web");
  const arn = attachStranger(world, "web");
  const stands = () => world.aws.account.store.table<TargetGroup>("elbv2/target-groups").get(arn) !== undefined;
  await world.world.advance(70 * 60_000);
  assert.ok(stands(), "after the hourly look");
  attachStranger(world, "web");
  await world.delete("web");
  await world.gone("web");
  assert.ok(stands(), "after the deletion");
});

for (const { kind, annotations } of [
  { kind: "classic", annotations: {} },
  { kind: "network", annotations: { type: "nlb" } },
]) {
  test(`the managed group of a ${kind} load balancer stays when its mark was taken away and another is given`, async (t) => {
    const world = await bed(t, { config: "NLBSecurityGroupMode=Managed" });
    const { ec2 } = world.aws.account;
    const own = { ...ec2.securityGroups.get(world.network.nodeGroupId)!, id: "sg-0123456789abcdef0", name: "lent", tags: {} };
    ec2.securityGroups.put(own.id, own);
    await world.create("web", { annotations });
    await world.published("web");
    const name = kind === "classic" ? `k8s-elb-${world.loadBalancerOf("web")}` : /^k8s-default-web-[0-9a-f]{10}$/;
    const managed = ec2.securityGroups.values().find((group) => (typeof name === "string" ? group.name === name : name.test(group.name)))!;
    ec2.securityGroups.update(managed.id, { tags: {} });
    await world.edit("web", { "security-groups": own.id });
    await world.world.advance(30 * 60_000);
    const groups = (classicOf(world, "web") ?? networkOf(world, "web")?.loadBalancer)?.groupIds;
    assert.deepEqual(groups, [own.id]);
    assert.equal(groupNamed(world, managed.name), managed.id);
    await world.delete("web");
    await world.gone("web");
    assert.equal(groupNamed(world, managed.name), managed.id);
  });
}

for (const type of ["NLB", "elb"]) {
  test(`nothing is made for the unknown type ${type}, and the author is told`, async (t) => {
    const world = await bed(t);
    await world.create("web", { annotations: { type } });
    await world.world.advance(300_000);
    assert.deepEqual(world.mutations(), []);
    const told = world.events("web").find((text) => text.startsWith("Warning SyncLoadBalancerFailed")) ?? "";
    assert.match(told, new RegExp(`aws-load-balancer-type="${type}" is not known: no load balancer is created for it`));
    assert.equal(/did you mean nlb\?/.test(told), type === "NLB");
    await world.edit("web", { type: "nlb" });
    await world.published("web");
    assert.ok(networkOf(world, "web"));
  });

  for (const { kind, before } of [
    { kind: "classic", before: {} },
    { kind: "network", before: { type: "nlb" } },
  ]) {
    test(`a ${kind} load balancer that exists is kept and served under the unknown type ${type}`, async (t) => {
      const world = await serviceWorld();
      t.after(() => world.close());
      const first = world.start();
      await world.create("web", { annotations: before });
      await world.published("web");
      const address = world.hostname("web");
      first.kill();
      await world.edit("web", { type, "cross-zone-load-balancing-enabled": "true" });
      world.start();
      await world.join(1);
      await world.world.advance(120_000);
      assert.equal(world.hostname("web"), address);
      const [classic, network] = [classicOf(world, "web"), networkOf(world, "web")];
      assert.deepEqual([classic !== undefined, network !== undefined], [kind === "classic", kind === "network"]);
      assert.equal(classic?.instances.length ?? network?.groups[0]?.targets.length, 3);
      assert.equal(classic?.attributes.crossZone ?? network?.loadBalancer.attributes["load_balancing.cross_zone.enabled"] === "true", true);
      assert.ok(
        world
          .events("web")
          .some((text) => /^Warning LoadBalancerWarning: .*is not known: the \w+ load balancer that exists is kept/.test(text)),
      );
      await world.delete("web");
      await world.gone("web");
    });
  }
}

test("a managed group whose mark comes back while the Service goes, after the groups were listed, goes too", async (t) => {
  const world = await serviceWorld();
  t.after(() => world.close());
  const empty = world.snapshot();
  world.start();
  await world.create("web");
  await world.published("web");
  // Of what was made a moment ago, AWS is asked twice anyway.
  await world.world.advance(2 * 60_000);
  const { securityGroups } = world.aws.account.ec2;
  const { id, tags } = securityGroups.get(groupNamed(world, `k8s-elb-${world.loadBalancerOf("web")}`)!)!;
  securityGroups.update(id, { tags: {} });
  world.onMutation = (action) => {
    if (action === "DeleteLoadBalancer") securityGroups.update(id, { tags });
  };
  await world.delete("web");
  await world.gone("web");
  assert.deepEqual(world.differences(empty), []);
});

test("a managed group whose mark is taken away while its removal is stuck stays, also when AWS would let it go", async (t) => {
  const world = await bed(t);
  await world.create("web");
  await world.published("web");
  const name = `k8s-elb-${world.loadBalancerOf("web")}`;
  const id = groupNamed(world, name)!;
  const { ec2 } = world.aws.account;
  const [instance] = world.instances.values();
  const attach = (...groupIds: string[]) => ec2.interfaces.update(instance!.interfaceIds[0]!, { groupIds });
  attach(world.network.nodeGroupId, id);
  await world.delete("web");
  await world.world.advance(45_000);
  assert.ok(world.events("web").some((text) => text.includes("LoadBalancerRemovalWaits")));
  ec2.securityGroups.update(id, { tags: {} });
  await world.world.advance(5_000);
  attach(world.network.nodeGroupId);
  await world.gone("web");
  assert.ok(groupNamed(world, name));
});

test("a managed group whose mark was taken away after the groups were listed stays when the configured group takes its place", async (t) => {
  const world = await serviceWorld({ config: "DisableSecurityGroupIngress=true", settings: { speed: Number.POSITIVE_INFINITY } });
  t.after(() => world.close());
  const { securityGroups } = world.aws.account.ec2;
  const first = world.start();
  for (const name of ["a", "b"]) await world.create(name);
  await world.published("a", "b");
  first.kill();
  const lent = { ...securityGroups.get(world.network.nodeGroupId)!, id: "sg-0eeeeeeeeeeeeeeee", name: "shared-elb", tags: {} };
  securityGroups.put(lent.id, lent);
  const config = new TextDecoder().decode(await world.world.files.read("/etc/cloud"));
  await world.world.files.write("/etc/cloud", `${config}ElbSecurityGroup=${lent.id}\n`, 0o600);
  const groupOf = (service: string) => groupNamed(world, `k8s-elb-${world.loadBalancerOf(service)}`);
  const moved = (service: string) => classicOf(world, service)?.groupIds[0] === lent.id;
  let second = "";
  world.onMutation = () => {
    if (second !== "" || !["a", "b"].some(moved)) return;
    second = moved("a") ? "b" : "a";
    securityGroups.update(groupOf(second)!, { tags: {} });
  };
  const effect = { kind: "delay", ms: 1_000 } as const;
  world.aws.controls.faults.add({ action: "elasticloadbalancing:ApplySecurityGroupsToLoadBalancer", effect });
  world.start("--concurrent-service-syncs=1");
  await world.until("both have the configured group", () => ["a", "b"].every(moved));
  await world.world.advance(60_000);
  assert.deepEqual(
    ["a", "b"].filter((name) => groupOf(name) !== undefined),
    [second],
  );
});

test("an address that another controller published while our load balancer was being made stays", async (t) => {
  const world = await bed(t);
  const fault = world.aws.controls.faults.add({ action: "elasticloadbalancing:CreateLoadBalancer", effect: { kind: "delay", ms: 20_000 } });
  await world.create("web");
  await world.world.advance(5_000);
  await world.edit("web", { type: "external" });
  const theirs = "k8s-web-feedface.elb.us-east-1.amazonaws.com";
  const path = "/api/v1/namespaces/default/services/web/status";
  await world.say("PATCH", path, { status: { loadBalancer: { ingress: [{ hostname: theirs }] } } });
  world.aws.controls.faults.remove(fault);
  for (let waited = 0; waited < 120_000; waited += 1_000) {
    await world.world.advance(1_000);
    assert.equal(world.hostname("web"), theirs);
  }
  assert.ok(!world.events("web").some((text) => text.includes("Failed")), world.events("web").join("\n"));
});
